//! A resource on its way into the cache: loaded from the store, then kept up with what happens until it is served.

use std::{
    sync::{Arc, MutexGuard},
    task::Waker,
};

use super::{
    Cache, Resource, reader,
    state::{State, lock},
    tree::Tree,
};
use crate::storage::ReadError;

/// While so many changes or fewer were missed by a load, writers may wait for the rest.
const FEW_MISSED: usize = 32;
/// How often a load catches up before writers wait for it in any case. Rendering is faster than committing, so that a
/// few are enough.
const CATCH_UP_ROUNDS: usize = 64;

/// A resource that is loaded and not served yet. Where this is dropped, it never is.
pub struct Loading<'c> {
    pub(super) cache: &'c Cache,
    pub(super) resource: Arc<Resource>,
    pub(super) state: State,
    pub(super) served: bool,
    /// One at a time.
    #[expect(dead_code, reason = "it is held")]
    pub(super) one_at_a_time: MutexGuard<'c, ()>,
}

impl Loading<'_> {
    /// The resource. It has no state before it is served: only what is to use it then may be made of it.
    pub fn resource(&self) -> &Arc<Resource> {
        &self.resource
    }

    /// Reads the objects. The store is not called under the feeder's lock: its writer may be waiting for that.
    pub(super) fn fill(&mut self) -> Result<(), ReadError> {
        let Resource { prefix, reader, .. } = &*self.resource;
        let (entries, loaded) = self.cache.shared.store.range(prefix, None)?;
        let tree = reader::load(reader, prefix, &entries, &Tree::default());
        lock(&self.resource.feed).begin(tree.clone(), loaded);
        self.state = State { id: self.resource.place.id, tree, last: loaded };
        Ok(())
    }

    /// Serves the resource. One that was served under its prefix is not served from then on: its watches end after what
    /// was committed by then, and a watch of the new one goes on from there or from any older revision.
    ///
    /// `swap` is called when the state is there and before the next change is, so that who finds the resource in a table
    /// of the caller's always finds the one that is fed. It must be quick: writers wait for it.
    pub fn serve(mut self, swap: impl FnOnce()) -> Arc<Resource> {
        let feeder = &self.cache.feeder;
        // What was committed meanwhile is rendered here, too: writers wait for the rest only.
        for _ in 0..CATCH_UP_ROUNDS {
            let missed = lock(feeder).missed(&self.resource);
            self.resource.take_in(&mut self.state, &missed);
            if missed.len() <= FEW_MISSED {
                break;
            }
        }
        let wakers = lock(feeder).serve(&self.resource, std::mem::take(&mut self.state), swap);
        self.served = true;
        wakers.into_iter().for_each(Waker::wake);
        Arc::clone(&self.resource)
    }
}

impl Drop for Loading<'_> {
    fn drop(&mut self) {
        if !self.served {
            lock(&self.cache.feeder).give_up(&self.resource);
        }
    }
}
