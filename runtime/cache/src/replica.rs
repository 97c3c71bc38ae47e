//! The replica of a resource's objects: the part that the feeder keeps in step with the store, while it is served and while it
//! is loaded.

use std::{
    sync::{Arc, Mutex, OnceLock},
    task::Waker,
};

use super::{
    change::Change,
    feed::Feed,
    keyspace::Keyspace,
    lock::lock,
    object::EventType,
    snapshot::Snapshot,
    state::{SharedState, Slot, State},
    tree::Tree,
};
use crate::{
    meta::Revision,
    storage::{self, Entry, Previous},
};

/// What was delivered for a replica while it was being loaded.
#[derive(Clone)]
pub(super) enum QueuedDelivery {
    Change(storage::Change),
    /// All of its objects at a revision.
    State(Vec<Entry>, Revision),
}

/// A resource, as the feeder and its watches know it.
pub(super) struct Replica {
    pub(super) shared: Arc<SharedState>,
    pub(super) slot: Slot,
    pub(super) keyspace: Keyspace,
    pub(super) feed: Arc<Mutex<Feed>>,
    /// The last state and last change of a removed or replaced resource. Set before its slot goes to another resource.
    ended: OnceLock<(Snapshot, Revision)>,
    /// Locked during a pass over the log for this resource alone.
    pub(super) filling: Arc<tokio::sync::Mutex<()>>,
}

impl Replica {
    pub(super) fn new(shared: Arc<SharedState>, slot: Slot, keyspace: Keyspace) -> Self {
        let feed = Arc::new(Mutex::new(Feed::new(Arc::clone(&shared.budget))));
        Self { shared, slot, keyspace, feed, ended: OnceLock::new(), filling: Arc::default() }
    }

    /// Adds the window to the order of eviction. Called when the resource is served, and when its window begins anew.
    pub(super) fn enroll(&self) {
        let mut order = lock(&self.shared.eviction);
        order.place(self.slot.id, &self.feed, &mut lock(&self.feed));
        order.evict(&self.shared.budget);
    }

    /// True if the resource was removed or replaced.
    pub(super) fn has_ended(&self) -> bool {
        self.ended.get().is_some()
    }

    /// Keeps the newest state as the last one. The feeder then reuses the slot.
    pub(super) fn end(&self) {
        self.ended.get_or_init(|| self.state());
    }

    /// Applies what was delivered after a load, in order.
    pub(super) fn take_in(&self, state: &mut State, deliveries: &[QueuedDelivery]) {
        let mut feed = lock(&self.feed);
        // Several changes may have the same revision.
        let mut before = state.last;
        for delivery in deliveries {
            match delivery {
                QueuedDelivery::Change(change) if change.revision <= before => {}
                QueuedDelivery::Change(change) => {
                    if let Some(change) = self.apply(state, change) {
                        feed.append(change);
                    }
                }
                // The load was later.
                QueuedDelivery::State(_, at) if *at <= state.last => {}
                QueuedDelivery::State(entries, at) => {
                    self.set(state, entries, *at);
                    feed.begin(state.tree.clone(), *at);
                    before = *at;
                }
            }
        }
        feed.tree = state.tree.clone();
    }

    /// Replaces the whole state, and ends all watches.
    pub(super) fn begin_again(&self, state: &mut State, entries: &[Entry], at: Revision, wakers: &mut Vec<Waker>) {
        self.set(state, entries, at);
        let mut feed = lock(&self.feed);
        feed.begin(state.tree.clone(), at);
        feed.take_all_wakers(wakers);
    }

    fn set(&self, state: &mut State, entries: &[Entry], at: Revision) {
        state.tree = self.keyspace.load(entries, &state.tree);
        state.last = at;
    }

    /// Applies a change to the state. Returns `None` if nothing changed, such as for the deletion of a missing object.
    pub(super) fn apply(&self, state: &mut State, change: &storage::Change) -> Option<Arc<Change>> {
        state.last = change.revision;
        let key = self.keyspace.below(&change.key);
        let (new, old) = match &change.value {
            Some(value) => {
                let creates = change.previous == Previous::Absent;
                let natural = if creates { EventType::Added } else { EventType::Modified };
                let new = self.keyspace.render(natural, &change.key, change.revision, Ok(value));
                let new = Arc::new(new.sharing_texts(state.tree.get(key)));
                (Some(Arc::clone(&new)), state.tree.insert(new))
            }
            None => (None, Some(state.tree.remove(key)?)),
        };
        Some(Arc::new(Change::new(change.revision, new, old)))
    }

    /// The newest state and the last change, or those of a removed or replaced resource. Lock-free and O(1).
    pub(super) fn state(&self) -> (Snapshot, Revision) {
        let newest = self.shared.snapshot(self.slot);
        newest.or_else(|| self.ended.get().cloned()).expect("a resource has its slot until it has ended")
    }

    /// True if a tree is that of the newest state.
    pub(super) fn is_newest(&self, tree: &Tree) -> bool {
        let is_newest = self.shared.is_newest(self.slot, tree);
        is_newest.unwrap_or_else(|| self.ended.get().is_some_and(|(last, _)| last.tree.is_same(tree)))
    }

    /// The revision up to which the window is complete. Read it before the window. It stays fixed once the resource has
    /// ended: later changes belong to the resource that replaced it.
    pub(super) fn fed(&self) -> Revision {
        // In this order: changes fed after the end belong to another resource.
        let fed = self.shared.fed();
        self.ended.get().map_or(fed, |(last, _)| fed.min(last.revision))
    }
}

impl Drop for Replica {
    fn drop(&mut self) {
        lock(&self.shared.eviction).remove(&mut lock(&self.feed));
    }
}
