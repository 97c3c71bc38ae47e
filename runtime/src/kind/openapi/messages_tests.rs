//! Tests of Protobuf definitions beside OpenAPI documents.
use serde_json::{Value, json};

use super::{
    Source, read,
    tests::{errors, gears},
};
use crate::{
    codec::{Limits, protobuf},
    kind::{Kind, openapi::Described},
};

const PROTO: &str = r#"
// Gears. message Comment { string not = 1; }
syntax = "proto3";
package com.example.v1; import "other.proto";
option go_package = "a;b{";
enum Color { NONE = 0; }
message Gear {
  ObjectMeta metadata = 1;
  GearSpec spec = 2; /* a
  comment */ GearStatus status = 3;
  reserved 4 to 6;
  message GearStatus { string phase = 1; }
}
message GearSpec {
  int32 teeth = 1;
  optional int32 dents = 2 [deprecated = true];
  map<string, int32> marks = 3;
  repeated string names = 4;
  Size size = 5;
  string uID = 6;
  oneof one { string left = 7; .com.example.v1.Tip right = 8; }
  .k8s.io.apimachinery.pkg.apis.meta.v1.MicroTime at = 10;
  Inner inner = 11;
  string Renamed = 9 [json_name = "shown"];
}
message Size { int64 width = 1; Depth depth = 2; }
message Depth { int64 deep = 1; }
message Inner { string name = 1; }
message Tip { string text = 1; }
service Turning { rpc Turn(Gear) returns (Gear) {} }
"#;

fn spec() -> Value {
    let named = |kind: &str| json!({"type": kind});
    json!({"type": "object", "required": ["width"], "properties": {
        "teeth": {"type": "integer", "format": "int32"}, "dents": {"type": "integer", "format": "int32"},
        "marks": {"type": "object", "additionalProperties": named("integer")}, "names": {"type": "array", "items": named("string")},
        "width": named("integer"), "deep": named("integer"), "uid": named("string"), "left": named("string"),
        "at": {"type": "string", "format": "date-time"}, "inner": {"$ref": "#/components/schemas/com.example.v1.Inner"},
        "right": {"$ref": "#/components/schemas/com.example.v1.Tip"}, "shown": named("string")}})
}

fn document() -> Value {
    let tip = json!({"type": "object", "properties": {"text": {"type": "string"}}});
    let status = json!({"type": "object", "properties": {"phase": {"type": "string"}}});
    let inner = json!({"type": "object", "properties": {"apiVersion": {"type": "string"}, "kind": {"type": "string"},
        "name": {"type": "string"}}});
    let more = json!({"com.example.v1.Inner": inner, "com.example.v1.GearSpec": spec(), "com.example.v1.Tip": tip, "com.example.v1.Gear.GearStatus": status});
    let mut document = gears("v1", &json!({"$ref": "#/components/schemas/com.example.v1.GearSpec"}), &more);
    document["components"]["schemas"]["com.example.v1.Gear"]["properties"]["status"] =
        json!({"$ref": "#/components/schemas/com.example.v1.Gear.GearStatus"});
    document
}

fn described_with(proto: &str) -> Described {
    let text = document().to_string();
    let sources =
        [Source { name: "gears.proto", text: proto.as_bytes() }, Source { name: "gears.json", text: text.as_bytes() }];
    read(&sources).unwrap_or_else(|report| panic!("{report}"))
}

fn kind(described: &Described) -> Kind {
    described.resources[0].kinds().remove(0)
}

#[test]
fn objects_are_written_and_read_with_the_numbers_of_messages() {
    let described = described_with(PROTO);
    assert_eq!(described.warnings.0, []);
    let kind = kind(&described);
    let message = kind.message().expect("all fields have numbers");
    let object = json!({"apiVersion": "example.com/v1", "kind": "Gear", "metadata": {"name": "a"},
        "spec": {"teeth": 3, "dents": 0, "marks": {"a": 1}, "names": ["x"], "width": 0, "deep": 4, "uid": "u", "right": {"text": "t"},
            "at": "2026-01-01T00:00:00.000001Z", "inner": {"name": "i"}, "shown": "s"}, "status": {"phase": "turning"}});
    let sealed = protobuf::encode(message, &object).expect("a valid object");
    let envelope = protobuf::open(&sealed).expect("an envelope");
    assert_eq!(protobuf::object(message, &envelope, &Limits::default()), Ok(object));
    // Width and depth are in the message of the size, which is field 5; its first field is always there.
    let spec = [0x2a, 6, 0x08, 0, 0x12, 2, 0x08, 4];
    assert!(sealed.windows(spec.len()).any(|window| window == spec), "{sealed:x?}");
}

