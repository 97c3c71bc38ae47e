//! HTTP. Reads requests, authenticates and authorizes each of them, calls the verbs, and
//! writes their answers: objects and lists as slices of the cache, streams, Tables, discovery, OpenAPI, health.
//! Every request is answered, even after a panic, and only `status` creates a Status.

use std::{
    convert::Infallible,
    future::poll_fn,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use axum_core::{
    BoxError,
    body::Body,
    extract::Request,
    response::{IntoResponse, Response},
};
use bytes::Bytes;

use crate::{
    auth::{Authenticate, Authorize},
    handlers::Handlers,
    verbs,
};

mod access;
mod body;
mod cached;
mod channels;
mod compress;
mod connect;
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
mod list_encoder;
mod local;
mod methods;
mod metrics;
mod negotiate;
mod object;
mod offload;
mod openapi;
mod partial;
mod path;
mod pieces;
mod pretty;
mod render;
mod rendered_document;
mod request_info;
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
pub use local::{Answer, Caller, call};
pub use metrics::Metrics;
pub(crate) use unread::DrainLimits;
pub(crate) use watch::EndsAt;

/// Everything behind the HTTP layer: what answers requests, who may send them, and how much of them.
pub struct Backend {
    /// The verbs.
    pub api: Arc<verbs::Verbs>,
    /// Users' handlers of virtual kinds and subresources.
    pub handlers: Arc<Handlers>,
    /// Authenticates requests. A request without an identified user is `system:anonymous` if the authenticator says so,
    /// and otherwise 401.
    pub authenticator: Arc<dyn Authenticate>,
    /// Authorizes requests.
    pub authorizer: Arc<dyn Authorize>,
    /// The answers of `/healthz`, `/livez` and `/readyz`.
    pub health: Health,
    /// The answer of `/version`.
    pub version: VersionInfo,
    /// The limits of requests.
    pub limits: Limits,
    /// The metrics.
    pub metrics: Metrics,
}

/// The client's certificate chain in DER, verified against authorities that the server trusts for its clients. The listener that
/// verified it puts it into the extensions of each request.
#[derive(Clone, Debug, Default)]
pub struct PeerCertificates(pub Arc<Vec<Vec<u8>>>);

/// Limits of requests. Two more are fixed: large bodies, and the large stored objects of running writes, take at most 64 MiB each, also
/// while hooks, plugins or handlers wait. Further ones wait up to ten seconds, and then get 429. Requests about a resource that a
/// webhook converts take 16 MiB of their own instead, and short ones that may wait for the webhook have slots of their own: a quarter
/// as many as all short requests, half of them for one resource.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The maximum size of a request body in bytes.
    pub body_bytes: usize,
    /// The maximum time for a request body to arrive, in seconds.
    pub body_seconds: u64,
    /// The maximum time to answer a request, in seconds; clients may request less. Does not apply to watches and
    /// connections to handlers.
    pub request_seconds: u64,
    /// The minimum duration of a watch without `timeoutSeconds`, in seconds. The maximum is twice as long.
    pub min_watch_seconds: u64,
    /// The maximum number of concurrent short reads; further ones get 429. Health checks are never refused.
    pub reads_in_flight: usize,
    /// The maximum number of concurrent short writes.
    pub writes_in_flight: usize,
    /// The maximum number of open watches, connections and streamed texts.
    pub long_running: usize,
    /// Limits of reading the unread rest of a body before the answer is sent.
    pub draining: DrainLimits,
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
            draining: DrainLimits::default(),
        }
    }
}

/// The answer of `/version`. Clients interpret `major` and `minor` as the version of Kubernetes whose API is served.
#[derive(Clone, Debug)]
pub struct VersionInfo {
    /// Major version of Kubernetes.
    pub major: String,
    /// Minor version of Kubernetes.
    pub minor: String,
    /// The full version, such as `v1.36.0+kindsmith-0.1.0`.
    pub git_version: String,
    /// The platform, such as `linux/amd64`.
    pub platform: String,
}

impl VersionInfo {
    /// Parses a version such as `v1.33.0+library-2.1`, whose numbers are those of Kubernetes. `None` if the text does not
    /// begin with three numbers.
    pub fn parse(version: &str) -> Option<Self> {
        let numbers = version.strip_prefix('v').unwrap_or(version);
        let numbers = numbers.split_once(['-', '+']).map_or(numbers, |(numbers, _)| numbers);
        let mut parts = numbers.split('.');
        let mut number = || parts.next().filter(|part| part.parse::<u32>().is_ok());
        let (major, minor, _) = (number()?.to_owned(), number()?.to_owned(), number()?);
        parts.next().is_none().then(|| Self { major, minor, git_version: version.to_owned(), ..Self::default() })
    }
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

/// The CPU architecture as clients of the API name it.
fn architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}

