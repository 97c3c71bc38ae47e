//! Normalisation: documents that mean the same become equal.
use super::{At, Document, METADATA, Schema, model::Type, number};

/// Settles the numbers of an object, writes quantities as text, drops empty values where the schema says that empty means
/// absent, and drops `null` where the schema knows the field and does not allow one there; in the object's metadata, too.
///
/// Empty is a list or a map without anything in it, and text, a number or a boolean that is zero where zero means absent.
/// Elsewhere they stay, and so does a struct without fields: Go keeps them where the field is a pointer.
pub fn normalise(schema: &Schema, document: &mut Document) {
    number::settle(document);
    drop_empty(At::of(schema), document);
    if let Some(metadata) = document.get_mut("metadata") {
        drop_empty(At::of(&METADATA), metadata);
    }
}

fn drop_empty(at: At<'_>, value: &mut Document) {
    match value {
        Document::Object(fields) => fields.retain(|name, value| {
            let Some(known) = at.member(name) else { return true };
            drop_empty(known, value);
            quantity_as_text(&known, value);
            let absent = value.is_null() && !known.nullable;
            let emptied = known.omit_empty && is_empty(known, value);
            !(absent || emptied)
        }),
        Document::Array(list) => {
            if let Some(items) = at.items() {
                for item in list {
                    drop_empty(items, item);
                }
            }
        }
        _ => {}
    }
}

/// A quantity that was given as a number, as the API allows, becomes the text that it is stored as.
fn quantity_as_text(schema: &Schema, value: &mut Document) {
    if schema.kind == Type::String
        && schema.format.as_deref() == Some("quantity")
        && let Document::Number(number) = value
    {
        *value = number.to_string().into();
    }
}

/// Nothing is in it: what Go's `omitempty` drops.
pub(super) fn is_empty(at: At<'_>, value: &Document) -> bool {
    match value {
        Document::Null => true,
        Document::String(text) => at.zero_is_absent && text.is_empty(),
        Document::Number(number) => at.zero_is_absent && number.as_f64() == Some(0.0),
        Document::Bool(value) => at.zero_is_absent && !value,
        Document::Array(list) => list.is_empty(),
        Document::Object(fields) => fields.is_empty() && at.properties().len() == 0,
    }
}
