//! Limits of requests.

use std::{sync::Arc, time::Duration};

use arc_swap::{ArcSwap, Guard};

use super::unread::DrainLimits;

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

impl Limits {
    /// The maximum size of a request's body in bytes, and the time for it to arrive.
    pub(super) fn body(&self) -> (usize, Duration) {
        (self.body_bytes, Duration::from_secs(self.body_seconds))
    }
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

/// The limits that count now. Clones share them.
#[derive(Clone)]
pub struct CurrentLimits(Arc<ArcSwap<Limits>>);

impl CurrentLimits {
    /// These limits, until others are set.
    pub fn new(limits: Limits) -> Self {
        Self(Arc::new(ArcSwap::from_pointee(limits)))
    }

    /// The limits.
    pub(super) fn get(&self) -> Guard<Arc<Limits>> {
        self.0.load()
    }

    /// Sets other limits, for requests from now on.
    #[cfg(feature = "settings")]
    pub(super) fn set(&self, limits: Limits) {
        self.0.store(Arc::new(limits));
    }
}
