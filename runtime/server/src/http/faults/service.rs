//! The layer that lets requests meet faults, outside of all other layers of a server. It also gives them the clock of the test.
use std::{
    convert::Infallible,
    future::ready,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use axum_core::{body::Body, extract::Request, response::Response};
use http::header::ACCEPT_ENCODING;
use tokio::time::sleep;

use super::{effect::Effect, request::FaultyRequest, rule::Rule, rules::Faults, watch::FaultyWatch};
use crate::{
    http::{Service, headers, local},
    kind::endpoint::Verb,
    meta::time::clock::Clock,
};

/// Wraps a service in the faults of a test.
#[derive(Clone, Default)]
pub struct FaultLayer {
    /// The faults.
    pub faults: Faults,
    /// The clock of the requests.
    pub clock: Clock,
}

impl tower_layer::Layer<Service> for FaultLayer {
    type Service = FaultyService;

    fn layer(&self, inner: Service) -> FaultyService {
        FaultyService { inner, layer: self.clone() }
    }
}

/// A service with faults.
#[derive(Clone)]
pub struct FaultyService {
    inner: Service,
    layer: FaultLayer,
}

impl tower_service::Service<Request> for FaultyService {
    type Response = Response;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let FaultLayer { faults, clock } = &self.layer;
        let (faults, mut inner) = (faults.clone(), self.inner.clone());
        let carry_out = move |request| async move {
            tower_service::Service::call(&mut inner, request).await.unwrap_or_else(|never: Infallible| match never {})
        };
        Box::pin(clock.scope(async move { Ok(serve(faults, request, carry_out).await) }))
    }
}

async fn serve<F>(faults: Faults, mut request: Request, carry_out: impl FnOnce(Request) -> F) -> Response
where
    F: Future<Output = Response>,
{
    let seen = FaultyRequest::read(request.method(), request.uri(), request.headers());
    let is_watch = seen.verb == Some(Verb::Watch);
    if is_watch {
        // Compressed events could not be counted.
        request.headers_mut().remove(ACCEPT_ENCODING);
    }
    let answer = match faults.meet(&seen) {
        None => carry_out(request).await,
        Some(rule) => with_fault(&rule, &seen, request, carry_out).await,
    };
    if is_watch && answer.status().is_success() {
        let is_json = headers::media_type(answer.headers()) == "application/json";
        answer.map(|body| Body::new(FaultyWatch::new(body, is_json, faults, seen)))
    } else {
        answer
    }
}

/// Answers a request that has met a fault.
async fn with_fault<F>(
    rule: &Arc<Rule>,
    seen: &FaultyRequest,
    request: Request,
    carry_out: impl FnOnce(Request) -> F,
) -> Response
where
    F: Future<Output = Response>,
{
    let delay = async {
        match rule.effect {
            Effect::Slow(duration) => sleep(duration).await,
            _ => ready(()).await,
        }
    };
    let own = rule.effect.answer(seen);
    if rule.carried_out {
        let answer = carry_out(request).await;
        delay.await;
        own.unwrap_or(answer)
    } else {
        delay.await;
        let Some(own) = own else { return carry_out(request).await };
        // A client that is still sending would see the end of its connection, and not the answer.
        drop(local::whole(request.into_body()).await);
        own
    }
}
