//! The operations on documents of users' handlers: objects of virtual kinds, and subresources.

use std::sync::Arc;

use axum_core::{body::Body, response::Response};
use bytes::Bytes;
use http::StatusCode;

use super::{
    body,
    call::Call,
    heavy, object, response,
    status::{self, StatusError},
    target::{current, handler_error, target},
    warnings,
};
use crate::{
    handlers::{Documents, Refusal, RequestContext, SubresourceHandler, Target},
    kind::{
        Kind,
        endpoint::{Endpoint, Verb},
    },
    meta::{
        Operation,
        options::{Preconditions, WriteOptions},
        status::Status,
    },
    schema::Document,
    verbs::{self, ParsedPatch, Retry, Subject},
};

/// Serves a virtual kind.
pub(super) async fn ask(call: Call<'_>, body: Body) -> Result<Response, StatusError> {
    let mut options = WriteOptions::for_create(call.query())?;
    options.client = call.exchange.client_name();
    let backend = call.backend();
    let unhandled = || status::no_handler(&call.kind.group_resource().to_string());
    let ask = backend.handlers.ask(&call.kind).ok_or_else(unhandled)?;
    let (media_type, bytes) = call.read(body).await?;
    // A large body keeps its share of the budget while the handler waits.
    let (length, _room) = (bytes.len(), bytes.clone());
    let prepare = prepare(&call, call.kind.clone(), (media_type, bytes), options.clone(), None);
    let (document, warnings) = prepare.await?;
    let context = RequestContext::new(backend.api.clone(), &call.request, options, call.query());
    let name = document["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    let answer = ask(context, document).await.map_err(|refusal| handler_error(refusal, &call.kind, &name))?;
    respond(&call, StatusCode::CREATED, answer, &warnings, length).await
}

/// A request's body as a document of this kind, for a handler, and warnings.
pub(super) async fn prepare(
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
            let document = body::document(request, &kind, &media_type, &body)?;
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

/// A request to a subresource that reads and writes documents.
pub(super) struct DocumentRequest<'a> {
    /// The request for the parent, whose answer has the kind of the subresource.
    pub call: Call<'a>,
    /// The subresource.
    pub subresource: &'a SubresourceHandler,
    /// Its functions.
    pub documents: &'a Documents,
    /// The kind of the body.
    pub body_kind: Arc<Kind>,
}

impl DocumentRequest<'_> {
    pub(super) async fn get(self) -> Result<Response, StatusError> {
        let read = self.documents.get.as_ref().ok_or_else(status::method_not_allowed)?;
        let target = self.target(WriteOptions::default(), None).await?;
        let found = read(target).await.map_err(|refusal| self.handler_error(refusal))?;
        let length = heavy::stored(&self.call.request);
        self.respond(StatusCode::OK, Some(found), &[], length).await
    }

    /// A POST or a PUT.
    pub(super) async fn take(self, verb: Verb, body: Body) -> Result<Response, StatusError> {
        let query = self.call.query();
        let (take, code, options) = match verb {
            Verb::Create => (&self.documents.post, StatusCode::CREATED, WriteOptions::for_create(query)?),
            _ => (&self.documents.put, StatusCode::OK, WriteOptions::for_update(query)?),
        };
        let take = take.as_ref().ok_or_else(status::method_not_allowed)?;
        let options = WriteOptions { client: self.call.exchange.client_name(), ..options };
        // A missing object is reported before errors of the body.
        let target = self.target(options.clone(), None).await?;
        let api = &self.call.backend().api;
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
    pub(super) async fn patch(self, body: Body) -> Result<Response, StatusError> {
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
        let served = current(self.call.backend(), &self.call.request).await;
        let now = served.objects.snapshot().get(&self.call.request.key());
        now.is_some_and(|now| *before != now.revision().to_string())
    }

    /// The handler's input: the parent, after checking the uid and resourceVersion in the body's metadata.
    async fn target(&self, options: WriteOptions, body: Option<&Document>) -> Result<Target, StatusError> {
        let expects = body.map(|body| Preconditions::of(&body["metadata"])).unwrap_or_default();
        let query = self.call.query();
        let target = target(self.call.backend(), &self.call.request, self.subresource, options, query, expects).await?;
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
