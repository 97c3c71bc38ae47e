//! What a controller gets: clients in its name, and its failures.

use std::{
    fmt::Display,
    sync::Arc,
    time::{Duration, Instant},
};

#[cfg(feature = "kube")]
use crate::kube::InProcess;
use crate::{
    handlers::Client,
    http::{FaultLayer, Service},
    metrics::ControllerState,
    verbs::Verbs,
};

/// The server that controllers run in.
#[derive(Clone)]
pub(in crate::server) struct Host {
    pub(super) api: Arc<Verbs>,
    #[cfg(feature = "kube")]
    service: Service,
    /// The service of kube-rs's clients.
    #[cfg(feature = "kube")]
    pub(in crate::server) in_process: InProcess,
}

impl Host {
    #[cfg_attr(
        not(feature = "kube"),
        expect(
            unused_variables,
            clippy::needless_pass_by_value,
            reason = "kube-rs's clients send requests to the service"
        )
    )]
    pub(in crate::server) fn new(api: &Arc<Verbs>, service: &Service, faults: Option<FaultLayer>) -> Self {
        Self {
            api: api.clone(),
            #[cfg(feature = "kube")]
            service: service.clone(),
            #[cfg(feature = "kube")]
            in_process: InProcess::with_faults(faults),
        }
    }
}

/// What a controller gets from the server: clients in its name, and a place to report failures. Clones share everything.
#[derive(Clone)]
pub struct ControllerContext {
    pub(super) host: Host,
    failures: Failures,
}

impl ControllerContext {
    pub(super) fn new(host: &Host, state: &Arc<ControllerState>) -> Self {
        Self { host: host.clone(), failures: Failures(state.clone()) }
    }

    /// The name of the controller.
    pub fn name(&self) -> &str {
        self.failures.0.name()
    }

    /// A typed client inside the process, which acts as the server itself. The controller's name is its field manager.
    pub fn client(&self) -> Client {
        Client::new(self.host.api.clone(), self.name())
    }

    /// A kube-rs client of the server without a connection, which acts as the server itself: kube's `Api`, `watcher` and
    /// `Controller` run over it unchanged. The controller's name is its user agent, and therefore the field manager of its
    /// writes that name none.
    ///
    /// # Panics
    /// If there is no Tokio runtime.
    #[cfg(feature = "kube")]
    pub fn kube_client(&self) -> ::kube::Client {
        self.host.in_process.named_client(&self.host.service, self.name())
    }

    /// The failures of single objects.
    pub fn failures(&self) -> &Failures {
        &self.failures
    }
}

/// The failures of a controller to reconcile single objects: counts them, and says when to try each object again. Clones
/// share everything.
///
/// The delay of an object is 200 ms after its first failure, and doubles with each further one up to 5 minutes, until the
/// object succeeds. A failure is logged, counted at `/metrics`, and shown by `/readyz?verbose`. Memory is bounded: an object
/// that is not tried again is forgotten, and if 10,000 objects are failing, further ones wait for 5 minutes.
///
#[doc = include_str!("../docs/failures.md")]
#[derive(Clone)]
pub struct Failures(Arc<ControllerState>);

impl Failures {
    /// The failures of a controller that runs outside of a server. They are logged under this name.
    pub fn new(controller: impl Into<String>) -> Self {
        Self(Arc::new(ControllerState::new(controller.into())))
    }

    /// Notes that an object was not reconciled. Returns the delay after which it should be tried again.
    ///
    /// The object is known by its text, such as that of kube's `ObjectRef`.
    pub fn failed(&self, object: impl Display, error: impl Display) -> Duration {
        let (object, error) = (object.to_string(), error.to_string());
        let delay = self.0.failed(object.clone(), &error, Instant::now());
        tracing::warn!(controller = self.0.name(), object, error, again_in = ?delay, "an object was not reconciled");
        delay
    }

    /// Notes that an object was reconciled: the delay after its next failure is the first one.
    pub fn succeeded(&self, object: impl Display) {
        self.0.succeeded(&object.to_string());
    }
}
