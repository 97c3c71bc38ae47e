//! Tests of the reader of stored values.
use std::sync::Arc;

use bytes::Bytes;
use serde_json::json;

use super::super::{
    reader::{Identity, KindReader, Validity, Values},
    record,
};
use crate::{
    cache::{Object, Reader},
    kind::{Resource, Versions, convert::Answers, model::Path},
    meta::Revision,
    schema::{self, Document, Schema, fixture},
    widget::Widget,
};

fn reader(schema: Schema) -> KindReader {
    selecting(schema, &["spec.color"])
}

fn selecting(schema: Schema, paths: &[&str]) -> KindReader {
    let kind = Widget::kind().with(|shared, version, _| {
        shared.group = "example.com".to_owned();
        version.schema = schema.into();
        version.selectable = paths.iter().map(|path| Path(path.split('.').map(str::to_owned).collect())).collect();
    });
    KindReader::new(Versions::new([kind]).expect("a kind"), Arc::new(Identity))
}

const KEY: &str = "/registry/example.com/widgets/ns/w";

fn write(reader: &KindReader, object: &Document, validity: Validity) -> Bytes {
    reader.write(KEY, object, validity, Values::Required, &Answers::none()).expect("identity").value
}

/// The object's JSON, the labels and the selectable fields that a reader finds.
fn found(reader: &KindReader, stored: &Bytes) -> (String, Vec<String>) {
    let object = Object::compose("ns/w", Revision(0), "", reader.read(KEY, stored));
    assert_eq!(object.unreadable(), None);
    let labels = object.labels().map(|(name, value)| format!("{name}={value}"));
    let texts = labels.chain(object.fields().map(str::to_owned)).collect();
    (String::from_utf8(object.json().to_vec()).expect("UTF-8"), texts)
}

const WIDGET: &str = r#"{"metadata":{"labels":{"unknown":"kept"},"name":"w"},"spec":{"color":"Red","size":1}}"#;

