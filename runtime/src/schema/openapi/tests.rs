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

fn shown(prefix: &str, schema: &Schema, version: Version, out: &mut BTreeMap<String, Document>) -> Document {
    Document::Object(definitions(prefix, schema, version, &Map::new(), out))
}

#[test]
fn every_object_has_the_fields_of_objects() {
    let template = Schema { embedded: true, ..named("Template", &[]) };
    let root = named("Widget", &[("template", template), ("other", named("Other", &[]))]);
    let of_objects = json!({"kind": {"type": "string"}}).as_object().cloned().expect("an object");
    let mut out = BTreeMap::new();
    let shown = definitions("p", &root, Version::V3, &of_objects, &mut out);
    assert_eq!(shown["properties"]["kind"], json!({"type": "string"}));
    assert_eq!(out["p.Template"]["properties"]["kind"], json!({"type": "string"}));
    assert!(out["p.Other"].get("properties").is_none());
}

#[test]
fn a_named_type_is_defined_once_and_referred_to() {
    let port = named("Port", &[("port", Schema { kind: Type::Integer, minimum: Some(1.0), ..Schema::default() })]);
    let described = Schema { description: "The second.".to_owned(), ..port.clone() };
    let root = named("Widget", &[("a", port), ("b", described)]);
    let mut out = BTreeMap::new();
    let widget = shown("com.example.v1", &root, Version::V3, &mut out);
    assert_eq!(out.keys().collect::<Vec<_>>(), ["com.example.v1.Port"]);
    let properties = &widget["properties"];
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
    let mut out = BTreeMap::new();
    let widget = shown("p", &root, Version::V2, &mut out);
    assert_eq!(widget["properties"]["two"], json!({"$ref": "#/definitions/p.Part_2"}));
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
    let v2 = json!({"type": "string"});
    for (version, expected) in [(Version::V3, v3.clone()), (Version::V2, v2)] {
        assert_eq!(shown("p", &fixture::schema(&v3), version, &mut BTreeMap::new()), expected);
    }
    let mut int_or_string = said;
    int_or_string["x-kubernetes-int-or-string"] = json!(true);
    let shown = shown("p", &fixture::schema(&int_or_string), Version::V3, &mut BTreeMap::new());
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
    let shown = shown("p", &list, Version::V3, &mut BTreeMap::new());
    assert_eq!(shown["x-kubernetes-list-type"], "map");
    assert_eq!(shown["x-kubernetes-list-map-keys"], json!(["name"]));
}
