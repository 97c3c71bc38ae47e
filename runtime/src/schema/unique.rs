//! Uniqueness in lists that are sets or maps.
use std::collections::HashSet;

use super::{Document, model::ListType, place::Place, validate::Walk};
use crate::meta::{FieldError, FieldErrorKind, field::MOST_ERRORS};

/// Reports every duplicate item once.
pub(super) fn check(walk: &mut Walk, kind: &ListType, list: &[Document], place: &Place<'_>) {
    match kind {
        ListType::Atomic => {}
        ListType::Set => {
            for index in repeated(list.iter()) {
                report(walk, place, index, FieldErrorKind::Duplicate(list[index].clone()), "");
            }
        }
        ListType::Map(keys) => {
            let stranger = list.iter().position(|item| !item.is_object() && !item.is_null());
            if let Some(index) = stranger {
                let detail = "must be an object for an array of list-type map";
                return report(walk, place, index, FieldErrorKind::Invalid(list[index].clone()), detail);
            }
            let key_of = |item| -> Vec<Option<&Document>> { keys.iter().map(|key| Document::get(item, key)).collect() };
            for index in repeated(list.iter().map(key_of)) {
                let key: Document =
                    keys.iter().filter_map(|key| Some((key.clone(), list[index].get(key)?.clone()))).collect();
                report(walk, place, index, FieldErrorKind::Duplicate(key), "");
            }
        }
    }
}

fn report(walk: &mut Walk, place: &Place<'_>, index: usize, kind: FieldErrorKind, detail: &str) {
    if walk.duplicates.len() < MOST_ERRORS {
        walk.duplicates.push(FieldError::new(&place.item(index).path(), kind, detail));
    }
}

/// The position of the second occurrence of an item.
fn repeated<T: Eq + std::hash::Hash>(items: impl ExactSizeIterator<Item = T>) -> Vec<usize> {
    if items.len() < 2 {
        return Vec::new();
    }
    let mut seen: HashSet<T> = HashSet::new();
    let mut reported = HashSet::new();
    let mut found = Vec::new();
    for (index, item) in items.enumerate() {
        if seen.contains(&item) {
            if found.len() < MOST_ERRORS && reported.insert(item) {
                found.push(index);
            }
        } else {
            seen.insert(item);
        }
    }
    found
}
