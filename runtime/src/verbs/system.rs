//! The fields that the server sets, and those that a write does not change: what clients send in them is taken back before
//! anything looks at the object, and what admission makes of them before it is validated.
use serde_json::{Map, Value};

use super::{Error, Request, names, ownership::MANAGED_FIELDS, pipeline::Write};
use crate::{
    kind::{
        Changes, Kind,
        model::{Path, Scope},
    },
    meta::Time,
    schema::Document,
};

/// The members of metadata that the server sets.
const SYSTEM: [&str; 8] = [
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "generation",
    "namespace",
    "resourceVersion",
    "selfLink",
    "uid",
];

/// The object's metadata, which decoding has made sure of.
pub(super) fn metadata(document: &mut Document) -> &mut Map<String, Value> {
    document.get_mut("metadata").and_then(Value::as_object_mut).expect("decoding made metadata an object")
}

/// A member of metadata as text; empty where it is absent.
pub(super) fn text<'d>(document: &'d Document, member: &str) -> &'d str {
    document.get("metadata").and_then(|m| m.get(member)).and_then(Value::as_str).unwrap_or_default()
}

/// What is done about a body that does not say the name in the path.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Nameless {
    /// It is given the name: what is created through a path, such as an action on an object.
    Named,
    /// It is refused: what an object is to become.
    Refused,
}

/// Holds the name and the namespace of a body against those of the path, and fills in what is absent.
///
/// # Errors
/// [`Error::BadRequest`] where they differ.
pub(super) fn place(request: &Request, document: &mut Document, nameless: Nameless) -> Result<(), Error> {
    if request.served.kind.shared.scope == Scope::Cluster {
        metadata(document).remove("namespace");
    } else {
        match text(document, "namespace") {
            given if given == request.namespace => {}
            "" => set(document, "namespace", request.namespace.clone()),
            _ => {
                let message = "the namespace of the provided object does not match the namespace sent on the request";
                return Err(Error::BadRequest(message.to_owned()));
            }
        }
    }
    match text(document, "name") {
        given if request.name.is_empty() || given == request.name => Ok(()),
        "" if nameless == Nameless::Refused => Err(Error::BadRequest(format!(
            "the name of the object ({} based on URL) was undeterminable: name must be provided",
            request.name
        ))),
        "" => {
            set(document, "name", request.name.clone());
            Ok(())
        }
        given => Err(Error::BadRequest(format!(
            "the name of the object ({given}) does not match the name on the URL ({})",
            request.name
        ))),
    }
}

/// Sets a member of metadata.
pub(super) fn set(document: &mut Document, member: &str, value: impl Into<Value>) {
    metadata(document).insert(member.to_owned(), value.into());
}

/// What no writer says: a new object's system fields are made, and what a write through the endpoint does not change is as
/// in the old object. A value of an immutable field of metadata that differs stays: validation refuses it.
///
/// # Errors
/// The system has no randomness to give; as [`Request::changes`].
pub(super) fn begin(write: &Write<'_>, document: &mut Document, old: Option<&Document>) -> Result<(), Error> {
    let changes = write.request.changes()?;
    // Only an apply or a write of the scale sets managedFields through a subresource.
    let entries = write.origin.settles_owners().then(|| metadata(document).remove(MANAGED_FIELDS));
    changes.confine(document, old.unwrap_or(&Value::Null));
    if let Some(old) = old {
        keep_finalizers(write.request, document, old);
    }
    let metadata = metadata(document);
    if let Some(entries) = entries {
        put(metadata, MANAGED_FIELDS, entries);
    }
    match old {
        Some(old) => carry_metadata(metadata, &old["metadata"]),
        None => make_metadata(&write.request.served.kind, metadata)?,
    }
    Ok(())
}

/// Takes back what admission has changed beyond what the write may change: that is as it was before admission. Who owns
/// what stays as admission has left it.
///
/// # Errors
/// [`Error::Internal`] where admission has left no object; as [`Request::changes`].
pub(super) fn reset(request: &Request, document: &mut Document, before: &Document) -> Result<(), Error> {
    let Some(entries) = document.get_mut("metadata").and_then(Value::as_object_mut).map(|m| m.remove(MANAGED_FIELDS))
    else {
        return Err(Error::Internal("admission has left an object without metadata".to_owned()));
    };
    request.changes()?.confine(document, before);
    keep_finalizers(request, document, before);
    for member in ["apiVersion", "kind"] {
        put(object(document), member, before.get(member).cloned());
    }
    // Of an object that the path does not name yet, admission may make the name.
    let name = Some("name").filter(|_| !request.name.is_empty());
    let metadata = metadata(document);
    for member in SYSTEM.into_iter().chain(name) {
        put(metadata, member, before["metadata"].get(member).cloned());
    }
    put(metadata, MANAGED_FIELDS, entries);
    Ok(())
}

/// The finalizers that the kind has beside those of metadata are taken out through their own subresource alone.
fn keep_finalizers(request: &Request, document: &mut Document, from: &Document) {
    let Some(path) = request.served.kind.policy().finalizers().map(Path::from) else { return };
    if request.changes().is_ok_and(|changes| *changes != Changes::Only(path.clone())) {
        path.put(document, path.at(from).cloned());
    }
}

/// A new object's system metadata.
fn make_metadata(kind: &Kind, metadata: &mut Map<String, Value>) -> Result<(), Error> {
    for member in ["deletionTimestamp", "deletionGracePeriodSeconds", "generation"] {
        metadata.remove(member);
    }
    metadata.insert("uid".to_owned(), names::uid().map_err(Error::Internal)?.into());
    metadata.insert("creationTimestamp".to_owned(), Time::now().to_string().into());
    if kind.version.generation {
        metadata.insert("generation".to_owned(), 1.into());
    }
    Ok(())
}

/// System metadata: what clients may not change is as it was; what they may leave out is filled in, and where they give
/// another value, validation tells them.
fn carry_metadata(new: &mut Map<String, Value>, old: &Value) {
    for member in ["creationTimestamp", "generation"] {
        put(new, member, old.get(member).cloned());
    }
    for member in ["uid", "deletionGracePeriodSeconds"] {
        if new.get(member).is_none_or(|value| value.is_null() || value == "") {
            put(new, member, old.get(member).cloned());
        }
    }
    // A deletion cannot be taken back.
    if let Some(deleted) = old.get("deletionTimestamp") {
        new.insert("deletionTimestamp".to_owned(), deleted.clone());
    }
}

/// Counts a change of what is neither metadata nor status.
pub(super) fn count_generation(kind: &Kind, new: &mut Document, old: &Document) {
    if !kind.version.generation {
        return;
    }
    if !desired(kind, new).eq(desired(kind, old)) {
        let before = old["metadata"]["generation"].as_i64().unwrap_or(0);
        set(new, "generation", before + 1);
    }
}

/// The members of an object that say what is wanted.
fn desired<'d>(kind: &Kind, document: &'d Document) -> impl Iterator<Item = (&'d String, &'d Value)> {
    let not_desired = if kind.version.status { &["metadata", "status"][..] } else { &["metadata"] };
    document.as_object().into_iter().flatten().filter(|(name, _)| !not_desired.contains(&name.as_str()))
}

fn object(document: &mut Document) -> &mut Map<String, Value> {
    document.as_object_mut().expect("decoding made sure of an object")
}

/// Sets a member, or removes it.
pub(super) fn put(object: &mut Map<String, Value>, member: &str, value: Option<Value>) {
    match value {
        Some(value) => drop(object.insert(member.to_owned(), value)),
        None => drop(object.remove(member)),
    }
}
