//! Tests of the parts of an object.
use super::{super::Texts, *};

const META: &str = r#""kind":"ConfigMap","apiVersion":"v1","#;

fn decoded(body: &str) -> DecodedValue {
    let texts = Texts::new([("app", "x"), ("é", "")], ["red", ""]);
    DecodedValue { texts, ..DecodedValue::plain(Ok(body.into())) }
}

#[test]
fn every_part_is_a_slice_of_the_frame() {
    let body = r#"{"metadata":{"name":"a","note":"}\"{"},"data":{"k":"1"}}"#;
    let object = Object::compose("ns/a", Revision(12), META, decoded(body));
    let metadata = r#"{"resourceVersion":"12","name":"a","note":"}\"{"}"#;
    let item = format!(r#""metadata":{metadata},"data":{{"k":"1"}}}}"#);
    let json = format!("{{{META}{item}");
    assert_eq!(object.json(), json);
    assert_eq!(object.item_bytes(), item.as_bytes());
    assert_eq!(object.metadata_bytes(), metadata.as_bytes());
    assert_eq!(object.frame(), format!("{{\"type\":\"ADDED\",\"object\":{json}}}\n"));
    assert_eq!(object.frame_as(EventType::Modified), format!("{{\"type\":\"MODIFIED\",\"object\":{json}}}\n"));
    assert_eq!((object.key(), object.namespace(), object.name()), ("ns/a", "ns", "a"));
    assert_eq!(object.labels().collect::<Vec<_>>(), [("app", "x"), ("é", "")]);
    assert_eq!(object.label("app"), Some("x"));
    assert_eq!(object.fields().collect::<Vec<_>>(), ["red", ""]);
    assert_eq!((object.field(0), object.field(7)), ("red", ""));
}

#[test]
fn revision_zero_omits_the_version_and_a_deletion_adds_it() {
    let body = r#"{"metadata":{"name":"a"}}"#;
    let object = Object::compose("a", Revision(0), META, decoded(body));
    assert_eq!(object.metadata_bytes(), br#"{"name":"a"}"#);
    let gone = object.deleted_at(Revision(5));
    assert_eq!(gone.metadata_bytes(), br#"{"resourceVersion":"5","name":"a"}"#);
}

#[test]
fn a_deletion_is_the_old_body_with_the_new_revision() {
    let body = r#"{"metadata":{"name":"a"},"data":{"k":"1"}}"#;
    let object = Object::compose_as(EventType::Modified, "ns/a", Revision(99), META, decoded(body));
    let gone = object.deleted_at(Revision(100));
    let expected = Object::compose_as(EventType::Deleted, "ns/a", Revision(100), META, decoded(body));
    assert_eq!(gone.frame(), expected.frame());
    assert_eq!(gone.item_bytes(), expected.item_bytes());
    assert_eq!(gone.metadata_bytes(), expected.metadata_bytes());
    assert_eq!(gone.revision(), Revision(100));
    assert_eq!(gone.label("app"), Some("x"));
}

#[test]
fn managed_fields_are_a_slice_and_can_be_left_out() {
    let managed = Bytes::from_static(br#"[{"manager":"m"}]"#);
    for (metadata, at) in [(r#"{"a":1,"name":"x"}"#, 7), (r#"{"a":1}"#, 6), (r#"{"name":"x"}"#, 1), ("{}", 1)] {
        let text = format!("{{\"metadata\":{metadata}}}");
        let body = |managed| Body::new(text.clone().into(), text.len() - 1, at + 12, managed).expect("a body");
        for revision in [Revision(0), Revision(7)] {
            let compose = |managed| Object::compose("x", revision, META, DecodedValue::plain(Ok(body(managed))));
            let (with, without) = (compose(managed.clone()), compose(Bytes::new()));
            for (with, without) in [
                (with.deleted_at(Revision(10)), without.deleted_at(Revision(10))),
                (with.deleted_at(Revision(9)).deleted_at(Revision(10)), without.deleted_at(Revision(10))),
                (with, without),
            ] {
                assert_eq!(with.managed_fields(), managed, "{metadata}");
                assert_eq!(with.without_managed_fields(), without.json_bytes(), "{metadata}");
                assert_eq!(
                    (without.managed_fields(), without.without_managed_fields()),
                    (&b""[..], without.json().to_vec())
                );
                serde_json::from_slice::<serde_json::Value>(with.json_bytes()).expect("JSON");
                serde_json::from_slice::<serde_json::Value>(with.metadata_bytes()).expect("JSON");
            }
        }
    }
}

#[test]
fn an_unreadable_object_is_marked_and_shows_its_key() {
    let object = Object::compose("ns/a\"b", Revision(3), META, DecodedValue::plain(Err("garbage".to_owned())));
    assert_eq!(object.unreadable(), Some("garbage"));
    let json: serde_json::Value = serde_json::from_slice(object.json_bytes()).expect("valid JSON");
    assert_eq!(json["metadata"]["name"], "a\"b");
    assert_eq!(json["metadata"]["resourceVersion"], "3");
}
