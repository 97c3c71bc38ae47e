//! The metadata of a document: its members, and its managed fields.
use serde_json::{Map, Value};

use crate::schema::Document;

/// The member of metadata that records field ownership.
pub(super) const MANAGED_FIELDS: &str = "managedFields";

/// The object's metadata, which decoding guarantees.
pub(super) fn of(document: &mut Document) -> &mut Map<String, Value> {
    document.get_mut("metadata").and_then(Value::as_object_mut).expect("decoding made metadata an object")
}

/// A string member of metadata; empty if it is absent.
pub(super) fn text<'d>(document: &'d Document, member: &str) -> &'d str {
    document.get("metadata").and_then(|m| m.get(member)).and_then(Value::as_str).unwrap_or_default()
}

/// Sets a member of metadata.
pub(super) fn set(document: &mut Document, member: &str, value: impl Into<Value>) {
    of(document).insert(member.to_owned(), value.into());
}

/// Sets a member, or removes it.
pub(super) fn put(object: &mut Map<String, Value>, member: &str, value: Option<Value>) {
    match value {
        Some(value) => drop(object.insert(member.to_owned(), value)),
        None => drop(object.remove(member)),
    }
}

/// The entries of field ownership.
pub(super) fn managed_fields(document: &Document) -> Option<Value> {
    document.get("metadata")?.get(MANAGED_FIELDS).cloned()
}

/// Sets or removes the entries of field ownership.
pub(super) fn set_managed_fields(document: &mut Document, entries: Option<Value>) {
    put(of(document), MANAGED_FIELDS, entries);
}
