//! Immutable fields, which may be set once and never be changed or removed.
use super::{At, Document, Schema, correlate::Before, place::Place};
use crate::meta::{FieldError, FieldErrorKind, field::MOST_ERRORS};

/// Reports immutable fields that were set and have changed.
///
/// Entries of maps are matched by key and items of map lists by their keys; a removed entry or item takes its fields
/// with it. Items of other lists have no identity and are not matched.
pub(super) fn changes(schema: &Schema, new: &Document, old: &Document) -> Vec<FieldError> {
    let mut errors = Vec::new();
    compare(At::of(schema), Some(new), old, &Place::Root, &mut errors);
    errors
}

fn compare(at: At<'_>, new: Option<&Document>, old: &Document, place: &Place<'_>, errors: &mut Vec<FieldError>) {
    if old.is_null() || errors.len() >= MOST_ERRORS || new == Some(old) {
        return;
    }
    if at.immutable {
        let given = new.cloned().unwrap_or_default();
        errors.push(FieldError::new(&place.path(), FieldErrorKind::Invalid(given), "field is immutable"));
        return;
    }
    match old {
        Document::Object(fields) => {
            for (name, old) in fields {
                let new = new.and_then(|new| new.get(name));
                if let Some(property) = at.property(name) {
                    compare(property, new, old, &place.field(name), errors);
                } else if let (Some(values), Some(_)) = (at.entry(), new) {
                    compare(values, new, old, &place.field(name), errors);
                }
            }
        }
        Document::Array(_) => {
            let (Some(items), Some(Document::Array(new))) = (at.items(), new) else { return };
            let were = Before::of(old).items(at);
            for (index, new) in new.iter().enumerate() {
                if let Some(old) = were.of(new).value() {
                    compare(items, Some(new), old, &place.item(index), errors);
                }
            }
        }
        _ => {}
    }
}
