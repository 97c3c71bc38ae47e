//! One request from its first byte to its answer: authenticate, authorize, then serve what its path names.
//! One handler serves all paths, since kinds may come while the server runs.

use std::{sync::Arc, time::Instant};

use axum::{
    extract::Request,
    http::{
        HeaderMap, Method, StatusCode,
        header::{ACCEPT, HeaderName, USER_AGENT},
        request::Parts,
    },
    response::Response,
};

use super::{
    Site,
    access::{self, Asked},
    compress, discovery, guard,
    inflight::{self, Slot},
    negotiate, openapi,
    path::{self, Target},
    resource, response, status,
    status::Refused,
    unread, websocket,
};
use crate::auth::User;

/// A request that may go on: who asks, and what was read of it so far. Handed on in a box, since futures copy what they
/// are handed.
pub struct Exchange {
    /// Who asks.
    pub user: Arc<User>,
    /// Method, URI and headers.
    pub parts: Parts,
    /// The query's pairs.
    pub query: Vec<(String, String)>,
    /// The answer is for a person to read.
    pub pretty: bool,
}

impl Exchange {
    /// A header as text.
    pub fn header(&self, name: &HeaderName) -> Option<&str> {
        text(&self.parts.headers, name)
    }

    /// What the client accepts.
    pub fn accept(&self) -> Option<&str> {
        self.header(&ACCEPT)
    }

    /// The query as it was sent.
    pub fn raw_query(&self) -> &str {
        self.parts.uri.query().unwrap_or_default()
    }
}

fn text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// Answers a request, and makes sure that the answer arrives.
pub async fn receive(site: Arc<Site>, request: Request) -> Response {
    let (request, unread) = unread::lend(request);
    let mut slot = None;
    let mut answer = guard::run(handle(&site, request, &mut slot)).await;
    if let Some(unread) = unread {
        if answer.status().is_client_error() || answer.status().is_server_error() {
            // What is left to do waits for the client, which must not keep others out.
            slot = None;
        }
        answer = site.drain.before(answer, unread).await;
    }
    inflight::hold(answer, slot)
}

/// Answers a request. The slot that it was given stays with the caller.
pub async fn handle(site: &Site, request: Request, slot: &mut Option<Slot>) -> Response {
    let logged = tracing::enabled!(tracing::Level::DEBUG).then(|| {
        let path = request.uri().path_and_query().map(ToString::to_string).unwrap_or_default();
        (request.method().clone(), path, Instant::now())
    });
    let audit_id = response::audit_id(request.headers().get(response::AUDIT_ID));
    let mut answer = answer(site, request, slot).await;
    if let Some((method, path, start)) = logged {
        let (status, latency) = (answer.status().as_u16(), start.elapsed());
        tracing::debug!(%method, path, status, ?latency, audit_id = audit_id.to_str().unwrap_or_default(), "request");
    }
    if answer.status().is_server_error() {
        tracing::warn!(status = answer.status().as_u16(), ?audit_id, "a request failed");
    }
    answer.headers_mut().insert(response::AUDIT_ID, audit_id);
    answer
}

async fn answer(site: &Site, request: Request, slot: &mut Option<Slot>) -> Response {
    let pretty = negotiate::pretty(request.uri().query(), text(request.headers(), &USER_AGENT));
    let accept = request.headers().get(ACCEPT).cloned();
    let gzip = compress::is_wanted(request.headers());
    match serve(site, request, pretty, slot).await {
        Ok(answer) if gzip => compress::gzip(answer),
        Ok(answer) => answer,
        Err(Refused(status)) => {
            let accept = accept.as_ref().and_then(|value| value.to_str().ok());
            response::status(&status, negotiate::plain(accept, pretty))
        }
    }
}

async fn serve(site: &Site, request: Request, pretty: bool, slot: &mut Option<Slot>) -> Result<Response, Refused> {
    let (mut parts, body) = request.into_parts();
    let target = path::parse(parts.uri.path());
    if target == Target::Malformed {
        return Ok(response::text(StatusCode::BAD_REQUEST, "400 bad request: the path cannot be decoded\n"));
    }
    let query = parts.uri.query().map(path::query).unwrap_or_default();
    *slot = site.in_flight.enter(&site.app, &parts, &target, &query)?;
    if let Some(slot) = slot
        && websocket::is_asked(&parts.headers)
    {
        // The connection that comes of the request takes it along.
        parts.extensions.insert(slot.clone());
    }
    let user = access::authenticate(&site.app, &parts).await?;
    let asked = Asked::new(&parts.method, parts.uri.path(), &target, &query);
    let user = asked.act_as(&site.app, user, &parts.headers).await?;
    asked.authorize(&site.app, &user).await?;
    let exchange = Box::new(Exchange { user, parts, query, pretty });
    match target {
        Target::Resource(resource) => resource::serve(site, exchange, resource, body).await,
        Target::Other(path) => other(site, &exchange, &path),
        Target::Malformed => Ok(response::page_not_found()),
    }
}

/// Serves what is not below a group and version.
fn other(site: &Site, exchange: &Exchange, path: &str) -> Result<Response, Refused> {
    let get = matches!(exchange.parts.method, Method::GET | Method::HEAD);
    if let Some((well, text)) = site.app.health.answer(path, exchange.raw_query()) {
        let code = if well { StatusCode::OK } else { StatusCode::INTERNAL_SERVER_ERROR };
        return Ok(response::text(code, text));
    }
    let answer = match path {
        _ if path.starts_with("/openapi/") => openapi::serve(site, exchange, path),
        _ => discovery::serve(site, exchange, path)?,
    };
    match answer {
        Some(_) if !get => Err(status::method_not_allowed().into()),
        Some(answer) => Ok(answer),
        None => Ok(response::page_not_found()),
    }
}
