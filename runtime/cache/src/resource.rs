//! One resource: its newest state, its past, and its watches.

use std::{
    sync::{Arc, Mutex, OnceLock, Weak},
    task::Waker,
};

use super::{
    EventType, Filter, SharedReader, Snapshot, Subscription, Watch, WatchError, WindowSize,
    change::Change,
    fanout::{Feed, Subscriber},
    feeder::{Feeder, QueuedDelivery},
    history,
    indexing::Demand,
    state::{SharedState, Slot, State, lock},
    tree::Tree,
    window::Window,
};
use crate::{
    meta::Revision,
    storage::{self, Entry, Previous, ReadError},
};

/// The number of changes that may be undone at once without holding up other tasks.
const FEW_UNDONE: usize = 500;

/// A resource in the cache.
pub struct Resource {
    pub(super) shared: Arc<SharedState>,
    pub(super) feeder: Weak<Mutex<Feeder>>,
    pub(super) prefix: Arc<str>,
    pub(super) reader: SharedReader,
    pub(super) feed: Arc<Mutex<Feed>>,
    pub(super) slot: Slot,
    /// Which indexes readers need.
    pub(super) demand: Mutex<Demand>,
    /// The last state and last change of a removed or replaced resource. Set before its slot goes to another resource.
    ended: OnceLock<(Snapshot, Revision)>,
    /// Locked while a past state is made, so that requests for the same one share the work.
    undoing: tokio::sync::Mutex<()>,
    /// Locked during a pass over the log for this resource alone.
    pub(super) filling: Arc<tokio::sync::Mutex<()>>,
}

impl Resource {
    pub(super) fn new(
        shared: Arc<SharedState>,
        feeder: Weak<Mutex<Feeder>>,
        slot: Slot,
        prefix: Arc<str>,
        reader: SharedReader,
    ) -> Self {
        let feed = Arc::new(Mutex::new(Feed::new(Arc::clone(&shared.budget))));
        Self {
            shared,
            feeder,
            prefix,
            reader,
            feed,
            slot,
            demand: Mutex::default(),
            ended: OnceLock::new(),
            undoing: tokio::sync::Mutex::new(()),
            filling: Arc::default(),
        }
    }

    /// Adds the window to the order of eviction and to the queue for the next pass over the store's log. Called when the
    /// resource is served, and when its window begins anew.
    pub(super) fn enroll(self: &Arc<Self>) {
        let mut order = self.shared.budget.order();
        order.place(self.slot.id, &self.feed, &mut lock(&self.feed));
        order.evict(&self.shared.budget);
        drop(order);
        self.shared.backfill_queue.add(self);
    }

    /// The prefix of its keys in the store, with a trailing slash.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// The newest state, or the last state of a removed or replaced resource. Lock-free and O(1).
    pub fn snapshot(&self) -> Snapshot {
        self.state().0
    }

    /// How much of the resource's past is in memory.
    pub fn window(&self) -> WindowSize {
        lock(&self.feed).size()
    }

    /// True if the resource was removed or replaced. It keeps its last state for existing readers, and its watches end.
    pub fn has_ended(&self) -> bool {
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
        state.tree = self.load(entries, &state.tree);
        state.last = at;
    }

    /// Applies a change to the state. Returns `None` if nothing changed, such as for the deletion of a missing object.
    pub(super) fn apply(&self, state: &mut State, change: &storage::Change) -> Option<Arc<Change>> {
        state.last = change.revision;
        let (new, old) = match &change.value {
            Some(value) => {
                let creates = change.previous == Previous::Absent;
                let natural = if creates { EventType::Added } else { EventType::Modified };
                let new = self.render(natural, &change.key, change.revision, Ok(value));
                let new = Arc::new(new.sharing_texts(state.tree.get(self.below(&change.key))));
                (Some(Arc::clone(&new)), state.tree.insert(new))
            }
            None => (None, Some(state.tree.remove(self.below(&change.key))?)),
        };
        Some(Arc::new(Change::new(change.revision, new, old)))
    }

    /// The newest state and the last change.
    fn state(&self) -> (Snapshot, Revision) {
        let newest = self.shared.snapshot(self.slot);
        newest.or_else(|| self.ended.get().cloned()).expect("a resource has its slot until it has ended")
    }

