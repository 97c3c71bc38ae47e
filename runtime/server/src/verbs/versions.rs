//! Versions in a write: the pipeline works in the requested version, and objects are stored in the storage version. An
//! object that cannot be converted can still be deleted, and its finalizers removed.
use std::{borrow::Cow, sync::Arc};

use bytes::Bytes;
use serde_json::json;

use super::{
    Error, Request,
    hooks::fault_of_object,
    metadata::{self, MANAGED_FIELDS},
    names, scale,
    stored::{ConversionFailures, document_of},
    waiting::Permits,
    write::Write,
};
use crate::{
    cache::{Body, DecodedValue, Object},
    codec,
    kind::{Kind, binding::Hook, convert::Answers},
    meta::{FieldError, FieldPath, Revision},
    registry::reader::Validity,
    schema::{Document, Meter},
};

/// A stored object in the requested version. Fails with [`Error::StoreRead`] if it cannot be converted.
pub(super) async fn shown(request: &Request, permits: Permits<'_>, stored: &Arc<Object>) -> Result<Arc<Object>, Error> {
    let resource = &request.resource;
    let shown = permits.outside(resource.show(stored)).await;
    shown.map_err(|why| ConversionFailures::one(resource, stored, &why).refusal(resource, &request.name))
}

/// The error for a document of a write that cannot be converted.
fn unconvertible(kind: &Kind, document: &Document, converter: &Kind, why: String, detail: &str) -> Error {
    if converter.waits() {
        return Error::Internal(why);
    }
    Error::invalid(kind, document, vec![fault_of_object(format!("{detail}: {why}"))])
}

/// The answer to a write in the requested version, made before its commit: nothing is committed that cannot be answered.
/// Deletions need no answer but metadata; see [`shown_or_metadata`].
pub(super) struct PreparedAnswer(Option<Body>);

impl PreparedAnswer {
    /// The answer for an object as it will be stored. Fails with [`Error::Invalid`] if it cannot be converted;
    /// [`Error::Internal`] if a webhook fails, and for an object without the requested scale.
    pub(super) async fn of(write: &Write<'_>, stored: &Document) -> Result<Self, Error> {
        let (request, kind) = (write.request, &*write.request.resource.kind);
        let mut shown = Cow::Borrowed(stored);
        if request.resource.view.is_some() {
            // Conversions do not see managed fields.
            let (mut bare, entries) = (stored.clone(), metadata::managed_fields(stored));
            metadata::of(&mut bare).remove(MANAGED_FIELDS);
            let converted = write.converting(|answers| kind.convert_from_stored(bare.clone(), answers)).await;
            let mut converted = converted.map_err(|why| {
                let version = &kind.group_version.version;
                let detail = format!("as it would be stored, it has no form in version {version}");
                unconvertible(kind, stored, kind, why, &detail)
            })?;
            metadata::set_managed_fields(&mut converted, entries);
            shown = Cow::Owned(converted);
        }
        if request.is_scale() {
            scale::of_document(kind, &shown, None)?;
        }
        Ok(Self(request.resource.view.is_some().then(|| body_of(&shown))))
    }

    /// The answer for the object as it was stored.
    pub(super) fn with(self, request: &Request, stored: Arc<Object>) -> Arc<Object> {
        match (&request.resource.view, self.0) {
            (Some(view), Some(body)) => view.with_body(&stored, body),
            _ => stored,
        }
    }
}

/// The stored object in the requested version, for the answer to a deletion or a release. If the object cannot be converted,
/// the part that all versions share.
pub(super) async fn shown_or_metadata(
    request: &Request,
    permits: Permits<'_>,
    stored: &Arc<Object>,
) -> Result<Arc<Object>, Error> {
    if let Some(Ok(shown)) = permits.unneeded(request.resource.show(stored)).await {
        return Ok(shown);
    }
    let kind = &*request.resource.kind;
    Ok(Arc::new(compose(kind, stored.key(), stored.revision(), &metadata_of(kind, &document_of(stored)?))))
}

/// Only the metadata of an object, as an object of a version.
pub(super) fn metadata_of(kind: &Kind, stored: &Document) -> Document {
    json!({"apiVersion": kind.group_version.to_string(), "kind": kind.names().kind, "metadata": stored["metadata"]})
}

/// A document of a kind in its stored and rendered form, without selectable values.
pub(super) fn compose(kind: &Kind, key: &str, revision: Revision, document: &Document) -> Object {
    Object::compose(key, revision, &kind.type_meta(), DecodedValue::plain(Ok(body_of(document))))
}

fn body_of(document: &Document) -> Body {
    let (mut text, mut managed) = (Vec::new(), Vec::new());
    codec::managed_fields(document, &mut managed);
    let places = codec::canonical(document, &mut text);
    let body = Body::new(text.into(), places.metadata_end, places.managed_at, Bytes::from(managed));
    body.expect("a canonical body says where its parts are")
}

