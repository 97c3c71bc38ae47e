//! Structural schemas of documents, and pure functions on schemas and documents: validate, default, prune. Does no I/O, and
//! knows no kinds.
//!
//! All functions get the root schema and the whole object, and walk both with one cursor, `At`. `apiVersion`, `kind` and
//! `metadata` are the same for all kinds and are not part of a kind's schema. Decoding, pruning and patches need them and
//! start with `At::object`, which adds them. Validation and defaulting start with `At::of`, which has only the declared
//! fields; `meta` validates metadata.

mod carry;
pub(crate) mod check;
mod coerce;
mod correlate;
mod cursor;
pub mod declare;
pub(crate) mod default;
mod enumeration;
pub mod fingerprint;
#[cfg(any(test, feature = "test-support"))]
pub mod fixture;
pub mod format;
mod immutable;
pub mod keywords;
pub(crate) mod location;
pub mod memory;
mod metadata;
mod meter;
pub mod model;
pub mod named_definitions;
pub mod normalise;
pub mod openapi;
mod origin;
mod properties;
pub(crate) mod prune;
pub mod rules;
mod scalar;
mod shared;
#[cfg(test)]
mod tests;
pub mod types;
pub(crate) mod validate;

pub use crate::meta::json::number;
pub use carry::carry_over;
pub use coerce::coerce;
pub use correlate::{keys_of, rest_is_kept, restore};
pub use cursor::At;
pub use declare::ApiType;
pub use default::default;
pub use enumeration::Enumeration;
pub use fingerprint::fingerprint;
pub use kindsmith_cel::re2::Pattern;
pub use metadata::METADATA;
pub use meter::{Exceeded, Meter};
pub use model::{Either, Junctors, ListType, PatchStrategy, Schema, Type, Unenforced};
pub use normalise::normalise;
pub use origin::origin;
pub use properties::Properties;
pub use prune::prune;
pub use rules::Rule;
pub use scalar::Scalar;
pub(crate) use shared::shared;
pub use types::check_types;
pub use types::{Decoder, check_types_by, check_types_of_change};
pub use validate::{validate, validate_change};

/// A document: a JSON value. Keys are sorted; numbers are `i64` or `f64` (an integer outside of `i64` is a double); the
/// decoder has resolved duplicate keys. Equal documents are the same object: a write that leads to one changes nothing.
pub type Document = serde_json::Value;
