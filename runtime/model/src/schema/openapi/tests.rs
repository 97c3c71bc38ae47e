//! Tests of schemas in OpenAPI.
use std::sync::Arc;

use super::*;
use crate::schema::fixture;

fn named(name: &str, properties: &[(&str, Schema)]) -> Schema {
    Schema {
        kind: Type::Object,
        name: Some(name.to_owned()),
        properties: properties.iter().map(|(name, schema)| ((*name).to_owned(), schema.clone())).collect(),
        ..Schema::default()
    }
}

/// The definitions that come with a schema, by their names, and that of the schema itself as `Root`.
fn shown(prefix: &str, schema: &Schema, version: Version, of_objects: &[(&str, Arc<[u8]>)]) -> Document {
    shown_of((prefix, false), schema, version, of_objects)
}

fn shown_of(
    (prefix, is_custom): (&str, bool),
    schema: &Schema,
    version: Version,
    of_objects: &[(&str, Arc<[u8]>)],
) -> Document {
    let mut out = Definitions::new();
    define((prefix, "Root"), schema, (version, is_custom), of_objects, |out| out.put("x-also", &true), &mut out);
    out.into_iter().map(|(name, text)| (name, serde_json::from_slice::<Document>(&text).unwrap())).collect()
}

#[test]
fn every_object_has_the_fields_of_objects() {
    let template = Schema { embedded: true, ..named("Template", &[]) };
    let root = named("Widget", &[("template", template), ("other", named("Other", &[]))]);
    let of_objects = [("kind", Arc::from(br#"{"type": "string"}"#.as_slice()))];
    let shown = shown("p", &root, Version::V3, &of_objects);
    assert_eq!(shown["Root"]["properties"]["kind"], json!({"type": "string"}));
    assert_eq!(shown["Root"]["x-also"], true);
    assert_eq!(shown["p.Template"]["properties"]["kind"], json!({"type": "string"}));
    assert!(shown["p.Other"].get("properties").is_none());
}

#[test]
fn a_named_type_is_defined_once_and_referred_to() {
    let port = named("Port", &[("port", Schema { kind: Type::Integer, minimum: Some(1.0), ..Schema::default() })]);
    let described = Schema { description: "The second.".to_owned(), ..port.clone() };
    let root = named("Widget", &[("a", port), ("b", described)]);
    let out = shown("com.example.v1", &root, Version::V3, &[]);
    assert_eq!(out.as_object().unwrap().keys().collect::<Vec<_>>(), ["Root", "com.example.v1.Port"]);
    let properties = &out["Root"]["properties"];
    assert_eq!(properties["a"], json!({"$ref": "#/components/schemas/com.example.v1.Port"}));
    assert_eq!(
        properties["b"],
        json!({"description": "The second.", "allOf": [{"$ref": "#/components/schemas/com.example.v1.Port"}]})
    );
    assert_eq!(out["com.example.v1.Port"]["properties"]["port"], json!({"type": "integer", "minimum": 1}));
}

#[test]
fn two_types_of_one_name_are_told_apart() {
    let one = named("Part", &[("x", Schema { kind: Type::String, ..Schema::default() })]);
    let two = named("Part", &[("y", Schema { kind: Type::Boolean, ..Schema::default() })]);
    let root = named("Widget", &[("one", one), ("two", two)]);
    let out = shown("p", &root, Version::V2, &[]);
    assert_eq!(out["Root"]["properties"]["two"], json!({"$ref": "#/definitions/p.Part_2"}));
    assert_eq!(out["p.Part_2"]["properties"]["y"]["type"], "boolean");
}

#[test]
fn junctors_are_shown_in_version_3_and_left_out_of_version_2() {
    let said = json!({
        "allOf": [{"minLength": 1, "format": "date"}],
        "anyOf": [{"pattern": "^a"}, {"not": {"enum": ["b"]}}],
        "oneOf": [{"required": ["a"], "properties": {"a": {"minimum": 1}}}, {"items": {"maxLength": 2}, "minItems": 1}],
        "not": {"oneOf": [{"maxLength": 9}, {"exclusiveMinimum": true, "minimum": 0.5}]}});
    let mut v3 = said.clone();
    v3["type"] = json!("string");
    let fields = json!({"spec": v3});
    let root = fixture::schema(&json!({"type": "object", "properties": fields}));
    for (version, expected) in [(Version::V3, v3), (Version::V2, json!({"type": "string"}))] {
        assert_eq!(shown("p", &root, version, &[])["Root"]["properties"]["spec"], expected);
    }
    let mut int_or_string = said;
    int_or_string["x-kubernetes-int-or-string"] = json!(true);
    let root = fixture::schema(&json!({"type": "object", "properties": {"spec": int_or_string}}));
    let shown = &shown("p", &root, Version::V3, &[])["Root"]["properties"]["spec"];
    assert_eq!(shown["oneOf"], int_or_string["oneOf"]);
    let types = json!({"oneOf": [{"type": "integer"}, {"type": "string"}]});
    assert_eq!(shown["allOf"], json!([types, {"minLength": 1, "format": "date"}]));
}

#[test]
fn lists_say_how_they_merge() {
    let list = Schema {
        kind: Type::Array,
        list: ListType::Map(vec!["name".to_owned()]),
        items: Some(Arc::new(Schema { kind: Type::Object, ..Schema::default() })),
        ..Schema::default()
    };
    let root = named("Widget", &[("list", list)]);
    let shown = &shown("p", &root, Version::V3, &[])["Root"]["properties"]["list"];
    assert_eq!(shown["x-kubernetes-list-type"], "map");
    assert_eq!(shown["x-kubernetes-list-map-keys"], json!(["name"]));
}

/// The spec of a custom resource with these fields in version 2.
fn custom_spec(fields: &Document) -> Document {
    let root = fixture::schema(&json!({"type": "object", "properties": {"spec": fields}}));
    let of_objects = [("kind", Arc::from(br#"{"type": "string"}"#.as_slice()))];
    shown_of(("p", true), &root, Version::V2, &of_objects)["Root"]["properties"]["spec"].clone()
}

#[test]
fn version_2_of_custom_resources_says_nothing_of_values_that_keep_unknown_fields() {
    const KEEPS: &str = "x-kubernetes-preserve-unknown-fields";
    let text = json!({"type": "string"});
    for (declared, expected) in [
        (json!({"type": "object", KEEPS: true, "properties": {"a": text}}), json!({KEEPS: true})),
        (
            json!({"type": "object", KEEPS: true, "required": ["a"], "properties": {"a": text}}),
            json!({KEEPS: true, "required": ["a"]}),
        ),
        (
            json!({"type": "object", KEEPS: true, "x-kubernetes-embedded-resource": true, "properties": {"a": text}}),
            json!({KEEPS: true, "x-kubernetes-embedded-resource": true}),
        ),
        (
            json!({"type": "object", "x-kubernetes-embedded-resource": true}),
            json!({"type": "object", "x-kubernetes-embedded-resource": true, "properties": {"kind": text}}),
        ),
        (
            json!({"type": "array", "items": {"type": "object", KEEPS: true, "properties": {"a": text}}}),
            json!({"type": "array", "items": {KEEPS: true}, "x-kubernetes-list-type": "atomic"}),
        ),
        (
            json!({"type": "array", KEEPS: true, "items": text}),
            json!({KEEPS: true, "x-kubernetes-list-type": "atomic"}),
        ),
        (json!({"type": "string", KEEPS: true}), json!({"type": "string", KEEPS: true})),
        (
            json!({"type": "object", "additionalProperties": {"type": "object", KEEPS: true}}),
            json!({"type": "object", "additionalProperties": {KEEPS: true}}),
        ),
    ] {
        assert_eq!(custom_spec(&declared), expected, "{declared}");
    }
}

#[test]
fn version_2_of_custom_resources_says_nothing_of_nullable_values_and_of_several_types() {
    let text = json!({"type": "string"});
    let nullable = |mut schema: Document| {
        schema["nullable"] = true.into();
        schema
    };
    let object = json!({"type": "object", "required": ["a"], "properties": {"a": text}});
    for (declared, expected) in [
        (nullable(json!({"type": "string", "maxLength": 5})), json!({"maxLength": 5})),
        (nullable(object.clone()), json!({"required": ["a"]})),
        (nullable(json!({"type": "array", "items": text})), json!({"x-kubernetes-list-type": "atomic"})),
        (
            json!({"type": "object", "required": ["a", "b"], "properties": {"a": nullable(text.clone()), "b": text}}),
            json!({"type": "object", "required": ["b"], "properties": {"a": {}, "b": text}}),
        ),
        (
            json!({"type": "object", "required": ["a"], "properties": {"a": nullable(text.clone())}}),
            json!({"type": "object", "properties": {"a": {}}}),
        ),
        (
            json!({"type": "object", "additionalProperties": nullable(text.clone())}),
            json!({"type": "object", "additionalProperties": {}}),
        ),
        (json!({"x-kubernetes-int-or-string": true}), json!({"x-kubernetes-int-or-string": true})),
    ] {
        assert_eq!(custom_spec(&declared), expected, "{declared}");
    }
}

#[test]
fn version_2_of_a_custom_resource_that_keeps_all_fields_has_none() {
    let root = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {"spec": {"type": "object"}}});
    let root = fixture::schema(&root);
    let of_objects = [("kind", Arc::from(br#"{"type": "string"}"#.as_slice()))];
    let shown = |version, is_custom| shown_of(("p", is_custom), &root, version, &of_objects)["Root"].clone();
    assert_eq!(shown(Version::V2, true), json!({"type": "object", "x-also": true}));
    for whole in [shown(Version::V3, true), shown(Version::V2, false)] {
        assert!(whole["properties"]["spec"].is_object() && whole["properties"]["kind"].is_object(), "{whole}");
    }
}
