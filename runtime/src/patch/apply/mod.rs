//! Server-side apply and field ownership (`metadata.managedFields`), as pure functions on whole documents.
//!
//! A write that is no apply calls [`update`] once its document is defaulted. An apply calls [`merge`], then goes through
//! the pipeline like any other write. Both call [`keep_times`] last, so that a write that changed nothing stays no change.
//! Defaults that come after [`merge`] are owned by nobody.
use std::fmt;

use serde_json::Map;

use crate::schema::{Document, Schema};

mod compare;
mod element;
mod fields;
mod item;
mod last_applied;
mod mention;
mod merge;
mod mix;
mod owner;
mod owners;
mod prune;
mod reconcile;
mod remove;
pub mod scale;
mod set;
mod stands;
mod times;
mod types;
mod update;
mod value;

#[cfg(test)]
mod tests;

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

/// Sets `metadata.managedFields` of what a write other than an apply makes.
///
/// `new` is the whole document, defaulted, `live` the object as it was (`None` on creation). Managed fields in `new` are
/// what the client sent; an empty list, or a list of one empty entry, resets them. A document that does not fit the schema
/// keeps those of `live`: validation will tell what is wrong with it.
pub fn update(view: &View<'_>, live: Option<&Document>, new: &mut Document, writer: &Writer<'_>) {
    let entries = update::owned_after(view, live, new, writer);
    let before = || live.and_then(|live| live.get("metadata")?.get("managedFields")).cloned();
    put(new, entries.unwrap_or_else(|_| before()));
}

/// Applies a configuration: what the object becomes, with its managed fields, before defaults and validation.
///
/// # Errors
/// [`ApplyError`]. With `force` there are no conflicts.
pub fn merge(
    view: &View<'_>,
    live: Option<&Document>,
    config: &Document,
    writer: &Writer<'_>,
    force: bool,
) -> Result<Document, ApplyError> {
    merge::merge(view, live, config, writer, force)
}

/// Whether an apply changes nothing, as far as a look can tell: where this is false, [`merge`] may find the same at more
/// cost.
///
/// `live` is the object without its managed fields, `entries` are those as JSON text, as [`codec::encode`] writes it.
///
/// [`codec::encode`]: crate::codec::encode
pub fn stands(view: &View<'_>, live: &Document, entries: &str, config: &Document, writer: &Writer<'_>) -> bool {
    stands::stands(view, live, entries, config, writer)
}

/// Puts the times of `live` back where nothing but times in managed fields tells `new` from it. Called last, when defaults,
/// hooks and admission have run.
pub fn keep_times(live: &Document, new: &mut Document) {
    if times::only_differ(live, new) {
        put(new, live["metadata"].get("managedFields").cloned());
    }
}

/// The part of an object that a manager owns by applying (through a subresource, or not): what it would apply to change
/// nothing. `None` if it owns nothing.
pub fn extract(view: &View<'_>, live: &Document, manager: &str, subresource: &str) -> Option<Document> {
    let ty = types::Type::root(view.root);
    let mut owners = owners::Owners::of(live).ok()?;
    let leaves = owners.applier(manager, subresource)?.set(ty).ok()?.leaves();
    let mut part = remove::extract(ty, live, &leaves);
    for name in ["apiVersion", "kind"] {
        copy(name, live, &mut part);
    }
    if let (Some(from), Document::Object(fields)) = (live.get("metadata"), &mut part) {
        let into = fields.entry("metadata").or_insert_with(|| Document::Object(Map::new()));
        copy("name", from, into);
        copy("namespace", from, into);
    }
    Some(part)
}

fn copy(name: &str, from: &Document, into: &mut Document) {
    if let (Some(value), Document::Object(into)) = (from.get(name), into) {
        into.insert(name.to_owned(), value.clone());
    }
}

/// Sets the entries of an object, or takes them away.
fn put(object: &mut Document, entries: Option<Document>) {
    let Document::Object(fields) = object else { return };
    let metadata = fields.entry("metadata").or_insert(Document::Null);
    if metadata.is_null() {
        *metadata = Document::Object(Map::new());
    }
    if let Document::Object(metadata) = metadata {
        match entries {
            Some(entries) => metadata.insert("managedFields".to_owned(), entries),
            None => metadata.remove("managedFields"),
        };
    }
}
