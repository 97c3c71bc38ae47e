//! Ratcheting as a function of two documents: which errors of the new one are reported.
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::schema::{
    Decoder, Document, Meter, check_types_of_change,
    fixture::{object, schema, widget},
    origin, rest_is_kept, validate, validate_change,
};

fn told(new: &Document, old: &Document) -> Vec<String> {
    let errors =
        validate_change(&widget(), validate(&widget(), new, &Meter::default()).unwrap(), new, old, &Meter::default())
            .unwrap();
    errors.iter().map(ToString::to_string).collect()
}

fn all(document: &Document) -> Vec<String> {
    validate(&widget(), document, &Meter::default()).unwrap().iter().map(ToString::to_string).collect()
}

/// Specs of a Widget with few values, valid and invalid, so that two of them have much in common.
fn specs() -> impl Strategy<Value = Value> {
    let port = |name: &str, port: i64| json!({"name": name, "port": port});
    let pool: Vec<(&str, Vec<Value>)> = vec![
        ("size", vec![json!(5), json!(0), json!("x"), Value::Null]),
        ("color", vec![json!("Red"), json!("Mauve"), json!("Pink")]),
        (
            "ports",
            vec![
                json!([port("a", 1), port("b", 0)]),
                json!([port("b", 0), port("a", 1)]),
                json!([port("b", 0), port("b", 1)]),
                json!([port("c", 0), "x"]),
                json!([{}]),
            ],
        ),
        ("tags", vec![json!(["a", "b"]), json!(["b", "a"]), json!(["a", "a"]), json!([1])]),
        ("args", vec![json!(["1", "2", "3", "4", "5", "6"]), json!(["1", 2]), json!([])]),
        ("options", vec![json!({"a": "1", "b": 2}), json!({"b": 2}), json!({"a": 1, "b": 2, "c": 3, "d": 4})]),
        ("template", vec![json!({"env": [{"name": "a"}, {}]}), json!({"env": [{}]}), json!({"image": 1})]),
    ];
    let fields: Vec<_> = pool
        .into_iter()
        .map(|(name, values)| prop::option::of(prop::sample::select(values)).prop_map(move |value| (name, value)))
        .collect();
    fields.prop_map(|fields| {
        let fields = fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        Value::Object(fields.collect())
    })
}

proptest! {
    #[test]
    fn an_unchanged_document_has_no_errors(spec in specs()) {
        let mut document = object(&spec);
        let old = document.clone();
        prop_assert_eq!(told(&document, &old), Vec::<String>::new());
        prop_assert_eq!(check_types_of_change(Decoder::Json, &widget(), &document, &old, &Meter::default()), None);
        document["metadata"]["labels"] = json!({"other": "1"});
        document["status"] = json!({"phase": "Ready"});
        prop_assert_eq!(told(&document, &old), Vec::<String>::new());
    }

    #[test]
    fn a_change_reports_only_errors_of_the_document(new in specs(), old in specs()) {
        let (new, old) = (object(&new), object(&old));
        let (told, all) = (told(&new, &old), all(&new));
        prop_assert!(told.iter().all(|error| all.contains(error)), "{told:?} of {all:?}");
    }

    #[test]
    fn without_a_counterpart_all_errors_count(new in specs()) {
        let new = object(&new);
        prop_assert_eq!(told(&new, &json!({})), all(&new));
    }

    #[test]
    fn a_changed_value_that_stays_invalid_is_reported(old in specs()) {
        let (mut old, mut new) = (old.clone(), old);
        (old["color"], new["color"]) = (json!("Mauve"), json!("Pink"));
        let error = r#"spec.color: Unsupported value: "Pink": supported values: "Red", "Green", "Blue""#;
        prop_assert!(told(&object(&new), &object(&old)).contains(&error.to_owned()));
    }
}

#[test]
fn type_errors_count_by_value_too() {
    let config_map = schema(&json!({"type": "object", "title": "ConfigMap", "properties": {
        "data": {"type": "object", "additionalProperties": {"type": "string"}},
        "immutable": {"type": "boolean"}}}));
    let old = json!({"data": {"k": 7}});
    for (new, expected) in [
        (json!({"data": {"k": 7, "l": "x"}}), None),
        (
            json!({"data": {"l": 7}}),
            Some("json: cannot unmarshal number into Go struct field ConfigMap.data of type string"),
        ),
        (
            json!({"data": {"k": 7}, "immutable": "x"}),
            Some("json: cannot unmarshal string into Go struct field ConfigMap.immutable of type bool"),
        ),
    ] {
        assert_eq!(
            check_types_of_change(Decoder::Json, &config_map, &new, &old, &Meter::default()).as_deref(),
            expected,
            "{new}"
        );
    }
}

