//! kube-rs's client, without a connection.
use std::{
    convert::Infallible,
    sync::{Arc, OnceLock},
    task::{Context, Poll},
};

use axum_core::{extract::Request, response::Response};
use http::{HeaderValue, header::USER_AGENT};

use crate::{
    auth::{AllowAll, Authenticate, Credentials, Identity, Soon, User},
    http::{Backend, Metrics, Service},
};

/// The user agent of a client without a name. It is also the default field manager of its writes.
const AGENT: HeaderValue = HeaderValue::from_static("kindsmith");

/// The API for the server's own code: every request is the server's, and allowed. What guards the server from its clients,
/// such as the limit on requests in flight, is counted apart from them. Clones share one service, made at first use.
#[derive(Clone, Default)]
pub(crate) struct InProcess(Arc<OnceLock<Service>>);

impl InProcess {
    /// A client that acts as the server itself: it needs no token, and may do everything.
    ///
    /// # Panics
    /// If there is no Tokio runtime.
    pub(crate) fn client(&self, of: &Service) -> ::kube::Client {
        self.with_agent(of, AGENT)
    }

    /// The same with a name as its user agent. A name that no header can have is left out.
    ///
    /// # Panics
    /// If there is no Tokio runtime.
    pub(crate) fn named_client(&self, of: &Service, name: &str) -> ::kube::Client {
        self.with_agent(of, HeaderValue::from_str(name).unwrap_or(AGENT))
    }

    fn with_agent(&self, of: &Service, agent: HeaderValue) -> ::kube::Client {
        let service = self.0.get_or_init(|| trusted(of.backend())).clone();
        ::kube::Client::new(UserAgentService { service, agent }, "default")
    }

    /// Waits until no request of its clients is running.
    pub(crate) async fn idle(&self) {
        if let Some(service) = self.0.get() {
            service.idle().await;
        }
    }
}

/// The service, to which every request names the client's user agent.
#[derive(Clone)]
struct UserAgentService {
    service: Service,
    agent: HeaderValue,
}

impl tower_service::Service<Request<::kube::client::Body>> for UserAgentService {
    type Response = Response;
    type Error = Infallible;
    type Future = <Service as tower_service::Service<Request>>::Future;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        // The service is always ready.
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut request: Request<::kube::client::Body>) -> Self::Future {
        request.headers_mut().entry(USER_AGENT).or_insert_with(|| self.agent.clone());
        self.service.call(request)
    }
}

fn trusted(backend: &Backend) -> Service {
    let Backend { api, handlers, health, version, documents, limits, .. } = backend;
    Service::new(Arc::new(Backend {
        aggregation: backend.aggregation.clone(),
        api: api.clone(),
        handlers: handlers.clone(),
        authenticator: Arc::new(Itself(Arc::new(User::system()))),
        authorizer: Arc::new(AllowAll),
        health: health.clone(),
        version: version.clone(),
        documents: documents.clone(),
        limits: limits.clone(),
        metrics: Metrics::new(api),
    }))
}

/// Every request acts as the server.
struct Itself(Arc<User>);

impl Authenticate for Itself {
    fn authenticate<'a>(&'a self, _: &'a Credentials<'a>) -> Soon<'a, Identity> {
        Soon::now(Ok(Some(self.0.clone())))
    }
}
