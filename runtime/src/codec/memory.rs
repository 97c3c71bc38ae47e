//! How much memory a document may take: a short text can stand for one that takes far more.
use super::Limits;
use crate::schema::Document;

/// The memory that is left.
pub(super) struct Memory {
    left: usize,
}

impl Memory {
    /// What one object takes beyond its values: a node of its tree has room for eleven fields at once.
    pub(super) const OBJECT: usize = 512;

    /// What one field takes beyond its value: a name, and a share of nodes that are never full.
    const FIELD: usize = 96;

    /// The least that a text takes that is not empty.
    const TEXT: usize = 32;

    /// What one list that is not empty takes beyond its values: it has room for four of them at once.
    const LIST: usize = 4 * size_of::<Document>();

    /// What is wrong where none is left.
    pub(super) const EXCEEDED: &'static str = "the document takes too much memory";

    pub(super) fn new(limits: &Limits) -> Self {
        Self { left: limits.memory }
    }

    /// Takes some; false where there is not enough.
    #[must_use]
    pub(super) fn take(&mut self, bytes: usize) -> bool {
        let left = self.left.checked_sub(bytes);
        self.left = left.unwrap_or_default();
        left.is_some()
    }

    /// Takes what a value takes without its text.
    #[must_use]
    pub(super) fn value(&mut self) -> bool {
        self.take(size_of::<Document>())
    }

    /// Takes what an object takes without its fields.
    #[must_use]
    pub(super) fn object(&mut self) -> bool {
        self.take(Self::OBJECT)
    }

    /// Takes what a list takes without its values.
    #[must_use]
    pub(super) fn list(&mut self) -> bool {
        self.take(Self::LIST)
    }

    /// Takes what a field takes without its value.
    #[must_use]
    pub(super) fn field(&mut self) -> bool {
        self.take(Self::FIELD)
    }

    /// Takes what the text of a value takes, however short it is.
    #[must_use]
    pub(super) fn text(&mut self, text: &str) -> bool {
        text.is_empty() || self.take(Self::TEXT)
    }
}

/// What a document takes, about.
pub(crate) fn taken(document: &Document) -> usize {
    let below = match document {
        Document::String(text) => text.len(),
        Document::Array(items) if items.is_empty() => 0,
        Document::Array(items) => Memory::LIST + items.iter().map(taken).sum::<usize>(),
        Document::Object(fields) if fields.is_empty() => 0,
        Document::Object(fields) => {
            Memory::OBJECT + fields.values().map(|field| Memory::FIELD + taken(field)).sum::<usize>()
        }
        _ => 0,
    };
    size_of::<Document>() + below
}
