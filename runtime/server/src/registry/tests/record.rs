//! Tests of the layouts of records.
use std::collections::BTreeMap;

use bytes::Bytes;
use proptest::prelude::*;
use serde_json::json;

use super::super::{
    index::Indexes,
    record::{decode, encode, object_size, upgrade},
};
use crate::{
    cache::{DecodedValue, Object, Texts},
    codec,
    kind::model::Path,
    meta::Revision,
    schema::Document,
};

fn indexes() -> Indexes {
    Indexes::of_paths(&[Path(vec!["spec".to_owned(), "color".to_owned()])])
}

fn object() -> Document {
    json!({
        "apiVersion": "example.com/v1beta2", "kind": "X", "spec": {"color": "Red"},
        "metadata": {"name": "a", "resourceVersion": "7", "labels": {"x": "y"}, "managedFields": [{}]},
    })
}

/// The stored form of `object` in layout 1.
const OLD: &[u8] = b"\x01\xef\xcd\xab\x89\x67\x45\x23\x01\x07v1beta2\
    {\"metadata\":{\"labels\":{\"x\":\"y\"},\"managedFields\":[{}],\"name\":\"a\"},\"spec\":{\"color\":\"Red\"}}";

/// The same in layout 2, without the fingerprint of the paths.
const HEAD: &[u8] = b"\x02\xef\xcd\xab\x89\x67\x45\x23\x01\
    \x3b\0\0\0\x04\0\0\0\x43\0\0\0\x2b\0\0\0\x20\0\0\0\
    \x07\0\0\0v1beta2\
    \x01\0\0\0\x01\0\0\0x\x01\0\0\0y\
    \x01\0\0\0\x07\0\0\0v1beta2";
const REST: &[u8] = b"\x01\0\0\0\x03\0\0\0Red\
    [{}]\
    {\"metadata\":{\"labels\":{\"x\":\"y\"},\"name\":\"a\"},\"spec\":{\"color\":\"Red\"}}";

#[test]
fn a_record_has_the_documented_layout() {
    let stored = encode("v1beta2", 0x0123_4567_89ab_cdef, [("v1beta2", &indexes(), &object())], &object());
    let paths = indexes().fingerprint().to_le_bytes();
    assert_eq!(stored.escape_ascii().to_string(), [HEAD, &paths, REST].concat().escape_ascii().to_string());
    assert_eq!(upgrade(Bytes::from_static(OLD), &indexes()).expect("a record of layout 1"), stored);
    assert_eq!(upgrade(stored.clone().into(), &indexes()), Ok(stored.clone().into()));
    let stored = Bytes::from(stored);
    let record = decode(&stored).expect("a record");
    assert_eq!((record.version, record.fingerprint), ("v1beta2", 0x0123_4567_89ab_cdef));
    assert_eq!(record.labels, [("x", "y")]);
    assert_eq!(record.values("v1beta2", indexes().fingerprint()), Some(&["Red"][..]));
    assert_eq!((record.values("v1", indexes().fingerprint()), record.values("v1beta2", 7)), (None, None));
    assert_eq!(record.body.json(), OLD[17..]);
    assert_eq!(object_size(&stored), "[{}]".len() + 0x43);
}

/// Reads a record like the cache. No input may cause a panic.
fn read(stored: Vec<u8>) -> Result<Object, String> {
    let stored = upgrade(stored.into(), &indexes())?;
    let record = decode(&stored)?;
    let values = record.values("v1", indexes().fingerprint()).unwrap_or_default();
    let texts = Texts::new(record.labels.iter().copied(), values.iter().copied());
    let object =
        Object::compose("ns/a", Revision(7), "", DecodedValue { texts, ..DecodedValue::plain(Ok(record.body)) });
    let gone = object.deleted_at(Revision(10));
    for object in [&object, &gone] {
        assert!(object.without_managed_fields().len() + object.managed_fields().len() <= object.json().len());
        assert!(object.metadata_bytes().starts_with(b"{") && object.metadata_bytes().ends_with(b"}"));
    }
    Ok(object)
}

