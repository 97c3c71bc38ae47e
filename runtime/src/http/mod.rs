//! HTTP: the only layer that names axum. Reads requests, authenticates and authorizes each of them, calls the verbs, and
//! writes what they answer: objects and lists as slices of the cache, streams, Tables, discovery, OpenAPI, health.
//! Guarantees that every request is answered, a panic included.

use std::{
    convert::Infallible,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use axum::{body::Body, extract::Request, response::Response};
use bytes::Bytes;

use crate::{
    auth::{Authenticate, Authorize},
    handlers::Handlers,
    verbs,
};

mod access;
mod asked;
mod body;
mod cached;
mod channels;
mod compress;
mod connect;
mod deadline;
mod discovery;
mod dispatch;
mod forward;
mod frames;
mod guard;
mod handled;
mod health;
mod heavy;
mod inflight;
mod list;
mod listing;
mod local;
mod methods;
mod negotiate;
mod object;
mod offload;
mod openapi;
mod partial;
mod path;
mod pieces;
mod pretty;
mod render;
mod resource;
mod response;
#[cfg(test)]
mod sample;
mod session;
mod status;
mod stream;
mod table;
mod unread;
mod warnings;
mod watch;
mod websocket;

pub use health::Health;
pub use local::{Caller, call};
pub use unread::Draining;
pub use watch::EndsAt;

/// What the HTTP layer serves.
pub struct App {
    /// The verbs.
    pub api: Arc<verbs::Api>,
    /// The user's own code that answers for virtual kinds and for kinds' own subresources.
    pub handlers: Arc<Handlers>,
    /// Who asks. A request of whom it knows nothing is the user `system:anonymous`, where the authenticator says so; 401 otherwise.
    pub authenticator: Arc<dyn Authenticate>,
    /// May they.
    pub authorizer: Arc<dyn Authorize>,
    /// What `/healthz`, `/livez` and `/readyz` say.
    pub health: Health,
    /// What `/version` says.
    pub version: VersionInfo,
    /// What requests may use.
    pub limits: Limits,
}

/// The client's certificate chain in DER, verified against the server's client CAs. A listener that asks for certificates
/// puts it into the extensions of each request.
#[derive(Clone, Debug, Default)]
pub struct PeerCertificates(pub Arc<Vec<Vec<u8>>>);

/// What requests may use.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Largest request body, in bytes.
    pub body_bytes: usize,
    /// Longest time for the body of a request to arrive, in seconds.
    pub body_seconds: u64,
    /// Longest time for a request to be answered, in seconds; clients may ask for less. Watches, and connections to
    /// handlers, last longer.
    pub request_seconds: u64,
    /// Shortest time after which a watch without `timeoutSeconds` ends; the longest is twice as long.
    pub min_watch_seconds: u64,
    /// Short requests that read and are served at a time; further ones are answered with 429. Health is never refused.
    pub reads_in_flight: usize,
    /// Short requests that write and are served at a time.
    pub writes_in_flight: usize,
    /// Watches, connections and streamed texts that are open at a time.
    pub long_running: usize,
    /// What the rest of a body that nobody read may cost before the answer is sent.
    pub draining: Draining,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body_bytes: 3 << 20,
            body_seconds: 60,
            request_seconds: 60,
            min_watch_seconds: 1800,
            reads_in_flight: 400,
            writes_in_flight: 200,
            long_running: 20_000,
            draining: Draining::default(),
        }
    }
}

/// What `/version` says. Clients read `major` and `minor` as the version of Kubernetes whose API they may expect.
#[derive(Clone, Debug)]
pub struct VersionInfo {
    /// Major version of Kubernetes.
    pub major: String,
    /// Minor version of Kubernetes.
    pub minor: String,
    /// The whole version, such as `v1.36.0+kindsmith-0.1.0`.
    pub git_version: String,
    /// The platform, such as `linux/amd64`.
    pub platform: String,
}

impl Default for VersionInfo {
    fn default() -> Self {
        Self {
            major: "1".to_owned(),
            minor: "36".to_owned(),
            git_version: concat!("v1.36.0+kindsmith-", env!("CARGO_PKG_VERSION")).to_owned(),
            platform: format!("{}/{}", std::env::consts::OS, architecture()),
        }
    }
}

/// The processor's name as clients of the API know it.
fn architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}

/// The whole API as a [`tower::Service`]: nest it in an application, wrap it in layers, or call it in a test without a
/// socket. Clones are cheap and share everything.
///
/// It is always ready, needs no layer around it and no connect info. Who asks is decided by the server's authenticators,
/// from the request's headers and from [`PeerCertificates`]; a layer that knows the user by itself puts an
/// `Arc<`[`User`](crate::auth::User)`>` into the request's extensions, and then they are not asked. A prefix that it is nested under must be stripped from the
/// request's path, as axum's `nest_service` does.
#[derive(Clone)]
pub struct Service(Arc<Site>);

impl Service {
    /// Serves an app.
    pub fn new(app: Arc<App>) -> Self {
        Self(Arc::new(Site::new(app)))
    }

    /// Waits until no request is served: all are answered, and what is long of their answers has been sent or dropped.
    pub async fn idle(&self) {
        self.0.in_flight.idle().await;
    }
}

impl<B> tower::Service<Request<B>> for Service
where
    B: http_body::Body<Data = Bytes, Error: Into<axum::BoxError>> + Send + 'static,
{
    type Response = Response;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let request = request.map(|body| if body.is_end_stream() { Body::empty() } else { Body::new(body) });
        let site = self.0.clone();
        Box::pin(async move { Ok(dispatch::receive(site, request).await) })
    }
}

/// The server and the documents that are rendered once for all requests.
struct Site {
    app: Arc<App>,
    in_flight: inflight::InFlight,
    drain: unread::Drain,
    discovery: cached::PerGeneration<discovery::Documents>,
    openapi: cached::PerGeneration<openapi::Documents>,
}

impl Site {
    fn new(app: Arc<App>) -> Self {
        Self {
            in_flight: inflight::InFlight::new(&app.limits),
            drain: unread::Drain::new(app.limits.draining.clone()),
            discovery: cached::PerGeneration::default(),
            openapi: cached::PerGeneration::default(),
            app,
        }
    }
}

#[cfg(test)]
mod tests;
