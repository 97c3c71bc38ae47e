//! The shape of schemas in definitions: which fields there are and of which types. What passes is read by
//! [`Fields`](super::fields::Fields) without a further thought.
use super::{findings::Findings, location::Location};
use crate::schema::{
    Document,
    model::{self, Type},
};

/// The type of a field. `null` is no value of any of them: it counts as absent.
#[derive(Clone, Copy)]
pub enum Shape {
    /// A string.
    Text,
    /// A boolean.
    Flag,
    /// An integer.
    Integer,
    /// A number.
    Number,
    /// Any value.
    Any,
    /// A list of strings.
    Texts,
    /// A list of any values.
    Values,
    /// An object with these fields.
    Object(&'static [(&'static str, Shape)]),
    /// A list of such objects.
    Objects(&'static [(&'static str, Shape)]),
    /// A schema.
    Schema,
    /// A list of schemas.
    Schemas,
    /// Schemas by name.
    NamedSchemas,
    /// A schema, or a boolean.
    SchemaOrFlag,
    /// A schema, or a list of schemas.
    SchemaOrSchemas,
}

use Shape::{Any, Flag, Integer, NamedSchemas, Number, Object, Objects, Schema, Schemas, Text, Texts, Values};

/// `JSONSchemaProps`, and the two extensions by which a schema says how strategic merge patches merge.
const SCHEMA: &[(&str, Shape)] = &[
    ("id", Text),
    ("$schema", Text),
    ("$ref", Text),
    ("description", Text),
    ("type", Text),
    ("format", Text),
    ("title", Text),
    ("default", Any),
    ("maximum", Number),
    ("exclusiveMaximum", Flag),
    ("minimum", Number),
    ("exclusiveMinimum", Flag),
    ("maxLength", Integer),
    ("minLength", Integer),
    ("pattern", Text),
    ("maxItems", Integer),
    ("minItems", Integer),
    ("uniqueItems", Flag),
    ("multipleOf", Number),
    ("enum", Values),
    ("maxProperties", Integer),
    ("minProperties", Integer),
    ("required", Texts),
    ("items", Shape::SchemaOrSchemas),
    ("allOf", Schemas),
    ("oneOf", Schemas),
    ("anyOf", Schemas),
    ("not", Schema),
    ("properties", NamedSchemas),
    ("additionalProperties", Shape::SchemaOrFlag),
    ("patternProperties", NamedSchemas),
    ("dependencies", Any),
    ("additionalItems", Shape::SchemaOrFlag),
    ("definitions", NamedSchemas),
    ("externalDocs", Object(&[("description", Text), ("url", Text)])),
    ("example", Any),
    ("nullable", Flag),
    ("x-kubernetes-preserve-unknown-fields", Flag),
    ("x-kubernetes-embedded-resource", Flag),
    ("x-kubernetes-int-or-string", Flag),
    ("x-kubernetes-list-map-keys", Texts),
    ("x-kubernetes-list-type", Text),
    ("x-kubernetes-map-type", Text),
    ("x-kubernetes-validations", Objects(RULE)),
    ("x-kubernetes-patch-strategy", Text),
    ("x-kubernetes-patch-merge-key", Text),
];

const RULE: &[(&str, Shape)] = &[
    ("rule", Text),
    ("message", Text),
    ("messageExpression", Text),
    ("reason", Text),
    ("fieldPath", Text),
    ("optionalOldSelf", Flag),
];

/// The schema of `JSONSchemaProps`, which contains itself: a definition for back references.
pub fn schema_of_schemas() -> model::Schema {
    let schema = schema_of_fields(SCHEMA);
    model::Schema {
        name: Some("JSONSchemaProps".to_owned()),
        description: "JSONSchemaProps is a JSON-Schema following Specification Draft 4 (http://json-schema.org/)."
            .to_owned(),
        ..schema
    }
}

fn schema_of_fields(fields: &[(&str, Shape)]) -> model::Schema {
    let property = |&(name, shape): &(&str, Shape)| {
        // Go decodes these into pointers, for which zero is a value.
        let is_pointer = name.starts_with("x-kubernetes-") && matches!(shape, Flag | Text)
            || matches!(shape, Integer | Number)
            || ["$ref", "reason", "optionalOldSelf"].contains(&name);
        let is_flag = ["x-kubernetes-embedded-resource", "x-kubernetes-int-or-string"].contains(&name);
        let schema = schema_of(shape);
        // Any value may be one that Go shows.
        let omit_empty = schema.kind != Type::Any || schema.definition.is_some();
        (name.to_owned(), model::Schema { omit_empty, zero_is_absent: !is_pointer || is_flag, ..schema })
    };
    model::Schema { kind: Type::Object, properties: fields.iter().map(property).collect(), ..model::Schema::default() }
}

