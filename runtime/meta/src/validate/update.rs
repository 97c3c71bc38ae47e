//! Validation of metadata in updates: immutable fields.
use std::collections::HashSet;

use serde_json::{Value, json};

use super::{
    items,
    object::{annotations, generation, labels, managed_fields},
    owners,
};
use crate::{FieldError, FieldErrorKind, FieldPath, go};

/// Validates the metadata of an update, after the server has set the fields that only it may set. `path` is usually
/// `metadata`.
///
/// kube-apiserver runs this twice, once for all kinds and once in the kind's own rules, and therefore lists each cause
/// twice. [`super::object_meta_update`] returns each once.
pub fn object_meta_update(new: &Value, old: &Value, path: &FieldPath) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if set(old, "deletionTimestamp").is_some() {
        errors.extend(new_finalizers(new, old, &path.child("finalizers")));
    }
    if set(new, "resourceVersion").is_none() {
        let given = FieldErrorKind::Invalid(json!(""));
        errors.push(FieldError::new(&path.child("resourceVersion"), given, "must be specified for an update"));
    }
    errors.extend(generation(new, path));
    let count = |metadata: &Value| metadata.get("generation").and_then(Value::as_i64).unwrap_or_default();
    if count(new) < count(old) {
        let given = FieldErrorKind::Invalid(json!(count(new)));
        errors.push(FieldError::new(&path.child("generation"), given, "must not be decremented"));
    }
    let text = Value::String(String::new());
    let members = [
        ("name", &text),
        ("namespace", &text),
        ("uid", &text),
        ("creationTimestamp", &Value::Null),
        ("deletionTimestamp", &Value::Null),
        ("deletionGracePeriodSeconds", &Value::Null),
    ];
    for (member, absent) in members {
        let now = set(new, member);
        if now != set(old, member) {
            let given = FieldErrorKind::Invalid(now.unwrap_or(absent).clone());
            errors.push(FieldError::new(&path.child(member), given, "field is immutable"));
        }
    }
    errors.extend(labels(new, &path.child("labels")));
    errors.extend(annotations(new, &path.child("annotations")));
    errors.extend(owners::owner_references(new, &path.child("ownerReferences")));
    errors.extend(managed_fields(new, &path.child("managedFields")));
    errors
}

/// A member that is set; null and empty text count as absent.
fn set<'m>(metadata: &'m Value, member: &str) -> Option<&'m Value> {
    metadata.get(member).filter(|value| !value.is_null() && value.as_str() != Some(""))
}

fn new_finalizers(new: &Value, old: &Value, path: &FieldPath) -> Option<FieldError> {
    let had: HashSet<&Value> = items(old, "finalizers").iter().collect();
    let mut extra: Vec<&str> =
        items(new, "finalizers").iter().filter(|f| !had.contains(f)).filter_map(Value::as_str).collect();
    extra.sort_unstable();
    extra.dedup();
    if extra.is_empty() {
        return None;
    }
    let listed: Vec<String> = extra.iter().map(|finalizer| go::quoted(finalizer)).collect();
    let why = format!(
        "no new finalizers can be added if the object is being deleted, found new finalizers []string{{{}}}",
        listed.join(", ")
    );
    Some(FieldError::new(path, FieldErrorKind::Forbidden, why))
}