#[test]
fn what_is_written_is_read_without_a_copy() {
    let reader = reader(fixture::widget());
    let stored = write(&reader, &fixture::object(&json!({"size": 1, "color": "Red"})), Validity::Checked);
    assert_eq!(found(&reader, &stored), (WIDGET.to_owned(), vec!["unknown=kept".to_owned(), "Red".to_owned()]));
    let record = record::decode(&stored).expect("a record");
    assert_eq!(reader.read(KEY, &stored).body, Ok(record.body));
    assert!(!reader.read(KEY, &stored).renewed);
    assert_eq!(reader.type_meta(), r#""kind":"Widget","apiVersion":"example.com/v1","#);
}

#[test]
fn a_record_of_this_schema_is_read_without_a_look_into_its_body() {
    let reader = reader(fixture::widget());
    let mut object = fixture::object(&json!({"size": 1, "color": "Red"}));
    object["metadata"]["managedFields"] = json!([{"manager": "m"}]);
    let stored = write(&reader, &object, Validity::Checked).to_vec();
    let text = String::from_utf8_lossy(&stored).into_owned();
    // Only the parts that the header names remain valid JSON.
    let mut broken = stored.clone();
    for inner in ["\"labels\":{\"unknown\":\"kept\"}", "\"name\":\"w\"", "\"color\":\"Red\"", "{\"manager\":\"m\"}"] {
        let at = stored.windows(inner.len()).rposition(|window| window == inner.as_bytes()).expect(&text);
        broken[at + 1..at + inner.len()].fill(b'[');
    }
    let (json, texts) = found(&reader, &broken.into());
    assert!(serde_json::from_str::<Document>(&json).is_err(), "{json}");
    assert_eq!(texts, ["unknown=kept", "Red"]);
}

#[test]
fn a_record_of_layout_1_is_read_and_nothing_is_found_to_be_written_anew() {
    let reader = reader(fixture::widget());
    let fingerprint = schema::fingerprint(&fixture::widget()).to_le_bytes();
    for managed in ["", r#""managedFields":[{"manager":"m"}],"#] {
        let body = WIDGET.replace("\"name\"", &format!("{managed}\"name\""));
        let stored = [b"\x01", &fingerprint[..], b"\x02v1", body.as_bytes()].concat().into();
        assert_eq!(found(&reader, &stored), (body.clone(), vec!["unknown=kept".to_owned(), "Red".to_owned()]));
        assert!(!reader.read(KEY, &stored).renewed, "{body}");
        let older = [b"\x01", &[7; 8][..], b"\x02v1", body.as_bytes()].concat().into();
        let renewed = body.replace("\"size\"", "\"replicas\":1,\"size\"");
        assert_eq!(found(&reader, &older).0, renewed);
        assert!(reader.read(KEY, &older).renewed);
    }
}

#[test]
fn the_json_of_kube_apiserver_is_read_and_its_protobuf_is_named() {
    let reader = reader(fixture::widget());
    let json = WIDGET.replacen('{', r#"{"apiVersion":"example.com/v1","kind":"Widget","#, 1) + "\n";
    let (body, texts) = found(&reader, &json.clone().into());
    assert_eq!(body, WIDGET.replace("\"size\"", "\"replicas\":1,\"size\""), "with the defaults of the schema");
    assert_eq!(texts, ["unknown=kept", "Red"]);
    for (wrong, what) in [
        (json.replace("apiVersion", "version"), "no apiVersion"),
        (json.replace("metadata", "meta"), "no metadata"),
        (json[..json.len() - 3].to_owned(), "column"),
        ("k8s\0\n\u{b}".to_owned(), "Protobuf"),
    ] {
        let error = reader.read(KEY, &wrong.clone().into()).body.expect_err(&wrong);
        assert!(error.contains(what), "{wrong}: {error}");
    }
}

#[test]
fn fields_that_have_become_selectable_since_are_picked_out_of_the_body() {
    let object = fixture::object(&json!({"size": 1, "color": "Red"}));
    let stored = write(&selecting(fixture::widget(), &["spec.size"]), &object, Validity::Checked);
    for (paths, values) in
        [(&["spec.color"][..], &["Red"][..]), (&["spec.size", "spec.color"], &["1", "Red"]), (&[], &[])]
    {
        let reader = selecting(fixture::widget(), paths);
        assert_eq!(found(&reader, &stored).0, WIDGET, "{paths:?}");
        assert_eq!(found(&reader, &stored).1[1..], *values, "{paths:?}");
        assert!(!reader.read(KEY, &stored).renewed, "{paths:?}");
        assert_eq!(reader.take_invalid_objects(), None);
    }
}

#[test]
fn a_body_of_another_schema_is_defaulted_and_pruned() {
    let before = fixture::schema(&json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
        "size": {"type": "integer"}, "gone": {"type": "string"}}}}}));
    let object = fixture::object(&json!({"size": 1, "gone": "x"}));
    let stored = write(&reader(before), &object, Validity::Checked);
    let (json, texts) = found(&reader(fixture::widget()), &stored);
    assert!(json.ends_with(r#""spec":{"color":"Red","replicas":1,"size":1}}"#), "{json}");
    assert_eq!(texts, ["unknown=kept", "Red"]);
    assert!(reader(fixture::widget()).read(KEY, &stored).renewed);
}

#[test]
fn what_cannot_be_decoded_is_marked_with_the_reason() {
    let reader = reader(fixture::widget());
    let whole = write(&reader, &fixture::object(&json!({"size": 1})), Validity::Checked);
    let old = [b"\x01", &[7; 8][..], b"\x02v1", WIDGET.as_bytes()].concat().into();
    for stored in [whole, old] {
        for length in 0..stored.len() {
            let reading = reader.read(KEY, &stored.slice(..length));
            assert!(reading.body.is_err(), "{length} of {} bytes", stored.len());
        }
    }
    let reading = reader.read(KEY, &Bytes::from_static(b"\x01\0\0\0\0\0\0\0\0\x02v1{\"metadata\":{}"));
    assert_eq!(reading.body, Err("unexpected end of JSON input (line 1, column 15)".to_owned()));
}

#[test]
fn labels_of_what_cannot_be_renewed_are_known() {
    let reader = reader(fixture::widget());
    let mut stored = write(&reader, &fixture::object(&json!({"size": 1})), Validity::Checked).to_vec();
    stored[8] ^= 1;
    let end = stored.len() - 3;
    stored[end] = b'?';
    let object = Object::compose("ns/w", Revision(7), "", reader.read(KEY, &stored.into()));
    assert!(object.unreadable().is_some_and(|reason| reason.contains("invalid character '?'")), "{object:?}");
    assert_eq!(object.label("unknown"), Some("kept"));
}
