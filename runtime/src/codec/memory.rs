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
}
