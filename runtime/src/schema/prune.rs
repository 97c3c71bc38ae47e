//! Pruning: drops the fields that the schema does not know.
use super::{Document, Schema};
use crate::meta::FieldPath;

/// Drops unknown fields and says which they were, in the order of the document's keys.
pub fn prune(_schema: &Schema, _document: &mut Document) -> Vec<FieldPath> {
    todo!()
}
