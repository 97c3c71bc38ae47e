//! Between bytes and documents: JSON in and out, strict or not, with limits. No I/O.
use std::fmt;

use crate::{meta::FieldPath, schema::Document};

/// What a decoder accepts. The size of the body is limited before it gets here.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How deep objects and lists may nest.
    pub depth: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { depth: 1_000 }
    }
}

/// A decoded document.
#[derive(Clone, Debug)]
pub struct Decoded {
    /// The document. Of a field that was given twice, the last value.
    pub document: Document,
    /// Fields that were given more than once, in the order in which the second value was met.
    pub duplicates: Vec<FieldPath>,
}

/// Why bytes are not a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodeError {
    /// The line, from 1.
    pub line: usize,
    /// The column in bytes, from 1.
    pub column: usize,
    /// What is wrong, without the place: `invalid character 'n' looking for beginning of object key string`.
    pub message: String,
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (line {}, column {})", self.message, self.line, self.column)
    }
}

impl std::error::Error for DecodeError {}

/// Decodes JSON text.
///
/// Integers outside `i64` become doubles; a double that is a whole number within `i64` becomes that integer, as it does
/// in the reference by being written and read once.
///
/// # Errors
/// [`DecodeError`] for what is not JSON, not UTF-8, nested too deeply, or followed by more than white space.
pub fn decode(_bytes: &[u8], _limits: &Limits) -> Result<Decoded, DecodeError> {
    todo!()
}

/// Writes a document as JSON: keys sorted, numbers as the reference prints them.
pub fn encode(_document: &Document, _out: &mut Vec<u8>) {
    todo!()
}

/// Appends the canonical body of an object: `metadata` first and without `resourceVersion`, then the other keys in
/// order, without `apiVersion` and `kind`.
pub fn canonical(_document: &Document, _out: &mut Vec<u8>) {
    todo!()
}

/// Makes a document of a Rust value. Numbers become as [`decode`] makes them.
///
/// # Errors
/// What the type's `Serialize` says.
pub fn from_typed<T: serde::Serialize>(_value: &T) -> Result<Document, String> {
    todo!()
}
