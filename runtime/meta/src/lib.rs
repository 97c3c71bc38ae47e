//! The vocabulary of the API: names, metadata, status, selectors, revisions, options. Owns the types that every kind
//! uses on the wire. Knows no kind, no engine and no HTTP.

pub mod duration;
pub mod field;
pub mod fields_v1;
pub mod go;
pub mod json;
#[cfg(feature = "messages")]
pub mod message;
pub(crate) mod names;
pub mod object;
pub(crate) mod operation;
pub mod options;
pub mod percent;
pub mod preconditions;
pub mod quantity;
pub mod refusal;
pub(crate) mod revision;
pub mod selector;
pub(crate) mod shared;
pub mod status;
#[cfg(test)]
mod tests;
pub mod text;
pub mod time;
pub mod uid;
pub mod url;
pub mod user;
pub mod validate;
pub mod values;
pub mod version;
pub(crate) mod warnings;

pub use field::{FieldError, FieldErrorKind, FieldPath};
pub use fields_v1::FieldsV1;
pub use names::{GroupKind, GroupResource, GroupVersion};
pub use object::{ListMeta, ManagedFieldsEntry};
pub use object::{ObjectMeta, OwnerReference};
pub use operation::Operation;
pub use preconditions::Preconditions;
pub use quantity::Quantity;
pub use refusal::Refusal;
pub use revision::Revision;
pub use shared::{Condition, LabelSelector, ObjectReference};
pub use shared::{
    FieldSelectorRequirement, LabelSelectorRequirement, LocalObjectReference, find_condition, set_condition,
};
pub use status::{Status, StatusCause, StatusDetails};
pub use time::{MicroTime, Time};
pub use user::User;
pub use values::{ByteString, IntOrString, RawJson};
pub use version::by_priority;
pub use warnings::Warnings;
