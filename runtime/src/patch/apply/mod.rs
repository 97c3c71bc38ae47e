//! Server-side apply and field ownership (`metadata.managedFields`), as pure functions on whole documents. The parts are
//! those of structured-merge-diff, in this order:
//!
//! | | |
//! |---|---|
//! | `path_element` | one step of a path to a field |
//! | `field_set` | sets of fields, and `fieldsV1` |
//! | `schema` | which values are atomic, and what identifies the items of a list |
//! | `typed` | whether a document fits its schema, and the set of its fields |
//! | `compare` | the fields that a write set and removed |
//! | `merge` | a configuration merged into an object |
//! | `prune` | what goes from an object since it is applied no longer |
//! | `versions` | the versions of the kind, in whose terms managers wrote |
//! | `managed_fields` | the entries: which manager owns which fields |
//! | `update` | what updates and applies make of the entries, conflicts, and applies that change nothing |
//! | `times` | writes that change nothing but times |
//! | `last_applied`, `scale` | applies that kubectl made before; entries between an object and its Scale |
//!
//! A write that is no apply calls [`update`] once its document is defaulted. An apply calls [`merge`], then goes through
//! the pipeline like any other write. Both call [`keep_times`] last, so that a write that changed nothing stays no change.
//! Defaults that come after [`merge`] are owned by nobody.
//!
//! Each manager owns fields in the terms of the version in which it wrote. What a write changes is looked up in those terms:
//! the object is converted, as it was and as it is to be, once for each other version that entries name. Where there is none
//! but the write's, nothing is converted. Entries of versions that the kind does not have any longer are dropped.
use std::fmt;

use crate::schema::Schema;

mod compare;
mod field_set;
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

/// What a document is checked against, and what of it this request may not change.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// The kind's schema; `metadata` has its own.
    pub root: &'a Schema,
    /// The kind's name, as it stands in documents.
    pub kind: &'a str,
    /// Fields that this part of the object leaves alone, with everything below: nobody comes to own them by it. A write of
    /// the object itself resets `status` where the kind has that subresource, a write of the status resets `spec`.
    pub reset: &'a [&'a [&'a str]],
    /// The other versions of the kind.
    pub versions: &'a dyn Versions,
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
    /// What was sent, or what is stored, does not fit the schema: 500 without a reason, as kube-apiserver has it.
    Untyped(String),
}

impl fmt::Display for ApplyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BadRequest(message) | Self::Untyped(message) => f.write_str(message),
            Self::Conflicts(conflicts) => write_conflicts(conflicts, f),
        }
    }
}

impl std::error::Error for ApplyError {}

/// The message of the answer: one conflict on one line, more of them below their managers.
fn write_conflicts(conflicts: &[Conflict], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if let [conflict] = conflicts {
        return write!(f, "Apply failed with 1 conflict: conflict with {}: {}", conflict.manager, conflict.field);
    }
    write!(f, "Apply failed with {} conflicts: ", conflicts.len())?;
    let mut separator = "";
    for of_one in conflicts.chunk_by(|a, b| a.manager == b.manager) {
        write!(f, "{separator}conflicts with {}:", of_one[0].manager)?;
        of_one.iter().try_for_each(|conflict| write!(f, "\n- {}", conflict.field))?;
        separator = "\n";
    }
    Ok(())
}
