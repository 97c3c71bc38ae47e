//! From the model's schema to `JSONSchemaProps`.
use serde_json::{Map, Value, json};

use super::fields;
use crate::schema::{
    Pattern, Scalar, Schema,
    model::{Junctors, ListType, PatchStrategy, Type},
    number::of_double,
};

/// A schema, and what is not in it.
pub(super) fn write(schema: &Schema) -> (Map<String, Value>, Vec<String>) {
    let mut lost = Vec::new();
    let written = node(schema, &mut lost);
    lost.sort();
    lost.dedup();
    (written, lost)
}

fn node(schema: &Schema, lost: &mut Vec<String>) -> Map<String, Value> {
    let mut out = validating(schema, lost);
    let is_recursive = schema.definition.is_some();
    if is_recursive {
        let name = schema.type_name().unwrap_or("a type");
        lost.push(format!("the schema of {name}, which contains itself, inside of it"));
    }
    let kind = match schema.kind {
        // kube-apiserver wants the type of an embedded object.
        Type::Any if schema.embedded => Some("object"),
        kind => kind.name(),
    };
    let is_quantity = schema.scalar == Some(Scalar::Quantity);
    let keeps_all = schema.preserve_unknown || is_recursive || schema.kind == Type::Any;
    let (list, keys) = match &schema.list {
        ListType::Atomic => (None, None),
        ListType::Set => (Some("set"), None),
        ListType::Map(keys) => (Some("map"), Some(keys)),
    };
    let below = |schema: &Schema, lost: &mut Vec<String>| Value::from(node(schema, lost));
    let properties = schema.properties.iter().map(|(name, of)| (name.clone(), below(of, lost)));
    let properties: Map<String, Value> = properties.collect();
    out.extend(fields([
        ("type", json!(kind.filter(|_| !is_quantity))),
        ("description", json!(schema.description)),
        ("properties", if properties.is_empty() { Value::Null } else { properties.into() }),
        (
            "additionalProperties",
            schema.additional.as_deref().map_or(Value::Null, |values| match values.boolean {
                Some(is_allowed) => is_allowed.into(),
                None => below(values, lost),
            }),
        ),
        ("items", schema.items.as_deref().map_or(Value::Null, |items| below(items, lost))),
        ("nullable", json!(schema.nullable)),
        ("x-kubernetes-list-type", json!(list)),
        ("x-kubernetes-list-map-keys", json!(keys)),
        ("x-kubernetes-map-type", json!(schema.map_atomic.then_some("atomic"))),
        ("x-kubernetes-int-or-string", json!(schema.kind == Type::IntOrString || is_quantity)),
        ("x-kubernetes-preserve-unknown-fields", json!(keeps_all)),
        ("x-kubernetes-embedded-resource", json!(schema.embedded)),
    ]));
    if let Some(default) = &schema.default {
        out.insert("default".to_owned(), default.clone());
    }
    if is_quantity {
        out.remove("format");
        out.insert("pattern".to_owned(), json!(Pattern::QUANTITY));
        out.insert("anyOf".to_owned(), json!([{"type": "integer"}, {"type": "string"}]));
    }
    if schema.patch != PatchStrategy::default() {
        lost.push("how strategic merge patches merge, which definitions do not say".to_owned());
    }
    published(schema, &mut out);
    out
}

/// What is published, and rules.
fn published(schema: &Schema, out: &mut Map<String, Value>) {
    let unenforced = schema.unenforced.as_deref().cloned().unwrap_or_default();
    out.extend(fields([
        ("title", json!(unenforced.title)),
        ("externalDocs", json!(unenforced.external_docs)),
        ("x-kubernetes-validations", json!(schema.published_rules())),
    ]));
    if let Some(example) = unenforced.example {
        out.insert("example".to_owned(), example);
    }
}

/// The keywords of a schema that validate, apart from its type and from the schemas of what is in it.
pub fn validations(schema: &Schema) -> Map<String, Value> {
    validating(schema, &mut Vec::new())
}

/// The keywords that nodes and the branches of junctors share: they validate.
fn validating(schema: &Schema, lost: &mut Vec<String>) -> Map<String, Value> {
    // The type says it already.
    let format = schema.format.as_deref().filter(|format| *format != "int-or-string");
    let mut out = fields([
        ("format", json!(format)),
        ("enum", json!(schema.enumeration)),
        ("required", json!(schema.required)),
        ("minimum", json!(schema.minimum.and_then(of_double))),
        ("exclusiveMinimum", json!(schema.exclusive_minimum)),
        ("maximum", json!(schema.maximum.and_then(of_double))),
        ("exclusiveMaximum", json!(schema.exclusive_maximum)),
        ("multipleOf", json!(schema.multiple_of.and_then(of_double))),
        ("minLength", json!(schema.min_length)),
        ("maxLength", json!(schema.max_length)),
        ("pattern", json!(schema.pattern.as_ref().map(Pattern::text))),
        ("minItems", json!(schema.min_items)),
        ("maxItems", json!(schema.max_items)),
        ("minProperties", json!(schema.min_properties)),
        ("maxProperties", json!(schema.max_properties)),
    ]);
    let none = Junctors::default();
    let said = schema.junctors.as_deref().unwrap_or(&none);
    let mut branches = |branches: &[Schema]| -> Vec<Value> { branches.iter().map(|of| branch(of, lost)).collect() };
    let (mut all, any, mut one) = (branches(&said.all_of), branches(&said.any_of), branches(&said.one_of));
    if schema.union {
        let members = schema.properties.keys().map(|name| json!({"required": [name]})).collect();
        if one.is_empty() {
            one = members;
        } else {
            all.push(json!({"oneOf": members}));
        }
    }
    let not = said.not.as_ref().map_or(Value::Null, |not| branch(not, lost));
    out.extend(fields([("allOf", all.into()), ("anyOf", any.into()), ("oneOf", one.into()), ("not", not)]));
    out
}

/// A branch of a junctor, which only validates.
fn branch(schema: &Schema, lost: &mut Vec<String>) -> Value {
    let mut out = validating(schema, lost);
    let properties: Map<String, Value> =
        schema.properties.iter().map(|(name, of)| (name.clone(), branch(of, lost))).collect();
    if !properties.is_empty() {
        out.insert("properties".to_owned(), properties.into());
    }
    if let Some(items) = &schema.items {
        out.insert("items".to_owned(), branch(items, lost));
    }
    out.into()
}
