//! A resource being added to the cache: loaded from the store, then kept up to date until it is served.

use std::{
    sync::{Arc, MutexGuard},
    task::Waker,
};

use super::{Cache, lock::lock, preload::ScanCollector, resource::Resource, state::State};
use crate::storage::ReadError;

/// With at most this many queued deliveries left, writers may wait for the load to finish.
const FEW_QUEUED: usize = 32;
/// The maximum number of catch-up rounds before writers must wait. Rendering is faster than committing, so a few rounds
/// suffice.
const CATCH_UP_ROUNDS: usize = 64;

/// A resource that is loaded and not served yet. Dropping this discards it.
pub struct PendingResource<'c> {
    pub(super) cache: &'c Cache,
    pub(super) resource: Arc<Resource>,
    pub(super) state: State,
    pub(super) served: bool,
    /// Only one resource is loaded at a time.
    #[expect(dead_code, reason = "it is held")]
    pub(super) one_at_a_time: MutexGuard<'c, ()>,
}

impl PendingResource<'_> {
    /// The resource. It has no state before it is served; build only its future users from it.
    pub fn resource(&self) -> &Arc<Resource> {
        &self.resource
    }

    /// Reads the objects. Must not run under the feeder's lock, for which the store's writer may be waiting.
    pub(super) fn fill(&mut self) -> Result<(), ReadError> {
        let (replica, store) = (&self.resource.replica, &self.cache.shared.store);
        // Changes from here on are queued for this resource.
        let loaded = store.head();
        let known = lock(&self.cache.preloaded).take(&replica.keyspace, loaded);
        let (tree, loaded) = if let Some(tree) = known {
            (tree, loaded)
        } else {
            let collector = ScanCollector::new(replica.keyspace.clone());
            let loaded = store.scan(&[&replica.keyspace.prefix], &|piece| collector.take(piece))?;
            (collector.finish(), loaded)
        };
        lock(&replica.feed).begin(tree.clone(), loaded);
        self.state = State { id: replica.slot.id, tree, last: loaded };
        Ok(())
    }

    /// Serves the resource. It replaces the one served under its prefix, whose watches end after the changes committed
    /// so far. A watch of the new resource resumes from there or from any older revision.
    ///
    /// `swap` runs when the state is published and before the next change is. A reader that finds the resource in the
    /// caller's table therefore always finds the one that receives changes. `swap` must be quick, because writers wait
    /// for it.
    pub fn serve(mut self, swap: impl FnOnce()) -> Arc<Resource> {
        let (feeder, replica) = (&self.cache.feeder, &self.resource.replica);
        // Changes committed meanwhile are rendered here, too, so that writers wait only for the last few.
        for _ in 0..CATCH_UP_ROUNDS {
            let deliveries = lock(feeder).take_queued(replica);
            replica.take_in(&mut self.state, &deliveries);
            if deliveries.len() <= FEW_QUEUED {
                break;
            }
        }
        let wakers = lock(feeder).serve(replica, std::mem::take(&mut self.state), swap);
        self.served = true;
        wakers.into_iter().for_each(Waker::wake);
        Arc::clone(&self.resource)
    }
}

impl Drop for PendingResource<'_> {
    fn drop(&mut self) {
        if !self.served {
            lock(&self.cache.feeder).give_up(&self.resource.replica);
        }
    }
}
