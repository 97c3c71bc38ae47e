//! Requests about objects: finds the kind, checks that the method applies to the path, reads options and body, calls
//! the verb, and writes its answer in the negotiated form.

use std::sync::Arc;

use axum_core::{body::Body, response::Response};
use bytes::Bytes;
use http::{Method, StatusCode, header::USER_AGENT};

use super::{
    Backend, Site, access, body,
    dispatch::Exchange,
    handled, methods,
    negotiate::{Offer, ResponseFormat},
    object,
    offload::Objects,
    path::ResourcePath,
    render::Renderer,
    response, status,
    status::StatusError,
    table::Include,
    watch, websocket,
};
use crate::{
    auth::Decision,
    codec::DecodedDocument,
    kind::{
        Kind,
        endpoint::{self, Endpoint, PatchType, Verb},
    },
    meta::{
        options::{
            DeleteOptions, GetOptions, ListOptions, OptionsError, PatchOptions, Query, WriteOptions, client_name,
        },
        selector::{FieldTerm, Fields},
    },
    schema::{Document, Meter},
    verbs::{Error, Request, WriteResult},
};

/// An empty list of definitions.
const NO_CUSTOM_KINDS: &str =
    r#"{"kind":"CustomResourceDefinitionList","apiVersion":"apiextensions.k8s.io/v1","metadata":{},"items":[]}"#;

/// A request with its kind.
pub(super) struct Call<'a> {
    /// The server.
    pub backend: &'a Backend,
    /// The HTTP exchange.
    pub exchange: Box<Exchange>,
    /// The request for the verbs.
    pub request: Request,
    /// The kind of the answer: the requested one, or that of a subresource with documents of its own.
    pub kind: Arc<Kind>,
    /// The negotiated form.
    pub format: ResponseFormat,
    /// What the rows of a Table contain.
    pub include: Include,
}

/// Serves a request about a resource.
pub(super) async fn serve(
    site: &Site,
    exchange: Box<Exchange>,
    path: &ResourcePath,
    body: Body,
) -> Result<Response, StatusError> {
    let backend = &*site.backend;
    let Some(served) = exchange.info.served.clone() else {
        return missing(backend, &exchange, path);
    };
    let (endpoint, operation) = methods::operation(&served, path, &exchange.info.method, exchange.info.verb)?;
    let (verb, subresource) = (operation.verb, endpoint.subresource.clone());
    if let Some((handler, declared)) = backend.handlers.subresource(&served.kind, &subresource) {
        // The handler takes and gives the version that it was declared for.
        let of_handler = backend.api.registry.find(declared.group, declared.version, declared.plural);
        let served = of_handler.unwrap_or(served);
        return Box::pin(handled::subresource(site, exchange, served, path, verb, handler, body)).await;
    }
    let is_of_objects = matches!(operation.answer, endpoint::Answer::Own);
    if !is_of_objects && served.kind.version.subresources.iter().any(|own| own.subresource == subresource) {
        let resource = served.kind.group_resource().to_string();
        return Err(status::no_handler(&format!("{subresource} of {resource}")).into());
    }
    let numbered = served.kind.message().is_some() || matches!(operation.answer, endpoint::Answer::Scale);
    let offer = Offer { protobuf: numbered, stream: verb == Verb::Watch, shapeless: false };
    let (namespace, mut name, mut watch_name) = (path.scope().to_owned(), path.name.clone(), String::new());
    if verb == Verb::Watch {
        std::mem::swap(&mut name, &mut watch_name);
    }
    let kind = served.kind.clone();
    let (user, warnings) = (exchange.user.clone(), exchange.info.warnings.clone());
    let meter = Meter::light(exchange.deadline).into();
    let request = Request { user, resource: served, namespace, name, subresource, warnings, meter, slot: None };
    let call = Call::new(backend, exchange, request, kind, offer)?;
    // All verbs except the most frequent one are boxed, to keep the state of a simple get small.
    match verb {
        Verb::Get => call.get().await,
        Verb::List => Box::pin(call.list()).await,
        Verb::Watch => Box::pin(call.watch(path.watch, watch_name)).await,
        Verb::Create if !call.kind.shared.stored => Box::pin(handled::ask(call, body)).await,
        Verb::Create => Box::pin(call.create(body)).await,
        Verb::Update => Box::pin(call.update(body)).await,
        Verb::Patch => Box::pin(call.patch(body)).await,
        Verb::Delete => Box::pin(call.delete(body)).await,
        Verb::DeleteCollection => Box::pin(call.delete_collection(body)).await,
    }
}

