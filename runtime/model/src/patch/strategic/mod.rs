//! Strategic merge patch (API conventions, "Strategic Merge Patch"; design proposals "preserve order" and "retain keys").
//!
//! Objects are merged and `null` removes, as in a JSON merge patch. A list with `merge` in its schema is merged item by
//! item, by its key or as a set of scalars; other lists are replaced. Directives in the patch change that:
//!
//! | directive | where | what it does |
//! |---|---|---|
//! | `$patch: replace` | object | it is replaced by the rest of the patch |
//! | `$patch: delete` | object | it is emptied |
//! | `$patch: replace` | item of a merged list | the list is replaced by the patch's other items |
//! | `$patch: delete` | item of a merged list | the items with its key are removed |
//! | `$retainKeys: [..]` | object | all other keys are removed |
//! | `$setElementOrder/<list>: [..]` | beside the list | the order of the resulting list |
//! | `$deleteFromPrimitiveList/<list>: [..]` | beside the list | these scalars are removed |
//!
//! kube-apiserver processes fields in the random order of Go's maps. Here the order is fixed: orders first, then deletions,
//! then the other fields by name. Lists are merged in linear time. A refused patch changes nothing.
use serde_json::Map;

use super::{PatchError, wrong_type};
use crate::{
    meta::go,
    schema::{At, Document, Schema},
};

mod added;
mod list;
mod object;
mod order;

#[cfg(test)]
mod tests;

/// The directive that replaces or deletes an object or an item of a list.
const DIRECTIVE: &str = "$patch";
const REPLACE: &str = "replace";
const DELETE: &str = "delete";
const MERGE: &str = "merge";
/// The directive that lists all keys that an object keeps.
const RETAIN_KEYS: &str = "$retainKeys";
/// The prefix of the directive that removes items of a list of scalars.
const DELETE_FROM_LIST: &str = "$deleteFromPrimitiveList";
/// The prefix of the directive that sets the order of a list.
const SET_ORDER: &str = "$setElementOrder";

/// Applies a patch to a document whose kind has this root schema.
///
/// An object keeps its `apiVersion` and `kind` even if the patch removes them, because the URL determines them.
///
/// # Errors
/// [`PatchError::Invalid`], [`PatchError::NoMergeKey`] and [`PatchError::Inapplicable`], with kube-apiserver's messages.
pub fn apply(root: &Schema, document: &Document, patch: &Document) -> Result<Document, PatchError> {
    let Document::Object(changes) = patch else {
        return Err(invalid(wrong_type(patch, "map[string]interface {}")));
    };
    let mut fields = document.as_object().cloned().unwrap_or_default();
    object::merge(&mut fields, changes, At::object(root))?;
    for name in ["apiVersion", "kind"] {
        if let Some(value) = document.get(name).filter(|_| !fields.contains_key(name)) {
            fields.insert(name.to_owned(), value.clone());
        }
    }
    Ok(Document::Object(fields))
}

/// The schema of a field; if it has none, anything is allowed.
fn field<'s>(at: At<'s>, name: &str) -> At<'s> {
    at.field(name).unwrap_or_else(At::anything)
}

fn invalid(message: impl Into<String>) -> PatchError {
    PatchError::Invalid(message.into())
}

/// The error for an item without the merge key.
fn no_merge_key(item: &Document, key: &str) -> PatchError {
    let item = go::plain(item);
    PatchError::NoMergeKey(format!("map: {item} does not contain declared merge key: {key}"))
}

/// The value of a directive, which must be a list.
fn list_of(value: &Document) -> Result<&Vec<Document>, PatchError> {
    value.as_array().ok_or_else(|| {
        invalid(format!(
            "expected a []interface {{}}, but received a {}",
            if value.is_null() { "%!s(<nil>)" } else { go::type_name(value) }
        ))
    })
}

/// The field in `<prefix>/<field>`.
fn target<'n>(name: &'n str, prefix: &str, otherwise: &str) -> Result<&'n str, PatchError> {
    name.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('/')).ok_or_else(|| invalid(otherwise))
}

/// The error for an unknown directive.
fn unknown_directive(directive: &Document, fields: &Map<String, Document>) -> PatchError {
    let directive = match directive {
        Document::Null => "%!s(<nil>)".to_owned(),
        Document::Bool(_) | Document::Number(_) => {
            format!("%!s({}={})", go::type_name(directive), go::plain(directive))
        }
        other => go::plain(other),
    };
    let fields = go::plain_map(fields);
    invalid(format!("unknown patch type: {directive} in map: {fields}"))
}
