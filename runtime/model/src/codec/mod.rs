//! Conversion between bytes and documents: JSON in and out, strict or not, with limits. No I/O.
//!
//! Decoding takes one pass without copies and normalizes: the last value of a repeated field wins, an integer within
//! `i64` is an integer in any notation, and any other number is a double. So equivalent documents are equal, and the
//! output of [`encode`] decodes to the same document.
use std::fmt;

use serde::de::DeserializeOwned;

use crate::schema::{At, Document, Schema, number};

pub mod cbor;
mod encoding;
mod faults;
mod memory;
mod parse;
pub mod protobuf;
mod write;
pub mod yaml;

#[cfg(any(test, feature = "test-support"))]
pub mod fixture;
#[cfg(test)]
mod tests;

pub use crate::meta::json::{encode, size};
pub use encoding::Encoding;
pub use faults::Order;
pub use faults::drop_unknown;
pub use write::{canonical, managed_fields};

/// The limits of a decoder. The size of the body is limited elsewhere.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The maximum nesting depth of objects and lists.
    pub depth: usize,
    /// The approximate maximum memory of a document in bytes.
    pub memory: usize,
}

impl Limits {
    /// The maximum nesting depth. Each walk over a document fits into a thread's stack several times, even in debug
    /// builds.
    const DEPTH: usize = 256;

    /// For patches, which are in memory together with the object and the result.
    pub const PATCH: Self = Self { depth: Self::DEPTH, memory: 16 << 20 };

    /// For options.
    pub const OPTIONS: Self = Self { depth: 100, memory: 1 << 20 };

    /// For the responses of conversion webhooks, which contain several objects.
    pub const CONVERSION: Self = Self { depth: Self::DEPTH + 3, memory: 128 << 20 };

    /// For text that the server wrote.
    pub const NONE: Self = Self { depth: usize::MAX, memory: usize::MAX };
}

impl Default for Limits {
    fn default() -> Self {
        Self { depth: Self::DEPTH, memory: 28 << 20 }
    }
}

/// A decoded document.
#[derive(Clone, Debug)]
pub struct DecodedDocument {
    /// The document, with the last value of repeated fields.
    pub document: Document,
    /// The faults for strict validation, in the order of the body: `duplicate field "spec.size"`.
    pub faults: Vec<String>,
    /// True if unknown fields were searched for: they are among the faults and removed from the document.
    pub pruned: bool,
}

impl From<Document> for DecodedDocument {
    fn from(document: Document) -> Self {
        Self { document, faults: Vec::new(), pruned: false }
    }
}

/// Why bytes are not a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodeError {
    /// The line, from 1; 0 if the bytes are not text.
    pub line: usize,
    /// The column in bytes, from 1, or the offset if the bytes are not text.
    pub column: usize,
    /// The error without the place: `invalid character 'n' looking for beginning of object key string`.
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
/// Integers outside `i64` become doubles; a double that is an integer within `i64` becomes that integer, as in
/// kube-apiserver, which writes and reads it once. Text that is not UTF-8, and lone surrogates, are errors:
/// kube-apiserver silently replaces them, which loses data.
///
/// # Errors
/// `DecodeError` if it is not JSON, not UTF-8, nested too deeply, or followed by anything except white space.
pub fn decode(bytes: &[u8], limits: &Limits) -> Result<DecodedDocument, DecodeError> {
    parse::Parser::new(bytes, limits, Order::UnknownLast)?.document(At::anything())
}

/// Decodes JSON that the server wrote. Its depth was limited when it came in, so there is no other limit.
///
/// # Errors
/// JSON that does not fit the type.
pub fn from_written<T: DeserializeOwned>(json: &[u8]) -> serde_json::Result<T> {
    let mut json = serde_json::Deserializer::from_slice(json);
    json.disable_recursion_limit();
    let value = T::deserialize(&mut json)?;
    json.end()?;
    Ok(value)
}

/// Decodes JSON text of an object of a kind like [`decode`], and drops unknown fields, which are reported as faults, in
/// the same pass.
///
/// # Errors
/// Like [`decode`].
pub fn decode_strict(
    bytes: &[u8],
    limits: &Limits,
    root: &Schema,
    order: Order,
) -> Result<DecodedDocument, DecodeError> {
    let decoded = parse::Parser::new(bytes, limits, order)?.document(At::object(root))?;
    Ok(DecodedDocument { pruned: true, ..decoded })
}

/// Converts a Rust value to a document, with numbers normalized like in [`decode`].
///
/// # Errors
/// Those of the type's `Serialize`.
pub fn from_typed<T: serde::Serialize>(value: &T) -> Result<Document, String> {
    let mut document = serde_json::to_value(value).map_err(|error| error.to_string())?;
    number::settle(&mut document);
    Ok(document)
}
