//! Handles a request from its first byte to its answer: authenticates, authorizes, and serves what its path names. One
//! handler serves all paths, because kinds may be added while the server runs.

use std::{
    future::poll_fn,
    pin::pin,
    sync::Arc,
    task::Poll,
    time::{Duration, Instant},
};

use axum_core::{body::Body, extract::Request, response::Response};
use http::{
    HeaderMap, Method, StatusCode,
    header::{ACCEPT, ALLOW, HeaderName, USER_AGENT},
    request::Parts,
};

use super::{
    Backend, Site, access, compress, discovery, guard,
    inflight::{self, Slot},
    methods,
    metrics::{self, Measure},
    negotiate::{self, Offer, ResponseFormat},
    openapi,
    request_info::RequestInfo,
    resource, response, status,
    status::StatusError,
    unread, warnings, websocket,
};
use crate::meta::Status;
use crate::{auth::User, builtin::appears, kind::Policy, meta::duration};

/// An authenticated and authorized request. Boxed, because futures copy their arguments.
pub(super) struct Exchange {
    pub user: Arc<User>,
    /// Method, URI and headers. The meaning of the request is in `info`; do not parse the URI again.
    pub parts: Parts,
    /// The meaning of the request.
    pub info: Arc<RequestInfo>,
    /// True if the answer should be indented for a person.
    pub pretty: bool,
    /// When the request is answered with 504; `None` for a long-running one.
    pub deadline: Option<Instant>,
}

impl Exchange {
    /// A header as text.
    pub(super) fn header(&self, name: &HeaderName) -> Option<&str> {
        text(&self.parts.headers, name)
    }

    /// The `Accept` header.
    pub(super) fn accept(&self) -> Option<&str> {
        self.header(&ACCEPT)
    }

    /// The form of the answer: what the client accepts of an offer. Fails with 406, in the words of the policy.
    pub(super) fn negotiate(&self, offer: Offer, policy: &dyn Policy) -> Result<ResponseFormat, StatusError> {
        match negotiate::objects(self.accept(), offer) {
            Ok(format) => Ok(ResponseFormat { pretty: format.pretty | self.pretty, ..format }),
            Err(why) => Err(status::not_acceptable(why, offer, policy).into()),
        }
    }
}

fn text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// Answers a request, and ensures that the answer arrives.
pub(super) async fn receive(site: Arc<Site>, request: Request) -> Response {
    let (request, unread) = unread::recoverable(request);
    let mut slot = None;
    let is_head = request.method() == Method::HEAD;
    let mut measure = Measure::begin(site, request.method());
    let mut answer = {
        let mut handler = pin!(handle(&measure.site, request, &mut slot, &mut measure.info));
        poll_fn(|cx| guard::poll(handler.as_mut(), cx)).await
    };
    measure.answered(answer.status());
    if let Some(unread) = unread {
        if answer.status().is_client_error() || answer.status().is_server_error() {
            // The rest depends on the client, which must not occupy a slot meanwhile.
            slot = None;
        }
        // Boxed to keep the state of a request without a body small.
        answer = Box::pin(measure.site.drain.before(answer, unread)).await;
    }
    if is_head { response::head(answer) } else { inflight::with_slot(answer, slot, measure) }
}

/// Answers a request. The caller keeps its slot, and notes the requested operation.
pub(super) async fn handle(
    site: &Site,
    request: Request,
    slot: &mut Option<Arc<Slot>>,
    recorded: &mut Option<Arc<RequestInfo>>,
) -> Response {
    let (method, uri, start) = (request.method().clone(), request.uri().clone(), Instant::now());
    let audit_id = response::audit_id(request.headers().get(response::AUDIT_ID));
    let mut answer = answer(site, request, slot, recorded).await;
    let (status, audit) = (answer.status(), audit_id.to_str().unwrap_or_default());
    let path = uri.path_and_query().map_or("", |path| path.as_str());
    tracing::debug!(%method, path, status = status.as_u16(), latency = ?start.elapsed(), audit_id = audit, "request");
    if status.is_server_error() {
        // Without the query, which may have what only debug logs should show, such as the command of an exec.
        let (path, latency) = (uri.path(), start.elapsed());
        tracing::warn!(%method, path, status = status.as_u16(), ?latency, audit_id = audit, "a request failed");
    }
    answer.headers_mut().insert(response::AUDIT_ID, audit_id);
    answer
}

async fn answer(
    site: &Site,
    request: Request,
    slot: &mut Option<Arc<Slot>>,
    recorded: &mut Option<Arc<RequestInfo>>,
) -> Response {
    let (parts, body) = request.into_parts();
    let accept = parts.headers.get(ACCEPT).cloned();
    let gzip = compress::is_wanted(&parts.headers);
    let info = RequestInfo::read(&parts, &site.backend.api.registry).map(Arc::new);
    *recorded = info.as_ref().ok().cloned();
    let parameter = info.as_ref().ok().and_then(|info| info.pretty);
    let pretty = negotiate::pretty(parameter, text(&parts.headers, &USER_AGENT));
    let mut deprecated = None;
    let served = match &info {
        Ok(info) => in_time(site, parts, body, info.clone(), pretty, slot, &mut deprecated).await,
        Err(error) => Err(error.clone()),
    };
    let mut answer = match served {
        Ok(answer) if gzip => compress::gzip(answer),
        Ok(answer) => answer,
        Err(StatusError(status)) => {
            let accept = accept.as_ref().and_then(|value| value.to_str().ok());
            let mut answer = response::status(&status, negotiate::plain(accept, pretty));
            if let (StatusCode::METHOD_NOT_ALLOWED, Ok(info)) = (answer.status(), &info) {
                answer.headers_mut().insert(ALLOW, methods::allow(info));
            }
            answer
        }
    };
    if let Ok(info) = &info {
        warnings::warn(answer.headers_mut(), &info.warnings.take());
    }
    if let Some(text) = deprecated {
        warnings::warn_first(answer.headers_mut(), &text);
    }
    answer
}

