//! The server's limits, in one place.

use super::ConnectionLimits;
use crate::{cache, http, meta::Revision, storage};

/// The server's limits; see [`Builder::limits`](super::Builder::limits).
#[derive(Clone, Debug)]
pub struct Limits {
    /// Bodies, times, and concurrent requests.
    pub requests: http::Limits,
    /// The cache's memory: changes from which watches can resume, and objects in other encodings.
    pub cache: cache::Limits,
    /// The history of the store in the data directory, and the rate of its verification.
    pub store: storage::Options,
    /// Timeouts and numbers of clients on the server's own listener.
    pub connections: ConnectionLimits,
}

/// The first revision of a new store: above the typical counts, ports and sizes in objects and messages, so that people
/// and tools that compare answers can distinguish a resourceVersion from them.
const ORIGIN: Revision = Revision(1_000);

impl Default for Limits {
    fn default() -> Self {
        Self {
            requests: http::Limits::default(),
            cache: cache::Limits::default(),
            store: storage::Options { origin: ORIGIN, ..storage::Options::default() },
            connections: ConnectionLimits::default(),
        }
    }
}
