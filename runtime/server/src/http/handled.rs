//! Requests to users' handlers: virtual kinds, and subresources.

use std::sync::Arc;

use axum_core::{body::Body, response::Response};
use bytes::Bytes;
use http::StatusCode;

use super::{
    Backend, Site, body,
    connect::ConnectRequest,
    dispatch::Exchange,
    heavy,
    negotiate::Offer,
    object,
    path::ResourcePath,
    resource::{self, Call},
    response,
    status::{self, StatusError},
    warnings,
};
use crate::{
    codec,
    handlers::{Documents, Handler, Refusal, RequestContext, SubresourceHandler, Target},
    kind::{
        Kind,
        endpoint::{Endpoint, Verb},
    },
    meta::{
        Operation,
        options::{GetOptions, Preconditions, Query, WriteOptions},
        status::Status,
    },
    registry::ResourceEntry,
    schema::{Document, Meter},
    verbs::{self, Answer, Error, ParsedPatch, Request, Retry, Subject},
};

/// The Status for a handler's refusal about an object of a kind.
pub(super) fn handler_error(refusal: Refusal, kind: &Kind, name: &str) -> StatusError {
    Error::refused(refusal, kind, name).into()
}

/// Serves a virtual kind.
pub(super) async fn ask(call: Call<'_>, body: Body) -> Result<Response, StatusError> {
    let mut options = WriteOptions::for_create(&call.exchange.info.query)?;
    options.client = call.client_name();
    let backend = call.backend;
    let unhandled = || status::no_handler(&call.kind.group_resource().to_string());
    let ask = backend.handlers.ask(&call.kind).ok_or_else(unhandled)?;
    let (media_type, bytes) = call.read(body).await?;
    // A large body keeps its share of the budget while the handler waits.
    let (length, _room) = (bytes.len(), bytes.clone());
    let prepare = prepare(&call, call.kind.clone(), (media_type, bytes), options.clone(), None);
    let (document, warnings) = prepare.await?;
    let context = RequestContext::new(backend.api.clone(), &call.request, options, &call.exchange.info.query);
    let name = document["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    let answer = ask(context, document).await.map_err(|refusal| handler_error(refusal, &call.kind, &name))?;
    respond(&call, StatusCode::CREATED, answer, &warnings, length).await
}

/// A request's body as a document of this kind, for a handler, and warnings.
async fn prepare(
    call: &Call<'_>,
    kind: Arc<Kind>,
    (media_type, body): (String, Bytes),
    options: WriteOptions,
    subject: Option<Subject>,
) -> Result<(Document, Vec<String>), StatusError> {
    let subject = subject.map(Arc::new);
    let prepare = call.metered(0, body, move |api, request, body| {
        let (kind, media_type, options, subject) = (kind.clone(), media_type.clone(), options.clone(), subject.clone());
        Box::pin(async move {
            let document = resource::document(request, &kind, &media_type, &body)?;
            Ok(api.prepare(request, &kind, document, &options, subject.as_deref()).await?)
        })
    });
    prepare.await
}

/// Answers a request of this size with a handler's document.
async fn respond(
    call: &Call<'_>,
    code: StatusCode,
    given: Document,
    warnings: &[String],
    bytes: usize,
) -> Result<Response, StatusError> {
    let kind = call.kind.clone();
    let show = call.heavy(bytes, Bytes::new(), move |_, request, _| {
        Box::pin(async move { Ok(verbs::show(request, &kind, given)?) })
    });
    object::respond(call, code, show.await?, warnings).await
}

/// Serves a custom subresource that supports the verb. Fails with 404 if the object does not exist; errors of the
/// request; those of the handler.
pub(super) async fn subresource(
    site: &Site,
    exchange: Box<Exchange>,
    served: Arc<ResourceEntry>,
    path: &ResourcePath,
    verb: Verb,
    subresource: &SubresourceHandler,
    body: Body,
) -> Result<Response, StatusError> {
    let backend = &*site.backend;
    let kinds = subresource.kinds(verb).ok_or_else(status::method_not_allowed)?;
    let namespace = path.scope().to_owned();
    let (user, warnings, name) = (exchange.user.clone(), exchange.info.warnings.clone(), path.name.clone());
    let meter = Meter::light(exchange.deadline).into();
    let parent =
        Request { user, resource: served, namespace, name, subresource: "".into(), warnings, meter, slot: None };
    match &subresource.handler {
        Handler::Text(_) | Handler::Exec(_) | Handler::Forward(_) => {
            ConnectRequest { backend, exchange, parent, subresource }.serve().await
        }
        Handler::Documents(documents) => {
            let protobuf = kinds.answer.as_ref().is_none_or(|kind| kind.message().is_some());
            let offer = Offer { protobuf, stream: false, shapeless: false };
            let of = |kind: &Option<Arc<Kind>>| kind.as_ref().unwrap_or(&parent.resource.kind).clone();
            let (body_kind, kind) = (of(&kinds.body), of(&kinds.answer));
            let call = Call::new(backend, exchange, parent, kind, offer)?;
            let exchange = DocumentRequest { call, subresource, documents, body_kind };
            match verb {
                Verb::Get => exchange.get().await,
                Verb::Patch => exchange.patch(body).await,
                _ => exchange.take(verb, body).await,
            }
        }
    }
}

/// A request to a subresource that reads and writes documents.
struct DocumentRequest<'a> {
    /// The request for the parent, whose answer has the kind of the subresource.
    call: Call<'a>,
    subresource: &'a SubresourceHandler,
    documents: &'a Documents,
    /// The kind of the body.
    body_kind: Arc<Kind>,
}

