//! Metrics: `/metrics` in Prometheus' text format, under the names and labels that kube-apiserver uses.
//! Owns the counters of whole requests. All other values are read from their owners when the page is requested.

mod admission;
mod controllers;
mod conversion;
mod family;
mod measure;
mod process;
mod requests;
mod state;
mod store;

use std::sync::{Arc, atomic::AtomicUsize};

use axum_core::response::Response;
use http::{HeaderValue, StatusCode};
use prometheus::TextEncoder;

use super::{response, status::StatusError};
use crate::{
    auth::Decision,
    meta::Status,
    metrics::{ControllerState, Counter, Endpoint},
    tasks,
    verbs::Verbs,
};

pub(super) use measure::Measure;

/// The path.
pub(super) const PATH: &str = "/metrics";

/// Version 0.0.4 of the text format, in the order in which Prometheus' own libraries write the parameters.
const TEXT: HeaderValue = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");

/// The counters of a server, and the registry of all metrics on the page.
pub struct Metrics {
    registry: prometheus::Registry,
    counts: Arc<Counts>,
}

/// What is counted of requests whatever they ask for.
#[derive(Default)]
pub struct Counts {
    /// Requests that are served now.
    pub in_flight: InFlight,
    /// How authentication ended.
    pub authentication: Authentication,
    /// How authorization ended.
    pub authorization: Authorization,
    paths: Paths,
}

/// Requests that are served now, by their class.
#[derive(Clone, Default)]
pub struct InFlight {
    /// Short requests that read.
    pub reading: Arc<AtomicUsize>,
    /// Short requests that write.
    pub writing: Arc<AtomicUsize>,
    /// Watches, connections and streamed texts.
    pub long_running: Arc<AtomicUsize>,
    /// Short requests whose objects a webhook may have to convert.
    pub converted: Arc<AtomicUsize>,
}

/// Results of authentication.
#[derive(Default)]
pub struct Authentication {
    /// The user is known, or anonymous.
    pub success: Counter,
    /// The authenticators know nothing of the user.
    pub failure: Counter,
    /// The credentials were refused.
    pub error: Counter,
}

/// Decisions of the authorizer.
#[derive(Default)]
pub struct Authorization {
    /// The user may.
    pub allowed: Counter,
    /// The user may not.
    pub denied: Counter,
    /// No authorizer allowed it, which means that the user may not.
    pub no_opinion: Counter,
}

impl Authorization {
    /// The counter of a decision.
    pub fn of(&self, decision: &Decision) -> &Counter {
        match decision {
            Decision::Allow(_) => &self.allowed,
            Decision::Deny(_) => &self.denied,
            Decision::NoOpinion(_) => &self.no_opinion,
        }
    }
}

/// The requests to paths that are no resource, by the beginning of the path; any further path counts under the empty one.
struct Paths([Arc<Endpoint>; PATHS.len()]);

const PATHS: [&str; 10] =
    ["", "/api", "/apis", "/healthz", "/livez", PATH, "/openapi/v2", "/openapi/v3", "/readyz", "/version"];

impl Default for Paths {
    fn default() -> Self {
        Self(PATHS.map(|path| Arc::new(Endpoint::new("", "", "", path))))
    }
}

impl Paths {
    fn find(&self, path: &str) -> &Arc<Endpoint> {
        let is_under =
            |root: &&str| path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        &self.0[PATHS.iter().rposition(is_under).unwrap_or_default()]
    }

    /// The endpoint that counts requests to unknown paths.
    fn unknown(&self) -> &Arc<Endpoint> {
        &self.0[0]
    }
}

impl Metrics {
    /// The metrics of a server.
    ///
    /// # Panics
    /// Never: the names are distinct.
    pub fn new(api: &Arc<Verbs>) -> Self {
        let (registry, counts) = (prometheus::Registry::new(), Arc::<Counts>::default());
        let collectors = [
            admission::collector(api),
            conversion::collector(api),
            process::collector(),
            requests::collector(api, &counts),
            state::collector(api, &counts),
            store::collector(api),
        ];
        for collector in collectors {
            registry.register(Box::new(collector)).expect("the names of the server's metrics are distinct");
        }
        Self { registry, counts }
    }

    /// Shows controllers, whose names differ.
    ///
    /// # Panics
    /// If it was called before.
    pub(crate) fn show_controllers(&self, controllers: Vec<Arc<ControllerState>>) {
        let collector = controllers::collector(controllers);
        self.registry.register(Box::new(collector)).expect("the names of controllers' metrics are distinct");
    }

    /// The registry of all that `/metrics` shows. Further metrics may be registered; the server's own names are taken.
    pub fn registry(&self) -> &prometheus::Registry {
        &self.registry
    }

    /// What is counted.
    pub fn counts(&self) -> &Arc<Counts> {
        &self.counts
    }

    /// Answers with the metrics. They are gathered on a blocking thread, because users' collectors may take long.
    ///
    /// # Errors
    /// 500 where a collector of the user's gives what has no text form.
    pub async fn answer(&self) -> Result<Response, StatusError> {
        let registry = self.registry.clone();
        let text = tasks::blocking_or_panic(move || TextEncoder::new().encode_to_string(&registry.gather())).await;
        match text {
            Ok(text) => Ok(response::with(StatusCode::OK, TEXT, text.into())),
            Err(error) => {
                tracing::error!(%error, "the metrics have no text form");
                Err(Status::internal("a metric has no text form; the server's log says why").into())
            }
        }
    }
}
