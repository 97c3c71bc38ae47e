//! Validation: everything that a document has wrong, in the reference's words.
use super::{Document, Schema};
use crate::meta::FieldError;

/// Everything that is wrong with a document.
pub fn validate(_schema: &Schema, _document: &Document) -> Vec<FieldError> {
    todo!()
}

/// What is wrong with a change: immutable fields that differ. [`validate`] is called besides.
pub fn validate_update(_schema: &Schema, _document: &Document, _old: &Document) -> Vec<FieldError> {
    todo!()
}