/// The whole API as a [tower service](tower_service::Service): nest it in an application, wrap it in layers, or call it in a test without a
/// socket. Clones are cheap and share everything.
///
/// It is always ready, and needs no layer around it and no connect info. The server's authenticators identify the user
/// from the request's headers and from [`PeerCertificates`]. A layer that already knows the user puts an
/// `Arc<`[`User`](crate::auth::User)`>` into the request's extensions, and the authenticators are skipped. If the
/// service is nested under a prefix, strip it from the request's path, as axum's `nest_service` does.
#[derive(Clone)]
pub struct Service {
    site: Arc<Site>,
    /// The layers around the site, if it has any, with the site in them.
    layers: Option<Arc<Layers>>,
}

type Layers = dyn Fn(Request) -> ResponseFuture + Send + Sync;
type ResponseFuture = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

impl Service {
    /// Creates the service of a backend.
    #[doc(hidden)]
    pub fn new(backend: Arc<Backend>) -> Self {
        Self { site: Arc::new(Site::new(backend)), layers: None }
    }

    /// Wraps it in another layer, outside of its other layers.
    #[must_use]
    pub fn layer<L, S>(self, layer: L) -> Self
    where
        L: tower_layer::Layer<Self, Service = S>,
        S: tower_service::Service<Request, Response: IntoResponse, Error: Into<Infallible>, Future: Send>,
        S: Clone + Send + Sync + 'static,
    {
        let site = self.site.clone();
        let outer = layer.layer(self);
        let layers = move |request| {
            let mut outer = outer.clone();
            Box::pin(async move {
                poll_fn(|cx| outer.poll_ready(cx)).await.map_err(Into::into)?;
                Ok(outer.call(request).await.map_err(Into::into)?.into_response())
            }) as ResponseFuture
        };
        Self { site, layers: Some(Arc::new(layers)) }
    }

    /// Waits until no request is running: all are answered, and long answers were sent or dropped.
    pub async fn idle(&self) {
        self.site.in_flight.idle().await;
    }

    /// What it serves.
    #[cfg(feature = "kube")]
    pub(crate) fn backend(&self) -> &Backend {
        &self.site.backend
    }
}

impl<B> tower_service::Service<Request<B>> for Service
where
    B: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
{
    type Response = Response;
    type Error = Infallible;
    type Future = ResponseFuture;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let request = request.map(|body| if body.is_end_stream() { Body::empty() } else { Body::new(body) });
        if let Some(layers) = &self.layers {
            return layers(request);
        }
        let site = self.site.clone();
        Box::pin(async move { Ok(dispatch::receive(site, request).await) })
    }
}

/// The backend, and the documents that are rendered once for all requests.
struct Site {
    backend: Arc<Backend>,
    in_flight: inflight::InFlight,
    drain: unread::Drain,
    discovery: cached::PerGeneration<discovery::Documents>,
    openapi: cached::PerGeneration<openapi::Documents>,
}

impl Site {
    fn new(backend: Arc<Backend>) -> Self {
        Self {
            in_flight: inflight::InFlight::new(&backend.limits, &backend.metrics.counts().in_flight),
            drain: unread::Drain::new(backend.limits.draining.clone()),
            discovery: cached::PerGeneration::default(),
            openapi: cached::PerGeneration::default(),
            backend,
        }
    }
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod version_tests {
    use super::VersionInfo;

    #[test]
    fn a_version_begins_with_the_numbers_of_kubernetes() {
        for (text, minor) in [("v1.33.0+library-2.1.7", "33"), ("1.30.2", "30"), ("v1.36.0-rc.1", "36")] {
            let version = VersionInfo::parse(text).expect(text);
            assert_eq!(
                (version.major.as_str(), version.minor.as_str(), version.git_version.as_str()),
                ("1", minor, text)
            );
        }
        for text in ["", "v", "v1", "v1.33", "1.x.0", "v1.33.0.1", "library-2", "v-1.2.3"] {
            assert!(VersionInfo::parse(text).is_none(), "{text}");
        }
    }
}
