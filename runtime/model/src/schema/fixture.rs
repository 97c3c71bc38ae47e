//! For tests: schemas written as OpenAPI v3 says them, and any documents.
use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{
    Document, Pattern, Scalar, Schema,
    declare::ApiType,
    model::{Junctors, ListType, PatchStrategy, Type},
    number::settle,
};
use crate::widget::Widget;

/// A schema from its OpenAPI form.
pub fn schema(from: &Value) -> Schema {
    let text = |key: &str| from[key].as_str().map(str::to_owned);
    let flag = |key: &str| from[key].as_bool().unwrap_or_default();
    let texts = |key: &str| -> Vec<String> {
        from[key].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let number = |key: &str| from[key].as_u64().and_then(|number| number.try_into().ok());
    let strategies = text("x-kubernetes-patch-strategy").unwrap_or_default();
    let shared = |key: &str| from.get(key).map(|inner| schema(inner).into());
    Schema {
        kind: match from["type"].as_str().and_then(Type::of_name) {
            _ if flag("x-kubernetes-int-or-string") => Type::IntOrString,
            kind => kind.unwrap_or_default(),
        },
        format: text("format"),
        scalar: match from["scalar"].as_str() {
            Some("time") => Some(Scalar::Time),
            Some("microTime") => Some(Scalar::MicroTime),
            Some("quantity") => Some(Scalar::Quantity),
            Some("bytes") => Some(Scalar::Bytes),
            _ => None,
        },
        boolean: from.as_bool(),
        description: text("description").unwrap_or_default(),
        rules: from["x-kubernetes-validations"].as_array().into_iter().flatten().map(crate::schema::Rule::of).collect(),
        name: text("title"),
        properties: from["properties"].as_object().into_iter().flatten().map(|(k, v)| (k.clone(), schema(v))).collect(),
        required: texts("required"),
        additional: shared("additionalProperties"),
        items: shared("items"),
        preserve_unknown: flag("x-kubernetes-preserve-unknown-fields"),
        embedded: flag("x-kubernetes-embedded-resource"),
        nullable: flag("nullable"),
        omit_empty: flag("omitEmpty"),
        zero_is_absent: flag("zeroIsAbsent"),
        map_atomic: from["x-kubernetes-map-type"] == "atomic",
        default: from.get("default").cloned(),
        enumeration: from["enum"].as_array().cloned().unwrap_or_default().into(),
        minimum: from["minimum"].as_f64(),
        exclusive_minimum: flag("exclusiveMinimum"),
        maximum: from["maximum"].as_f64(),
        exclusive_maximum: flag("exclusiveMaximum"),
        multiple_of: from["multipleOf"].as_f64(),
        min_length: from["minLength"].as_u64(),
        max_length: from["maxLength"].as_u64(),
        pattern: text("pattern").map(|text| Pattern::new(&text).expect("a pattern")),
        min_items: from["minItems"].as_u64(),
        max_items: from["maxItems"].as_u64(),
        min_properties: from["minProperties"].as_u64(),
        max_properties: from["maxProperties"].as_u64(),
        list: match from["x-kubernetes-list-type"].as_str() {
            Some("set") => ListType::Set,
            Some("map") => ListType::Map(texts("x-kubernetes-list-map-keys")),
            _ => ListType::Atomic,
        },
        patch: PatchStrategy {
            merge: strategies.split(',').any(|strategy| strategy == "merge"),
            retain_keys: strategies.split(',').any(|strategy| strategy == "retainKeys"),
            merge_key: text("x-kubernetes-patch-merge-key"),
        },
        immutable: flag("immutable"),
        union: flag("union"),
        junctors: junctors(from),
        protobuf: number("protobuf"),
        definition: number("definition"),
        definitions: from["definitions"].as_array().map(|all| all.iter().map(schema).collect::<Vec<_>>().into()),
        ..Schema::default()
    }
}

fn junctors(from: &Value) -> Option<Arc<Junctors>> {
    let branches = |key: &str| from[key].as_array().into_iter().flatten().map(schema).collect();
    let said = ["allOf", "anyOf", "oneOf", "not"].iter().any(|key| from.get(key).is_some());
    said.then(|| {
        let not = from.get("not").map(schema);
        Arc::new(Junctors { all_of: branches("allOf"), any_of: branches("anyOf"), one_of: branches("oneOf"), not })
    })
}

/// The kit's Widget.
pub fn widget() -> Schema {
    let mut schema = Widget::DECLARATION.schema(false, false).expect("a declaration");
    schema.properties.remove("metadata");
    schema.required.retain(|name| name != "metadata");
    schema
}

/// A kind with a recursive type like JSONSchemaProps: it is in its own fields, maps, lists and items with a key. `definition` is
/// a back reference to one of the `definitions`.
pub fn form() -> Schema {
    schema(&form_as_said())
}

/// The schema of [`form`] in its OpenAPI form.
pub fn form_as_said() -> Value {
    let props = |number: u32| json!({"type": "object", "title": "Props", "definition": 0, "protobuf": number});
    let described = |number: u32, description: &str| {
        let mut props = props(number);
        props["description"] = json!(description);
        props
    };
    let part = json!({"type": "object", "title": "Part", "required": ["name"], "properties": {
        "name": {"type": "string", "protobuf": 1}, "props": props(2)}});
    let fields = json!({"type": "object", "title": "Props", "properties": {
        "type": {"type": "string", "enum": ["object", "array", "string"], "protobuf": 1},
        "maxLength": {"type": "integer", "format": "int32", "minimum": 0, "protobuf": 2},
        "optional": {"type": "boolean", "default": false, "protobuf": 3},
        "id": {"type": "string", "immutable": true, "protobuf": 4},
        "tags": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}, "omitEmpty": true, "protobuf": 5},
        "items": described(6, "What items are."),
        "properties": {"type": "object", "additionalProperties": props(0), "protobuf": 7},
        "allOf": {"type": "array", "items": props(0), "protobuf": 8},
        "parts": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
            "x-kubernetes-patch-strategy": "merge", "x-kubernetes-patch-merge-key": "name", "items": part, "protobuf": 9}}});
    let spec = json!({"type": "object", "title": "FormSpec", "protobuf": 2, "properties": {
        "props": described(1, "What the form asks for."), "name": {"type": "string", "protobuf": 2}}});
    json!({"type": "object", "title": "Form", "definitions": [fields], "properties": {"spec": spec}})
}

/// A Widget around a spec.
pub fn object(spec: &Value) -> Document {
    json!({
        "apiVersion": "conformance.example.com/v1", "kind": "Widget",
        "metadata": {"name": "w", "labels": {"unknown": "kept"}}, "spec": spec,
    })
}

/// Any document in settled form.
pub fn documents() -> impl Strategy<Value = Document> {
    let leaf = prop_oneof![
        Just(Document::Null),
        any::<bool>().prop_map(Document::from),
        any::<i64>().prop_map(Document::from),
        (-5i64..5).prop_map(Document::from),
        any::<f64>().prop_map(|double| {
            let mut document = Document::from(double);
            settle(&mut document);
            document
        }),
        any::<String>().prop_map(Document::from),
        "[a-c/~\"\\\\]{0,3}".prop_map(Document::from),
    ];
    leaf.prop_recursive(5, 60, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Document::from),
            prop::collection::btree_map("[a-d/~]{0,2}|[0-9]|\\PC{0,4}", inner, 0..6)
                .prop_map(|fields| fields.into_iter().collect()),
        ]
    })
}
