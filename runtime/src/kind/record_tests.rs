//! Tests of the reader of stored values.
use std::sync::Arc;

use serde_json::json;

use super::{
    Kind,
    model::{Hooks, NameRule, Path, Scope},
    policy::Custom,
    record::{self, Fit, Identity, KindReader},
};
use crate::{
    cache::Reader,
    meta::GroupVersion,
    schema::{Schema, fixture},
};

fn reader(schema: Schema) -> KindReader {
    let kind = Kind {
        group_version: GroupVersion { group: "example.com".to_owned(), version: "v1".to_owned() },
        kind: "Widget".to_owned(),
        list_kind: "WidgetList".to_owned(),
        plural: "widgets".to_owned(),
        singular: "widget".to_owned(),
        short_names: Vec::new(),
        categories: Vec::new(),
        scope: Scope::Namespaced,
        policy: &Custom,
        names: NameRule::Subdomain,
        schema: Arc::new(schema),
        strategic: false,
        status: true,
        generation: true,
        scale: None,
        columns: Vec::new(),
        selectable: vec![Path(vec!["spec".to_owned(), "color".to_owned()])],
        update_without_version: false,
        create_on_update: false,
        stored: true,
        subresources: Vec::new(),
        grace: None,
        hooks: Hooks::default(),
    };
    KindReader::new(Arc::new(kind), Arc::new(Identity))
}

const KEY: &str = "/registry/example.com/widgets/ns/w";

#[test]
fn what_is_written_is_read_without_a_copy() {
    let reader = reader(fixture::widget());
    let object = fixture::object(&json!({"size": 1, "color": "Red"}));
    let stored = reader.write(KEY, &object, Fit::Checked).expect("identity");
    let reading = reader.read(KEY, &stored);
    assert_eq!(
        reading.body,
        br#"{"metadata":{"labels":{"unknown":"kept"},"name":"w"},"spec":{"color":"Red","size":1}}"#[..]
    );
    assert!(stored.as_ptr_range().contains(&reading.body.as_ptr()), "the body is a slice of the stored value");
    assert_eq!(reading.labels, [("unknown".into(), "kept".into())]);
    assert_eq!(reading.fields, ["Red".into()]);
    assert_eq!(reading.unreadable, None);
    assert_eq!(reader.type_meta(), r#""kind":"Widget","apiVersion":"example.com/v1","#);
    assert_eq!(reader.selectable(), ["spec.color"]);
}

#[test]
fn a_body_of_another_schema_is_defaulted_and_pruned() {
    let before = fixture::schema(&json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
        "size": {"type": "integer"}, "gone": {"type": "string"}}}}}));
    let object = fixture::object(&json!({"size": 1, "gone": "x"}));
    let stored = reader(before).write(KEY, &object, Fit::Checked).expect("identity");
    let reading = reader(fixture::widget()).read(KEY, &stored);
    let spec = r#""spec":{"color":"Red","replicas":1,"size":1}}"#;
    assert!(std::str::from_utf8(&reading.body).expect("UTF-8").ends_with(spec), "{:?}", reading.body);
    assert_eq!(reading.fields, ["Red".into()]);
}

#[test]
fn what_cannot_be_decoded_is_marked_with_the_reason() {
    let reader = reader(fixture::widget());
    let whole = reader.write(KEY, &fixture::object(&json!({"size": 1})), Fit::Checked).expect("identity");
    for length in 0..whole.len() {
        let reading = reader.read(KEY, &whole.slice(..length));
        assert!(reading.unreadable.is_some(), "{length} of {} bytes", whole.len());
    }
    let mut other = record::encode("v1", 1, &json!({}));
    other.truncate(other.len() - 1);
    let reading = reader.read(KEY, &other.into());
    assert_eq!(reading.unreadable.as_deref(), Some("unexpected end of JSON input (line 1, column 15)"));
}
