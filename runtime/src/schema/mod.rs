//! Structural schemas: what a kind's documents look like, and the pure functions over them: validate, default, prune.
//! Does no I/O; knows no kind.
//!
//! All functions take the root schema and the whole object, and walk it by one cursor, [`At`]. `apiVersion`, `kind` and
//! `metadata` are the same for all kinds and are declared by none: the cursor has them where objects begin ([`At::object`]),
//! for what goes into them: decoding, pruning, patches. Validation, defaults and the like see what a kind declares
//! ([`At::of`]); metadata is validated in `meta`.

mod bounds;
pub(crate) mod check;
mod correlate;
mod cursor;
pub(crate) mod declare;
pub(crate) mod default;
pub(crate) mod fingerprint;
#[cfg(test)]
pub(crate) mod fixture;
pub(crate) mod format;
mod immutable;
pub(crate) mod junctors;
mod metadata;
pub mod model;
pub(crate) mod named;
pub(crate) mod normalise;
pub(crate) mod number;
pub(crate) mod openapi;
mod origin;
pub(crate) mod place;
mod properties;
pub(crate) mod prune;
#[cfg(test)]
mod tests;
pub(crate) mod types;
mod unique;
pub(crate) mod validate;

pub(crate) use correlate::{rest_is_kept, restore};
pub use cursor::At;
pub use declare::ApiType;
pub use default::default;
pub use fingerprint::fingerprint;
pub use metadata::METADATA;
pub use model::Schema;
pub use normalise::normalise;
pub(crate) use origin::origin;
pub use properties::Properties;
pub use prune::prune;
pub use types::{check_types, check_types_of_change};
pub use validate::{validate, validate_change};

/// A document: JSON as Kubernetes tells it apart. Keys are kept sorted; numbers are `i64` or `f64` (an integer literal
/// outside `i64` is a double); duplicates have been settled by the decoder. Equality of documents decides what is no change.
pub type Document = serde_json::Value;
