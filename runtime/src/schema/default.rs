//! Defaults: fills in what the schema says where a field is absent.
use super::{Document, Schema};

/// Fills in defaults, also in list items, map values and structs that exist. A `null` where the schema does not allow
/// one counts as absent if the field has a default.
pub fn default(_schema: &Schema, _document: &mut Document) {
    todo!()
}
