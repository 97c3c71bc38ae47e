//! The fields that the server sets: what clients send in them is taken back before anything looks at the object.
use serde_json::{Map, Value};

use super::{Error, Part, Request, decode::Origin, names, ownership::MANAGED_FIELDS, pipeline::Write};
use crate::{
    kind::{Kind, model::Scope},
    meta::Time,
    schema::Document,
};

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
    if request.served.kind.scope == Scope::Cluster {
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

/// Makes a new object's system fields.
///
/// # Errors
/// The system has no randomness to give.
pub(super) fn begin(kind: &Kind, document: &mut Document) -> Result<(), Error> {
    let metadata = metadata(document);
    for member in ["deletionTimestamp", "deletionGracePeriodSeconds", "generation"] {
        metadata.remove(member);
    }
    metadata.insert("uid".to_owned(), names::uid().map_err(Error::Internal)?.into());
    metadata.insert("creationTimestamp".to_owned(), Time::now().to_string().into());
    if kind.generation {
        metadata.insert("generation".to_owned(), 1.into());
    }
    if kind.status {
        object(document).remove("status");
    }
    Ok(())
}

/// Takes over from the old object what a write through this part of it leaves alone.
pub(super) fn carry(write: &Write<'_>, new: &mut Document, old: &Document) {
    let request = write.request;
    // Through a subresource nobody says who owns what, but an apply has come to know it.
    let entries = (write.origin == Origin::Apply).then(|| metadata(new).remove(MANAGED_FIELDS));
    match request.part {
        Part::Own(_) => {}
        Part::Whole | Part::Scale => {
            if request.served.kind.status {
                copy(new, old, "status");
            }
        }
        Part::Status => {
            let status = object(new).remove("status");
            *new = old.clone();
            put(object(new), "status", status);
        }
        Part::Finalize => {
            let finalizers = new.get_mut("spec").and_then(|spec| spec.get_mut("finalizers")).map(Value::take);
            *new = old.clone();
            if let Some(spec) = new.get_mut("spec").and_then(Value::as_object_mut) {
                put(spec, "finalizers", finalizers);
            }
        }
    }
    if let Some(entries) = entries {
        put(metadata(new), MANAGED_FIELDS, entries);
    }
    carry_metadata(metadata(new), &old["metadata"]);
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
    if !kind.generation {
        return;
    }
    if !desired(kind, new).eq(desired(kind, old)) {
        let before = old["metadata"]["generation"].as_i64().unwrap_or(0);
        set(new, "generation", before + 1);
    }
}

/// The members of an object that say what is wanted.
fn desired<'d>(kind: &Kind, document: &'d Document) -> impl Iterator<Item = (&'d String, &'d Value)> {
    let not_desired = if kind.status { &["metadata", "status"][..] } else { &["metadata"] };
    document.as_object().into_iter().flatten().filter(|(name, _)| !not_desired.contains(&name.as_str()))
}

fn object(document: &mut Document) -> &mut Map<String, Value> {
    document.as_object_mut().expect("decoding made sure of an object")
}

fn copy(new: &mut Document, old: &Document, member: &str) {
    put(object(new), member, old.get(member).cloned());
}

/// Sets a member, or removes it.
fn put(object: &mut Map<String, Value>, member: &str, value: Option<Value>) {
    match value {
        Some(value) => drop(object.insert(member.to_owned(), value)),
        None => drop(object.remove(member)),
    }
}