/// Serves a request within its time limit. After a 504, its writes may have happened.
async fn in_time(
    site: &Site,
    mut parts: Parts,
    body: Body,
    info: Arc<RequestInfo>,
    pretty: bool,
    slot: &mut Option<Arc<Slot>>,
    deprecated: &mut Option<Arc<str>>,
) -> Result<Response, StatusError> {
    *slot = site.in_flight.enter(&info)?;
    if websocket::is_upgrade_request(&parts.headers)
        && let Some(slot) = slot
    {
        // A connection that results from the request shares the slot.
        parts.extensions.insert(slot.clone());
    }
    let limit = time_limit(&site.backend, &info)?;
    let deadline = limit.map(|limit| Instant::now() + limit);
    let mut served = pin!(serve(site, parts, body, info, (pretty, deadline), deprecated));
    // Most requests are answered at once and need no timer.
    if let Poll::Ready(answer) = poll_fn(|cx| Poll::Ready(served.as_mut().poll(cx))).await {
        return answer;
    }
    match limit {
        Some(limit) => tokio::time::timeout(limit, served).await.unwrap_or_else(|_| Err(status::timed_out().into())),
        None => served.await,
    }
}

/// The time limit of a request; `None` for a long-running one. Zero, or more than the server's maximum, means that
/// maximum. Fails with 400 for a `timeout` that is invalid or repeated.
fn time_limit(backend: &Backend, info: &RequestInfo) -> Result<Option<Duration>, StatusError> {
    if methods::is_long_running(info) {
        return Ok(None);
    }
    let limit = Duration::from_secs(backend.limits.request_seconds);
    let given = match info.query.single("timeout")?.unwrap_or_default() {
        "" => Duration::ZERO,
        text => duration::parse(text)
            .map_err(|why| Status::bad_request(format!("invalid timeout specified in the request URL - {why}")))?,
    };
    Ok(Some(if given.is_zero() { limit } else { given.min(limit) }))
}

/// Serves a request. For a deprecated version, any answer gets a warning.
async fn serve(
    site: &Site,
    parts: Parts,
    body: Body,
    info: Arc<RequestInfo>,
    (pretty, deadline): (bool, Option<Instant>),
    deprecated: &mut Option<Arc<str>>,
) -> Result<Response, StatusError> {
    let user = access::authenticate(&site.backend, &parts).await?;
    let user = access::act_as(&site.backend, &info, user, &parts.headers).await?;
    access::authorize(&site.backend, &info, &user).await?;
    let info = if info.is_missing() { Box::pin(appeared(site, &parts, info, &user)).await? } else { info };
    let exchange = Box::new(Exchange { user, parts, info: info.clone(), pretty, deadline });
    let Some(resource) = info.resource.as_ref() else { return Box::pin(other(site, &exchange)).await };
    *deprecated = info.served.as_ref().and_then(|served| served.deprecated.clone());
    if info.method == Method::OPTIONS
        && let Some(answer) = methods::options(&info)
    {
        return Ok(answer);
    }
    resource::serve(site, exchange, resource, body).await
}

/// A request for a resource that is not served. If another server of the store serves it, this waits for its definition, and
/// reads and authorizes the request again.
async fn appeared(
    site: &Site,
    parts: &Parts,
    info: Arc<RequestInfo>,
    user: &User,
) -> Result<Arc<RequestInfo>, StatusError> {
    let (api, Some(path)) = (&site.backend.api, &info.resource) else { return Ok(info) };
    if !appears(api, &path.group, &path.version, &path.resource).await? {
        return Ok(info);
    }
    let info = Arc::new(RequestInfo::read(parts, &api.registry)?);
    access::authorize(&site.backend, &info, user).await?;
    Ok(info)
}

/// True for a path below a group of kinds that are compiled in: kube-apiserver has a router for each of these.
fn is_in_compiled_group(backend: &Backend, path: &str) -> bool {
    let Some(group) = path.strip_prefix("/api/").map(|_| "").or_else(|| path.strip_prefix("/apis/")?.split('/').next())
    else {
        return false;
    };
    let (kinds, _) = backend.api.registry.all();
    kinds.iter().any(|served| served.kind.group_version.group == group && served.kind.policy().has_routes())
}

/// Serves paths that are not below a group and version.
async fn other(site: &Site, exchange: &Exchange) -> Result<Response, StatusError> {
    let (path, query) = (exchange.info.path.as_str(), &exchange.info.query);
    let answer = match site.backend.health.answer(path, query) {
        Some((true, text)) => Some(response::text(StatusCode::OK, text)),
        Some((false, text)) => Some(response::text(StatusCode::INTERNAL_SERVER_ERROR, text)),
        None if path == metrics::PATH => Some(site.backend.metrics.answer().await?),
        None if path.starts_with("/openapi/") => openapi::serve(site, exchange, path).await?,
        None => discovery::serve(site, exchange, path).await?,
    };
    match answer {
        None if is_in_compiled_group(&site.backend, path) => Err(status::no_such_resource().into()),
        None => Ok(response::page_not_found()),
        Some(answer) => match exchange.info.method {
            Method::GET | Method::HEAD => Ok(answer),
            Method::OPTIONS => Ok(methods::options(&exchange.info).unwrap_or(answer)),
            _ => Err(status::method_not_allowed().into()),
        },
    }
}
