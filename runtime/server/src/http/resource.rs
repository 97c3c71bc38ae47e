//! The dispatcher of requests about resources: finds the operation that a method has on a path, and who carries it out: the
//! verbs on stored objects, or a user's handler of a virtual kind or a subresource.

use std::sync::Arc;

use axum_core::{body::Body, response::Response};
use http::StatusCode;

use super::{
    binding,
    call::Call,
    connect::Connection,
    documents::{self, DocumentRequest},
    exchange::Exchange,
    methods,
    negotiate::Offer,
    path::ResourcePath,
    response,
    status::{self, StatusError},
};
use crate::{
    auth::User,
    handlers::{Handler, SubresourceHandler},
    kind::{
        Kind,
        endpoint::{Answer, Verb},
    },
    meta::options::GetOptions,
    schema::Meter,
    verbs::{Request, bind},
};

/// An empty list of definitions.
const NO_CUSTOM_KINDS: &str =
    r#"{"kind":"CustomResourceDefinitionList","apiVersion":"apiextensions.k8s.io/v1","metadata":{},"items":[]}"#;

/// Serves a request about a resource. Fails with 404 if there is none at its path; 405; errors of its operation.
pub(super) async fn serve(
    exchange: &Exchange,
    path: &ResourcePath,
    user: Arc<User>,
    body: Body,
) -> Result<Response, StatusError> {
    let info = &exchange.info;
    let Some(served) = &info.served else { return missing(exchange, path) };
    let (endpoint, operation) = methods::operation(served, path, &info.method, info.verb)?;
    let (verb, subresource) = (operation.verb, endpoint.subresource.clone());
    let backend = exchange.backend();
    let (resource, warnings) = (served.clone(), exchange.warnings.clone());
    let (namespace, name) = (path.scope().to_owned(), path.name.clone());
    let meter = Meter::light(exchange.deadline).into();
    let mut request = Request { user, resource, namespace, name, subresource, warnings, meter, slot: None };
    if let Some((handler, declared)) = backend.handlers.subresource(&served.kind, &request.subresource) {
        // The handler takes and gives the version that it was declared for.
        if let Some(of_handler) = backend.api.registry.find(declared.group, declared.version, declared.plural) {
            request.resource = of_handler;
        }
        request.subresource = "".into();
        return Box::pin(serve_subresource(exchange, request, handler, verb, body)).await;
    }
    if bind::is_of(&served.kind, &request.subresource) {
        let offer = Offer { protobuf: true, stream: false, shapeless: false };
        return Box::pin(binding::create(Call::new(exchange, request, served.kind.clone(), offer)?, body)).await;
    }
    let is_of_objects = matches!(operation.answer, Answer::Own);
    if !is_of_objects && served.kind.version.subresources.iter().any(|own| own.subresource == request.subresource) {
        return Box::pin(unhandled(exchange, request)).await;
    }
    let protobuf = served.kind.message().is_some() || matches!(operation.answer, Answer::Scale);
    let offer = Offer { protobuf, stream: verb == Verb::Watch, shapeless: false };
    let watch_name = if verb == Verb::Watch { std::mem::take(&mut request.name) } else { String::new() };
    let call = Call::new(exchange, request, served.kind.clone(), offer)?;
    // All verbs except the most frequent one are boxed, to keep the state of a simple get small.
    match verb {
        Verb::Get => call.get().await,
        Verb::List => Box::pin(call.list()).await,
        Verb::Watch => Box::pin(call.watch(path.watch, watch_name)).await,
        Verb::Create if !call.kind.shared.stored => Box::pin(documents::ask(call, body)).await,
        Verb::Create => Box::pin(call.create(body)).await,
        Verb::Update => Box::pin(call.update(body)).await,
        Verb::Patch => Box::pin(call.patch(body)).await,
        Verb::Delete => Box::pin(call.delete(body)).await,
        Verb::DeleteCollection => Box::pin(call.delete_collection(body)).await,
    }
}

/// Refuses a subresource that only documents describe. Like in kube-apiserver, a missing object is what is said first.
async fn unhandled(exchange: &Exchange, request: Request) -> Result<Response, StatusError> {
    let what = format!("{} of {}", request.subresource, request.resource.kind.group_resource());
    exchange.backend().api.get(&Request { subresource: "".into(), ..request }, &GetOptions::default()).await?;
    Err(status::no_handler(&what).into())
}

/// Serves a subresource of the requested parent that a handler carries out.
async fn serve_subresource(
    exchange: &Exchange,
    parent: Request,
    subresource: &SubresourceHandler,
    verb: Verb,
    body: Body,
) -> Result<Response, StatusError> {
    let kinds = subresource.kinds(verb).ok_or_else(status::method_not_allowed)?;
    let connection = |parent| Connection { exchange, parent, subresource };
    let documents = match &subresource.handler {
        Handler::Text(handler) => return connection(parent).text(handler).await,
        Handler::Exec(handler) => return connection(parent).exec(handler).await,
        Handler::Forward(handler) => return connection(parent).forward(handler).await,
        Handler::Documents(documents) => documents,
    };
    let protobuf = kinds.answer.as_ref().is_none_or(|kind| kind.message().is_some());
    let offer = Offer { protobuf, stream: false, shapeless: false };
    let of = |kind: &Option<Arc<Kind>>| kind.as_ref().unwrap_or(&parent.resource.kind).clone();
    let (body_kind, kind) = (of(&kinds.body), of(&kinds.answer));
    let request =
        DocumentRequest { call: Call::new(exchange, parent, kind, offer)?, subresource, documents, body_kind };
    match verb {
        Verb::Get => request.get().await,
        Verb::Patch => request.patch(body).await,
        _ => request.take(verb, body).await,
    }
}

/// The answer if no kind is served: a Status below an existing group and version, and in groups of kinds that are compiled in,
/// whatever their version; otherwise a plain page.
fn missing(exchange: &Exchange, path: &ResourcePath) -> Result<Response, StatusError> {
    if methods::lists_custom_kinds(path, exchange.info.verb) {
        return Ok(response::json(StatusCode::OK, NO_CUSTOM_KINDS));
    }
    let (kinds, _) = exchange.backend().api.registry.all();
    let known = kinds.iter().any(|served| {
        let at = &served.kind.group_version;
        at.group == path.group && (at.version == path.version || served.kind.policy().has_routes())
    });
    if known { Err(status::no_such_resource().into()) } else { Ok(response::page_not_found()) }
}
