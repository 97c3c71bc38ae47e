//! The part of an object that Protobuf can represent, derived from its schema only. Unknown fields and nulls are
//! removed. Empty lists and maps are absent, or present if the schema requires them. Zero values are absent where zero
//! means absent, and always-written values are present. Times have their printed form, and floats are doubles.
use kindsmith::{
    MicroTime, Time,
    schema::{Document, METADATA, Scalar, Schema, Type},
};
use kindsmith_model::codec;
use serde_json::Map;

/// An object after a round trip through Protobuf.
pub(crate) fn object(root: &Schema, object: &Document) -> Document {
    let mut normal = structure(root, object);
    for name in ["apiVersion", "kind"] {
        normal[name] = object[name].clone();
    }
    normal["metadata"] = structure(&METADATA, &object["metadata"]);
    normal
}

fn structure(schema: &Schema, value: &Document) -> Document {
    let field = |(name, known): (&String, &Schema)| {
        let value = value.get(name).filter(|value| !value.is_null());
        Some((name.clone(), field(known, value, schema.required.contains(name))?))
    };
    Document::Object(schema.properties.iter().filter_map(field).collect())
}

fn field(schema: &Schema, value: Option<&Document>, required: bool) -> Option<Document> {
    let zero_is_absent = schema.zero_is_absent && schema.format.as_deref() != Some("byte");
    let there = match value {
        Some(value) => value_of(schema, value),
        None if zero_is_absent || required && is_filled(schema) => zero(schema),
        None => return None,
    };
    let is_nothing = match &there {
        Document::Null => true,
        Document::Bool(flag) => zero_is_absent && !required && !flag,
        Document::Number(number) => zero_is_absent && !required && number.as_f64() == Some(0.0),
        Document::String(text) => zero_is_absent && !required && text.is_empty(),
        Document::Array(items) => is_filled(schema) && !required && items.is_empty(),
        Document::Object(entries) => is_filled(schema) && !required && entries.is_empty(),
    };
    (!is_nothing).then_some(there)
}

/// True for lists and maps: a message contains only their entries.
fn is_filled(schema: &Schema) -> bool {
    schema.kind == Type::Array || is_map(schema)
}

fn is_map(schema: &Schema) -> bool {
    schema.kind == Type::Object && !schema.preserve_unknown && schema.additional.is_some()
}

fn value_of(schema: &Schema, value: &Document) -> Document {
    match (value, schema.format.as_deref()) {
        (Document::Object(entries), _) if is_map(schema) => {
            let values = schema.additional.as_deref().expect("a map has values");
            entries.iter().map(|(key, value)| (key.clone(), item(values, value))).collect()
        }
        (Document::Object(_), _) if schema.kind == Type::Object && !schema.preserve_unknown => structure(schema, value),
        (Document::Array(list), _) if schema.kind == Type::Array => {
            let items = schema.items.as_deref().expect("a list has items");
            list.iter().map(|value| item(items, value)).collect()
        }
        (Document::Number(number), _) if schema.kind == Type::Number => {
            codec::from_typed(&number.as_f64()).expect("a number")
        }
        (Document::String(text), Some("date-time")) if schema.scalar == Some(Scalar::MicroTime) => {
            text.parse::<MicroTime>().expect("a time").to_string().into()
        }
        (Document::String(text), Some("date-time")) => text.parse::<Time>().expect("a time").to_string().into(),
        _ => value.clone(),
    }
}

fn item(schema: &Schema, value: &Document) -> Document {
    if value.is_null() { zero(schema) } else { value_of(schema, value) }
}

/// The value that a message without the field decodes to.
fn zero(schema: &Schema) -> Document {
    match (schema.kind, schema.format.as_deref()) {
        (Type::Boolean, _) => false.into(),
        (Type::Integer | Type::Number | Type::IntOrString, _) => 0.into(),
        (Type::String, Some("date-time")) | (Type::Any, _) => Document::Null,
        (Type::String, Some("quantity")) => "0".into(),
        (Type::String, _) => "".into(),
        (Type::Array, _) => Document::Array(Vec::new()),
        (Type::Object, _) if schema.preserve_unknown => Document::Null,
        (Type::Object, _) if is_map(schema) => Document::Object(Map::new()),
        (Type::Object, _) => structure(schema, &Document::Null),
    }
}
