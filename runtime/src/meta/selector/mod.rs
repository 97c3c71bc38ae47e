//! Selectors: which objects a list, a watch or a deletion is about. Parsed once, matched without allocating.

mod fields;
mod labels;
mod lexer;
#[cfg(test)]
mod tests;

pub use fields::{FieldTerm, Fields};
pub use labels::{LabelRequirement, Labels, Operator};

/// The longest selector, in bytes; a longer one is refused before it is parsed.
pub const MAX_LENGTH: usize = 64 << 10;

fn too_long(which: &str, length: usize) -> String {
    format!("the {which} selector is too long: {length} bytes, may not be more than {MAX_LENGTH} bytes")
}