/// The answer if no kind is served: a Status below an existing group and version, and in groups of kinds that are compiled in,
/// whatever their version; otherwise a plain page.
fn missing(backend: &Backend, exchange: &Exchange, path: &ResourcePath) -> Result<Response, StatusError> {
    if methods::lists_custom_kinds(path, exchange.info.verb) {
        return Ok(response::json(StatusCode::OK, NO_CUSTOM_KINDS));
    }
    let (kinds, _) = backend.api.registry.all();
    let known = kinds.iter().any(|served| {
        let at = &served.kind.group_version;
        at.group == path.group && (at.version == path.version || served.kind.policy().has_routes())
    });
    if known { Err(status::no_such_resource().into()) } else { Ok(response::page_not_found()) }
}

impl<'a> Call<'a> {
    /// A request whose answer is of a kind, in the form that the client accepts of an offer. Fails with 406; 400 for an
    /// invalid parameter of Tables.
    pub(super) fn new(
        backend: &'a Backend,
        exchange: Box<Exchange>,
        request: Request,
        kind: Arc<Kind>,
        offer: Offer,
    ) -> Result<Self, StatusError> {
        let format = exchange.negotiate(offer, request.resource.kind.policy())?;
        let include = Include::parse(&exchange.info.query, format)?;
        Ok(Self { backend, exchange, request, kind, format, include })
    }
}

