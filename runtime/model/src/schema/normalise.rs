//! Normalization: equivalent documents become equal.
use std::borrow::Cow;

use super::{At, Document, Scalar, Schema, number};

/// Normalizes the numbers of an object, writes times and bytes as Go prints them, drops empty values where the schema treats them as
/// absent, and drops `null` for known fields that do not allow it, also in metadata.
///
/// Empty values are lists and maps without content, and zero text, numbers or booleans if zero means absent. Other zero
/// values are kept, and so are structs without fields: Go keeps them if the field is a pointer.
pub fn normalise(schema: &Schema, document: &mut Document) {
    number::settle(document);
    drop_empty(At::object(schema), document);
}

fn drop_empty(at: At<'_>, value: &mut Document) {
    match value {
        Document::Object(fields) => fields.retain(|name, value| {
            let Some(known) = at.named(name).or_else(|| at.entry()) else { return true };
            drop_empty(known, value);
            settle_scalar(&known, value);
            let absent = value.is_null() && !known.nullable;
            let emptied = known.omit_empty && is_empty(known, value);
            !(absent || emptied)
        }),
        Document::Array(list) => {
            if let Some(items) = at.items() {
                for item in list {
                    drop_empty(items, item);
                    settle_scalar(&items, item);
                }
            }
        }
        _ => {}
    }
}

/// Text of a type of Go becomes what Go prints for it, `null` for the zero time. A quantity may be given as a number.
fn settle_scalar(schema: &Schema, value: &mut Document) {
    let Some(scalar) = schema.scalar else { return };
    if let (Document::Number(number), Scalar::Quantity) = (&*value, scalar) {
        *value = number.to_string().into();
    }
    // These stay as they were sent.
    if matches!(scalar, Scalar::Quantity | Scalar::IntOrString) {
        return;
    }
    let printed = match value.as_str().map(|text| scalar.read(text)) {
        Some(Ok(Some(Cow::Owned(printed)))) => printed.into(),
        Some(Ok(None)) => Document::Null,
        // Text that Go refuses is refused where types are checked.
        Some(Ok(Some(Cow::Borrowed(_))) | Err(_)) | None => return,
    };
    *value = printed;
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
