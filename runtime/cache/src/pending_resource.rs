//! A resource being added to the cache: loaded from the store, then kept up to date until it is served.

use std::{
    sync::{Arc, MutexGuard},
    task::Waker,
};

use super::{Cache, keyspace::Keyspace, lock::lock, preload::ScanCollector, resource::Resource, state::State};
use crate::storage::ReadError;

/// With at most this many queued deliveries left, writers may wait for the load to finish.
const FEW_QUEUED: usize = 32;
/// The maximum number of catch-up rounds before writers must wait. Rendering is faster than committing, so a few rounds
/// suffice.
const CATCH_UP_ROUNDS: usize = 64;

/// A resource that is loaded and not served yet. Dropping this discards it.
pub struct PendingResource<'c> {
    cache: &'c Cache,
    resource: Arc<Resource>,
    state: State,
    served: bool,
    /// Only one resource is loaded at a time.
    #[expect(dead_code, reason = "it is held")]
    one_at_a_time: MutexGuard<'c, ()>,
}

impl<'c> PendingResource<'c> {
    /// Reads the objects of a resource. Must not run under the feeder's lock, for which the store's writer may be waiting.
    pub(super) fn load(cache: &'c Cache, keyspace: Keyspace) -> Result<Self, ReadError> {
        let one_at_a_time = lock(&cache.loading);
        let replica = lock(&cache.feeder).begin(keyspace);
        let resource = Arc::new(Resource::new(Arc::clone(&replica), &cache.feeder, Arc::clone(&cache.history)));
        let mut pending = Self { cache, resource, state: State::default(), served: false, one_at_a_time };
        // Changes from here on are queued for this resource.
        let (keyspace, store) = (&replica.keyspace, &cache.shared.store);
        let loaded = store.head();
        let known = lock(&cache.preloaded).take(keyspace, loaded);
        let (tree, loaded) = if let Some(tree) = known {
            (tree, loaded)
        } else {
            let collector = ScanCollector::new(keyspace.clone());
            let loaded = store.scan(&[&keyspace.prefix], &|piece| collector.take(piece))?;
            (collector.finish(), loaded)
        };
        lock(&replica.feed).begin(tree.clone(), loaded);
        pending.state = State { id: replica.slot.id, tree, last: loaded };
        Ok(pending)
    }

    /// The resource. It has no state before it is served; build only its future users from it.
    pub fn resource(&self) -> &Arc<Resource> {
        &self.resource
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
