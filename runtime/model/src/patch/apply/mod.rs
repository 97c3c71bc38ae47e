//! Server-side apply and field ownership (`metadata.managedFields`), as pure functions on whole documents. The parts
//! correspond to structured-merge-diff, in this order:
//!
//! | | |
//! |---|---|
//! | `path_element` | one step of a path to a field |
//! | `field_set` | sets of fields, and `fieldsV1` |
//! | `schema` | atomic values, and the identity of list items |
//! | `typed` | validation against the schema, and the field set of a document |
//! | `compare` | the fields that a write set and removed |
//! | `merge` | a configuration merged into an object |
//! | `prune` | the removal of fields that are no longer applied |
//! | `versions` | the versions of the kind, to which managers' field sets refer |
//! | `managed_fields` | the entries: which manager owns which fields |
//! | `update` | the effect of updates and applies on the entries, conflicts, and no-op applies |
//! | `times` | writes that only change times |
//! | `last_applied`, `scale` | migration from client-side apply; entries between an object and its Scale |
//!
//! A write other than an apply calls `update` after its document is defaulted. An apply calls `merge`, and then
//! uses the pipeline like any other write. Both call [`keep_times`] last, so that a write without changes stays one.
//! Defaults after `merge` are unowned.
//!
//! Each manager's field set refers to the version in which it wrote. To apply the changes of a write to it, the old and
//! the new object are converted once to each other version in the entries. If the write's version is the only one,
//! nothing is converted. Entries of versions that the kind no longer has are dropped.
use std::fmt;

use crate::schema::Schema;

mod compare;
mod field_set;
mod identity;
mod last_applied;
mod managed_fields;
mod merge;
mod path_element;
mod prune;
pub mod scale;
mod schema;
mod times;
mod typed;
mod update;
mod versions;

pub use times::keep_times;
pub use update::{is_noop, merge, update};
pub use versions::{OneVersion, Versions};

#[cfg(test)]
mod tests;

/// The schema of a document, and the part of it that this request may not change.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// The kind's schema; `metadata` has its own.
    pub root: &'a Schema,
    /// The kind's name in documents.
    pub kind: &'a str,
    /// Fields that this part of the object does not change, with everything below: they get no owner from it. Writes of
    /// the object itself reset `status` if the kind has that subresource, and writes of the status reset `spec`.
    pub reset: &'a [&'a [&'a str]],
    /// The other versions of the kind.
    pub versions: &'a dyn Versions,
}

/// The author of a write.
#[derive(Clone, Copy, Debug)]
pub struct Writer<'a> {
    /// The field manager; empty means `unknown`.
    pub manager: &'a str,
    /// The group and version of the document.
    pub api_version: &'a str,
    /// The written subresource; empty for the object itself.
    pub subresource: &'a str,
    /// The current time, as RFC 3339 with whole seconds.
    pub time: &'a str,
}

/// A field that another manager owns with another value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The owner as messages print it: `"patcher" using v1`, `"one"`, `"x" with subresource "status" using v1`.
    pub manager: String,
    /// The field: `.spec.ports[name="http"].port`.
    pub field: String,
}

/// Why an apply failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApplyError {
    /// Other managers own fields that the apply would change: 409 with one cause `FieldManagerConflict` per conflict,
    /// and the message `conflict with <manager>`.
    Conflicts {
        /// The conflicts; if there are many, the first ones.
        reported: Vec<Conflict>,
        /// How many more there are.
        omitted: usize,
    },
    /// The configuration cannot be applied: 400.
    BadRequest(String),
    /// The object cannot be converted to the version of a field manager.
    Unconvertible(String),
    /// The configuration or the stored object does not fit the schema: 500 without a reason, as in kube-apiserver.
    Untyped(String),
}

impl fmt::Display for ApplyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BadRequest(message) | Self::Unconvertible(message) | Self::Untyped(message) => f.write_str(message),
            Self::Conflicts { reported, omitted } => write_conflicts(reported, *omitted, f),
        }
    }
}

impl std::error::Error for ApplyError {}

/// The message of the answer: a single conflict on one line, several grouped by manager.
fn write_conflicts(conflicts: &[Conflict], omitted: usize, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if let ([conflict], 0) = (conflicts, omitted) {
        return write!(f, "Apply failed with 1 conflict: conflict with {}: {}", conflict.manager, conflict.field);
    }
    write!(f, "Apply failed with {} conflicts: ", conflicts.len() + omitted)?;
    let mut separator = "";
    for of_one in conflicts.chunk_by(|a, b| a.manager == b.manager) {
        write!(f, "{separator}conflicts with {}:", of_one[0].manager)?;
        of_one.iter().try_for_each(|conflict| write!(f, "\n- {}", conflict.field))?;
        separator = "\n";
    }
    if omitted > 0 { write!(f, "\nand {omitted} more") } else { Ok(()) }
}
