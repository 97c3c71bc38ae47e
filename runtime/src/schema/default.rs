//! Defaults: fills in what the schema says where a field is absent.
use serde_json::Map;

use super::{Document, Schema, normalise::is_empty};

/// Fills in defaults, also in list items, map values and structs that exist.
///
/// A `null` where the schema does not allow one counts as absent: it becomes the field's default, or goes away. A list's
/// item stays `null` for validation to refuse, since dropping it would move the others.
pub fn default(schema: &Schema, document: &mut Document) {
    match document {
        Document::Object(fields) => {
            for (name, field) in &schema.properties {
                default_property(name, field, fields);
            }
            if let Some(values) = &schema.additional {
                default_entries(schema, values, fields);
            }
        }
        Document::Array(list) => {
            if let Some(items) = &schema.items {
                for item in list {
                    replace_null(items, item);
                    default(items, item);
                }
            }
        }
        _ => {}
    }
}

fn default_property(name: &str, schema: &Schema, fields: &mut Map<String, Document>) {
    match fields.get_mut(name) {
        Some(value) if is_absent(schema, value) => {
            let Some(filling) = &schema.default else {
                fields.remove(name);
                return;
            };
            value.clone_from(filling);
        }
        Some(_) => {}
        None => match &schema.default {
            Some(filling) => {
                fields.insert(name.to_owned(), filling.clone());
            }
            None => return,
        },
    }
    if let Some(value) = fields.get_mut(name) {
        default(schema, value);
    }
}

/// Entries of a map; fields that are declared by name are not among them.
fn default_entries(schema: &Schema, values: &Schema, fields: &mut Map<String, Document>) {
    fields.retain(|name, value| {
        if schema.properties.contains_key(name) {
            return true;
        }
        replace_null(values, value);
        default(values, value);
        !is_absent(values, value)
    });
}

fn replace_null(schema: &Schema, value: &mut Document) {
    if is_absent(schema, value)
        && let Some(filling) = &schema.default
    {
        value.clone_from(filling);
    }
}

/// A value that counts as absent: `null` where it is no value, and for a field with a default what is as good as absent.
fn is_absent(schema: &Schema, value: &Document) -> bool {
    let emptied = schema.omit_empty && schema.default.is_some() && is_empty(schema, value);
    (value.is_null() && !schema.nullable) || emptied
}