/// The request in the storage version.
pub(super) fn in_stored_version(request: &Request) -> Request {
    Request { resource: request.resource.stored().clone(), ..request.clone() }
}

/// Converts a document from the requested version to the storage version, with its type meta.
fn to_stored(request: &Request, document: &Document, meter: &Meter, answers: &Answers) -> Result<Document, String> {
    let stored = &request.resource.stored().kind;
    let mut document = request.resource.kind.convert_to(stored, document.clone(), meter, answers)?;
    document["apiVersion"] = stored.group_version.to_string().into();
    document["kind"] = stored.names().kind.clone().into();
    Ok(document)
}

/// A stored document after a write through the requested version: fields that this version lacks are dropped. A
/// document that cannot be converted stays unchanged.
pub(super) async fn written_through<'d>(
    request: &Request,
    permits: Permits<'_>,
    stored: &'d Document,
) -> Cow<'d, Document> {
    if request.resource.view.is_none() {
        return Cow::Borrowed(stored);
    }
    let through = |answers: &Answers| {
        let read = request.resource.kind.convert_from_stored(stored.clone(), answers)?;
        // Not the request's, since the write goes on without this.
        to_stored(request, &read, &Meter::light(None), answers)
    };
    let written = permits.unneeded(request.resource.converting(through)).await;
    written.and_then(Result::ok).map_or(Cow::Borrowed(stored), Cow::Owned)
}

/// True if a change only removes finalizers. The server's own records of changes do not count.
pub(super) fn only_releases(old: &Document, new: &Document) -> bool {
    let names = |document: &Document| document["metadata"]["finalizers"].as_array().cloned().unwrap_or_default();
    let rest = |document: &Document| {
        let mut rest = document.clone();
        let metadata = metadata::of(&mut rest);
        for member in ["finalizers", "generation", MANAGED_FIELDS] {
            metadata.remove(member);
        }
        rest
    };
    let (before, after) = (names(old), names(new));
    after.len() < before.len() && after.iter().all(|name| before.contains(name)) && rest(old) == rest(new)
}

impl Write<'_> {
    /// Generates a name for a new object with the hook of its version, or that of the storage version. Fails if the
    /// object cannot be converted to the storage version, or a hook refuses.
    pub(super) async fn make_name(&self, document: &Document, base: &str) -> Result<String, Error> {
        let resource = &self.request.resource;
        if let Some(name) = self.name_by_hook(&resource.kind, document, base).await? {
            return Ok(name);
        }
        if resource.stored.is_some()
            && let stored = &resource.stored().kind
            && stored.binding.hooks.runs(Hook::Name)
        {
            let meter = &*self.request.meter;
            let document = self.converting(|answers| to_stored(self.request, document, meter, answers)).await;
            meter.check()?;
            let document = document.map_err(Error::Internal)?;
            if let Some(name) = self.name_by_hook(stored, &document, base).await? {
                return Ok(name);
            }
        }
        names::generate(base).map_err(Error::Internal)
    }

    /// Names the places of errors of the storage version as the requested version has them, where the conversion says that.
    fn name_places(&self, errors: &mut [FieldError]) {
        let Some(conversion) = &self.request.resource.kind.binding.conversion else { return };
        for error in errors {
            if let Some(place) = conversion.place_of_stored(error.path.as_str()) {
                error.path = FieldPath::new(place);
            }
        }
    }

    /// Converts a document that has passed the pipeline to the storage version, which adds its defaults and runs its
    /// hooks. `old` is the object before the write, as it is stored. The document is not validated by the schema of the
    /// storage version, but by that of its own. Fails with [`Error::Invalid`] if it cannot be converted;
    /// [`Error::Internal`] if a webhook fails; errors of the hooks.
    pub(super) async fn stored_form<'d>(
        &self,
        (document, validity): (&'d Document, Validity),
        old: Option<&Document>,
    ) -> Result<(Cow<'d, Document>, Validity), Error> {
        if self.request.resource.stored.is_none() {
            return Ok((Cow::Borrowed(document), validity));
        }
        let request = in_stored_version(self.request);
        let kind = &*request.resource.kind;
        let meter = &*self.request.meter;
        let stored = self.converting(|answers| to_stored(self.request, document, meter, answers)).await;
        meter.check()?;
        let mut stored = stored.map_err(|why| {
            let detail = format!("it has no form in version {}, which is stored", kind.group_version.version);
            unconvertible(kind, document, &self.request.resource.kind, why, &detail)
        })?;
        let write = Write { request: &request, kind, old, ..*self };
        write.check_dry_run()?;
        write.run_default(&mut stored).await?;
        let mut errors = write.hook_errors(&stored).await?;
        if !errors.is_empty() {
            self.name_places(&mut errors);
            return Err(Error::invalid(self.kind, document, errors));
        }
        write.run_admit(write.operation(), &stored).await?;
        let validity = Validity::of(&kind.version.schema, &stored, &write.request.meter);
        Ok((Cow::Owned(stored), validity))
    }
}
