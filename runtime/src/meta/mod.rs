//! The vocabulary of the API: names, metadata, status, selectors, revisions, options. Owns the types that every kind
//! uses on the wire. Knows no kind, no engine and no HTTP.

pub(crate) mod duration;
pub(crate) mod field;
pub(crate) mod go;
pub(crate) mod names;
pub(crate) mod object;
pub(crate) mod operation;
pub mod options;
pub(crate) mod percent;
pub(crate) mod preconditions;
pub(crate) mod quantity;
pub(crate) mod refusal;
pub(crate) mod revision;
pub mod selector;
pub(crate) mod shared;
pub(crate) mod status;
#[cfg(test)]
mod tests;
pub(crate) mod text;
pub(crate) mod time;
#[cfg(feature = "server")]
pub(crate) mod uid;
pub(crate) mod url;
pub(crate) mod user;
pub(crate) mod validate;
pub(crate) mod values;
pub(crate) mod version;
pub(crate) mod warnings;

pub(crate) use field::{FieldError, FieldErrorKind, FieldPath};
pub use names::{GroupKind, GroupResource, GroupVersion};
pub use object::{ListMeta, ManagedFieldsEntry};
pub(crate) use object::{ObjectMeta, OwnerReference};
pub use operation::Operation;
pub use preconditions::Preconditions;
pub(crate) use quantity::Quantity;
pub(crate) use refusal::Refusal;
pub use revision::Revision;
pub(crate) use shared::{Condition, LabelSelector, ObjectReference};
pub use shared::{
    FieldSelectorRequirement, LabelSelectorRequirement, LocalObjectReference, find_condition, set_condition,
};
pub use status::{Status, StatusCause, StatusDetails};
pub(crate) use time::{MicroTime, Time};
pub(crate) use user::User;
pub(crate) use values::{ByteString, IntOrString, RawJson};
pub use version::by_priority;
pub use warnings::Warnings;
