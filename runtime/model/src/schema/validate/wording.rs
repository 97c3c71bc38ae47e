//! kube-apiserver's words for values in errors, and what kube-openapi counts as checks of a value.
use crate::{
    meta::field::{MOST_REPEATED, beginning},
    schema::{Document, format, location::Location, model::Type},
};

/// A text as errors repeat it.
pub(super) fn shown_text(text: &str) -> Document {
    beginning(text, MOST_REPEATED).into()
}

/// The name of a value in messages: `spec.size in body`.
pub(super) fn subject(location: &Location<'_>) -> String {
    if location.is_root() { "the value".to_owned() } else { format!("{} in body", location.text()) }
}

/// kube-apiserver's names for a value's type and its format.
pub(super) fn names_of(value: &Document) -> (&'static str, &'static str) {
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

/// Formats that kube-apiserver supports for a type; others are ignored.
pub(super) fn knows(kind: Type, format: &str) -> bool {
    match kind {
        Type::Integer => matches!(format, "int32" | "int64"),
        Type::Number => matches!(format, "float" | "double"),
        Type::String | Type::IntOrString | Type::Any => format::is_known(format),
        Type::Object | Type::Array | Type::Boolean => false,
    }
}

/// The number of checks other than those of type and format that apply to a value; kube-openapi counts some twice.
pub(super) fn checks_of(value: &Document) -> u64 {
    match value {
        Document::Null => 0,
        Document::Bool(_) => 4,
        Document::String(_) | Document::Object(_) => 5,
        Document::Number(_) | Document::Array(_) => 6,
    }
}
