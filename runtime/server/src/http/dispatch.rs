//! The way of a request from its first byte to its answer. One way serves all paths, because kinds may be added while the
//! server runs. Its steps, in their order:
//!
//! 1. [`receive`] takes the request, and the rest of a body that nothing reads.
//! 2. [`Exchange::serve`] reads what it asks for, finds the resource, takes a slot, and sets the time limit.
//! 3. [`Exchange::serve_in_time`] authenticates and authorizes, and waits for a definition that another server has made.
//! 4. [`resource::serve`] finds the operation, which reads the body, calls the verb or the user's handler, and answers.
//! 5. [`Exchange::finish`] adds what all answers have, and logs; [`inflight::with_slot`] keeps the slot until the answer was
//!    sent, and the measure counts.

use std::{
    pin::pin,
    sync::Arc,
    time::{Duration, Instant},
};

use axum_core::{body::Body, extract::Request, response::Response};
use http::{Method, StatusCode};

use super::{
    Backend, Site, access, deadline, discovery,
    exchange::Exchange,
    guard, health, inflight, methods, metrics,
    negotiate::ResponseFormat,
    openapi, proxy,
    request_info::RequestInfo,
    resource, response,
    status::{self, StatusError},
    unread,
};
use crate::{auth::User, builtin::appears};

/// Answers a request, counts it, and ensures that the answer arrives.
pub(super) async fn receive(site: Arc<Site>, request: Request) -> Response {
    let (request, unread) = unread::recoverable(request);
    let (parts, body) = request.into_parts();
    // Boxed, because futures copy their arguments.
    let mut exchange = Box::new(Exchange::new(site, parts));
    let served = guard::caught(pin!(exchange.serve(body))).await;
    let answer = guard::attempt(|| exchange.finish(served));
    let mut answer = answer.unwrap_or_else(|| response::status(&guard::failed(), ResponseFormat::default()));
    exchange.measure.answered(answer.status());
    if let Some(unread) = unread {
        if answer.status().is_client_error() || answer.status().is_server_error() {
            // The rest depends on the client, which must not occupy a slot meanwhile.
            exchange.slot = None;
        }
        // Boxed to keep the state of a request without a body small.
        answer = Box::pin(exchange.site.drain.before(answer, unread)).await;
    }
    if exchange.parts.method == Method::HEAD {
        return response::head(answer);
    }
    let Exchange { slot, measure, .. } = *exchange;
    inflight::with_slot(answer, slot, measure)
}

impl Exchange {
    /// Serves a request: reads it, takes a slot, and answers within its time limit.
    async fn serve(&mut self, body: Body) -> Result<Response, StatusError> {
        self.read()?;
        let limit = self.enter()?;
        deadline::within(limit, pin!(self.serve_in_time(body))).await
    }

    async fn serve_in_time(&mut self, body: Body) -> Result<Response, StatusError> {
        let sender = access::authenticate(self).await?;
        access::drop_proxy_headers(&mut self.parts.headers);
        let user = access::impersonate(self, sender).await?;
        access::authorize(self, &user).await?;
        if let Some(entry) = &self.info.remote {
            return Box::pin(proxy::serve(self, entry, &user, body)).await;
        }
        if self.info.is_missing() {
            Box::pin(self.wait_for_definition(&user)).await?;
        }
        let Some(path) = &self.info.resource else { return Box::pin(other(self, &user)).await };
        self.deprecated = self.info.served.as_ref().and_then(|served| served.deprecated.clone());
        if self.info.method == Method::OPTIONS
            && let Some(answer) = methods::options(&self.info)
        {
            return Ok(answer);
        }
        resource::serve(self, path, user, body).await
    }

    /// Reads the meaning of the request, and finds its resource.
    fn read(&mut self) -> Result<(), StatusError> {
        self.info = RequestInfo::read(&self.parts, &self.site.backend.api.registry)?;
        if let Some(aggregation) = &self.site.backend.aggregation {
            self.info.find_remote(aggregation);
        }
        self.measure.count_as(&self.info, &self.site.backend.metrics);
        Ok(())
    }

    /// Takes a slot. Returns the time limit.
    fn enter(&mut self) -> Result<Option<Duration>, StatusError> {
        self.slot = None;
        self.slot = self.site.in_flight.enter(&self.info)?;
        let limit = deadline::time_limit(&self.info, Duration::from_secs(self.backend().limits.get().request_seconds))?;
        self.deadline = limit.map(|limit| self.deadline.unwrap_or_else(|| Instant::now() + limit));
        Ok(limit)
    }

    /// If another server of the store serves the resource, waits for its definition, and reads and authorizes the request again.
    async fn wait_for_definition(&mut self, user: &User) -> Result<(), StatusError> {
        let Some(path) = &self.info.resource else { return Ok(()) };
        if appears(&self.backend().api, &path.group, &path.version, &path.resource).await? {
            self.read()?;
            // It may be a watch or a connection, as is known only now.
            self.enter()?;
            access::authorize(self, user).await?;
        }
        Ok(())
    }
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
async fn other(exchange: &Exchange, user: &User) -> Result<Response, StatusError> {
    let (backend, path) = (exchange.backend(), exchange.info.path.as_str());
    // Everyone may read whether the server is well. Errors name objects, and are for those who may read metrics.
    let details =
        health::is_verbose(path, &exchange.info.query) && access::may_get(exchange, user, metrics::PATH).await;
    let answer = match backend.health.answer(path, &exchange.info.query, details) {
        Some((true, text)) => Some(response::text(StatusCode::OK, text)),
        Some((false, text)) => Some(response::text(StatusCode::INTERNAL_SERVER_ERROR, text)),
        None if path == metrics::PATH => Some(backend.metrics.answer().await?),
        None if path.starts_with("/openapi/") => openapi::serve(exchange, path).await?,
        None => match backend.documents.answer(path, exchange.host()) {
            Some(answer) => Some(answer),
            None => discovery::serve(exchange, path).await?,
        },
    };
    match answer {
        None if is_in_compiled_group(backend, path) => Err(status::no_such_resource().into()),
        None => Ok(response::page_not_found()),
        Some(answer) => match exchange.info.method {
            Method::GET | Method::HEAD => Ok(answer),
            Method::OPTIONS => Ok(methods::options(&exchange.info).unwrap_or(answer)),
            _ => Err(status::method_not_allowed().into()),
        },
    }
}
