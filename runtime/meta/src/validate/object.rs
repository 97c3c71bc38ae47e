//! Validation of the metadata of new objects.
use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{NameCheck, items, label, label_value, owners, qualified_name, text};
use crate::{FieldError, FieldErrorKind, FieldPath, field::MOST_ERRORS, go};

/// The maximum size in bytes of the keys and values of an object's annotations together.
pub(super) const MAX_ANNOTATIONS: usize = 256 << 10;

/// The finalizers of Kubernetes, which have no domain.
const STANDARD_FINALIZERS: [&str; 3] = ["kubernetes", "orphan", "foregroundDeletion"];

/// Validates the metadata of an object whose name was already generated. `path` is usually `metadata`.
///
/// kube-apiserver's own kinds also need [`standard_finalizers`].
pub fn object_meta(metadata: &Value, namespaced: bool, names: NameCheck, path: &FieldPath) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let mut invalid = |member: &str, value: &str, wrong: Vec<String>| {
        if wrong.is_empty() {
            return;
        }
        let path = path.child(member);
        errors.extend(wrong.into_iter().map(|why| FieldError::new(&path, FieldErrorKind::Invalid(json!(value)), why)));
    };
    let (name, generate, namespace) =
        (text(metadata, "name"), text(metadata, "generateName"), text(metadata, "namespace"));
    if !generate.is_empty() {
        invalid("generateName", generate, names(generate, true));
    }
    if !name.is_empty() {
        invalid("name", name, names(name, false));
    }
    if namespaced && !namespace.is_empty() {
        invalid("namespace", namespace, label(namespace, false));
    }
    if name.is_empty() {
        let why = "name or generateName is required";
        errors.push(FieldError::new(&path.child("name"), FieldErrorKind::Required, why));
    }
    let wrong = match (namespaced, namespace) {
        (true, "") => Some((FieldErrorKind::Required, "")),
        (true, _) | (false, "") => None,
        (false, _) => Some((FieldErrorKind::Forbidden, "not allowed on this type")),
    };
    errors.extend(wrong.map(|(kind, why)| FieldError::new(&path.child("namespace"), kind, why)));
    errors.extend(generation(metadata, path));
    errors.extend(labels(metadata, &path.child("labels")));
    errors.extend(annotations(metadata, &path.child("annotations")));
    errors.extend(owners::owner_references(metadata, &path.child("ownerReferences")));
    errors.extend(finalizers(metadata, &path.child("finalizers")));
    errors.extend(managed_fields(metadata, &path.child("managedFields")));
    errors
}

pub(super) fn generation(metadata: &Value, path: &FieldPath) -> Option<FieldError> {
    let given = metadata.get("generation").and_then(Value::as_i64).filter(|g| *g < 0)?;
    let why = "must be greater than or equal to 0";
    Some(FieldError::new(&path.child("generation"), FieldErrorKind::Invalid(json!(given)), why))
}

/// Validates labels and annotations that differ from those of another object. Paths are those of kube-apiserver's conversions.
pub fn changed_texts(metadata: &Value, before: &Value) -> Vec<FieldError> {
    let path = FieldPath::new("metadata");
    let differs = |member: &str| entries(metadata, member).ne(entries(before, member));
    let mut errors = Vec::new();
    if differs("labels") {
        errors.extend(labels(metadata, &path.child("labels")));
    }
    if differs("annotations") {
        errors.extend(annotations(metadata, &path.child("annotation")));
    }
    errors
}

/// The string entries of a map, in key order.
fn entries<'m>(metadata: &'m Value, name: &str) -> impl Iterator<Item = (&'m str, &'m str)> {
    let map = metadata.get(name).and_then(Value::as_object);
    map.into_iter().flatten().map(|(key, value)| (key.as_str(), value.as_str().unwrap_or_default()))
}

/// Validates the labels.
pub(super) fn labels(metadata: &Value, path: &FieldPath) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for (key, value) in entries(metadata, "labels") {
        if errors.len() >= MOST_ERRORS {
            break;
        }
        let invalid = |given: &str, why| FieldError::new(path, FieldErrorKind::Invalid(json!(given)), why);
        errors.extend(qualified_name(key).into_iter().map(|why| invalid(key, why)));
        errors.extend(label_value(value).into_iter().map(|why| invalid(value, why)));
    }
    errors
}

/// Validates the annotations. Their keys are label keys, but may be upper-case.
pub(super) fn annotations(metadata: &Value, path: &FieldPath) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let mut size = 0;
    for (key, value) in entries(metadata, "annotations") {
        size += key.len() + value.len();
        // Only an upper-case prefix can be invalid because of its case alone.
        let lower = if key.bytes().any(|b| b.is_ascii_uppercase()) { Some(key.to_lowercase()) } else { None };
        let wrong = qualified_name(lower.as_deref().unwrap_or(key));
        let left = MOST_ERRORS.saturating_sub(errors.len());
        errors.extend(
            wrong.into_iter().map(|why| FieldError::new(path, FieldErrorKind::Invalid(json!(key)), why)).take(left),
        );
    }
    if size > MAX_ANNOTATIONS {
        let limit = i64::try_from(MAX_ANNOTATIONS).expect("a small constant");
        errors.push(FieldError::new(path, FieldErrorKind::TooLong { limit }, ""));
    }
    errors
}

