//! Stored objects as the verbs read them, and the errors for those that cannot be read or converted.
use std::sync::Arc;

use super::{Error, Request};
use crate::{cache::Object, codec, registry::ResourceEntry, schema::Document};

/// The maximum number of unreadable objects that an error lists.
const MAX_CAUSES: usize = 100;

/// The object as a document. Fails with [`Error::Internal`], which would be a bug of the cache.
pub(super) fn document_of(object: &Object) -> Result<Document, Error> {
    let decoded = codec::decode(&object.json(), &codec::Limits::NONE);
    decoded.map(|decoded| decoded.document).map_err(|error| Error::Internal(format!("{:?}: {error}", object.key())))
}

/// The newest state of the requested object, in the storage version. Fails with [`Error::NotFound`];
/// [`Error::StoreRead`] if its stored bytes cannot be decoded: the object exists, but cannot be shown.
pub(super) fn current(request: &Request) -> Result<Arc<Object>, Error> {
    let object = find(request)?;
    if object.unreadable().is_some() { Err(unreadable(request, &[object])) } else { Ok(object) }
}

/// The newest state of the requested object, readable or not. Fails with [`Error::NotFound`].
pub(super) fn find(request: &Request) -> Result<Arc<Object>, Error> {
    request.resource.objects.snapshot().get(&request.key()).ok_or_else(|| request.not_found())
}

/// The error for unreadable objects.
pub(super) fn unreadable(request: &Request, objects: &[Arc<Object>]) -> Error {
    let cause = |object: &Arc<Object>| {
        let reason = object.unreadable().unwrap_or_default();
        let why = format!("object not decodable revision={}: {reason}", object.revision());
        (format!("{}{}", request.resource.objects.prefix(), object.key()), why)
    };
    let causes = objects.iter().take(MAX_CAUSES).map(cause).collect();
    let awaits_conversion = objects.iter().all(|object| object.awaits_conversion());
    request.unreadable(causes, objects.len() > MAX_CAUSES, awaits_conversion)
}

/// Stored objects that cannot be converted to the requested version.
#[derive(Debug, Default)]
pub(crate) struct ConversionFailures {
    causes: Vec<(String, String)>,
    more: bool,
    /// The first reason.
    reason: String,
}

impl ConversionFailures {
    /// One object, and the reason.
    pub(crate) fn one(resource: &ResourceEntry, object: &Object, reason: &str) -> Self {
        let mut all = Self::default();
        all.push(resource, object, reason);
        all
    }

    /// Adds an object and the reason.
    pub(crate) fn push(&mut self, resource: &ResourceEntry, object: &Object, reason: &str) {
        if self.is_empty() {
            reason.clone_into(&mut self.reason);
        }
        if self.causes.len() == MAX_CAUSES {
            self.more = true;
            return;
        }
        let (version, revision) = (&resource.kind.group_version, object.revision());
        let why = format!("object not convertible to {version} revision={revision}: {reason}");
        self.causes.push((format!("{}{}", resource.objects.prefix(), object.key()), why));
    }

    /// True if there are no such objects.
    pub(crate) fn is_empty(&self) -> bool {
        self.causes.is_empty()
    }

    /// True if there are more than an error lists.
    pub(crate) fn has_more(&self) -> bool {
        self.more
    }

    /// The error for these objects; for a single object if the request has a name. If a webhook has failed, its error, as in
    /// kube-apiserver.
    pub(crate) fn refusal(self, resource: &ResourceEntry, name: &str) -> Error {
        if resource.kind.waits() {
            return Error::Internal(self.reason);
        }
        let resource = resource.kind.group_resource();
        Error::StoreRead {
            resource,
            name: name.to_owned(),
            causes: self.causes,
            more: self.more,
            awaits_conversion: false,
        }
    }
}