fn schema_of(shape: Shape) -> model::Schema {
    let plain = |kind| model::Schema { kind, ..model::Schema::default() };
    let list = |items: model::Schema| model::Schema { items: Some(items.into()), ..plain(Type::Array) };
    let itself = || model::Schema { definition: Some(0), ..model::Schema::default() };
    let any = || model::Schema { preserve_unknown: true, ..model::Schema::default() };
    match shape {
        Text => plain(Type::String),
        Flag => plain(Type::Boolean),
        Integer => model::Schema { format: Some("int64".to_owned()), ..plain(Type::Integer) },
        Number => model::Schema { format: Some("double".to_owned()), ..plain(Type::Number) },
        Any | Shape::SchemaOrFlag | Shape::SchemaOrSchemas => any(),
        Texts => list(plain(Type::String)),
        Values => list(any()),
        Object(fields) => schema_of_fields(fields),
        Objects(fields) => list(schema_of_fields(fields)),
        Schema => itself(),
        Schemas => list(itself()),
        NamedSchemas => model::Schema { additional: Some(itself().into()), ..plain(Type::Object) },
    }
}

/// Finds values of wrong types in a schema, which are errors, and unknown fields, which are not read and warned of.
pub(super) fn check_schema(schema: &Document, location: &Location<'_>, findings: &mut Findings) {
    object(SCHEMA, schema, location, findings);
}

/// The same for an object with these fields.
pub fn object(fields: &[(&str, Shape)], value: &Document, location: &Location<'_>, findings: &mut Findings) {
    let Document::Object(given) = value else { return wrong(value, location, "an object", findings) };
    for (name, value) in given {
        let location = location.field(name);
        match fields.iter().find(|(known, _)| known == name) {
            Some((_, shape)) => check_value(*shape, value, &location, findings),
            None => findings.unknown_field(&location),
        }
    }
}

fn check_value(shape: Shape, value: &Document, location: &Location<'_>, findings: &mut Findings) {
    let schema =
        |value: &Document, location: &Location<'_>, findings: &mut Findings| object(SCHEMA, value, location, findings);
    match (shape, value) {
        (Any, _)
        | (_, Document::Null)
        | (Flag | Shape::SchemaOrFlag, Document::Bool(_))
        | (Number, Document::Number(_))
        | (Text, Document::String(_))
        | (Values, Document::Array(_)) => {}
        (Integer, Document::Number(number)) if number.is_i64() => {}
        (Texts, Document::Array(items)) => each(items, location, findings, |item, location, findings| {
            check_value(Text, item, location, findings);
        }),
        (Objects(fields), Document::Array(items)) => each(items, location, findings, |item, location, findings| {
            object(fields, item, location, findings);
        }),
        (Schemas | Shape::SchemaOrSchemas, Document::Array(items)) => each(items, location, findings, schema),
        (NamedSchemas, Document::Object(given)) => {
            given.iter().for_each(|(name, value)| schema(value, &location.key(name), findings));
        }
        (Object(fields), _) => object(fields, value, location, findings),
        (Schema | Shape::SchemaOrSchemas | Shape::SchemaOrFlag, Document::Object(_)) => {
            schema(value, location, findings);
        }
        (Text, _) => wrong(value, location, "a string", findings),
        (Flag, _) => wrong(value, location, "true or false", findings),
        (Integer, _) => wrong(value, location, "an integer", findings),
        (Number, _) => wrong(value, location, "a number", findings),
        (Schema | NamedSchemas, _) => wrong(value, location, "an object", findings),
        (Shape::SchemaOrFlag, _) => wrong(value, location, "an object, true or false", findings),
        (Shape::SchemaOrSchemas, _) => wrong(value, location, "an object or a list", findings),
        (Texts | Values | Objects(_) | Schemas, _) => wrong(value, location, "a list", findings),
    }
}

fn each(
    items: &[Document],
    location: &Location<'_>,
    findings: &mut Findings,
    check: impl Fn(&Document, &Location<'_>, &mut Findings),
) {
    items.iter().enumerate().for_each(|(index, item)| check(item, &location.index(index), findings));
}

fn wrong(value: &Document, location: &Location<'_>, expected: &str, findings: &mut Findings) {
    let kind = crate::meta::FieldErrorKind::TypeInvalid(value.clone());
    findings.error(location, kind, format!("must be {expected}"));
}
