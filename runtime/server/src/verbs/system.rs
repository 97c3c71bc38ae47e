//! The fields that the server sets, and the fields that a write may not change: changes by clients are reset before anything
//! uses the object, and changes by admission before validation.
use serde_json::{Map, Value};

use super::{
    Error, Request,
    metadata::{self, MANAGED_FIELDS},
    write::Write,
};
use crate::{
    kind::{
        Changes, Kind,
        model::{Path, Scope},
    },
    meta::{Time, uid::uid},
    schema::Document,
};

/// The members of metadata that the server sets in new objects, or removes from them.
const MADE: [&str; 5] = ["creationTimestamp", "deletionGracePeriodSeconds", "deletionTimestamp", "generation", "uid"];

/// What to do with a body that lacks the name in the path.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Nameless {
    /// Fill it in: for objects created through a path, such as an action on an object.
    Named,
    /// Refuse it: for the new state of an object.
    Refused,
}

/// Compares the name and namespace of a body with those of the path, and fills in absent ones. Fails with
/// [`Error::BadRequest`] if they differ.
pub(super) fn place(request: &Request, document: &mut Document, nameless: Nameless) -> Result<(), Error> {
    place_in_namespace(request, document)?;
    match metadata::text(document, "name") {
        given if request.name.is_empty() || given == request.name => Ok(()),
        "" if nameless == Nameless::Refused => Err(Error::BadRequest(format!(
            "the name of the object ({} based on URL) was undeterminable: name must be provided",
            request.name
        ))),
        "" => {
            metadata::set(document, "name", request.name.clone());
            Ok(())
        }
        given => Err(Error::BadRequest(format!(
            "the name of the object ({given}) does not match the name on the URL ({})",
            request.name
        ))),
    }
}

fn place_in_namespace(request: &Request, document: &mut Document) -> Result<(), Error> {
    if request.resource.kind.shared.scope == Scope::Cluster {
        metadata::of(document).remove("namespace");
    } else {
        match metadata::text(document, "namespace") {
            given if given == request.namespace => {}
            "" => metadata::set(document, "namespace", request.namespace.clone()),
            _ => {
                let message = "the namespace of the provided object does not match the namespace sent on the request";
                return Err(Error::BadRequest(message.to_owned()));
            }
        }
    }
    Ok(())
}

/// Sets the fields that the server controls: a new object gets system fields, and the parts that the endpoint may not
/// change are copied from the old object. A changed immutable field of metadata is kept, so that validation refuses it.
/// Fails if the system cannot provide randomness; like [`Request::changes`].
pub(super) fn begin(write: &Write<'_>, document: &mut Document) -> Result<(), Error> {
    let (changes, old) = (write.request.changes()?, write.old);
    // Through a subresource, only an apply or a write of the scale sets managedFields.
    let entries = write.settles_owners().then(|| metadata::of(document).remove(MANAGED_FIELDS));
    if old.is_some() || !write.request.resource.kind.version.status_on_create {
        changes.confine(document, old.unwrap_or(&Value::Null));
    }
    if let Some(old) = old {
        keep_finalizers(write.request, document, old);
    }
    let metadata = metadata::of(document);
    if let Some(entries) = entries {
        metadata::put(metadata, MANAGED_FIELDS, entries);
    }
    match old {
        Some(old) => carry_metadata(metadata, &old["metadata"]),
        None => make_metadata(&write.request.resource.kind, metadata)?,
    }
    Ok(())
}

