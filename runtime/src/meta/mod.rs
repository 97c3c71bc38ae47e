//! The vocabulary of the API: names, metadata, status, selectors, revisions, options.
//! Owns the types that appear on the wire for every kind; knows no kind, no engine and no HTTP.

pub mod field;
pub mod names;
pub mod object;
pub mod options;
pub mod revision;
pub mod selector;
pub mod status;
pub mod time;
pub mod validate;

pub use field::{FieldError, FieldErrorKind, FieldPath};
pub use names::{GroupKind, GroupResource, GroupVersion};
pub use object::{ObjectMeta, OwnerReference};
pub use revision::Revision;
