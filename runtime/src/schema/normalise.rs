//! Normalisation: documents that mean the same become equal.
use super::{Document, Schema};

/// Drops empty values where the schema says that empty means absent, and `null` where the schema knows the field and
/// does not allow one there.
pub fn normalise(_schema: &Schema, _document: &mut Document) {
    todo!()
}
