//! What a write requires of the object that it changes: its uid and its resourceVersion.
use super::{Error, FieldErrorKind, Request, metadata};
use crate::{
    meta::{FieldError, FieldPath, GroupKind, Preconditions, Revision, go, preconditions::Mismatch},
    schema::Document,
};

/// Checks the uid of a body, if it has one: it is the first precondition. In a patch, another uid is a change of an
/// immutable field, which validation refuses. Fails with [`Error::Conflict`], also if there is no object.
pub(super) fn check_uid(request: &Request, new: &Document, old: Option<&Document>) -> Result<(), Error> {
    let expected = Preconditions { uid: Preconditions::of(&new["metadata"]).uid, resource_version: None };
    expected.check(old.map(|old| &old["metadata"])).map_err(|Mismatch { expected, found, .. }| {
        let why = format!("Precondition failed: UID in precondition: {expected}, UID in object meta: {found}");
        invalid_object(request, &request.key(), &why)
    })
}

/// A conflict as reported by kube-apiserver's storage.
pub(super) fn invalid_object(request: &Request, key: &str, why: &str) -> Error {
    let prefix = request.resource.objects.prefix();
    let message = format!(
        "StorageError: invalid object, Code: 4, Key: {prefix}{key}, ResourceVersion: 0, AdditionalErrorMsg: {why}"
    );
    request.conflict(message)
}

/// Checks the resourceVersion of a document, which is a precondition.
pub(super) fn check_version(request: &Request, new: &mut Document, old: &Document) -> Result<(), Error> {
    let expected = Preconditions { uid: None, resource_version: Preconditions::of(&new["metadata"]).resource_version };
    if expected.resource_version.is_none() && !request.resource.kind.version.update_without_version {
        return Err(version_required(request));
    }
    expected.check(Some(&old["metadata"])).map_err(|Mismatch { expected: given, .. }| {
        if given.parse::<Revision>().is_ok() {
            return request.modified();
        }
        Error::Unknown(format!(
            "resourceVersion: Invalid value: {0}: strconv.ParseUint: parsing {0}: invalid syntax",
            go::quoted(&given)
        ))
    })?;
    metadata::set(new, "resourceVersion", metadata::text(old, "resourceVersion"));
    Ok(())
}

/// kube-apiserver names the resource here instead of the kind.
fn version_required(request: &Request) -> Error {
    let resource = request.resource.kind.group_resource();
    let named = GroupKind { group: resource.group, kind: resource.resource };
    let path = FieldPath::new("metadata").child("resourceVersion");
    let error = FieldError::new(&path, FieldErrorKind::Invalid(0.into()), "must be specified for an update");
    Error::Invalid(named, request.name.clone(), vec![error])
}
