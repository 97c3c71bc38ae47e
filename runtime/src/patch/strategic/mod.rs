//! Strategic merge patch (API conventions, "Strategic Merge Patch"; design proposals "preserve order" and "retain keys").
//!
//! Objects are merged and `null` removes, as in a JSON merge patch. A list whose schema says `merge` is merged item by
//! item, by its key or as a set of scalars; other lists are replaced. Directives in the patch steer that:
//!
//! | directive | where | what it does |
//! |---|---|---|
//! | `$patch: replace` | object | it is replaced by the rest of the patch |
//! | `$patch: delete` | object | it is emptied |
//! | `$patch: replace` | item of a merged list | the list is replaced by the patch's other items |
//! | `$patch: delete` | item of a merged list | the items with its key go |
//! | `$retainKeys: [..]` | object | all other keys go |
//! | `$setElementOrder/<list>: [..]` | beside the list | the order of the items that the list will have |
//! | `$deleteFromPrimitiveList/<list>: [..]` | beside the list | these scalars go |
//!
//! What kube-apiserver leaves to the order in which Go walks a map is fixed here: orders first, then deletions, then the
//! other fields by name. All lists are merged in linear time. A patch that is refused changes nothing.
use serde_json::Map;

use super::PatchError;
use crate::{
    meta::go,
    schema::{At, Document, Schema, types::name_of},
};

mod added;
mod diff;
mod list;
mod object;
mod order;

#[cfg(test)]
mod tests;

pub use diff::diff;

/// Says that a map, or an item of a list, is not merged but replaced or deleted.
const DIRECTIVE: &str = "$patch";
const REPLACE: &str = "replace";
const DELETE: &str = "delete";
const MERGE: &str = "merge";
/// Names all keys that an object keeps.
const RETAIN_KEYS: &str = "$retainKeys";
/// Begins the name of the field that says what goes from a list of scalars.
const DELETE_FROM_LIST: &str = "$deleteFromPrimitiveList";
/// Begins the name of the field that says the order of a list.
const SET_ORDER: &str = "$setElementOrder";

/// Applies a patch to a document whose kind has this root schema.
///
/// An object keeps its `apiVersion` and `kind` where the patch would drop them: they are those of the URL.
///
/// # Errors
/// [`PatchError::Invalid`], [`PatchError::NoMergeKey`] and [`PatchError::Inapplicable`], with kube-apiserver's texts.
pub fn apply(root: &Schema, document: &Document, patch: &Document) -> Result<Document, PatchError> {
    let Document::Object(changes) = patch else {
        let given = name_of(patch);
        return Err(invalid(format!("json: cannot unmarshal {given} into Go value of type map[string]interface {{}}")));
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

/// What the schema says of a field; nothing where it says nothing.
fn field<'s>(at: At<'s>, name: &str) -> At<'s> {
    at.field(name).unwrap_or_else(At::anything)
}

fn invalid(message: impl Into<String>) -> PatchError {
    PatchError::Invalid(message.into())
}

/// An item of a list lacks the merge key.
fn no_merge_key(item: &Document, key: &str) -> PatchError {
    let item = go::plain(item);
    PatchError::NoMergeKey(format!("map: {item} does not contain declared merge key: {key}"))
}

/// The list that a directive must be.
fn list_of(value: &Document) -> Result<&Vec<Document>, PatchError> {
    value.as_array().ok_or_else(|| {
        invalid(format!(
            "expected a []interface {{}}, but received a {}",
            if value.is_null() { "%!s(<nil>)" } else { go::type_name(value) }
        ))
    })
}

/// The field that `<prefix>/<field>` is about.
fn target<'n>(name: &'n str, prefix: &str, otherwise: &str) -> Result<&'n str, PatchError> {
    name.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('/')).ok_or_else(|| invalid(otherwise))
}

/// A directive that is not one.
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
