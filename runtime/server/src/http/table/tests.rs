//! Tests of columns and cells.
use serde_json::json;

use super::*;
use crate::{Resource, builtin::ConfigMap, http::sample, kind::JsonPath, widget::Widget};

fn table(kind: &Kind, include: Include, object: &Object) -> Value {
    serde_json::from_slice(&Table::new(Arc::new(kind.clone()), "meta.k8s.io/v1", include).of_event(object, true))
        .unwrap()
}

fn cells(kind: &Kind, body: Value) -> Value {
    let object = sample::object(kind, "ns/a", 7, body);
    table(kind, Include::None, &object)["rows"][0]["cells"].clone()
}

#[test]
fn cells_of_a_declared_kind() {
    let kind = Widget::kind();
    let old = json!({"creationTimestamp": "2020-01-01T00:00:00Z"});
    let all = cells(&kind, json!({"metadata": old, "spec": {"size": 3, "color": "Red"}, "status": {"phase": "Up"}}));
    assert_eq!((&all[1], &all[2], &all[3]), (&json!(3), &json!("Red"), &json!("Up")));
    let age = all[4].as_str().unwrap();
    assert!(age.ends_with('y') || age.ends_with('d'), "{age}");
    // Missing values, and values of another type than the column, have no cell; text columns print values as JSON.
    assert_eq!(cells(&kind, json!({"spec": {}})), json!(["a", null, null, null, null]));
    let odd = cells(&kind, json!({"metadata": {"creationTimestamp": "yesterday"}, "spec": {"size": "3", "color": 5}}));
    assert_eq!(odd, json!(["a", null, "5", null, "<invalid>"]));
    let odd = cells(&kind, json!({"spec": {"size": 3.9, "color": {"r": [1]}}}));
    assert_eq!(odd, json!(["a", 3, "{\"r\":[1]}", null, null]));
}

#[test]
fn cells_of_a_compiled_kind() {
    let kind = ConfigMap::kind();
    assert_eq!(cells(&kind, json!({"data": {"a": "", "b": ""}})), json!(["a", 2, "<unknown>"]));
}

#[test]
fn columns_of_both_styles() {
    let object = sample::object(&Widget::kind(), "ns/a", 7, json!({"spec": {}}));
    let all = table(&Widget::kind(), Include::Metadata, &object);
    let types: Vec<&str> =
        all["columnDefinitions"].as_array().unwrap().iter().map(|c| c["type"].as_str().unwrap()).collect();
    assert_eq!(types, ["string", "integer", "string", "string", "date"]);
    assert_eq!(all["columnDefinitions"][0]["format"], "name");
    assert_eq!(all["columnDefinitions"][3]["priority"], 1);
    let described = &all["columnDefinitions"][2]["description"];
    assert_eq!(described, "Custom resource definition column (in JSONPath format): .spec.color");
    let compiled = table(&ConfigMap::kind(), Include::Metadata, &object);
    assert_eq!(compiled["columnDefinitions"][2]["type"], "string", "ages of compiled kinds are text");
}

#[test]
fn rows_contain_what_was_requested() {
    let kind = Widget::kind();
    let object = sample::object(&kind, "ns/a", 7, json!({"spec": {"size": 1}}));
    assert_eq!(table(&kind, Include::None, &object)["rows"][0]["object"], Value::Null);
    let partial = &table(&kind, Include::Metadata, &object)["rows"][0]["object"];
    assert_eq!(partial["kind"], "PartialObjectMetadata");
    assert_eq!(partial["metadata"], json!({"resourceVersion": "7", "name": "a", "namespace": "ns"}));
    let whole = table(&kind, Include::Object, &object);
    assert_eq!(whole["rows"][0]["object"]["spec"], json!({"size": 1}));
    assert_eq!(whole["metadata"], json!({"resourceVersion": "7"}));
}

#[test]
fn streams_have_the_columns_once() {
    let kind = Widget::kind();
    let object = sample::object(&kind, "ns/b", 8, json!({}));
    let made = Table::new(Arc::new(kind), "meta.k8s.io/v1beta1", Include::None);
    let event = |with_columns| -> Value { serde_json::from_slice(&made.of_event(&object, with_columns)).unwrap() };
    assert_eq!(
        (&event(true)["apiVersion"], &event(true)["rows"]),
        (&json!("meta.k8s.io/v1beta1"), &event(false)["rows"])
    );
    assert_eq!(event(true)["columnDefinitions"][0]["name"], "Name");
    assert_eq!(event(false)["columnDefinitions"], Value::Null);
}

#[test]
fn include_is_checked_only_for_tables() {
    let query = [("includeObject", "Bogus")].into_iter().collect();
    let table = ResponseFormat { shape: Shape::Table, ..ResponseFormat::default() };
    assert!(Include::parse(&query, ResponseFormat::default()).is_ok());
    let error = Include::parse(&query, table).unwrap_err();
    assert_eq!(error.0.code, 400);
    let recorded = "Unable to convert to Table as requested: includeObject: Invalid value: \"Bogus\": must be 'Metadata', 'Object', 'None', or empty";
    assert_eq!(error.0.message, recorded);
}

#[test]
fn cells_together_are_not_much_larger_than_their_object() {
    let kind = Widget::kind().with(|_, version, _| {
        let cell = Cell::JsonPath(JsonPath::parse(".spec.*").unwrap());
        let column = Column { name: "Spec".to_owned(), cell, ..Column::age() };
        version.columns = vec![Column { kind: "string".to_owned(), ..column }; 100];
    });
    let cells = cells(&kind, json!({"spec": {"text": {"long": "x".repeat(10_000)}}}));
    let shown = cells.as_array().unwrap()[1..].iter().filter(|cell| cell.is_string()).count();
    assert!((4..10).contains(&shown), "{shown}");
    assert_eq!(cells[100], Value::Null);
}
