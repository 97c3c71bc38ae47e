//! Validation: everything that a document has wrong, in the reference's words.
use serde_json::Map;

use super::{
    Document, Schema, bounds,
    correlate::{Before, rest_is_kept},
    format, immutable,
    model::Type,
    number,
    place::Place,
    unique,
};
use crate::meta::{FieldError, FieldErrorKind, FieldPath, field::MOST_ERRORS, go};

/// Everything that is wrong with a document. Duplicates in sets and maps come after the rest, as in the reference.
pub fn validate(schema: &Schema, document: &Document) -> Vec<FieldError> {
    let mut walk = Walk::default();
    walk.value(schema, document, &Place::Root, Before::NOTHING);
    walk.errors.append(&mut walk.duplicates);
    walk.errors
}

/// What is wrong with a change, where [`validate`] has found this in the new document: that of it which the change brings
/// about (KEP-4008), and immutable fields that differ.
///
/// Nothing in a value that is as it was is wrong. Where it is not, its own rules are judged, and the values in it that have a
/// counterpart in the old one are judged as changes of that. The rules of the object itself do not count where the rest but
/// metadata and status is as it was. Where the old document has duplicates, those of the new one do not count.
pub fn validate_change(
    schema: &Schema,
    found: Vec<FieldError>,
    document: &Document,
    old: &Document,
) -> Vec<FieldError> {
    let mut errors = if found.is_empty() { found } else { brought_about(schema, document, old) };
    errors.extend(immutable::changes(schema, document, old));
    errors
}

fn brought_about(schema: &Schema, document: &Document, old: &Document) -> Vec<FieldError> {
    let mut walk = Walk::default();
    match document {
        Document::Object(fields) if rest_is_kept(schema, document, old) => {
            walk.fields(schema, fields, &Place::Root, Before::of(old));
        }
        _ => walk.value(schema, document, &Place::Root, Before::of(old)),
    }
    if !walk.duplicates.is_empty() && !has_duplicates(schema, old) {
        walk.errors.append(&mut walk.duplicates);
    }
    walk.errors
}

fn has_duplicates(schema: &Schema, document: &Document) -> bool {
    let mut walk = Walk::default();
    walk.value(schema, document, &Place::Root, Before::NOTHING);
    !walk.duplicates.is_empty()
}

/// What a walk has found so far.
#[derive(Default)]
pub(super) struct Walk {
    errors: Vec<FieldError>,
    pub(super) duplicates: Vec<FieldError>,
}

impl Walk {
    /// Adds an error whose message names the place itself: `spec.size in body should be …`.
    pub(super) fn invalid(&mut self, place: &Place<'_>, value: Document, what: &str) {
        let detail = format!("{} {what}", subject(place));
        self.add(place, FieldErrorKind::Invalid(value), detail);
    }

    /// Adds an error that the reference reports of no field in particular.
    pub(super) fn invalid_nowhere(&mut self, detail: String) {
        if self.errors.len() < MOST_ERRORS {
            self.errors.push(FieldError::new(&FieldPath::root(), FieldErrorKind::Invalid("".into()), detail));
        }
    }

    fn add(&mut self, place: &Place<'_>, kind: FieldErrorKind, detail: String) {
        if self.errors.len() < MOST_ERRORS {
            self.errors.push(FieldError::new(&place.path(), kind, detail));
        }
    }

    fn value(&mut self, schema: &Schema, value: &Document, place: &Place<'_>, before: Before<'_>) {
        if value.is_null() && schema.nullable || before.is(schema, value) {
            return;
        }
        self.kind(schema, value, place);
        match value {
            Document::String(text) => self.text(schema, text, place),
            Document::Number(number) => bounds::check(self, schema, number, place),
            Document::Array(list) => self.list(schema, list, place, before),
            _ => {}
        }
        self.enumeration(schema, value, place);
        if let Document::Object(fields) = value {
            self.object(schema, fields, place, before);
        }
    }

    /// The type. The reference names the format instead where the schema has one and the value is no text or list.
    fn kind(&mut self, schema: &Schema, value: &Document, place: &Place<'_>) {
        let (given, given_format) = names_of(value);
        let expected = match schema.kind {
            Type::Any => return,
            Type::Object => "object",
            Type::Array => "array",
            Type::String => "string",
            Type::Integer => "integer",
            Type::Number => "number",
            Type::Boolean => "boolean",
            Type::IntOrString => "integer,string",
        };
        let whole = value.as_f64().is_some_and(|number| number.fract() == 0.0);
        let fits = match schema.kind {
            Type::Number => value.is_number(),
            Type::Integer => whole,
            Type::IntOrString => whole || value.is_string(),
            _ => given == expected,
        };
        if fits {
            return;
        }
        let (expected, given) = match schema.format.as_deref() {
            Some(format)
                if known_format(format::published(format)) && !matches!(given, "string" | "array" | "null") =>
            {
                (format::published(format), given_format)
            }
            _ => (expected, given),
        };
        self.type_invalid(place, expected, given);
    }

    fn type_invalid(&mut self, place: &Place<'_>, expected: &str, given: &str) {
        let detail = format!("{} must be of type {expected}: {}", subject(place), go::quoted(given));
        self.add(place, FieldErrorKind::TypeInvalid(given.into()), detail);
    }

