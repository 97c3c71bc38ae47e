//! The input of handlers of subresources, the current parent, and the Status of their refusals.

use std::sync::Arc;

use bytes::Bytes;

use super::{Backend, heavy, status::StatusError};
use crate::{
    codec,
    handlers::{Refusal, RequestContext, SubresourceHandler, Target},
    kind::Kind,
    meta::options::{GetOptions, Preconditions, Query, WriteOptions},
    registry::ResourceEntry,
    verbs::{Answer, Error, Request},
};

/// The Status for a handler's refusal about an object of a kind.
pub(super) fn handler_error(refusal: Refusal, kind: &Kind, name: &str) -> StatusError {
    Error::refused(refusal, kind, name).into()
}

/// The resource of a request, or the one that has replaced it.
pub(super) async fn current(backend: &Backend, request: &Request) -> Arc<ResourceEntry> {
    backend.api.registry.successor(&request.resource).await.unwrap_or_else(|| request.resource.clone())
}

/// The input of a subresource's handler: the current parent. Fails with 404.
pub(super) async fn target(
    backend: &Backend,
    parent: &Request,
    subresource: &SubresourceHandler,
    options: WriteOptions,
    query: &Query,
    expects: Preconditions,
) -> Result<Target, StatusError> {
    let parent = &Request { resource: current(backend, parent).await, ..parent.clone() };
    let document = match backend.api.get(parent, &GetOptions::default()).await? {
        Answer::Object(object) => {
            let decode = heavy::run(backend, parent, object.json_bytes().len(), Bytes::new(), move |_, _, _| {
                let decoded = codec::from_written(object.json_bytes());
                Box::pin(async move { Ok(decoded.map_err(|error| Error::Internal(error.to_string()))?) })
            });
            decode.await?
        }
        Answer::Document(document) => document,
    };
    let context = RequestContext::new(backend.api.clone(), parent, options, query);
    let subresource = subresource.name;
    Ok(Target { context, resource: parent.resource.clone(), subresource, document: Arc::new(document), expects })
}