impl DocumentRequest<'_> {
    async fn get(self) -> Result<Response, StatusError> {
        let read = self.documents.get.as_ref().ok_or_else(status::method_not_allowed)?;
        let target = self.target(WriteOptions::default(), None).await?;
        let found = read(target).await.map_err(|refusal| self.handler_error(refusal))?;
        let length = heavy::stored(&self.call.request);
        self.respond(StatusCode::OK, Some(found), &[], length).await
    }

    /// A POST or a PUT.
    async fn take(self, verb: Verb, body: Body) -> Result<Response, StatusError> {
        let query = &self.call.exchange.info.query;
        let (take, code, options) = match verb {
            Verb::Create => (&self.documents.post, StatusCode::CREATED, WriteOptions::for_create(query)?),
            _ => (&self.documents.put, StatusCode::OK, WriteOptions::for_update(query)?),
        };
        let take = take.as_ref().ok_or_else(status::method_not_allowed)?;
        let options = WriteOptions { client: self.call.client_name(), ..options };
        // A missing object is reported before errors of the body.
        let target = self.target(options.clone(), None).await?;
        let api = &self.call.backend.api;
        let (operation, old) = match (verb, &self.documents.get) {
            // Admission sees the replaced document. The handler may create a missing one, as an update may create an object.
            (Verb::Update, Some(read)) if api.admits(Operation::Update) || api.admits(Operation::Create) => {
                match read(target).await {
                    Ok(old) => (Operation::Update, Some(old)),
                    Err(refusal) if refusal.status().code == 404 => (Operation::Create, None),
                    Err(refusal) => return Err(self.handler_error(refusal)),
                }
            }
            (Verb::Create, _) => (Operation::Create, None),
            _ => (Operation::Update, None),
        };
        let (media_type, bytes) = self.call.read(body).await?;
        // A large body keeps its share of the budget while the handler waits.
        let _room = bytes.clone();
        let length = bytes.len() + heavy::stored(&self.call.request);
        let subject = Some(Subject { subresource: self.subresource.name.into(), operation, old });
        let prepare = prepare(&self.call, self.body_kind.clone(), (media_type, bytes), options.clone(), subject);
        let (document, warnings) = prepare.await?;
        let target = self.target(options, Some(&document)).await?;
        let given = take(target, document).await.map_err(|refusal| self.handler_error(refusal))?;
        self.respond(code, given, &warnings, length).await
    }

    /// A PATCH: reads, patches and writes, and retries if another write came in between.
    async fn patch(self, body: Body) -> Result<Response, StatusError> {
        let (Some(read), Some(write)) = (&self.documents.get, &self.documents.put) else {
            return Err(status::method_not_allowed().into());
        };
        let types = self.call.request.resource.endpoint(self.subresource.name).map_or(&[][..], Endpoint::patch_types);
        let (patch_type, bytes, options) = self.call.read_patch(body, types).await?;
        let read_patch = self
            .call
            .heavy(0, bytes.clone(), move |_, _, bytes| Box::pin(async move { body::decode_patch(patch_type, bytes) }));
        let (patch, options) = (read_patch.await?, options.write);
        let mut retry = Retry::alone();
        loop {
            let target = self.target(options.clone(), None).await?;
            let before = target.document["metadata"]["resourceVersion"].clone();
            let old = read(target).await.map_err(|refusal| self.handler_error(refusal))?;
            let (patch, given, stored) = (patch.clone(), options.clone(), heavy::stored(&self.call.request));
            let kind = self.body_kind.clone();
            let (subresource, operation) = (self.subresource.name.into(), Operation::Update);
            let subject = Arc::new(Subject { subresource, operation, old: Some(old) });
            let prepare = self.call.metered(stored, bytes.clone(), move |api, request, _| {
                let (patch, subject, given, kind) = (patch.clone(), subject.clone(), given.clone(), kind.clone());
                Box::pin(async move {
                    let old = subject.old.as_ref().unwrap_or(&Document::Null);
                    let new = ParsedPatch::read(patch)?.apply(&kind.version.schema, old, &request.meter)?;
                    Ok(api.prepare(request, &kind, new, &given, Some(&subject)).await?)
                })
            });
            let (document, warnings) = prepare.await?;
            let written = match self.target(options.clone(), Some(&document)).await {
                Ok(target) => write(target, document).await.map_err(|refusal| self.handler_error(refusal)),
                Err(error) => Err(error),
            };
            match written {
                // Lost against another write of the parent. Other conflicts are reported to the client.
                Err(StatusError(status))
                    if status.code == 409 && self.parent_is_newer(&before).await && retry.again().await => {}
                Err(error) => return Err(error),
                Ok(given) => return self.respond(StatusCode::OK, given, &warnings, bytes.len() + stored).await,
            }
        }
    }

    /// True if the parent's resourceVersion has changed.
    async fn parent_is_newer(&self, before: &Document) -> bool {
        let served = current(self.call.backend, &self.call.request).await;
        let now = served.objects.snapshot().get(&self.call.request.key());
        now.is_some_and(|now| *before != now.revision().to_string())
    }

    /// The handler's input: the parent, after checking the uid and resourceVersion in the body's metadata.
    async fn target(&self, options: WriteOptions, body: Option<&Document>) -> Result<Target, StatusError> {
        let expects = body.map(|body| Preconditions::of(&body["metadata"])).unwrap_or_default();
        let query = &self.call.exchange.info.query;
        let target = target(self.call.backend, &self.call.request, self.subresource, options, query, expects).await?;
        target.check(&target.document).map_err(|refusal| self.handler_error(refusal))?;
        Ok(target)
    }

    fn handler_error(&self, refusal: Refusal) -> StatusError {
        handler_error(refusal, &self.call.request.resource.kind, &self.call.request.name)
    }

    /// Answers with a handler's document to a request of this size.
    async fn respond(
        self,
        code: StatusCode,
        given: Option<Document>,
        warnings: &[String],
        bytes: usize,
    ) -> Result<Response, StatusError> {
        let Some(document) = given else {
            let mut answer = response::status(&Status::success(None), self.call.format);
            *answer.status_mut() = code;
            warnings::warn(answer.headers_mut(), warnings);
            return Ok(answer);
        };
        respond(&self.call, code, document, warnings, bytes).await
    }
}

/// The resource of a request, or the one that has replaced it.
async fn current(backend: &Backend, request: &Request) -> Arc<ResourceEntry> {
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
