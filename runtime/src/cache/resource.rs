//! One resource: its newest state, its past, and its watches.

use std::{
    sync::{Arc, Mutex, OnceLock, Weak},
    task::Waker,
};

use super::{
    EventType, Filter, SharedReader, Snapshot, Subscription, Watch, WatchError, Window,
    change::Change,
    fanout::Feed,
    feeder::{Feeder, Missed},
    history,
    indexing::Demand,
    state::{Place, Shared, State, lock},
};
use crate::{
    meta::Revision,
    storage::{self, Entry, ReadError},
};

/// A resource in the cache.
pub struct Resource {
    pub(super) shared: Arc<Shared>,
    pub(super) feeder: Weak<Mutex<Feeder>>,
    pub(super) prefix: Arc<str>,
    pub(super) reader: SharedReader,
    pub(super) feed: Mutex<Feed>,
    pub(super) place: Place,
    /// Which indexes readers need.
    pub(super) demand: Mutex<Demand>,
    /// The last state and last change of a removed or replaced resource. Set before its place goes to another resource.
    ended: OnceLock<(Snapshot, Revision)>,
    /// True if the window has been extended back into the store's change log.
    refilled: tokio::sync::Mutex<bool>,
}

impl Resource {
    pub(super) fn new(
        shared: Arc<Shared>,
        feeder: Weak<Mutex<Feeder>>,
        place: Place,
        prefix: Arc<str>,
        reader: SharedReader,
    ) -> Self {
        let feed = Feed::new(shared.limits.clone());
        Self {
            shared,
            feeder,
            prefix,
            reader,
            feed: Mutex::new(feed),
            place,
            demand: Mutex::default(),
            ended: OnceLock::new(),
            refilled: tokio::sync::Mutex::new(false),
        }
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
    pub fn window(&self) -> Window {
        lock(&self.feed).size()
    }

    /// True if the resource was removed or replaced. It keeps its last state for existing readers, and its watches end.
    pub fn has_ended(&self) -> bool {
        self.ended.get().is_some()
    }

    /// Keeps the newest state as the last one. The feeder then reuses the place.
    pub(super) fn end(&self) {
        self.ended.get_or_init(|| self.state());
    }

    /// Applies what was delivered after a load, in order.
    pub(super) fn take_in(&self, state: &mut State, missed: &[Missed]) {
        let mut feed = lock(&self.feed);
        for missed in missed {
            match missed {
                Missed::Change(change) if change.revision <= state.last => {}
                Missed::Change(change) => {
                    if let Some(change) = self.apply(state, change) {
                        feed.append(change);
                    }
                }
                // The load was later.
                Missed::State(_, at) if *at <= state.last => {}
                Missed::State(entries, at) => {
                    self.set(state, entries, *at);
                    feed.begin(state.tree.clone(), *at);
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
                let natural = if change.previous.is_some() { EventType::Modified } else { EventType::Added };
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
        let newest = self.shared.snapshot(self.place);
        newest.or_else(|| self.ended.get().cloned()).expect("a resource has its place until it has ended")
    }

    /// The revision up to which the window is complete. Read it before the window. It stays fixed once the resource has
    /// ended: later changes belong to the resource that replaced it.
    pub(super) fn fed(&self) -> Revision {
        // In this order: changes fed after the end belong to another resource.
        let fed = self.shared.fed();
        self.ended.get().map_or(fed, |(last, _)| fed.min(last.revision))
    }

    /// The state at a revision: a past snapshot that is still kept, the newest state with the window's changes undone,
    /// or one read from the store.
    ///
    /// # Errors
    /// [`ReadError`], if the revision is compacted or in the future, or if the engine failed.
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
        if let Some(found) = self.recall(revision) {
            return Ok(found);
        }
        self.refill(revision).await?;
        if let Some(found) = self.recall(revision) {
            return Ok(found);
        }
        let resource = Arc::clone(self);
        let snapshot = blocking(move || {
            let (entries, _) = resource.shared.store.range(&resource.prefix, Some(revision))?;
            Ok(Snapshot { revision, tree: resource.load(&entries, &resource.snapshot().tree) })
        })
        .await?;
        self.keep(&snapshot);
        Ok(snapshot)
    }

    /// Keeps a snapshot for a while, for further pages requested with [`Resource::snapshot_at`].
    pub fn keep(&self, snapshot: &Snapshot) {
        lock(&self.feed).past.keep(snapshot.clone());
    }

    /// Watches from strictly after a revision. For a future revision, no events come until it has passed.
    ///
    /// # Errors
    /// [`WatchError::Expired`] if changes of this resource after the revision may be gone; [`WatchError::Read`].
    pub async fn watch(
        self: &Arc<Self>,
        after: Revision,
        subscription: Subscription,
        filter: Option<Filter>,
    ) -> Result<Watch, WatchError> {
        let mut subscriber = lock(&self.feed).subscribe(&subscription, after);
        if subscriber.is_none() {
            self.refill(after).await.map_err(WatchError::Read)?;
            let mut feed = lock(&self.feed);
            subscriber = feed.subscribe(&subscription, after);
            let compacted = self.shared.store.compacted();
            if subscriber.is_none() && after < compacted {
                return Err(WatchError::Expired(compacted.min(feed.floor())));
            }
        }
        Ok(Watch::new(Arc::clone(self), after, subscription, filter, subscriber))
    }

    /// A past state that is still in memory.
    fn recall(&self, revision: Revision) -> Option<Snapshot> {
        let mut feed = lock(&self.feed);
        if let Some(kept) = feed.past.find(revision) {
            return Some(kept);
        }
        if revision < feed.floor() {
            return None;
        }
        let mut tree = feed.tree.clone();
        let later: Vec<_> = feed.after(revision).cloned().collect();
        drop(feed);
        for change in later.iter().rev() {
            match (&change.old, &change.new) {
                (Some(old), _) => drop(tree.insert(Arc::clone(old))),
                (None, Some(new)) => drop(tree.remove(new.key())),
                (None, None) => {}
            }
        }
        Some(Snapshot { revision, tree })
    }

    /// Extends the window back into the store's log, once, if the requested revision is older than it.
    async fn refill(self: &Arc<Self>, wanted: Revision) -> Result<(), ReadError> {
        let mut refilled = self.refilled.lock().await;
        if *refilled || wanted >= lock(&self.feed).floor() {
            return Ok(());
        }
        let resource = Arc::clone(self);
        match blocking(move || history::refill(&resource)).await {
            // The log was compacted meanwhile, or part of it is damaged. The watch reads the remaining changes from it
            // directly.
            Ok(()) | Err(ReadError::Compacted(_) | ReadError::Damaged(_)) => {
                *refilled = true;
                Ok(())
            }
            Err(error) => Err(error),
        }
    }
}

/// Runs a function that blocks on the disk on a blocking thread.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ReadError> + Send + 'static,
) -> Result<T, ReadError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => Err(ReadError::Engine(format!("reading history was broken off: {error}"))),
    }
}
