//! Server-side apply and field ownership (`metadata.managedFields`), as pure functions on whole documents.
//!
//! A write that is no apply calls [`update`] once its document is defaulted. An apply calls [`merge`], then goes through
//! the pipeline like any other write. Both call [`keep_times`] last, so that a write that changed nothing stays no change.
//! Defaults that come after [`merge`] are owned by nobody.
use std::fmt;

use crate::schema::{Document, Schema};

pub mod scale;

/// What a document is checked against, and what of it this request may not change.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The kind's schema; `metadata` has its own.
    pub root: &'a Schema,
    /// The kind's name, as it stands in documents.
    pub kind: &'a str,
    /// Fields that this part of the object leaves alone, with everything below: nobody comes to own them by it. A write of
    /// the object itself resets `status` where the kind has that subresource, a write of the status resets `spec`.
    pub reset: &'a [&'a [&'a str]],
}

/// How a manager came to own fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operation {
    /// By naming them in what it applied.
    Apply,
    /// By changing them otherwise.
    Update,
}

/// Who writes.
#[derive(Clone, Copy, Debug)]
pub struct Writer<'a> {
    /// The field manager; empty counts as `unknown`.
    pub manager: &'a str,
    /// The group and version in whose terms the document is.
    pub api_version: &'a str,
    /// The subresource written; empty for the object itself.
    pub subresource: &'a str,
    /// Now, as RFC 3339 in whole seconds.
    pub time: &'a str,
}

/// A field that someone else owns with another value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The owner, as messages name it: `"patcher" using v1`, `"one"`, `"x" with subresource "status" using v1`.
    pub manager: String,
    /// The field: `.spec.ports[name="http"].port`.
    pub field: String,
}

/// Why an apply did not happen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApplyError {
    /// Other managers own fields that the apply would change: 409, one cause `FieldManagerConflict` a conflict, with the
    /// message `conflict with <manager>`.
    Conflicts(Vec<Conflict>),
    /// What was sent cannot be applied at all: 400.
    BadRequest(String),
    /// What was sent, or what is stored, does not fit the schema: 500 without a reason, as the reference has it.
    Untyped(String),
}

impl fmt::Display for ApplyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BadRequest(message) | Self::Untyped(message) => f.write_str(message),
            Self::Conflicts(conflicts) => write!(f, "{} conflicts", conflicts.len()),
        }
    }
}

impl std::error::Error for ApplyError {}

/// Sets `metadata.managedFields` of what a write other than an apply makes.
///
/// `new` is the whole document, defaulted, `live` the object as it was (`None` on creation). Managed fields in `new` are
/// what the client sent; an empty list, or a list of one empty entry, resets them. A document that does not fit the schema
/// keeps those of `live`: validation will tell what is wrong with it.
pub fn update(_view: &View<'_>, _live: Option<&Document>, _new: &mut Document, _writer: &Writer<'_>) {}

/// Applies a configuration: what the object becomes, with its managed fields, before defaults and validation.
///
/// # Errors
/// [`ApplyError`]. With `force` there are no conflicts.
pub fn merge(
    _view: &View<'_>,
    _live: Option<&Document>,
    _config: &Document,
    _writer: &Writer<'_>,
    _force: bool,
) -> Result<Document, ApplyError> {
    Err(ApplyError::Untyped("not built yet".to_owned()))
}

/// Puts the times of `live` back where nothing but times in managed fields tells `new` from it. Called last, when defaults,
/// hooks and admission have run.
pub fn keep_times(_live: &Document, _new: &mut Document) {}

/// The part of an object that a manager owns by applying (through a subresource, or not): what it would apply to change
/// nothing. `None` if it owns nothing.
pub fn extract(_view: &View<'_>, _live: &Document, _manager: &str, _subresource: &str) -> Option<Document> {
    None
}
