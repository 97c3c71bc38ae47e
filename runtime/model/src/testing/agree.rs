//! Compares what two documents mean to a Rust type.
use crate::{
    meta::{FieldPath, Time, values::ByteString},
    schema::{
        At, Document, Pattern, Schema,
        location::Location,
        model::{ListType, Type},
    },
};

/// The first field that differs between a document and its re-encoded form.
pub(super) fn difference(schema: &Schema, given: &Document, encoded: &Document) -> Option<FieldPath> {
    let metadata = |document: &Document| {
        ["name", "namespace"].map(|name| document["metadata"].get(name).cloned().unwrap_or_default())
    };
    if metadata(given) != metadata(encoded) {
        return Some(FieldPath::new("metadata"));
    }
    for (name, property) in At::of(schema).properties() {
        let found = compare(property, given.get(name), encoded.get(name), &Location::Root.field(name));
        if found.is_some() {
            return found;
        }
    }
    None
}

fn compare(
    at: At<'_>,
    given: Option<&Document>,
    encoded: Option<&Document>,
    location: &Location<'_>,
) -> Option<FieldPath> {
    let (given, encoded) = match (given, encoded) {
        (None, None) => return None,
        (Some(only), None) | (None, Some(only)) => return (!is_empty(only)).then(|| location.path()),
        (Some(given), Some(encoded)) => (given, encoded),
    };
    match (given, encoded) {
        (Document::Object(one), Document::Object(other)) => {
            let names = one.keys().chain(other.keys().filter(|name| !one.contains_key(*name)));
            names.into_iter().find_map(|name| match at.member(name) {
                Some(known) => compare(known, one.get(name), other.get(name), &location.field(name)),
                // Rust types do not know fields that the schema keeps without declaring them.
                None if at.preserve_unknown && at.properties().len() > 0 => None,
                None => (one.get(name) != other.get(name)).then(|| location.field(name).path()),
            })
        }
        (Document::Array(one), Document::Array(other)) => {
            if one.len() != other.len() {
                return Some(location.path());
            }
            let Some(items) = at.items() else { return (one != other).then(|| location.path()) };
            if at.list == ListType::Set {
                // Sets of Rust have an order of their own.
                let is_there =
                    |item| other.iter().any(|other| compare(items, Some(item), Some(other), location).is_none());
                return (!one.iter().all(is_there)).then(|| location.path());
            }
            let mut pairs = one.iter().zip(other).enumerate();
            pairs.find_map(|(index, (one, other))| compare(items, Some(one), Some(other), &location.item(index)))
        }
        (Document::String(one), Document::String(other)) => (!same_text(&at, one, other)).then(|| location.path()),
        (Document::Number(one), Document::Number(other)) if at.kind == Type::Number => {
            (one.as_f64() != other.as_f64()).then(|| location.path())
        }
        (Document::Number(number), Document::String(text)) if is_quantity(&at) => {
            (number.to_string() != *text).then(|| location.path())
        }
        (Document::Null, other) | (other, Document::Null) => (!is_empty(other)).then(|| location.path()),
        _ => (given != encoded).then(|| location.path()),
    }
}

/// True for the form that quantities have in definitions, in which they may be numbers.
fn is_quantity(schema: &Schema) -> bool {
    schema.kind == Type::IntOrString && schema.pattern.as_ref().is_some_and(Pattern::is_quantity)
}

/// True for a value that Rust's `Default` gives to an omitted field, or for a struct of such values.
fn is_empty(value: &Document) -> bool {
    match value {
        Document::Null => true,
        Document::Bool(set) => !set,
        Document::Number(number) => number.as_f64() == Some(0.0),
        Document::String(text) => text.is_empty(),
        Document::Array(items) => items.is_empty(),
        Document::Object(fields) => fields.values().all(is_empty),
    }
}

fn same_text(schema: &Schema, one: &str, other: &str) -> bool {
    if one == other {
        return true;
    }
    match schema.format.as_deref() {
        Some("date-time") => {
            let time = |text: &str| text.parse::<Time>().ok();
            time(one).is_some() && time(one) == time(other)
        }
        Some("byte") => {
            let bytes = |text: &str| ByteString::from_base64(text).ok();
            bytes(one).is_some() && bytes(one) == bytes(other)
        }
        _ => false,
    }
}
