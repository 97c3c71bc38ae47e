//! HTTP. Reads requests, authenticates and authorizes each of them, calls the verbs, and
//! writes their answers: objects and lists as slices of the cache, streams, Tables, discovery, OpenAPI, health.
//! Every request is answered, even after a panic.

use std::sync::Arc;

use crate::{
    auth::{Authenticate, Authorize, impersonate::LastWays},
    handlers::Handlers,
    verbs,
};

mod access;
mod binding;
mod body;
mod cached;
mod call;
mod channels;
mod compress;
mod connect;
mod deadline;
mod discovery;
mod dispatch;
mod documents;
mod documents_at;
mod exchange;
mod faults;
mod forward;
mod frames;
mod guard;
mod headers;
mod health;
mod heavy;
mod inflight;
mod limits;
mod list;
mod list_encoder;
mod local;
mod methods;
mod metrics;
mod negotiate;
mod object;
mod offload;
mod openapi;
mod operations;
mod partial;
mod path;
mod pieces;
mod prefix;
mod pretty;
mod proxy;
mod render;
mod rendered_document;
mod request_info;
mod resource;
mod response;
#[cfg(test)]
mod sample;
mod service;
mod session;
mod status;
mod stream;
mod table;
mod target;
mod unread;
mod version;
mod warnings;
mod watch;
mod websocket;

pub use crate::aggregation::Aggregation;
pub(crate) use deadline::EndsAt;
pub use documents_at::DocumentsAt;
pub use faults::{ConnectionReset, Fault, FaultBuilder, FaultLayer, Faults};
pub use health::Health;
pub use limits::{CurrentLimits, Limits};
pub use local::{Answer, Caller, call};
pub use metrics::Metrics;
pub(crate) use prefix::PathPrefix;
pub use service::Service;
pub use version::VersionInfo;

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
    /// Documents at further paths.
    pub documents: DocumentsAt,
    /// The servers behind this one, if requests go on to any.
    pub aggregation: Option<Arc<Aggregation>>,
    /// The limits of requests.
    pub limits: CurrentLimits,
    /// The metrics.
    pub metrics: Metrics,
}

/// The client's certificate chain in DER, verified against authorities that the server trusts for its clients. The listener that
/// verified it puts it into the extensions of each request.
#[derive(Clone, Debug, Default)]
pub struct PeerCertificates(pub Arc<Vec<Vec<u8>>>);

/// The backend, and the documents that are rendered once for all requests.
struct Site {
    backend: Arc<Backend>,
    in_flight: inflight::InFlight,
    drain: unread::Drain,
    discovery: cached::PerGeneration<discovery::Documents>,
    openapi: cached::PerGeneration<openapi::Documents>,
    impersonations: LastWays,
}

impl Site {
    fn new(backend: Arc<Backend>) -> Self {
        Self {
            in_flight: inflight::InFlight::new(&backend.limits.get(), &backend.metrics.counts().in_flight),
            drain: unread::Drain::new(backend.limits.get().draining.clone()),
            discovery: cached::PerGeneration::default(),
            openapi: cached::PerGeneration::default(),
            impersonations: LastWays::default(),
            backend,
        }
    }
}

#[cfg(test)]
mod tests;