#[test]
fn the_rest_of_an_object_is_everything_except_metadata_and_status() {
    let old = json!({"metadata": {"name": "a"}, "spec": {"ports": [{"name": "a"}, {"name": "b"}]}, "status": {"n": 1}});
    for (change, kept) in [
        (json!({"metadata": {"name": "b"}}), true),
        (json!({"kind": "Widget", "apiVersion": "v1"}), true),
        (json!({"status": {"n": 2}}), true),
        (json!({"status": null}), true),
        (json!({"spec": {"ports": [{"name": "b"}, {"name": "a"}]}}), true),
        (json!({"spec": {"ports": [{"name": "b"}]}}), false),
        (json!({"spec": {}}), false),
        (json!({"more": 1}), false),
    ] {
        let mut new = old.clone();
        new.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        assert_eq!(rest_is_kept(&widget(), &new, &old), kept, "{change}");
    }
    let without = |name: &str| {
        let mut new = old.clone();
        new.as_object_mut().unwrap().remove(name);
        new
    };
    assert!(!rest_is_kept(&widget(), &without("status"), &old));
    assert!(!rest_is_kept(&widget(), &without("spec"), &old));
    assert!(rest_is_kept(&widget(), &old, &without("status")));
}

#[test]
fn a_path_leads_to_the_old_position_of_its_value() {
    let old = json!({"metadata": {"labels": {"a.b/c": "1"}}, "spec": {
        "ports": [{"name": "a", "port": 1}, {"name": "b", "port": 2}], "args": ["x", "y"], "tags": ["x"],
        "options": {"k.l": "1", "m": "1"}}});
    let new = json!({"metadata": {"labels": {"a.b/c": "1"}}, "spec": {
        "ports": [{"name": "b", "port": 2}, {"name": "c", "port": 3}, {"name": "a", "port": 5}], "args": ["x", "y"],
        "tags": ["x", "y"], "options": {"k.l": "1", "m": "2"}, "more": true}});
    for (path, was, kept) in [
        ("spec.ports[0].port", "spec.ports[1].port", true),
        ("spec.ports[0]", "spec.ports[1]", true),
        ("spec.ports[2]", "spec.ports[0]", false),
        ("spec.ports[2].name", "spec.ports[0].name", true),
        ("spec.ports[2].port", "spec.ports[0].port", false),
        ("spec.ports[1].port", "spec.ports[1].port", false),
        ("spec.ports[0].protocol", "spec.ports[1].protocol", true),
        ("spec.ports[7]", "spec.ports[7]", false),
        ("spec.ports", "spec.ports", false),
        ("spec.args[1]", "spec.args[1]", true),
        ("spec.tags[0]", "spec.tags[0]", false),
        ("spec.options.k.l", "spec.options.k.l", true),
        ("spec.options[k.l]", "spec.options[k.l]", true),
        ("spec.options[m]", "spec.options[m]", false),
        ("spec.options[n]", "spec.options[n]", false),
        ("spec.more", "spec.more", false),
        ("spec", "spec", false),
        ("metadata.labels[a.b/c]", "metadata.labels[a.b/c]", true),
        ("", "", false),
    ] {
        let origin = origin(&widget(), &new, &old, path);
        assert_eq!((origin.path.as_str(), origin.kept), (was, kept), "{path}");
    }
    let labelled = json!({"metadata": {"labels": {}}, "spec": old["spec"]});
    for path in ["", "spec.size", "metadata", "metadata.labels[x]", "no such path", "[]"] {
        assert!(origin(&widget(), &labelled, &old, path).kept, "{path:?} of an object whose labels changed");
    }
    let status = json!({"metadata": old["metadata"], "spec": old["spec"], "status": {"phase": "Ready"}});
    assert!(!origin(&widget(), &status, &old, "status.phase").kept);
}