impl Call<'_> {
    /// The renderer of the answer, unless it is text.
    pub(super) fn renderer(&self) -> Option<Renderer> {
        Renderer::new(&self.kind, self.format, self.backend.api.cache.renderings())
    }

    async fn get(self) -> Result<Response, StatusError> {
        let options = GetOptions::parse(&self.exchange.info.query)?;
        let answer = self.backend.api.get(&self.request, &options).await?;
        object::respond(&self, StatusCode::OK, answer, &[]).await
    }

    async fn list(self) -> Result<Response, StatusError> {
        let options = ListOptions::parse(&self.exchange.info.query, false)?;
        let list = self.backend.api.list(&self.request, &options).await?;
        let answer = object::respond_list(&self, list).await;
        answer.map_err(|error| error.into_status_error(&self.request.resource))
    }

    async fn watch(mut self, old_path: bool, name: String) -> Result<Response, StatusError> {
        let mut options = ListOptions::parse(&self.exchange.info.query, old_path)?;
        options.watch = true;
        if !name.is_empty() {
            let mut terms = options.fields.terms().to_vec();
            terms.push(FieldTerm { field: "metadata.name".into(), equal: true, value: name.into() });
            options.fields = Fields::new(terms);
        }
        let upgrades =
            self.exchange.info.method == Method::GET && websocket::is_upgrade_request(&self.exchange.parts.headers);
        let handshake = if upgrades {
            Some(websocket::handshake(&mut self.exchange.parts, websocket::SupportedProtocols::Any)?)
        } else {
            None
        };
        let answer = match self.backend.api.watch(&self.request, &options).await {
            Ok(watching) => watch::respond(&self, watching, options.timeout_seconds, handshake.is_some()),
            // Clients expect the error of an expired watch in the stream.
            Err(error @ Error::Expired { .. }) => watch::refuse(error, self.format.encoding),
            Err(error) => return Err(error.into()),
        };
        Ok(match handshake {
            None => answer,
            Some(handshake) => watch::over_socket(&self, handshake, answer),
        })
    }

    async fn create(mut self, body: Body) -> Result<Response, StatusError> {
        let mut options = WriteOptions::for_create(&self.exchange.info.query)?;
        options.client = self.client_name();
        let (media_type, bytes) = self.read(body).await?;
        let create = self.write(bytes, move |api, request, bytes| {
            let (media_type, options) = (media_type.clone(), options.clone());
            Box::pin(async move {
                let document = object(request, &media_type, &bytes)?;
                Ok(api.create(request, document, &options).await?)
            })
        });
        let written = create.await?;
        self.respond(written).await
    }

    async fn update(mut self, body: Body) -> Result<Response, StatusError> {
        let mut options = WriteOptions::for_update(&self.exchange.info.query)?;
        options.client = self.client_name();
        let (media_type, bytes) = self.read(body).await?;
        let refusal = if self.kind.version.create_on_update { self.may_create().await.err() } else { None };
        options.must_exist = refusal.is_some();
        let update = self.write(bytes, move |api, request, bytes| {
            let (media_type, options, refusal) = (media_type.clone(), options.clone(), refusal.clone());
            Box::pin(async move {
                let document = object(request, &media_type, &bytes)?;
                let written = api.update(request, document, &options).await;
                written.map_err(|error| not_created(error, refusal))
            })
        });
        let written = update.await?;
        self.respond(written).await
    }

    async fn patch(mut self, body: Body) -> Result<Response, StatusError> {
        let (patch_type, bytes, mut options) = self.read_patch(body, self.patch_types()).await?;
        let refusal = if patch_type.applies() { self.may_create().await.err() } else { None };
        options.write.must_exist = refusal.is_some();
        let patch = self.write(bytes, move |api, request, bytes| {
            let (options, refusal) = (options.clone(), refusal.clone());
            Box::pin(async move {
                let patch = body::decode_patch(patch_type, bytes)?;
                let written = api.patch(request, patch, &options).await;
                written.map_err(|error| not_created(error, refusal))
            })
        });
        let written = patch.await?;
        self.respond(written).await
    }

    async fn respond(&self, written: WriteResult) -> Result<Response, StatusError> {
        let code = if written.created { StatusCode::CREATED } else { StatusCode::OK };
        object::respond(self, code, written.answer, &written.warnings).await
    }

    /// The body and its media type.
    pub(super) async fn read(&self, body: Body) -> Result<(String, Bytes), StatusError> {
        let headers = &self.exchange.parts.headers;
        let bytes = body::read(headers, body, &self.backend.limits, Objects::of(&self.request.resource)).await?;
        Ok((body::media_type(headers), bytes))
    }

    /// The supported types of patches for the request.
    fn patch_types(&self) -> &[PatchType] {
        let path = self.exchange.info.resource.as_ref();
        let endpoint = path.and_then(|path| self.request.resource.endpoint(&path.subresource));
        endpoint.map_or(&[], Endpoint::patch_types)
    }

    /// The body of a patch, its type, which is supported, and its options. Fails with 415; 400 for invalid options;
    /// like [`body::read`].
    pub(super) async fn read_patch(
        &self,
        body: Body,
        types: &[PatchType],
    ) -> Result<(PatchType, Bytes, PatchOptions), StatusError> {
        let headers = &self.exchange.parts.headers;
        let media_type = body::media_type(headers);
        let found = types.iter().copied().find(|known| known.media_type() == media_type);
        let patch_type = found.ok_or_else(|| status::unsupported_patch(types, self.kind.policy()))?;
        let bytes = body::read(headers, body, &self.backend.limits, Objects::of(&self.request.resource)).await?;
        let mut options = PatchOptions::parse(&self.exchange.info.query, patch_type.applies())?;
        options.write.client = self.client_name();
        Ok((patch_type, bytes, options))
    }

    async fn delete(mut self, body: Body) -> Result<Response, StatusError> {
        let options = self.delete_options(body, DeleteOptions::parse).await?;
        if options.ignore_read_errors {
            self.authorize_force().await?;
        }
        let delete = self.write(Bytes::new(), move |api, request, _| {
            let options = options.clone();
            Box::pin(async move { Ok(api.delete(request, &options).await?) })
        });
        let deleted = delete.await?;
        object::respond_deleted(&self, deleted).await
    }

    async fn delete_collection(mut self, body: Body) -> Result<Response, StatusError> {
        let list = ListOptions::parse(&self.exchange.info.query, false)?;
        let options = self.delete_options(body, DeleteOptions::for_collection).await?;
        loop {
            let deleted = self.backend.api.delete_collection(&self.request, &list, &options).await;
            match deleted.map_err(StatusError::from) {
                Ok(deleted) => return object::respond_deleted_list(&self, deleted).await,
                Err(error) if self.follows(&error).await => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Authorizes creation before a write that may create its object, which needs more than permission to change it.
    async fn may_create(&self) -> Result<(), StatusError> {
        access::may_create(self.backend, &self.request, "", &self.exchange.info.path).await
    }

    /// The client's name.
    pub(super) fn client_name(&self) -> String {
        client_name(self.exchange.header(&USER_AGENT).unwrap_or_default())
    }

    /// Forced deletion needs an additional permission, because it ignores finalizers.
    async fn authorize_force(&self) -> Result<(), StatusError> {
        const VERB: &str = "unsafe-delete-ignore-read-errors";
        let attributes = access::further(&self.request, VERB, "", &self.exchange.info.path);
        let reason = match self.backend.authorizer.authorize(&attributes).await {
            Decision::Allow(_) => return Ok(()),
            Decision::NoOpinion(reason) | Decision::Deny(reason) => reason,
        };
        Err(self.request.forbidden(format!("not permitted to do {VERB:?}, reason: {reason}")).into())
    }

    async fn delete_options(
        &self,
        body: Body,
        parse: fn(&Query, Option<&Document>) -> Result<DeleteOptions, OptionsError>,
    ) -> Result<DeleteOptions, StatusError> {
        let (media_type, bytes) = self.read(body).await?;
        if bytes.is_empty() {
            return Ok(parse(&self.exchange.info.query, None)?);
        }
        let info = self.exchange.info.clone();
        let options = self.heavy(0, bytes, move |_, _, bytes| {
            Box::pin(async move {
                let document = body::decode(&media_type, &bytes, body::BodyType::DeleteOptions)?.document;
                Ok(parse(&info.query, Some(&document))?)
            })
        });
        options.await
    }
}

/// The body of a write of an object, which says its type where the kind needs that.
fn object(request: &Request, media_type: &str, body: &[u8]) -> Result<DecodedDocument, StatusError> {
    let kind = &*request.resource.kind;
    let decoded = document(request, kind, media_type, body)?;
    if !request.is_scale() && kind.needs_type_meta() {
        body::check_type_meta(&decoded.document, kind, body)?;
    }
    Ok(decoded)
}

/// The body of a write as a document of this kind, or as a Scale.
pub(super) fn document(
    request: &Request,
    kind: &Kind,
    media_type: &str,
    body: &[u8],
) -> Result<DecodedDocument, StatusError> {
    let body_type = if request.is_scale() { body::BodyType::Scale } else { body::BodyType::Object(kind) };
    body::decode(media_type, body, body_type)
}

/// The error of a failed write. If its object is missing and the user may not create it, the authorization error.
fn not_created(error: Error, refusal: Option<StatusError>) -> StatusError {
    match (error, refusal) {
        (Error::NotFound(..), Some(refusal)) => refusal,
        (error, _) => error.into(),
    }
}
