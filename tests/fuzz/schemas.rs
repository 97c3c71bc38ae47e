//! Generates schemas in which every field has a number, and adds unknown fields to objects.
use kindsmith::schema::{Document, Scalar, Schema, Type};
use kindsmith_tests::Random;
use serde_json::json;

const NAMES: [&str; 12] = ["a", "b", "spec", "status", "items", "name", "", "x-y", "a.b", "é", "on", "10"];
/// Formats of text, with the types in Go.
const FORMATS: [(&str, Option<Scalar>); 6] = [
    ("", None),
    ("byte", Some(Scalar::Bytes)),
    ("date-time", Some(Scalar::Time)),
    ("date-time", Some(Scalar::MicroTime)),
    ("quantity", Some(Scalar::Quantity)),
    ("", None),
];

/// The schema of a kind.
pub(crate) fn root(random: &mut Random) -> Schema {
    loop {
        let schema = structure(random, 4, 2);
        if !schema.properties.is_empty() {
            return schema;
        }
    }
}

/// A struct whose field numbers start at the given one.
fn structure(random: &mut Random, depth: usize, mut number: u32) -> Schema {
    let mut schema = Schema::of(Type::Object);
    for _ in 0..random.below(7) {
        let name = *random.pick(&NAMES);
        let field = value(random, depth - 1);
        let zero_is_absent = random.one_in(3);
        let omit_empty = zero_is_absent || random.one_in(4);
        // A field that is omitted when empty cannot be required: a struct without fields would always lack it.
        schema.required.retain(|other| other != name);
        if random.one_in(3) && !omit_empty {
            schema.required.push(name.to_owned());
        }
        let field = field.with(|field| {
            field.protobuf = Some(number);
            field.zero_is_absent = zero_is_absent;
            field.omit_empty = omit_empty;
        });
        schema.properties.insert(name.to_owned(), field);
        number += if random.one_in(6) { 5_000 } else { 1 };
    }
    schema
}

fn value(random: &mut Random, depth: usize) -> Schema {
    let nullable = random.one_in(8);
    let kinds = if depth == 0 { 6 } else { 10 };
    let (kind, (format, scalar)) = match random.below(kinds) {
        0 | 1 => (Type::String, *random.pick(&FORMATS)),
        2 => (Type::Integer, (*random.pick(&["int32", "int64"]), None)),
        3 => (Type::Number, ("double", None)),
        4 => (Type::Boolean, ("", None)),
        5 => *random.pick(&[(Type::IntOrString, ("", Some(Scalar::IntOrString))), (Type::Any, ("", None))]),
        6 => (Type::Array, ("", None)),
        _ => (Type::Object, ("", None)),
    };
    let format = (!format.is_empty()).then(|| format.to_owned());
    let plain = Schema::of(kind).with(|plain| {
        (plain.format, plain.scalar) = (format, scalar);
        plain.nullable = nullable;
    });
    match kind {
        Type::Array => plain.with(|list| list.items = Some(value(random, depth - 1).into())),
        Type::Object if random.one_in(3) => plain.with(|map| map.additional = Some(value(random, depth - 1).into())),
        Type::Object if random.one_in(6) => plain.with(|open| open.preserve_unknown = true),
        Type::Object => structure(random, depth, 1).with(|object| object.nullable = nullable),
        _ => plain,
    }
}

/// Adds unknown fields to an object at any depth; returns their number.
pub(crate) fn spoil(random: &mut Random, schema: &Schema, value: &mut Document) -> usize {
    if schema.kind == Type::Any || schema.preserve_unknown {
        return 0;
    }
    let mut spoilt = 0;
    match value {
        Document::Object(fields) => {
            for (name, value) in fields.iter_mut() {
                if let Some(known) = schema.properties.get(name).or(schema.additional.as_deref()) {
                    spoilt += spoil(random, known, value);
                }
            }
            if schema.additional.is_none() && random.one_in(3) {
                let unknown = random.pick(&[json!(1), json!("text"), json!({"a": [null]}), json!([])]).clone();
                fields.insert("unknown".to_owned(), unknown);
                spoilt += 1;
            }
        }
        Document::Array(list) => {
            let items = schema.items.as_deref();
            spoilt += list
                .iter_mut()
                .zip(items.into_iter().cycle())
                .map(|(item, known)| spoil(random, known, item))
                .sum::<usize>();
        }
        _ => {}
    }
    spoilt
}
