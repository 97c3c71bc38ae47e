//! Options of requests, read from the query (and for deletions from the body), and the rules among them.

mod delete;
mod list;
mod read;
#[cfg(test)]
mod tests;
mod write;

pub use delete::{DeleteOptions, Preconditions, Propagation};
pub use list::{GetOptions, ListOptions, VersionMatch};
pub use write::{CreateOptions, FieldValidation, PatchOptions, UpdateOptions, WriteOptions, client_name};

use super::{FieldError, GroupKind};

/// The query of a request: decoded pairs in the order given.
pub type Query = [(String, String)];

/// Why options were refused.
#[derive(Clone, Debug, PartialEq)]
pub enum OptionsError {
    /// 400.
    BadRequest(String),
    /// 422, naming the options' kind.
    Invalid(GroupKind, Vec<FieldError>),
    /// 500 without a reason: what the reference answers to a resourceVersion that is no number, on get and watch.
    Unknown(String),
}

/// Refuses options of a kind if there is anything wrong with them.
fn refuse(kind: &str, errors: Vec<FieldError>) -> Result<(), OptionsError> {
    if errors.is_empty() {
        return Ok(());
    }
    Err(OptionsError::Invalid(GroupKind { group: "meta.k8s.io".to_owned(), kind: kind.to_owned() }, errors))
}

/// Text as it is quoted among supported values.
fn quoted(values: &[&str]) -> Vec<String> {
    values.iter().map(|value| format!("{value:?}")).collect()
}