/// Checks that each finalizer is qualified or one of the standard names. kube-apiserver requires this for its own kinds
/// only, on create and on update.
pub fn standard_finalizers(metadata: &Value, path: &FieldPath) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for (at, name) in items(metadata, "finalizers").iter().filter_map(Value::as_str).enumerate() {
        if is_without_domain(name) && errors.len() < MOST_ERRORS {
            let why = "name is neither a standard finalizer name nor is it fully qualified";
            let path = path.child("finalizers").index(at);
            errors.push(FieldError::new(&path, FieldErrorKind::Invalid(json!(name)), why));
        }
    }
    errors
}

/// Warnings about the new finalizers that do not name a domain. kube-apiserver warns of those of custom resources.
pub fn finalizer_warnings(metadata: &Value, old: Option<&Value>) -> Vec<String> {
    let names = |metadata| items(metadata, "finalizers").iter().filter_map(Value::as_str).collect::<BTreeSet<_>>();
    let new = names(metadata);
    if new.iter().all(|name| !is_without_domain(name)) {
        return Vec::new();
    }
    let old = old.map(names).unwrap_or_default();
    let added = new.difference(&old).filter(|name| is_without_domain(name)).take(MOST_ERRORS);
    let warning = |name: &&str| {
        let path = if name.contains('.') { " including a path (/)" } else { "" };
        format!(
            "metadata.finalizers: {}: prefer a domain-qualified finalizer name{path} to avoid accidental conflicts with other \
             finalizer writers",
            go::quoted(name)
        )
    };
    added.map(warning).collect()
}

fn is_without_domain(finalizer: &str) -> bool {
    !finalizer.contains('/') && !STANDARD_FINALIZERS.contains(&finalizer)
}

fn finalizers(metadata: &Value, path: &FieldPath) -> Vec<FieldError> {
    let names: Vec<&str> = items(metadata, "finalizers").iter().filter_map(Value::as_str).collect();
    let mut errors = Vec::new();
    for name in &names {
        if errors.len() >= MOST_ERRORS {
            break;
        }
        let invalid = |why| FieldError::new(path, FieldErrorKind::Invalid(json!(name)), why);
        errors.extend(qualified_name(name).into_iter().map(invalid));
    }
    if names.contains(&"orphan") && names.contains(&"foregroundDeletion") {
        let why = "finalizer orphan and foregroundDeletion cannot be both set";
        errors.push(FieldError::new(path, FieldErrorKind::Invalid(json!(names)), why));
    }
    errors
}

pub(super) fn managed_fields(metadata: &Value, path: &FieldPath) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for (at, entry) in items(metadata, "managedFields").iter().enumerate() {
        if errors.len() >= MOST_ERRORS {
            break;
        }
        let path = |member: &str| path.index(at).child(member);
        match text(entry, "operation") {
            "Apply" | "Update" => {}
            "" => {
                errors.push(FieldError::new(&path("operation"), FieldErrorKind::Required, "must not be empty"));
            }
            given => {
                let supported = vec!["\"Apply\"".to_owned(), "\"Update\"".to_owned()];
                let kind = FieldErrorKind::NotSupported { given: json!(given), supported };
                errors.push(FieldError::new(&path("operation"), kind, ""));
            }
        }
        match text(entry, "fieldsType") {
            "" | "FieldsV1" => {}
            given => {
                let kind = FieldErrorKind::Invalid(json!(given));
                errors.push(FieldError::new(&path("fieldsType"), kind, "must be `FieldsV1`"));
            }
        }
        errors.extend(field_manager(text(entry, "manager"), &path("manager")));
        if text(entry, "subresource").len() > 256 {
            errors.push(FieldError::new(&path("subresource"), FieldErrorKind::TooLong { limit: 256 }, ""));
        }
    }
    errors
}

/// The maximum length of a field manager's name in bytes.
pub const MAX_FIELD_MANAGER: usize = 128;

/// True if a field manager's name may contain the character: letters and marks of every script, but neither control
/// characters nor unusual spaces.
pub fn is_printable(c: char) -> bool {
    !c.is_control() && (!c.is_whitespace() || c == ' ')
}

/// Checks the name of a field manager: at most 128 bytes, all printable.
pub fn field_manager(name: &str, path: &FieldPath) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if name.len() > MAX_FIELD_MANAGER {
        // Each error below repeats the name, which may be very long.
        return vec![FieldError::new(path, FieldErrorKind::TooLong { limit: 128 }, "")];
    }
    for (at, c) in name.char_indices() {
        if !is_printable(c) {
            let why = format!("invalid character U+{:04X} (at position {at})", u32::from(c));
            errors.push(FieldError::new(path, FieldErrorKind::Invalid(json!(name)), why));
        }
    }
    errors
}
