//! The memory budget of a document: a short text may describe a document that takes far more memory.
use super::Limits;
use crate::schema::Document;

/// The remaining memory.
pub(super) struct Memory {
    left: usize,
}

impl Memory {
    /// The overhead of an object: a node of its tree has room for eleven fields.
    pub(super) const OBJECT: usize = 512;

    /// The overhead of a field: its name, and a share of nodes that are never full.
    const FIELD: usize = 96;

    /// The minimum size of a nonempty text.
    const TEXT: usize = 32;

    /// The overhead of a nonempty list, which has room for four values at once.
    const LIST: usize = 4 * size_of::<Document>();

    /// The error if the budget is exceeded.
    pub(super) const EXCEEDED: &'static str = "the document takes too much memory";

    pub(super) fn new(limits: &Limits) -> Self {
        Self { left: limits.memory }
    }

    /// Takes some memory; returns false if not enough is left.
    #[must_use]
    pub(super) fn take(&mut self, bytes: usize) -> bool {
        let left = self.left.checked_sub(bytes);
        self.left = left.unwrap_or_default();
        left.is_some()
    }

    /// Takes the memory of a value without its text.
    #[must_use]
    pub(super) fn value(&mut self) -> bool {
        self.take(size_of::<Document>())
    }

    /// Takes the memory of an object without its fields.
    #[must_use]
    pub(super) fn object(&mut self) -> bool {
        self.take(Self::OBJECT)
    }

    /// Takes the memory of a list without its values.
    #[must_use]
    pub(super) fn list(&mut self) -> bool {
        self.take(Self::LIST)
    }

    /// Takes the memory of a field without its value.
    #[must_use]
    pub(super) fn field(&mut self) -> bool {
        self.take(Self::FIELD)
    }

    /// Takes the memory of a text, however short.
    #[must_use]
    pub(super) fn text(&mut self, text: &str) -> bool {
        text.is_empty() || self.take(Self::TEXT)
    }
}

/// The approximate memory of a document.
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
