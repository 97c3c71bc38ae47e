//! The bounds of what a server uses, in one place.

use super::ConnectionLimits;
use crate::{cache, http, meta::Revision, storage};

/// The bounds of what a server uses; see [`Builder::limits`](super::Builder::limits).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// Bodies, times, and requests in flight.
    pub requests: http::Limits,
    /// What the cache keeps in memory for watches to resume from, and of objects in other encodings.
    pub cache: cache::Limits,
    /// What the store in the data directory keeps of the past, and how fast it is verified.
    pub store: storage::Options,
    /// How long peers are waited for, and how many of them, on the server's own listener.
    pub connections: ConnectionLimits,
}

/// Where the revisions of a new store begin: past the numbers that counts, ports and sizes in objects and messages have,
/// so that people and tools that compare answers tell a resourceVersion from them.
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
