//! Requests that go on to servers behind: with the user in headers in place of credentials, both bodies as they come, and upgraded
//! connections in both directions. All of it ends with the client's connection.
use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use axum_core::{body::Body, response::Response};
use bytes::Bytes;
use http::{
    HeaderMap, HeaderName, HeaderValue, Request, StatusCode,
    header::{
        AUTHORIZATION, CONNECTION, CONTENT_LENGTH, COOKIE, EXPECT, HOST, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION,
        SEC_WEBSOCKET_PROTOCOL, SET_COOKIE, TE, TRAILER, TRANSFER_ENCODING, UPGRADE,
    },
};
use http_body::{Frame, SizeHint};
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio::time::{Instant, sleep_until, timeout};

use super::{
    exchange::Exchange,
    headers, response,
    status::{self, StatusError},
    websocket,
};
use crate::{
    aggregation::{self, CHECK_WITHIN, Entry, RemoteServer},
    auth::User,
    tasks,
};

/// Headers about one connection, which do not go on.
const HOP_BY_HOP: [HeaderName; 9] = [
    CONNECTION,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    PROXY_AUTHENTICATE,
    PROXY_AUTHORIZATION,
    TE,
    TRAILER,
    TRANSFER_ENCODING,
    UPGRADE,
];

/// Sends a request of a user on to the server behind an APIService, and returns its answer. Errors are text, as in kube-aggregator.
pub(super) async fn serve(
    exchange: &Exchange,
    entry: &Entry,
    user: &User,
    body: Body,
) -> Result<Response, StatusError> {
    let Some(server) = entry.server.as_ref().filter(|_| entry.is_available) else {
        return Ok(refused(StatusCode::SERVICE_UNAVAILABLE, "service unavailable"));
    };
    let upgrade = headers::upgrade_of(&exchange.parts.headers).cloned();
    let mut headers = forwarded(&exchange.parts.headers);
    if let Err(why) = aggregation::identify(&mut headers, user) {
        return Ok(refused(StatusCode::INTERNAL_SERVER_ERROR, &why));
    }
    headers.insert(response::AUDIT_ID, exchange.audit_id().clone());
    if let Some(protocol) = &upgrade {
        headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
        headers.insert(UPGRADE, protocol.clone());
    }
    let mut request = Request::new(body);
    request.method_mut().clone_from(&exchange.parts.method);
    let target = exchange.parts.uri.path_and_query().map_or("/", http::uri::PathAndQuery::as_str);
    *request.uri_mut() = target.parse().expect("the path and the query of a request are a URI");
    *request.headers_mut() = headers;
    let answer = match send(exchange, server, request).await? {
        Ok(answer) => answer,
        Err(why) => {
            exchange.backend().aggregation.iter().for_each(|aggregation| aggregation.report_failure());
            let message = format!("error trying to reach service: {why}");
            return Ok(refused(StatusCode::SERVICE_UNAVAILABLE, &message));
        }
    };
    match upgrade {
        Some(_) if answer.status() == StatusCode::SWITCHING_PROTOCOLS => Ok(upgraded(exchange, answer)),
        _ => Ok(passed_on(exchange, answer)),
    }
}

type RemoteAnswer = http::Response<aggregation::RemoteBody>;

/// Sends a request. Discovery must answer soon, as in kube-aggregator. Fails with 504.
async fn send(
    exchange: &Exchange,
    server: &Arc<RemoteServer>,
    request: Request<Body>,
) -> Result<Result<RemoteAnswer, aggregation::Unreachable>, StatusError> {
    let sending = server.send(request);
    if exchange.info.resource.is_some() {
        return Ok(sending.await);
    }
    timeout(CHECK_WITHIN, sending).await.map_err(|_| status::timed_out().into())
}

/// An error as text.
fn refused(code: StatusCode, message: &str) -> Response {
    let mut answer = response::text(code, format!("{message}\n"));
    answer.headers_mut().insert("x-content-type-options", HeaderValue::from_static("nosniff"));
    answer
}

/// The names that a header lists.
fn tokens(headers: &HeaderMap, name: &HeaderName) -> Vec<HeaderName> {
    let values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).filter_map(|token| token.trim().parse().ok()).collect()
}

/// Removes the headers about one connection.
fn remove_hop_by_hop(headers: &mut HeaderMap) {
    for name in tokens(headers, &CONNECTION).iter().chain(&HOP_BY_HOP) {
        headers.remove(name);
    }
}

