//! What a user of the store may set.

use std::time::Duration;

use crate::{budget, meta::Revision};

/// Limits of history and memory.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// How long changes can be read back.
    pub history_age: Duration,
    /// The maximum space of replaced and deleted values in the file, in bytes. The oldest are removed first. The file is
    /// sparse and up to twice as long as the space of newest values and history: the engine doubles its length.
    pub history_bytes: u64,
    /// The maximum size of the commits that wait or are being written, in bytes. Further ones wait for room, and are refused
    /// if no room is free within ten seconds.
    pub queue_bytes: usize,
    /// The size of the engine's page cache. Small by default: the cache layer holds newest values, and the system
    /// caches files.
    pub cache_bytes: usize,
    /// The revision before the first one of a new store. Ignored for an existing store.
    pub origin: Revision,
    /// The rate at which stored rows are verified in the background; zero disables verification.
    pub scrub_bytes_per_second: u64,
    /// The pause between two rounds of background verification.
    pub scrub_pause: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            history_age: Duration::from_mins(5),
            history_bytes: 256 << 20,
            queue_bytes: budget::BYTES,
            cache_bytes: 4 << 20,
            origin: Revision(0),
            scrub_bytes_per_second: 4 << 20,
            scrub_pause: Duration::from_mins(10),
        }
    }
}
