//! JSON Patch (RFC 6902).
use super::PatchError;
use crate::schema::Document;

/// A parsed JSON Patch.
#[derive(Clone, Debug)]
pub struct Patch {
    _todo: (),
}

impl Patch {
    /// Reads a patch.
    ///
    /// # Errors
    /// [`PatchError::Malformed`], [`PatchError::TooLarge`].
    pub fn parse(_bytes: &[u8]) -> Result<Self, PatchError> {
        todo!()
    }

    /// Applies all operations, or none.
    ///
    /// # Errors
    /// [`PatchError::Inapplicable`].
    pub fn apply(&self, _document: &Document) -> Result<Document, PatchError> {
        todo!()
    }
}