    /// The revision up to which the window is complete. Read it before the window. It stays fixed once the resource has
    /// ended: later changes belong to the resource that replaced it.
    pub(super) fn fed(&self) -> Revision {
        // In this order: changes fed after the end belong to another resource.
        let fed = self.shared.fed();
        self.ended.get().map_or(fed, |(last, _)| fed.min(last.revision))
    }

    /// The state at a revision: the newest state with the window's changes undone.
    ///
    /// # Errors
    /// [`ReadError::Compacted`] if changes of this resource after the revision are gone, [`ReadError::Future`] if it has
    /// not happened yet, and errors of the engine if history was still to be read.
    pub async fn snapshot_at(self: &Arc<Self>, revision: Revision) -> Result<Snapshot, ReadError> {
        let (newest, last) = self.state();
        if revision > newest.revision {
            return Err(ReadError::Future(newest.revision));
        }
        if last <= revision {
            return Ok(Snapshot { revision, tree: newest.tree });
        }
        // The state is published moments before the window has its changes, and undoing needs these.
        self.shared.reached(last).await;
        self.reach_back_to(revision).await?;
        let one_at_a_time = self.undoing.lock().await;
        let (tree, window) = {
            let mut feed = lock(&self.feed);
            if let Some(kept) = feed.past.find(revision) {
                return Ok(kept);
            }
            if revision < feed.floor() {
                return Err(ReadError::Compacted(feed.floor()));
            }
            (feed.tree.clone(), feed.window())
        };
        let snapshot = if window.after(revision).nth(FEW_UNDONE).is_none() {
            Snapshot { revision, tree: undone(tree, &window, revision) }
        } else {
            blocking(move || Ok(Snapshot { revision, tree: undone(tree, &window, revision) })).await?
        };
        self.keep(&snapshot);
        drop(one_at_a_time);
        Ok(snapshot)
    }

    /// Keeps a snapshot for a while, for further pages requested with [`Resource::snapshot_at`].
    pub fn keep(&self, snapshot: &Snapshot) {
        lock(&self.feed).keep(snapshot.clone());
    }

    /// Watches from strictly after a revision. For a future revision, no events come until it has passed.
    ///
    /// # Errors
    /// [`WatchError::Expired`] if changes of this resource after the revision are gone; [`WatchError::Read`] if history
    /// was still to be read, and could not be.
    pub async fn watch(
        self: &Arc<Self>,
        after: Revision,
        subscription: Subscription,
        filter: Option<Filter>,
    ) -> Result<Watch, WatchError> {
        self.reach_back_to(after).await.map_err(WatchError::Read)?;
        let subscriber = self.subscribe(&subscription, after).map_err(WatchError::Expired)?;
        Ok(Watch::new(Arc::clone(self), after, subscription, filter, subscriber))
    }

    /// Adds a subscriber. The lock of the feed, which writers need, is not held while the window is searched.
    fn subscribe(&self, subscription: &Subscription, after: Revision) -> Result<Subscriber, Revision> {
        let window = {
            let mut feed = lock(&self.feed);
            if let Some(joined) = feed.join(subscription, after)? {
                return Ok(joined);
            }
            feed.window()
        };
        let found = window.matching(subscription, after);
        let searched = window.newest().map_or(after, |newest| newest.max(after));
        lock(&self.feed).subscribe(subscription, after, found, searched)
    }

    /// Waits until the window has been filled from the store's log, if it does not reach back to a revision.
    async fn reach_back_to(&self, revision: Revision) -> Result<(), ReadError> {
        if revision < lock(&self.feed).floor() { history::fill(&self.shared, self).await } else { Ok(()) }
    }
}

impl Drop for Resource {
    fn drop(&mut self) {
        self.shared.backfill_queue.remove(self.slot.id);
        self.shared.budget.order().remove(&mut lock(&self.feed));
    }
}

/// The state before the window's changes after a revision. `tree` is the state after the last one.
pub(super) fn undone(mut tree: Tree, window: &Window, revision: Revision) -> Tree {
    for change in window.after(revision).rev() {
        match (&change.old, &change.new) {
            (Some(old), _) => drop(tree.insert(Arc::clone(old))),
            (None, Some(new)) => drop(tree.remove(new.key())),
            (None, None) => {}
        }
    }
    tree
}

/// Runs a function that blocks on a blocking thread.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ReadError> + Send + 'static,
) -> Result<T, ReadError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => Err(ReadError::Engine(format!("reading history was broken off: {error}"))),
    }
}
