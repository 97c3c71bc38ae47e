//! Patches as pure functions on documents: JSON Patch (RFC 6902), JSON Merge Patch (RFC 7386), strategic merge patch, apply.
use std::fmt;

use crate::schema::{Document, types::name_of};

pub mod apply;
pub mod json;
pub mod merge;
mod pointer;
pub mod strategic;

#[cfg(test)]
mod tests;

/// Why a patch failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PatchError {
    /// The patch is malformed: 400, `error decoding patch: …`.
    Malformed(String),
    /// The patch has too many operations: 413.
    TooLarge(String),
    /// The patch does not apply to this object: 422.
    Inapplicable(String),
    /// The patch contains something that its type forbids: 400 with this message. Where kube-apiserver answers 500 by
    /// accident, the text is the same.
    Invalid(String),
    /// An item lacks the merge key of its list: 500 with this message and no reason, as in kube-apiserver.
    NoMergeKey(String),
}

impl fmt::Display for PatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(message) => write!(f, "error decoding patch: {message}"),
            Self::TooLarge(message)
            | Self::Inapplicable(message)
            | Self::Invalid(message)
            | Self::NoMergeKey(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for PatchError {}

/// Go's message for a value of another type than the expected one.
fn wrong_type(given: &Document, expected: &str) -> String {
    format!("json: cannot unmarshal {} into Go value of type {expected}", name_of(given))
}