/// Resets changes by mutating admission like those of clients: a new object keeps its uid and the other fields that the
/// server has set, and an update keeps what the write may not change. A changed immutable field of metadata is left to
/// validation, which refuses it. Managed fields keep admission's changes. Fails with [`Error::Internal`] if admission
/// has not left an object; [`Error::BadRequest`] for another namespace or name than the path's; [`Error::Conflict`] for
/// another resourceVersion; like [`Request::changes`].
pub(super) fn reset(write: &Write<'_>, document: &mut Document, before: &Document) -> Result<(), Error> {
    let Some(entries) = document.get_mut("metadata").and_then(Value::as_object_mut).map(|m| m.remove(MANAGED_FIELDS))
    else {
        return Err(Error::Internal("admission has left an object without metadata".to_owned()));
    };
    let (request, old) = (write.request, write.old);
    if write.subject.is_none() {
        request.changes()?.confine(document, before);
        keep_finalizers(request, document, before);
    }
    let object = document.as_object_mut().expect("it has metadata");
    for member in ["apiVersion", "kind"] {
        metadata::put(object, member, before.get(member).cloned());
    }
    let metadata = metadata::of(document);
    metadata.remove("selfLink");
    if let Some(old) = old {
        carry_metadata(metadata, &old["metadata"]);
        let version = before["metadata"].get("resourceVersion");
        match metadata.get("resourceVersion").filter(|version| !version.is_null() && **version != "") {
            Some(forged) if Some(forged) != version => return Err(request.modified()),
            _ => metadata::put(metadata, "resourceVersion", version.cloned()),
        }
    } else {
        for member in MADE {
            metadata::put(metadata, member, before["metadata"].get(member).cloned());
        }
    }
    metadata::put(metadata, MANAGED_FIELDS, entries);
    match old {
        Some(_) => place_in_namespace(request, document),
        None => place(request, document, Nameless::Named),
    }
}

/// Finalizers in the kind's spec can only be removed through their own subresource.
fn keep_finalizers(request: &Request, document: &mut Document, from: &Document) {
    let Some(path) = request.resource.kind.policy().finalizers().map(Path::from) else { return };
    if request.changes().is_ok_and(|changes| *changes != Changes::Only(path.clone())) {
        path.put(document, path.at(from).cloned());
    }
}

/// A new object's system metadata.
fn make_metadata(kind: &Kind, metadata: &mut Map<String, Value>) -> Result<(), Error> {
    for member in ["deletionTimestamp", "deletionGracePeriodSeconds", "generation"] {
        metadata.remove(member);
    }
    metadata.insert("uid".to_owned(), uid().map_err(Error::Internal)?.into());
    metadata.insert("creationTimestamp".to_owned(), Time::now().to_string().into());
    if kind.version.generation {
        metadata.insert("generation".to_owned(), 1.into());
    }
    Ok(())
}

/// System metadata of an update: keeps what clients may not change, and fills in what they may omit. Validation reports
/// other changes.
fn carry_metadata(new: &mut Map<String, Value>, old: &Value) {
    for member in ["creationTimestamp", "generation"] {
        metadata::put(new, member, old.get(member).cloned());
    }
    for member in ["uid", "deletionGracePeriodSeconds"] {
        if new.get(member).is_none_or(|value| value.is_null() || value == "") {
            metadata::put(new, member, old.get(member).cloned());
        }
    }
    // A deletion cannot be undone.
    if let Some(deleted) = old.get("deletionTimestamp") {
        new.insert("deletionTimestamp".to_owned(), deleted.clone());
    }
}

/// Increments the generation if anything except metadata and status changed.
pub(super) fn count_generation(kind: &Kind, new: &mut Document, old: &Document) {
    if !kind.version.generation {
        return;
    }
    if !desired(kind, new).eq(desired(kind, old)) {
        let before = old["metadata"]["generation"].as_i64().unwrap_or(0);
        metadata::set(new, "generation", before + 1);
    }
}

/// The members of an object with its desired state.
fn desired<'d>(kind: &Kind, document: &'d Document) -> impl Iterator<Item = (&'d String, &'d Value)> {
    let not_desired = if kind.version.status { &["metadata", "status"][..] } else { &["metadata"] };
    document.as_object().into_iter().flatten().filter(|(name, _)| !not_desired.contains(&name.as_str()))
}
