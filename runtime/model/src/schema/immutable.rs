//! Immutable fields, which may be set once and never be changed or removed.
use super::{
    At, Document, Meter, Schema,
    correlate::{Before, is_equal},
    location::Location,
};
use crate::meta::{
    FieldError, FieldErrorKind,
    field::{MOST_ERRORS, shown},
};

/// Reports immutable fields that were set and have changed.
///
/// Entries of maps are matched by key and items of map lists by their keys; a removed entry or item takes its fields
/// with it. Items of other lists have no identity and are not matched.
pub(super) fn changes(schema: &Schema, new: &Document, old: &Document, meter: &Meter) -> Vec<FieldError> {
    let mut comparison = Comparison { meter, errors: Vec::new() };
    comparison.compare(At::of(schema), Some(new), old, &Location::Root);
    comparison.errors
}

struct Comparison<'m> {
    meter: &'m Meter,
    errors: Vec<FieldError>,
}

impl Comparison<'_> {
    fn compare(&mut self, at: At<'_>, new: Option<&Document>, old: &Document, location: &Location<'_>) {
        if old.is_null() || self.errors.len() >= MOST_ERRORS || new.is_some_and(|new| is_equal(new, old, self.meter)) {
            return;
        }
        // A whole object changes with its metadata.
        if at.immutable && !matches!(location, Location::Root) {
            let given = new.map(shown).unwrap_or_default();
            self.errors.push(FieldError::new(&location.path(), FieldErrorKind::Invalid(given), "field is immutable"));
            return;
        }
        match old {
            Document::Object(fields) => {
                for (name, old) in fields {
                    let new = new.and_then(|new| new.get(name));
                    if let Some(property) = at.property(name) {
                        self.compare(property, new, old, &location.field(name));
                    } else if let (Some(values), Some(_)) = (at.entry(), new) {
                        self.compare(values, new, old, &location.field(name));
                    }
                }
            }
            Document::Array(_) => {
                let (Some(items), Some(Document::Array(new))) = (at.items(), new) else { return };
                let were = Before::of(old).items(at);
                for (index, new) in new.iter().enumerate() {
                    if let Some(old) = were.of(new).value() {
                        self.compare(items, Some(new), old, &location.item(index));
                    }
                }
            }
            _ => {}
        }
    }
}
