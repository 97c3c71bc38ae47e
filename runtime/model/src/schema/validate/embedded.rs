//! The type meta and metadata of objects inside of other objects (`x-kubernetes-embedded-resource`).
use std::borrow::Cow;

use serde_json::{Map, json};

use crate::{
    meta::{FieldError, FieldErrorKind, FieldPath, validate},
    schema::{Document, METADATA, location::Location, types::check_types},
};

/// The errors of an embedded object: it must have apiVersion and kind, and its metadata must be valid. Unlike a whole object,
/// it needs no name, and may have a namespace or not.
pub(super) fn errors(object: &Map<String, Document>, location: &Location<'_>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for (name, check) in [("apiVersion", api_version as fn(&str) -> Vec<String>), ("kind", kind)] {
        let path = location.field(name).keyed_path();
        let Some(given) = object.get(name) else {
            errors.push(FieldError::new(&path, FieldErrorKind::Required, ""));
            continue;
        };
        let wrong = match given.as_str() {
            None => vec!["must be a string".to_owned()],
            Some("") => vec!["must not be empty".to_owned()],
            Some(text) => check(text),
        };
        let invalid = |why| FieldError::new(&path, FieldErrorKind::Invalid(given.clone()), why);
        errors.extend(wrong.into_iter().map(invalid));
    }
    if let Some(given) = object.get("metadata") {
        errors.extend(metadata(given, &location.field("metadata").keyed_path()));
    }
    errors
}

fn api_version(text: &str) -> Vec<String> {
    if text.matches('/').count() < 2 { Vec::new() } else { vec![format!("unexpected GroupVersion string: {text}")] }
}

fn kind(text: &str) -> Vec<String> {
    let wrong = validate::dns_1035_label(&text.to_lowercase());
    if wrong.is_empty() {
        return wrong;
    }
    vec![format!("may have mixed case, but should otherwise match: {}", wrong.join(","))]
}

fn metadata(given: &Document, path: &FieldPath) -> Vec<FieldError> {
    if let Some(why) = check_types(&METADATA, given) {
        return vec![FieldError::new(path, FieldErrorKind::Invalid(given.clone()), why)];
    }
    if given.is_null() {
        return Vec::new();
    }
    let is_set = |name: &str| given.get(name).and_then(Document::as_str).is_some_and(|text| !text.is_empty());
    let mut named = Cow::Borrowed(given);
    if !is_set("name") {
        named.to_mut()["name"] = json!("unnamed");
    }
    validate::object_meta(&named, is_set("namespace"), validate::path_segment, path)
}
