//! Field numbers by a lock: the derive reads a published `.proto` file.
use std::collections::BTreeMap;

use kindsmith::{ApiType, Message, ObjectMeta, Resource, kind::proto, schema::Schema};
use serde::{Deserialize, Serialize};

/// A volume of a library.
#[derive(Resource, Message, Clone, Debug, Default, PartialEq)]
#[resource(group = "library.example.com", version = "v1", proto = "derive/locks/v1.proto")]
struct Volume {
    metadata: ObjectMeta,
    spec: VolumeSpec,
}

#[derive(ApiType, Message, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[api(proto = "derive/locks/v1.proto")]
struct VolumeSpec {
    #[serde(default)]
    author: String,
    // Said twice, and the same.
    #[api(proto = 1)]
    pages: Option<i32>,
    #[serde(default)]
    parts: Vec<Part>,
    binding: Option<Binding>,
    cover: Option<Cover>,
    #[serde(default)]
    copies: BTreeMap<String, i64>,
}

#[derive(ApiType, Message, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[api(proto = "derive/locks/v1.proto")]
struct Part {
    name: String,
}

#[derive(ApiType, Message, Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
enum Binding {
    #[default]
    Hard,
    Soft,
}

#[derive(ApiType, Message, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[api(proto = "derive/locks/v1.proto")]
enum Cover {
    Colour(String),
    Picture { by: String },
}

fn numbers(schema: &Schema) -> BTreeMap<&str, u32> {
    schema.properties.iter().map(|(name, field)| (name.as_str(), field.protobuf.unwrap_or_default())).collect()
}

#[test]
fn fields_have_the_numbers_of_the_lock() {
    let kind = Volume::kind();
    let spec = &kind.version.schema.properties["spec"];
    assert_eq!(spec.protobuf, Some(7));
    let expected = [("author", 5), ("binding", 6), ("copies", 10), ("cover", 8), ("pages", 1), ("parts", 9)];
    assert_eq!(numbers(spec), BTreeMap::from(expected));
    let cover = &spec.properties["cover"];
    assert_eq!(numbers(cover), BTreeMap::from([("colour", 2), ("picture", 1)]));
    assert_eq!(numbers(&cover.properties["picture"]), BTreeMap::from([("by", 4)]));
    assert!(kind.message().is_some(), "it is served in Protobuf");
}

#[test]
fn the_exported_definition_has_them_too() {
    let files = proto::files(&[Volume::kind()]);
    let file = files.iter().find(|file| file.path.starts_with("library.example.com/")).expect("a file of the group");
    for line in ["optional VolumeSpec spec = 7;", "optional string author = 5;", "repeated Part parts = 9;"] {
        assert!(file.text.lines().any(|found| found.trim() == line), "{line}: {}", file.text);
    }
}

#[test]
fn messages_in_rust_have_the_same_bytes() {
    let spec = VolumeSpec { author: "a".to_owned(), pages: Some(3), ..VolumeSpec::default() };
    let bytes = kindsmith::message::prost::Message::encode_to_vec(&spec);
    // Fields in the order of their numbers: pages = 1, author = 5.
    assert_eq!(bytes, [0x08, 3, 0x2a, 1, b'a']);
}
