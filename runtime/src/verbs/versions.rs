//! Versions in a write: the pipeline works in the version that is written, and what is stored is in another. Guarantees
//! that an object which cannot be converted can still be deleted, and rid of its finalizers.
use std::{borrow::Cow, sync::Arc};

use bytes::Bytes;
use serde_json::json;

use super::{
    Error, Request, get::Unconverted, hooks::fault_of_object, names, ownership::MANAGED_FIELDS, pipeline::Write,
    rewrite::document_of, system,
};
use crate::{
    cache::{Body, Object, Reading},
    codec,
    kind::{Kind, reader::Fit},
    meta::Revision,
    schema::Document,
};

/// A stored object in the version that a request asks in.
///
/// # Errors
/// [`Error::StoreRead`] where it has no form there.
pub(super) fn shown(request: &Request, stored: &Arc<Object>) -> Result<Arc<Object>, Error> {
    request.served.show(stored).map(Cow::into_owned).map_err(|why| {
        let served = &request.served;
        Unconverted::one(served, stored, &why).refusal(served, &request.name)
    })
}

/// The same for the answer to what has been done: of an object that has no form there, what all versions share.
pub(super) fn shown_or_metadata(request: &Request, stored: &Arc<Object>) -> Result<Arc<Object>, Error> {
    shown(request, stored).or_else(|_| {
        let kind = &*request.served.kind;
        Ok(Arc::new(compose(kind, stored.key(), stored.revision(), &metadata_of(kind, &document_of(stored)?))))
    })
}

/// The metadata of an object alone, as an object of a version.
pub(super) fn metadata_of(kind: &Kind, stored: &Document) -> Document {
    json!({"apiVersion": kind.group_version.to_string(), "kind": kind.names().kind, "metadata": stored["metadata"]})
}

/// A document of a kind as it would be shown if it were stored. It cannot be selected by anything.
pub(super) fn compose(kind: &Kind, key: &str, revision: Revision, document: &Document) -> Object {
    let (mut text, mut managed) = (Vec::new(), Vec::new());
    codec::managed_fields(document, &mut managed);
    let places = codec::canonical(document, &mut text);
    let body = Body::new(text.into(), places.metadata_end, places.managed_at, Bytes::from(managed));
    let body = body.expect("a canonical body says where its parts are");
    Object::compose(key, revision, &kind.type_meta(), Reading::plain(Ok(body)))
}

/// A request for the same, in the version in which objects are stored.
pub(super) fn in_stored_version(request: &Request) -> Request {
    Request { served: request.served.stored().clone(), ..request.clone() }
}

/// A document of the version that a request asks in, in the one that is stored, with its type meta.
fn to_stored(request: &Request, document: &Document) -> Result<Document, String> {
    let stored = &request.served.stored().kind;
    let mut document = request.served.kind.convert_to(stored, document.clone())?;
    document["apiVersion"] = stored.group_version.to_string().into();
    document["kind"] = stored.names().kind.clone().into();
    Ok(document)
}

/// What a stored document is after it was written through the version of a request: what that does not know is gone. One
/// that cannot be converted stays as it is.
pub(super) fn written_through<'d>(request: &Request, stored: &'d Document) -> Cow<'d, Document> {
    if request.served.view.is_none() {
        return Cow::Borrowed(stored);
    }
    let read = request.served.kind.convert_from_stored(stored.clone());
    let written = read.and_then(|read| to_stored(request, &read));
    written.map_or(Cow::Borrowed(stored), Cow::Owned)
}

/// Whether all that a change of an object does is to take finalizers off it. What the server keeps about changes does not
/// count.
pub(super) fn only_releases(old: &Document, new: &Document) -> bool {
    let names = |document: &Document| document["metadata"]["finalizers"].as_array().cloned().unwrap_or_default();
    let rest = |document: &Document| {
        let mut rest = document.clone();
        let metadata = system::metadata(&mut rest);
        for member in ["finalizers", "generation", MANAGED_FIELDS] {
            metadata.remove(member);
        }
        rest
    };
    let (before, after) = (names(old), names(new));
    after.len() < before.len() && after.iter().all(|name| before.contains(name)) && rest(old) == rest(new)
}

impl Write<'_> {
    /// A name for a new object: as the hook of its version makes it, or that of the version that is stored.
    ///
    /// # Errors
    /// A hook that cannot decode the object.
    pub fn make_name(&self, document: &Document, base: &str) -> Result<String, String> {
        let served = &self.request.served;
        if let Some(name) = served.kind.binding.hooks.generate_name(document, base)? {
            return Ok(name);
        }
        if served.stored.is_some()
            && let hooks = &served.stored().kind.binding.hooks
            && let Some(name) = hooks.generate_name(&to_stored(self.request, document)?, base)?
        {
            return Ok(name);
        }
        names::generate(base)
    }

    /// What is stored for a document that has passed the pipeline in the version of the request: the stored version fills it
    /// in, and its hooks have their say. Its schema has none: what is written is validated by the version it is written in.
    ///
    /// # Errors
    /// [`Error::Invalid`] where it has no form there; as the hooks.
    pub fn to_stored<'d>(
        &self,
        (document, fit): (&'d Document, Fit),
        old: Option<&Document>,
    ) -> Result<(Cow<'d, Document>, Fit), Error> {
        if self.request.served.stored.is_none() {
            return Ok((Cow::Borrowed(document), fit));
        }
        let request = in_stored_version(self.request);
        let kind = &*request.served.kind;
        let invalid = |errors| Error::Invalid(kind.group_kind(), system::text(document, "name").to_owned(), errors);
        let mut stored = to_stored(self.request, document).map_err(|why| {
            let version = &kind.group_version.version;
            invalid(vec![fault_of_object(format!("it has no form in version {version}, which is stored: {why}"))])
        })?;
        let write = Write { request: &request, ..*self };
        write.run_default(&mut stored, old)?;
        let errors = write.hook_errors(&stored, old);
        if !errors.is_empty() {
            return Err(invalid(errors));
        }
        let fit = Fit::of(&kind.version.schema, &stored);
        Ok((Cow::Owned(stored), fit))
    }
}
