//! Tests of Protobuf definitions beside OpenAPI documents.
use serde_json::{Value, json};

use super::{errors, gears};
use crate::{
    codec::{Limits, protobuf},
    kind::Kind,
    openapi::{Described, Source, read},
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
        ("package a;\nmessage A { string a = 1;\n string b = 1; }", "3: b: the number 1 is already used by a"),
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

/// A manifest of gears whose spec has these properties.
fn manifest(spec: &Value) -> Value {
    let schema = json!({"type": "object", "properties": {"spec": {"type": "object", "properties": spec}}});
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "gears.example.com"},
        "spec": {"group": "example.com", "scope": "Namespaced", "names": {"plural": "gears", "kind": "Gear"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}]}})
}

/// The kind of a manifest with the numbers of definitions, or what is wrong.
fn numbered(spec: &Value, name: &str, proto: &str) -> Result<(Kind, Vec<String>), String> {
    let described = read(&[Source { name, text: proto.as_bytes() }]).map_err(|report| report.to_string())?;
    let manifest = crate::crd::read("gears.yaml", manifest(spec).to_string().as_bytes()).expect("a right manifest");
    let mut definition = manifest.definitions.into_iter().next().expect("a definition").definition;
    let warnings = described.complete(&mut definition).map_err(|report| report.to_string())?;
    let kind = definition.kinds(&crate::kind::Custom).remove(0);
    Ok((kind, warnings.0.iter().map(ToString::to_string).collect()))
}

const OF_A_MANIFEST: &str = "syntax = \"proto2\"; package com.example.v1;
import \"k8s.io/apimachinery/pkg/apis/meta/v1/generated.proto\";
message Gear { optional .k8s.io.apimachinery.pkg.apis.meta.v1.ObjectMeta metadata = 1; optional Wheel spec = 3; }
message Wheel {
  repeated Tooth teeth = 5;
  map<string, Tooth> named = 6;
  repeated Row rows = 7;
  repeated k8s.io.apimachinery.pkg.apis.meta.v1.Condition conditions = 8;
  reserved 9;
  reserved \"weight\";
}
message Tooth { optional int32 length = 2; }
message Row { repeated Tooth items = 1; }
";

fn teeth() -> Value {
    let tooth = json!({"type": "object", "properties": {"length": {"type": "integer", "format": "int32"}}});
    let text = json!({"type": "string"});
    let condition = json!({"type": "object", "required": ["type", "status"], "properties": {
        "type": text, "status": text, "reason": text, "message": text,
        "observedGeneration": {"type": "integer", "format": "int64"}, "lastTransitionTime": {"type": "string", "format": "date-time"}}});
    json!({"teeth": {"type": "array", "items": tooth}, "named": {"type": "object", "additionalProperties": tooth},
        "rows": {"type": "array", "items": {"type": "array", "items": tooth}},
        "conditions": {"type": "array", "items": condition}})
}

#[test]
fn kinds_of_manifests_have_the_numbers_of_the_messages_of_their_fields() {
    for (name, package) in
        [("a.proto", "com.example.v1"), ("example.com/v1.proto", "other"), ("a.proto", "github.com.example.pkg.v1")]
    {
        let proto = OF_A_MANIFEST.replace("package com.example.v1", &format!("package {package}"));
        let (kind, warnings) = numbered(&teeth(), name, &proto).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(warnings, Vec::<String>::new());
        let message =
            kind.message().unwrap_or_else(|| panic!("{package}: fields without numbers: {:?}", kind.version.schema));
        let object = json!({"apiVersion": "example.com/v1", "kind": "Gear", "metadata": {"name": "a"}, "spec": {
            "teeth": [{"length": 3}], "named": {"a": {"length": 4}}, "rows": [[{"length": 5}]],
            "conditions": [{"type": "Ready", "status": "True", "reason": "", "message": "", "lastTransitionTime": null}]}});
        let sealed = protobuf::encode(message, &object).expect("a valid object");
        // The spec is field 3, the teeth field 5, and a length field 2.
        let teeth = [0x2a, 2, 0x10, 3];
        assert!(sealed.windows(teeth.len()).any(|window| window == teeth), "{sealed:x?}");
    }
    assert!(
        numbered(&teeth(), "a.proto", &OF_A_MANIFEST.replace("com.example.v1", "com.example.v2"))
            .unwrap()
            .0
            .message()
            .is_none()
    );
}

const NEVER: &str = "a published type never changes: keep it, or add a field with another name and remove this one";

#[test]
fn what_contradicts_published_messages_is_refused_with_their_line() {
    let changed = |name: &str, to: Value| {
        let mut spec = teeth();
        spec[name] = to;
        numbered(&spec, "v1.proto", OF_A_MANIFEST).map(|(_, warnings)| warnings)
    };
    for (name, to, expected) in [
        ("teeth", json!({"type": "string"}), "5: document 1: `teeth` has the type `repeated Tooth`, not `string`; "),
        ("rows", teeth()["teeth"].clone(), ""),
        (
            "named",
            teeth()["teeth"].clone(),
            "6: document 1: `named` has the type `map<string, Tooth>`, not `repeated message`; ",
        ),
    ] {
        let found = changed(name, to);
        if expected.is_empty() {
            // A message of the teeth is not one of their rows, which the names of its fields tell.
            assert!(found.expect("no conflict of types")[0].contains("Row has no such field"));
        } else {
            assert_eq!(found, Err(format!("v1.proto:{expected}{NEVER}")), "{name}");
        }
    }
    let reserved = changed("weight", json!({"type": "string"})).expect_err("the name is reserved");
    assert!(
        reserved
            .starts_with("v1.proto:10: document 1: the name `weight` is reserved, since a field with it was removed"),
        "{reserved}"
    );
    let warnings = changed("color", json!({"type": "string"})).expect("no conflict");
    assert_eq!(warnings.len(), 1);
    assert!(
        warnings[0].contains("/properties/spec/properties/color: com.example.v1.Wheel has no such field"),
        "{warnings:?}"
    );
}
