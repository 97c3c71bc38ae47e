//! The walk over a checked expression.
use super::{Range, Sizes};
use crate::Checked;

impl Checked {
    /// The estimated cost of the expression.
    pub fn estimate(&self, _sizes: &dyn Sizes) -> Range {
        todo!()
    }
}
