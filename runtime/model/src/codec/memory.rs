//! The memory budget of a document: a short text may describe a document that takes far more memory.
use super::Limits;
use crate::schema::{
    Document,
    memory::{FIELD, LIST, OBJECT, TEXT},
};

/// The remaining memory.
pub(super) struct Memory {
    left: usize,
}

impl Memory {
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
        self.take(OBJECT)
    }

    /// Takes the memory of a list without its values.
    #[must_use]
    pub(super) fn list(&mut self) -> bool {
        self.take(LIST)
    }

    /// Takes the memory of a field without its value.
    #[must_use]
    pub(super) fn field(&mut self) -> bool {
        self.take(FIELD)
    }

    /// Takes the memory of a text, however short.
    #[must_use]
    pub(super) fn text(&mut self, text: &str) -> bool {
        text.is_empty() || self.take(TEXT)
    }
}
