//! Between bytes and documents: JSON in and out, strict or not, with limits. No I/O.
//!
//! One pass, no clone. What it decodes is settled: of a field given twice the last value counts, a whole number within
//! `i64` is an integer however it was written, any other number is a double. So equal documents are equal values, and
//! what [`encode`] writes decodes to the same document.
use std::fmt;

use crate::schema::{At, Document, Schema, number};

pub mod cbor;
mod encoding;
mod faults;
mod memory;
mod parse;
mod plain;
pub mod protobuf;
mod write;
pub mod yaml;

#[cfg(test)]
pub(crate) mod recorded;
#[cfg(test)]
mod tests;

pub use encoding::Encoding;
pub use faults::{Order, drop_unknown};
pub(crate) use memory::taken;
pub use write::{Canonical, canonical, encode, managed_fields, quote, size};

/// What a decoder accepts. The size of the body is limited before it gets here.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How deep objects and lists may nest.
    pub depth: usize,
    /// How many bytes a document may take in memory, about.
    pub memory: usize,
}

impl Limits {
    /// How deep documents nest. Each walk over one fits the stack of a thread several times, in debug builds, too.
    const DEPTH: usize = 256;

    /// For patches, which are held beside the object and what becomes of it.
    pub const PATCH: Self = Self { depth: Self::DEPTH, memory: 16 << 20 };

    /// For options.
    pub const OPTIONS: Self = Self { depth: 100, memory: 1 << 20 };

    /// For what the server has written itself.
    pub const NONE: Self = Self { depth: usize::MAX, memory: usize::MAX };
}

impl Default for Limits {
    fn default() -> Self {
        Self { depth: Self::DEPTH, memory: 28 << 20 }
    }
}

/// A decoded document.
#[derive(Clone, Debug)]
pub struct Decoded {
    /// The document. Of a field that was given twice, the last value.
    pub document: Document,
    /// What strict validation finds fault with, in the order of the body: `duplicate field "spec.size"`.
    pub faults: Vec<String>,
    /// Unknown fields have been looked for: they are among the faults, and no longer in the document.
    pub pruned: bool,
}

impl From<Document> for Decoded {
    fn from(document: Document) -> Self {
        Self { document, faults: Vec::new(), pruned: false }
    }
}

/// Why bytes are not a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodeError {
    /// The line, from 1; 0 where the bytes are no text.
    pub line: usize,
    /// The column in bytes, from 1; where the bytes are no text, the offset.
    pub column: usize,
    /// What is wrong, without the place: `invalid character 'n' looking for beginning of object key string`.
    pub message: String,
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{} (at byte {})", self.message, self.column),
            line => write!(f, "{} (line {line}, column {})", self.message, self.column),
        }
    }
}

impl std::error::Error for DecodeError {}

/// Decodes JSON text.
///
/// Integers outside `i64` become doubles; a double that is a whole number within `i64` becomes that integer, as it does
/// in kube-apiserver by being written and read once. Text that is not UTF-8, and a lone surrogate, are errors: the
/// reference replaces them silently, which loses the user's data.
///
/// # Errors
/// [`DecodeError`] for what is not JSON, not UTF-8, nested too deeply, or followed by more than white space.
pub fn decode(bytes: &[u8], limits: &Limits) -> Result<Decoded, DecodeError> {
    parse::Parser::new(bytes, limits, Order::UnknownLast)?.document(At::anything())
}

/// Decodes JSON text of an object of a kind, as [`decode`] does, and drops the fields that the kind does not know. They
/// are told among the faults. All of it is one pass.
///
/// # Errors
/// As [`decode`].
pub fn decode_strict(bytes: &[u8], limits: &Limits, root: &Schema, order: Order) -> Result<Decoded, DecodeError> {
    let decoded = parse::Parser::new(bytes, limits, order)?.document(At::object(root))?;
    Ok(Decoded { pruned: true, ..decoded })
}

/// Makes a document of a Rust value, its numbers settled as [`decode`] settles them.
///
/// # Errors
/// What the type's `Serialize` says.
pub fn from_typed<T: serde::Serialize>(value: &T) -> Result<Document, String> {
    let mut document = serde_json::to_value(value).map_err(|error| error.to_string())?;
    number::settle(&mut document);
    Ok(document)
}
