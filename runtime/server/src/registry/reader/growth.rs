//! How much defaults add to the stored objects of a kind when they are read under a changed schema. The objects are in memory,
//! and a definition that changes could make each of them many times larger.
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

/// The bytes that defaults may add to the objects of any kind. They may add as many more as the objects have.
const FREE: usize = 128 << 20;

/// The bytes that were read of a kind, and the bytes that defaults have added.
#[derive(Debug, Default)]
pub(super) struct Growth {
    stored: AtomicUsize,
    added: AtomicUsize,
    is_exceeded: AtomicBool,
}

impl Growth {
    /// True once: for the first object that is read without defaults.
    pub(super) fn is_first_without(&self) -> bool {
        !self.is_exceeded.swap(true, Relaxed)
    }

    /// Counts an object with its size in the store and with defaults. Returns false if defaults have added too much: then it is
    /// to be read without them.
    pub(super) fn allows(&self, stored: usize, filled: usize) -> bool {
        let read = self.stored.fetch_add(stored, Relaxed) + stored;
        let added = filled.saturating_sub(stored);
        let is_allowed = self.added.fetch_add(added, Relaxed) + added <= FREE + read;
        if !is_allowed {
            self.added.fetch_sub(added, Relaxed);
        }
        is_allowed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_objects_grow_in_sum_by_a_limit_and_large_ones_by_their_size() {
        let growth = Growth::default();
        let grown = (0..1_000).filter(|_| growth.allows(1_000, 1 << 20)).count();
        assert!((124..=132).contains(&grown), "{grown}");
        assert!((0..1_000).all(|_| growth.allows(1_000, 1_100)), "other objects still get theirs");
        let large = Growth::default();
        assert!((0..1_000).all(|_| large.allows(1 << 20, 2 << 20)));
    }
}
