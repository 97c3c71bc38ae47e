//! Selectors: the objects that a list, a watch or a deletion applies to. Parsed once; matching does not allocate.

mod fields;
mod labels;
mod lexer;
#[cfg(test)]
mod tests;

pub use fields::{FieldTerm, Fields};
pub use labels::{LabelRequirement, Labels, Operator};

/// The maximum length of a selector in bytes. Longer ones are refused before parsing.
pub const MAX_LENGTH: usize = 64 << 10;

fn too_long(which: &str, length: usize) -> String {
    format!("the {which} selector is too long: {length} bytes, may not be more than {MAX_LENGTH} bytes")
}