#[test]
fn fields_without_presence_are_absent_if_they_are_zero() {
    let properties = |proto: &str| kind(&described_with(proto)).version.schema.properties["spec"].properties.clone();
    let found = properties(PROTO);
    for (name, zero_is_absent, is_dropped) in [
        ("teeth", true, true),
        ("dents", false, false),
        ("width", true, false),
        ("left", false, false),
        ("uid", true, true),
    ] {
        assert_eq!((found[name].zero_is_absent, found[name].omit_empty), (zero_is_absent, is_dropped), "{name}");
    }
    let found = properties(&PROTO.replace("proto3", "proto2"));
    assert!(found.iter().all(|(_, field)| !field.zero_is_absent), "all fields of proto2 have presence");
}

#[test]
fn names_of_messages_are_those_of_schemas_with_the_domain_reversed() {
    let mut document = document().to_string().replace("com.example.v1.", "com.example.gear-shop.pkg.v1.");
    document = document.replace("{\"com.example.v1\"", "{");
    for package in ["com.example.gear_shop.pkg.v1", "example.com.gear_shop.pkg.v1", "gear_shop.example.com.pkg.v1"] {
        let proto = PROTO.replace("com.example.v1", package);
        let sources = [("a", proto.as_str()), ("b", document.as_str())];
        let read = read(&sources.map(|(name, text)| Source { name, text: text.as_bytes() })).expect("right documents");
        assert!(kind(&read).message().is_some(), "{package}");
    }
}

#[test]
fn a_field_without_a_number_keeps_its_kind_from_protobuf_with_a_warning() {
    let described = described_with(&PROTO.replace("repeated string names = 4;", ""));
    assert!(kind(&described).message().is_none());
    let warnings: Vec<_> =
        described.warnings.0.iter().map(|entry| format!("{} {}", entry.pointer, entry.message)).collect();
    assert_eq!(
        warnings,
        [
            "/components/schemas/com.example.v1.GearSpec/properties/names com.example.v1.GearSpec has no such field: its objects \
          are not served in Protobuf"
        ]
    );
    assert!(kind(&described_with("package other;")).message().is_none(), "there are no numbers at all");
    assert_eq!(described_with("package other;").warnings.0, []);
}

#[test]
fn what_is_wrong_in_definitions_is_reported_with_its_line() {
    let at = |proto: &str| {
        let report = read(&[Source { name: "a.proto", text: proto.as_bytes() }]).expect_err("a wrong file");
        report.0.iter().map(|entry| format!("{}: {}", entry.line, entry.message)).collect::<Vec<_>>()
    };
    for (proto, error) in [
        ("edition = \"2023\";", "1: found an edition; supported: the syntax proto2 or proto3"),
        ("syntax = \"proto4\";", "1: found the syntax \"proto4\"; supported: proto2, proto3"),
        ("package a;\nmessage A {\n  string a = 0;\n}", "3: a: found the number \"0\"; expected 1 to 536870911"),
        (
            "package a;\nmessage A { string a = 1;\n string b = 1; }",
            "3: b: another field of the message has the number 1",
        ),
        ("package a;\nmessage A {", "2: the file ends within a definition"),
        ("package a;\nmessage A [", "2: expected \"{\", found \"[\""),
        ("package a;\nfield", "2: found \"field\"; expected a definition, such as message"),
    ] {
        assert_eq!(at(proto), [error], "{proto}");
    }
    // Neither of these is a file of definitions.
    assert_eq!(errors(&[json!("package")]).len(), 1);
    assert!(
        read(&[Source { name: "a", text: b"package: a" }])
            .expect_err("YAML")
            .to_string()
            .contains("no document of a kind")
    );
}
