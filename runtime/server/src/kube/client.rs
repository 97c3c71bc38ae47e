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
    http::{Backend, ConnectionReset, FaultLayer, Metrics, Service},
    tasks::BoxFuture,
};

/// The user agent of a client without a name. It is also the default field manager of its writes.
const AGENT: HeaderValue = HeaderValue::from_static("kindsmith");

/// The API for the server's own code: every request is the server's, and allowed. What guards the server from its clients,
/// such as the limit on requests in flight, is counted apart from them. Clones share one service, made at first use.
#[derive(Clone, Default)]
pub(crate) struct InProcess {
    service: Arc<OnceLock<Service>>,
    /// The faults of a test.
    faults: Option<FaultLayer>,
}

impl InProcess {
    /// Clients that meet the faults of a test, if there is one.
    pub(crate) fn with_faults(faults: Option<FaultLayer>) -> Self {
        Self { faults, ..Self::default() }
    }

    /// A client that acts as the user of a request, whom nobody authenticates, with a name as its user agent.
    ///
    /// # Panics
    /// If there is no Tokio runtime.
    pub(crate) fn client_of(service: &Service, user: User, namespace: &str) -> ::kube::Client {
        let agent = HeaderValue::from_str(&user.name).unwrap_or(AGENT);
        ::kube::Client::new(ClientService { service: service.clone(), agent, user: Some(Arc::new(user)) }, namespace)
    }

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
        let create = || {
            let service = trusted(of.backend());
            self.faults.clone().into_iter().fold(service, Service::layer)
        };
        let service = self.service.get_or_init(create).clone();
        ::kube::Client::new(ClientService { service, agent, user: None }, "default")
    }

    /// Waits until no request of its clients is running.
    pub(crate) async fn idle(&self) {
        if let Some(service) = self.service.get() {
            service.idle().await;
        }
    }
}

/// The service, to which every request names the client's user agent, and its user if it is not the service's own.
#[derive(Clone)]
struct ClientService {
    service: Service,
    agent: HeaderValue,
    user: Option<Arc<User>>,
}

impl tower_service::Service<Request<::kube::client::Body>> for ClientService {
    type Response = Response;
    type Error = ConnectionReset;
    type Future = BoxFuture<Result<Response, ConnectionReset>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), ConnectionReset>> {
        // The service is always ready.
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut request: Request<::kube::client::Body>) -> Self::Future {
        request.headers_mut().entry(USER_AGENT).or_insert_with(|| self.agent.clone());
        if let Some(user) = &self.user {
            request.extensions_mut().insert(user.clone());
        }
        let answer = self.service.call(request);
        Box::pin(async move {
            let answer = answer.await.unwrap_or_else(|never: Infallible| match never {});
            match answer.extensions().get::<ConnectionReset>() {
                Some(reset) => Err(reset.clone()),
                None => Ok(answer),
            }
        })
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
