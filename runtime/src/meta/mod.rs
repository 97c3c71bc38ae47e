//! The vocabulary of the API: names, metadata, status, selectors, revisions, options. Owns the types that every kind
//! uses on the wire. Knows no kind, no engine and no HTTP.

pub mod duration;
pub mod field;
pub(crate) mod go;
pub mod names;
pub mod object;
pub mod operation;
pub mod options;
pub mod percent;
pub mod preconditions;
pub mod quantity;
pub mod refusal;
pub mod revision;
pub mod selector;
pub mod shared;
pub mod status;
#[cfg(test)]
mod tests;
pub mod time;
mod user;
pub mod validate;
pub mod values;
pub mod version;
pub mod warnings;

pub use field::{FieldError, FieldErrorKind, FieldPath};
pub use names::{GroupKind, GroupResource, GroupVersion};
pub use object::{ListMeta, ManagedFieldsEntry, ObjectMeta, OwnerReference, TypeMeta};
pub use operation::Operation;
pub use preconditions::Preconditions;
pub use quantity::Quantity;
pub use refusal::Refusal;
pub use revision::Revision;
pub use shared::{
    Condition, LabelSelector, LabelSelectorRequirement, LocalObjectReference, ObjectReference, find_condition,
    set_condition,
};
pub use status::{Status, StatusCause, StatusDetails};
pub use time::{MicroTime, Time};
pub use user::User;
pub use values::{ByteString, IntOrString, RawJson};
pub use warnings::Warnings;
