//! Metrics of the commits of a durable store.

use std::{
    fmt,
    sync::atomic::{AtomicUsize, Ordering},
    time::Instant,
};

use crate::counters::{Histogram, nanoseconds};

/// Buckets of a group's size, in commits.
const GROUPS: [u64; 10] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];

/// Buckets of what the disk takes, in nanoseconds: from 0.1 ms, each twice as long as the one before.
const DURATIONS: [u64; 16] = {
    let (mut bounds, mut at) = ([100_000; 16], 1);
    while at < bounds.len() {
        bounds[at] = bounds[at - 1] * 2;
        at += 1;
    }
    bounds
};

/// Metrics of the commits of a store.
pub struct Metrics {
    /// Commits that wait for the writer.
    queued: AtomicUsize,
    /// Commits written together, by group.
    pub groups: Histogram,
    /// Time to write a group and make it durable, in nanoseconds.
    pub commits: Histogram,
    /// Time of a sync of the file, in nanoseconds.
    pub syncs: Histogram,
}

impl Default for Metrics {
    fn default() -> Self {
        Self {
            queued: AtomicUsize::new(0),
            groups: Histogram::new(&GROUPS),
            commits: Histogram::new(&DURATIONS),
            syncs: Histogram::new(&DURATIONS),
        }
    }
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics").field("queued", &self.queued()).finish_non_exhaustive()
    }
}

impl Metrics {
    /// Commits that wait for the writer.
    pub fn queued(&self) -> usize {
        self.queued.load(Ordering::Relaxed)
    }

    /// A commit waits.
    pub(super) fn enqueue(&self) {
        self.queued.fetch_add(1, Ordering::Relaxed);
    }

    /// The writer has taken a group from the queue.
    pub(super) fn take(&self, group: usize) {
        self.queued.fetch_sub(group, Ordering::Relaxed);
        self.groups.observe(group as u64);
    }

    /// Does something, and adds how long it took.
    pub(super) fn time<T>(histogram: &Histogram, act: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let done = act();
        histogram.observe(nanoseconds(start.elapsed()));
        done
    }
}
