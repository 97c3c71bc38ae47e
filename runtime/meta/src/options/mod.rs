//! Options of requests, read from the query (and for deletions from the body), and the rules for combining them.

mod delete;
mod list;
mod query;
mod revision;
#[cfg(test)]
mod tests;
mod write;

pub use super::Preconditions;
pub use delete::{DeleteOptions, Propagation};
pub use list::{GetOptions, ListOptions, VersionMatch};
pub use query::Query;
pub use query::switch;
pub use write::{CreateOptions, FieldValidation, PatchOptions, UpdateOptions, WriteOptions, client_name};

use std::fmt;

use serde_json::Value;

use super::{FieldError, FieldErrorKind, FieldPath, GroupKind, Status, go};

/// Why options were refused.
#[derive(Clone, Debug, PartialEq)]
pub enum OptionsError {
    /// Answered with 400.
    BadRequest(String),
    /// Answered with 422, naming the options' kind.
    Invalid(GroupKind, Vec<FieldError>),
    /// Answered with 500 without a reason, as kube-apiserver does for an invalid resourceVersion on get and watch.
    Unknown(String),
}

impl fmt::Display for OptionsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BadRequest(message) | Self::Unknown(message) => f.write_str(message),
            Self::Invalid(kind, errors) => {
                write!(f, "{kind} is invalid")?;
                errors.iter().try_for_each(|error| write!(f, ": {error}"))
            }
        }
    }
}

impl From<OptionsError> for Status {
    fn from(error: OptionsError) -> Self {
        match error {
            OptionsError::BadRequest(message) => Self::bad_request(message),
            OptionsError::Invalid(kind, errors) => Self::invalid(&kind, "", &errors),
            OptionsError::Unknown(message) => Self::failure(500, "", message, None),
        }
    }
}

/// Fails if there are errors about options of a kind.
fn refuse(kind: &str, errors: Vec<FieldError>) -> Result<(), OptionsError> {
    if errors.is_empty() {
        return Ok(());
    }
    Err(OptionsError::Invalid(GroupKind { group: "meta.k8s.io".to_owned(), kind: kind.to_owned() }, errors))
}

/// The error for an option whose value is not supported.
fn unsupported(option: &str, given: Value, supported: &[&str]) -> FieldError {
    let supported = supported.iter().map(|value| go::quoted(value)).collect();
    FieldError::new(&FieldPath::new(option), FieldErrorKind::NotSupported { given, supported }, "")
}
