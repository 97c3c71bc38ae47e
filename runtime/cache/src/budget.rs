//! The memory of past changes: one budget in bytes for all resources.

use std::sync::atomic::{AtomicUsize, Ordering};

/// The memory that past changes take and may take.
pub(super) struct Budget {
    pub(super) limit_bytes: usize,
    used_bytes: AtomicUsize,
}

impl Budget {
    pub(super) fn new(limit_bytes: usize) -> Self {
        Self { limit_bytes, used_bytes: AtomicUsize::new(0) }
    }

    pub(super) fn used_bytes(&self) -> usize {
        self.used_bytes.load(Ordering::Relaxed)
    }

    pub(super) fn add(&self, bytes: usize) {
        self.used_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(super) fn subtract(&self, bytes: usize) {
        self.used_bytes.fetch_sub(bytes, Ordering::Relaxed);
    }

    pub(super) fn is_exceeded(&self) -> bool {
        self.used_bytes() > self.limit_bytes
    }
}