/// Removes what is not for the client: headers about one connection, and cookies, which would be those of this server.
fn remove_from_answer(headers: &mut HeaderMap) {
    remove_hop_by_hop(headers);
    headers.remove(SET_COOKIE);
}

/// The headers that go on: without those about the connection, without credentials, and without the wish to be someone else, which
/// was fulfilled.
fn forwarded(headers: &HeaderMap) -> HeaderMap {
    let mut kept = headers.clone();
    remove_hop_by_hop(&mut kept);
    for name in [AUTHORIZATION, COOKIE, HOST, EXPECT, CONTENT_LENGTH] {
        kept.remove(name);
    }
    let impersonates = |name: &&HeaderName| name.as_str().replace('_', "-").starts_with("impersonate-");
    for name in headers.keys().filter(impersonates) {
        kept.remove(name);
    }
    if kept.contains_key(SEC_WEBSOCKET_PROTOCOL) {
        // Browsers send their token there.
        let protocols = websocket::protocols(headers).filter(|protocol| !websocket::is_bearer(protocol));
        let protocols = protocols.collect::<Vec<_>>().join(", ");
        match HeaderValue::from_str(&protocols) {
            Ok(value) if !value.is_empty() => drop(kept.insert(SEC_WEBSOCKET_PROTOCOL, value)),
            _ => drop(kept.remove(SEC_WEBSOCKET_PROTOCOL)),
        }
    }
    kept
}

/// The answer for the client. Watches end when the server stops; other answers end with the request's time.
fn passed_on(exchange: &Exchange, answer: RemoteAnswer) -> Response {
    let ends: Ending = match exchange.deadline {
        Some(deadline) => Box::pin(sleep_until(Instant::from_std(deadline))),
        None => Box::pin(exchange.backend().handlers.open.stopping()),
    };
    let mut answer = answer.map(|body| Body::new(PassedOn { body, ends, is_cut_off: exchange.deadline.is_some() }));
    remove_from_answer(answer.headers_mut());
    answer
}

type Ending = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A body of a server behind.
struct PassedOn {
    body: aggregation::RemoteBody,
    ends: Ending,
    /// True if a body that ends early is an error, because the client must not take it for a whole one.
    is_cut_off: bool,
}

impl http_body::Body for PassedOn {
    type Data = Bytes;
    type Error = axum_core::BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum_core::BoxError>>> {
        // First: a body that always has data ends, too.
        if self.ends.as_mut().poll(cx).is_ready() {
            return Poll::Ready(self.is_cut_off.then(|| Err("the answer did not end in time".into())));
        }
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        Poll::Ready(frame.map(|frame| frame.map_err(Into::into)))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// How long an upgraded connection may take to begin.
const UPGRADED_WITHIN: Duration = Duration::from_secs(30);

/// Connects the client's connection with that of the server behind, until one of them ends or the server stops.
fn upgraded(exchange: &Exchange, mut answer: RemoteAnswer) -> Response {
    let Some(client) = exchange.parts.extensions.get::<OnUpgrade>().cloned() else {
        return refused(StatusCode::BAD_REQUEST, "the connection of the request cannot be upgraded");
    };
    let behind = hyper::upgrade::on(&mut answer);
    let open = &exchange.backend().handlers.open;
    let (stopping, counted) = (open.stopping(), (open.connect(), exchange.slot.clone()));
    tasks::spawn(async move {
        let _counted = counted;
        let both = async { tokio::try_join!(client, behind) };
        let Ok(Ok((client, behind))) = timeout(UPGRADED_WITHIN, both).await else { return };
        let (mut from_client, mut to_client) = tokio::io::split(TokioIo::new(client));
        let (mut from_behind, mut to_behind) = tokio::io::split(TokioIo::new(behind));
        tokio::select! {
            () = stopping => {}
            _ = tokio::io::copy(&mut from_client, &mut to_behind) => {}
            _ = tokio::io::copy(&mut from_behind, &mut to_client) => {}
        }
    });
    let (mut parts, _) = answer.into_parts();
    let protocol = parts.headers.get(UPGRADE).cloned();
    remove_from_answer(&mut parts.headers);
    parts.headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    if let Some(protocol) = protocol {
        parts.headers.insert(UPGRADE, protocol);
    }
    parts.extensions = http::Extensions::new();
    Response::from_parts(parts, Body::empty())
}
