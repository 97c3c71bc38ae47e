//! Defaulting: fills in the schema's defaults for absent fields.
use serde_json::Map;

use super::{At, Document, Schema, normalise::is_empty};

/// Fills in defaults, also in existing list items, map values and structs.
///
/// A `null` that the schema does not allow counts as absent: it becomes the field's default or is removed. As a list
/// item it is kept for validation to refuse, because removing it would move other items.
pub fn default(schema: &Schema, document: &mut Document) {
    fill(At::of(schema), document);
}

pub(super) fn fill(at: At<'_>, document: &mut Document) {
    match document {
        Document::Object(fields) => {
            for (name, field) in at.properties() {
                fill_property(name, field, fields);
            }
            if let Some(values) = at.entry() {
                fill_entries(at, values, fields);
            }
        }
        Document::Array(list) => {
            if let Some(items) = at.items() {
                for item in list {
                    replace_null(items, item);
                    fill(items, item);
                }
            }
        }
        _ => {}
    }
}

fn fill_property(name: &str, at: At<'_>, fields: &mut Map<String, Document>) {
    match fields.get_mut(name) {
        Some(value) if is_absent(at, value) => {
            let Some(filling) = default_of(at) else {
                fields.remove(name);
                return;
            };
            value.clone_from(filling);
        }
        Some(_) => {}
        None => {
            let Some(filling) = default_of(at) else { return };
            fields.insert(name.to_owned(), filling.clone());
        }
    }
    if let Some(value) = fields.get_mut(name) {
        fill(at, value);
    }
}

/// Entries of a map, without declared fields.
fn fill_entries(at: At<'_>, values: At<'_>, fields: &mut Map<String, Document>) {
    fields.retain(|name, value| {
        if at.property(name).is_some() {
            return true;
        }
        replace_null(values, value);
        fill(values, value);
        !is_absent(values, value)
    });
}

fn replace_null(at: At<'_>, value: &mut Document) {
    if is_absent(at, value)
        && let Some(filling) = default_of(at)
    {
        value.clone_from(filling);
    }
}

/// The default of a place. A back reference with a default, whose value might not end, is refused; that is not known yet while
/// the schema is checked.
fn default_of(at: At<'_>) -> Option<&Document> {
    if at.definition.is_none() { at.node().default.as_ref() } else { None }
}

/// True for a value that counts as absent: a disallowed `null`, or for a field with a default a value equivalent to
/// absence.
fn is_absent(at: At<'_>, value: &Document) -> bool {
    let emptied = at.omit_empty && at.default.is_some() && is_empty(at, value);
    (value.is_null() && !at.nullable) || emptied
}
