//! Conversion: how objects of one version become those of the version that is stored, and back.
use crate::schema::Document;

/// Converts the objects of one version of a kind to the version that is stored, and back.
///
/// A document is whole, without `apiVersion` and `kind`; what a conversion makes of it is pruned to the version that it was made for. Of
/// metadata, only labels and annotations may change.
pub trait Convert: Send + Sync {
    /// An object of this version in the stored one.
    ///
    /// # Errors
    /// Why it has no form there.
    fn write(&self, document: Document) -> Result<Document, String>;

    /// A stored object in this version.
    ///
    /// # Errors
    /// Why it has no form here.
    fn read(&self, document: Document) -> Result<Document, String>;
}

/// Nothing but `apiVersion` differs: what both versions declare has the same name and meaning in both.
#[derive(Clone, Copy, Debug)]
pub struct Unchanged;

impl Convert for Unchanged {
    fn write(&self, document: Document) -> Result<Document, String> {
        Ok(document)
    }

    fn read(&self, document: Document) -> Result<Document, String> {
        Ok(document)
    }
}