    fn text(&mut self, schema: &Schema, text: &str, place: &Place<'_>) {
        if schema.max_length.is_some() || schema.min_length.is_some() {
            let length = text.chars().count() as u64;
            if let Some(limit) = schema.max_length.filter(|&limit| length > limit) {
                let limit = i64::try_from(limit).unwrap_or(i64::MAX);
                return self.add(place, FieldErrorKind::TooLong { limit }, String::new());
            }
            if let Some(limit) = schema.min_length.filter(|&limit| length < limit) {
                return self.invalid(place, text.into(), &format!("should be at least {limit} chars long"));
            }
        }
        if let Some(pattern) = &schema.pattern
            && !pattern.regex.is_match(text)
        {
            return self.invalid(place, text.into(), &format!("should match '{}'", pattern.text));
        }
        if matches!(schema.kind, Type::String | Type::IntOrString)
            && let Some(format) = &schema.format
            && !format::allows(format, text)
        {
            self.type_invalid(place, format::published(format), text);
        }
    }

    fn enumeration(&mut self, schema: &Schema, value: &Document, place: &Place<'_>) {
        if schema.enumeration.is_empty() || schema.enumeration.contains(value) {
            return;
        }
        let quoted = |allowed: &Document| match allowed {
            Document::String(text) => go::quoted(text),
            other => format!("\"{other}\""),
        };
        let supported = schema.enumeration.iter().map(quoted).collect();
        self.add(place, FieldErrorKind::NotSupported { given: value.clone(), supported }, String::new());
    }

    fn list(&mut self, schema: &Schema, list: &[Document], place: &Place<'_>, before: Before<'_>) {
        if let Some(items) = &schema.items {
            let were = before.items(schema);
            for (index, item) in list.iter().enumerate() {
                self.value(items, item, &place.item(index), were.of(item));
            }
        }
        let count = list.len() as u64;
        if let Some(limit) = schema.min_items.filter(|&limit| count < limit) {
            self.invalid(place, count.into(), &format!("should have at least {limit} items"));
        }
        self.too_many(schema.max_items, list.len(), place);
        unique::check(self, &schema.list, list, place);
    }

    fn object(&mut self, schema: &Schema, fields: &Map<String, Document>, place: &Place<'_>, before: Before<'_>) {
        let count = fields.len() as u64;
        if let Some(limit) = schema.min_properties.filter(|&limit| count < limit) {
            self.invalid(place, count.into(), &format!("should have at least {limit} properties"));
        }
        self.too_many(schema.max_properties, fields.len(), place);
        self.fields(schema, fields, place, before);
        for name in &schema.required {
            if !fields.contains_key(name) {
                self.add(&place.field(name), FieldErrorKind::Required, String::new());
            }
        }
        if schema.one_of {
            self.union(schema, fields, place);
        }
    }

    fn fields(&mut self, schema: &Schema, fields: &Map<String, Document>, place: &Place<'_>, before: Before<'_>) {
        for (name, value) in fields {
            if let Some(field) = schema.properties.get(name).or(schema.additional.as_deref()) {
                self.value(field, value, &place.field(name), before.field(name));
            }
        }
    }

    fn too_many(&mut self, limit: Option<u64>, given: usize, place: &Place<'_>) {
        if let Some(limit) = limit.filter(|&limit| given as u64 > limit) {
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            self.add(place, FieldErrorKind::TooMany { given, limit }, String::new());
        }
    }

    fn union(&mut self, schema: &Schema, fields: &Map<String, Document>, place: &Place<'_>) {
        let set: Vec<&str> = schema.properties.keys().filter(|&n| fields.contains_key(n)).map(String::as_str).collect();
        let members: Vec<String> = schema.properties.keys().map(|name| format!("`{name}`")).collect();
        let members = members.join(", ");
        let (given, detail) = match set.as_slice() {
            [_] => return,
            [] => (Document::from(""), format!("must specify one of: {members}")),
            several => (
                Document::from(format!("{{{}}}", several.join(", "))),
                format!("must specify exactly one of: {members}"),
            ),
        };
        self.add(place, FieldErrorKind::Invalid(given), detail);
    }
}

/// How messages call a value: `spec.size in body`.
fn subject(place: &Place<'_>) -> String {
    if place.is_root() { "the value".to_owned() } else { format!("{} in body", place.text()) }
}

/// The names by which the reference calls a value's type and its format.
fn names_of(value: &Document) -> (&'static str, &'static str) {
    match value {
        Document::Null => ("null", ""),
        Document::Bool(_) => ("boolean", ""),
        Document::Number(number) if number.is_i64() => ("integer", "int64"),
        Document::Number(_) => ("number", "float64"),
        Document::String(_) => ("string", ""),
        Document::Array(_) => ("array", ""),
        Document::Object(_) => ("object", ""),
    }
}

/// Formats that the reference knows; others are as if they were not there.
fn known_format(format: &str) -> bool {
    matches!(format, "int32" | "int64" | "float" | "double" | "byte" | "date-time" | "date")
}

/// A bound as messages print it.
pub(super) fn bound(limit: f64) -> String {
    number::text_of_double(limit)
}
