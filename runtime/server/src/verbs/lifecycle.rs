//! What the lives of others forbid: new objects in namespaces that are missing or end, or of definitions that end; and the
//! deletion of permanent objects.
use super::{Error, Request, Verbs};
use crate::{cache::Object, kind::Kind, storage::Hold};

/// Refuses a new object in a namespace that is missing or terminating. Returns the condition on the namespace for the
/// commit. If namespaces are not served, every namespace exists.
///
/// Between this check and the commit the namespace could be marked, emptied and removed, which would leave the new
/// object behind. So the commit requires the namespace's checked revision. Every object whose creation saw an active
/// namespace is therefore stored, and visible, before the mark. The lifecycle controller lists after the mark, so no
/// object is left behind, however many servers share the store. Fails with [`Error::NotFound`]; [`Error::Forbidden`].
pub(super) fn hold_namespace(api: &Verbs, request: &Request, name: &str) -> Result<Option<Hold>, Error> {
    if request.namespace.is_empty() {
        return Ok(None);
    }
    let Some(namespaces) = api.registry.namespaces() else { return Ok(None) };
    let Some(namespace) = namespaces.objects.snapshot().get(&request.namespace) else {
        return Err(Error::NotFound(namespaces.kind.group_resource(), request.namespace.clone()));
    };
    if !is_terminating(&namespaces.kind, &namespace) {
        let key = [namespaces.objects.prefix(), &request.namespace].concat().into();
        return Ok(Some(Hold { key, revision: Some(namespace.revision()) }));
    }
    let namespace = &request.namespace;
    Err(Error::Forbidden {
        resource: request.resource.kind.group_resource(),
        name: name.to_owned(),
        message: format!("unable to create new content in namespace {namespace} because it is being terminated"),
        causes: vec![(
            "NamespaceTerminating".to_owned(),
            format!("namespace {namespace} is being terminated"),
            "metadata.namespace".to_owned(),
        )],
    })
}

/// Refuses a new object of a resource whose definition is being removed. Fails with [`Error::Forbidden`].
pub(super) fn check_creation(request: &Request, name: &str) -> Result<(), Error> {
    if !request.resource.is_ending() {
        return Ok(());
    }
    Err(Error::Forbidden {
        resource: request.resource.kind.group_resource(),
        name: name.to_owned(),
        message: "create not allowed while custom resource definition is terminating".to_owned(),
        causes: Vec::new(),
    })
}

/// Refuses the deletion of objects that every cluster needs. Fails with [`Error::Forbidden`].
pub(super) fn check_deletion(request: &Request) -> Result<(), Error> {
    let why = request.resource.kind.policy().refuses_deletion(&request.name);
    why.map_or(Ok(()), |why| Err(request.forbidden(why)))
}

/// Reads the phase from the selectable fields, which the cache has ready.
fn is_terminating(kind: &Kind, namespace: &Object) -> bool {
    let mut fields = kind.version.selectable.iter().enumerate();
    fields.any(|(position, path)| kind.policy().is_closed_by(&path.0, namespace.field(position)))
}
