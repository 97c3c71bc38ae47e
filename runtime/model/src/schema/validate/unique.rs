//! Uniqueness in lists that are sets or maps.
use std::collections::HashMap;

use super::validator::Validator;
use crate::{
    meta::{
        FieldError, FieldErrorKind,
        field::{MOST_ERRORS, shown},
    },
    schema::{Document, correlate::keys_of, location::Location, model::ListType},
};

impl Validator<'_> {
    /// Reports every duplicate item once.
    pub(super) fn unique(&mut self, kind: &ListType, list: &[Document], location: &Location<'_>) {
        match kind {
            ListType::Set if self.meter.step(list.len()) => {
                for index in repeated(list.iter()) {
                    self.duplicate(location, index, FieldErrorKind::Duplicate(shown(&list[index])), "");
                }
            }
            // Each item has its keys in memory of its own.
            ListType::Map(keys) if self.meter.step(list.len() * keys.len()) => {
                let stranger = list.iter().position(|item| !item.is_object() && !item.is_null());
                if let Some(index) = stranger {
                    let detail = "must be an object for an array of list-type map";
                    return self.duplicate(location, index, FieldErrorKind::Invalid(shown(&list[index])), detail);
                }
                for index in repeated(list.iter().map(|item| keys_of(keys, item))) {
                    let key: Document =
                        keys.iter().filter_map(|key| Some((key.clone(), list[index].get(key)?.clone()))).collect();
                    self.duplicate(location, index, FieldErrorKind::Duplicate(key), "");
                }
            }
            ListType::Atomic | ListType::Set | ListType::Map(_) => {}
        }
    }

    fn duplicate(&mut self, location: &Location<'_>, index: usize, kind: FieldErrorKind, detail: &str) {
        if self.duplicates.len() < MOST_ERRORS {
            self.duplicates.push(FieldError::new(&location.item(index).keyed_path(), kind, detail));
        }
    }
}

/// The position of the second occurrence of an item.
fn repeated<T: Eq + std::hash::Hash>(items: impl ExactSizeIterator<Item = T>) -> Vec<usize> {
    if items.len() < 2 {
        return Vec::new();
    }
    let (mut times, mut found) = (HashMap::new(), Vec::new());
    for (index, item) in items.enumerate() {
        let times = times.entry(item).or_insert(0_usize);
        *times += 1;
        if *times == 2 && found.len() < MOST_ERRORS {
            found.push(index);
        }
    }
    found
}
