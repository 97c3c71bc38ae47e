//! Selectors: which objects a list, a watch or a deletion is about. Parsed once, matched without allocating.

mod fields;
mod labels;

pub use fields::{FieldTerm, Fields};
pub use labels::{LabelRequirement, Labels, Operator};

/// The longest selector, in bytes; a longer one is refused before it is parsed.
pub const MAX_LENGTH: usize = 64 << 10;
