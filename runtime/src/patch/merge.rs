//! JSON Merge Patch (RFC 7386).
use super::PatchError;
use crate::schema::Document;

/// Reads a merge patch, which for API objects is a JSON object.
///
/// # Errors
/// [`PatchError::Malformed`].
pub fn parse(_bytes: &[u8]) -> Result<Document, PatchError> {
    todo!()
}

/// Applies a merge patch.
pub fn apply(_document: &mut Document, _patch: &Document) {
    todo!()
}
