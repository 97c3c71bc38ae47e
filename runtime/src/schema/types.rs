//! Types of values as a compiled server checks them while it decodes: the first mismatch is told as Go tells it.
use super::{Document, Schema};

/// The first value whose type the schema does not allow, as the reference's compiled kinds say it:
/// `json: cannot unmarshal number into Go struct field ConfigMap.data of type string`.
pub fn check_types(_schema: &Schema, _document: &Document) -> Option<String> {
    todo!()
}
