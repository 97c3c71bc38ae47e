//! Normalization: equivalent documents become equal.
use super::{At, Document, Schema, model::Type, number};

/// Normalizes the numbers of an object, writes quantities as text, drops empty values where the schema treats them as
/// absent, and drops `null` for known fields that do not allow it, also in metadata.
///
/// Empty values are lists and maps without content, and zero text, numbers or booleans if zero means absent. Other zero
/// values are kept, and so are structs without fields: Go keeps them if the field is a pointer.
pub(crate) fn normalise(schema: &Schema, document: &mut Document) {
    number::settle(document);
    drop_empty(At::object(schema), document);
}

fn drop_empty(at: At<'_>, value: &mut Document) {
    match value {
        Document::Object(fields) => fields.retain(|name, value| {
            let Some(known) = at.named(name).or_else(|| at.entry()) else { return true };
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

/// A quantity given as a number, which the API allows, becomes its text.
fn quantity_as_text(schema: &Schema, value: &mut Document) {
    if schema.kind == Type::String
        && schema.format.as_deref() == Some("quantity")
        && let Document::Number(number) = value
    {
        *value = number.to_string().into();
    }
}

/// True if it is empty, like for Go's `omitempty`.
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