#[test]
fn changed_and_missing_bytes_never_panic() {
    let bare = json!({"metadata": {}});
    let alone = json!({"metadata": {"managedFields": [{"manager": "m"}]}, "data": {"k": "v"}});
    let records = [&object(), &bare, &alone].map(|object| encode("v1", 1, [("v1", &indexes(), object)], object));
    for whole in records.into_iter().chain([OLD.to_vec()]) {
        read(whole.clone()).expect("a record");
        for length in 0..whole.len() {
            read(whole[..length].to_vec()).expect_err("it was cut");
            read([&whole[..], &whole[length..]].concat()).expect_err("it is longer than it says");
        }
        for at in 0..whole.len() {
            for byte in 0..=u8::MAX {
                let mut changed = whole.clone();
                changed[at] = byte;
                let read = read(changed);
                let in_lengths = whole[0] == 2 && (9..21).contains(&at);
                assert!(!in_lengths || byte == whole[at] || read.is_err(), "byte {at} is {byte}: {read:?}");
            }
        }
    }
    let layout = read(vec![9, 0, 0]).expect_err("another layout");
    assert!(layout.contains("layout 9"), "{layout}");
}

fn value() -> impl Strategy<Value = Document> {
    let leaf = prop_oneof![
        Just(Document::Null),
        any::<bool>().prop_map(Document::from),
        any::<i64>().prop_map(Document::from),
        "\\PC{0,6}".prop_map(Document::from),
        Just("}\\\"{,".into()),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Document::from),
            prop::collection::btree_map("\\PC{0,6}", inner, 0..4).prop_map(|map| map.into_iter().collect()),
        ]
    })
}

fn members(names: &'static [&'static str]) -> impl Strategy<Value = BTreeMap<String, Document>> {
    let name = prop_oneof![prop::sample::select(names).prop_map(str::to_owned), "\\PC{0,6}"];
    prop::collection::btree_map(name, value(), 0..6)
}

proptest! {
    /// Clients get the object as the codec prints it: its type and its version first, everything else sorted.
    #[test]
    fn what_is_stored_is_shown_as_the_codec_prints_it(
        metadata in members(&["annotations", "labels", "managedFields", "name", "resourceVersion", "uid"]),
        rest in members(&["apiVersion", "data", "kind", "spec"]),
        revision in 0..2_000u64,
    ) {
        let mut object = Document::from_iter(rest);
        object["metadata"] = Document::from_iter(metadata);
        let stored = Bytes::from(encode("v1", 1, [("v1", &indexes(), &object)], &object));
        let record = decode(&stored).expect("a record");

        let mut metadata = object["metadata"].take();
        let fields = metadata.as_object_mut().expect("an object");
        fields.remove("resourceVersion");
        let print = |document: &Document| {
            let mut text = Vec::new();
            codec::encode(document, &mut text);
            String::from_utf8(text).expect("UTF-8")
        };
        let managed = fields.get("managedFields").map(print).unwrap_or_default();
        let labels: Vec<_> = fields.get("labels").and_then(Document::as_object).into_iter().flatten()
            .filter_map(|(name, value)| Some((name.as_str(), value.as_str()?))).collect();
        prop_assert_eq!(&record.labels, &labels);

        let members = |object: &Document| print(object)[1..].to_owned();
        let version = match (revision, fields.is_empty()) {
            (0, _) => String::new(),
            (_, true) => format!("\"resourceVersion\":\"{revision}\""),
            _ => format!("\"resourceVersion\":\"{revision}\","),
        };
        let top = object.as_object_mut().expect("an object");
        for name in ["metadata", "apiVersion", "kind"] {
            top.remove(name);
        }
        let comma = if top.is_empty() { "" } else { "," };
        let expected = |metadata: &Document| {
            format!("{{\"kind\":\"X\",\"metadata\":{{{version}{}{comma}{}", members(metadata), members(&object))
        };
        let decoded = DecodedValue::plain(Ok(record.body));
        let composed = Object::compose("ns/a", Revision(revision), "\"kind\":\"X\",", decoded);
        prop_assert_eq!(String::from_utf8_lossy(composed.json_bytes()), expected(&metadata));
        prop_assert_eq!(String::from_utf8_lossy(composed.managed_fields()), managed);
        let shown: Document = serde_json::from_slice(composed.metadata_bytes()).expect("JSON");
        if revision > 0 {
            metadata["resourceVersion"] = revision.to_string().into();
        }
        prop_assert_eq!(&shown, &metadata);
        metadata.as_object_mut().expect("an object").remove("managedFields");
        let whole: Document = serde_json::from_slice(&composed.without_managed_fields()).expect("JSON");
        prop_assert_eq!(&whole["metadata"], &metadata);
    }
}
