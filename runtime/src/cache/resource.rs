//! One resource: its newest state, its past, and watches over it.

use std::sync::{Arc, Mutex, OnceLock};

use super::{
    EventType, Filter, Interest, SharedReader, Snapshot, Watch, WatchError,
    change::Change,
    fanout::Feed,
    history,
    reader::{load, render},
    state::{Place, Shared, State, lock},
};
use crate::{
    meta::Revision,
    storage::{self, ReadError},
};

/// One resource in the cache.
pub struct Resource {
    pub(super) shared: Arc<Shared>,
    pub(super) prefix: Arc<str>,
    pub(super) reader: SharedReader,
    pub(super) feed: Mutex<Feed>,
    pub(super) place: Place,
    /// The last state and its last change, once the resource is removed or replaced. It is set before the place goes to
    /// another resource.
    ended: OnceLock<(Snapshot, Revision)>,
    /// Whether the window has been widened back into the store's change log.
    refilled: tokio::sync::Mutex<bool>,
}

impl Resource {
    pub(super) fn new(shared: Arc<Shared>, place: Place, prefix: Arc<str>, reader: SharedReader) -> Self {
        let feed = Feed::new(shared.limits.clone());
        Self {
            shared,
            prefix,
            reader,
            feed: Mutex::new(feed),
            place,
            ended: OnceLock::new(),
            refilled: tokio::sync::Mutex::new(false),
        }
    }

    /// The prefix of its keys in the store; it ends with a slash.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// The newest state; no lock, O(1). Of a resource that is removed or replaced, the last.
    pub fn snapshot(&self) -> Snapshot {
        self.state().0
    }

    /// Whether the resource has been removed or replaced. It keeps its last state for those who still read it, and its
    /// watches end.
    pub fn has_ended(&self) -> bool {
        self.ended.get().is_some()
    }

    /// Keeps the newest state as the last. The feeder then gives the place away.
    pub(super) fn end(&self) {
        self.ended.get_or_init(|| self.state());
    }

    /// Takes in what happened after a load, in order.
    pub(super) fn take_in(&self, state: &mut State, changes: &[storage::Change]) {
        let mut feed = lock(&self.feed);
        for change in changes {
            if change.revision > state.last
                && let Some(change) = self.apply(state, change)
            {
                feed.append(change);
            }
        }
        feed.tree = state.tree.clone();
    }

    /// Applies a change to the state; nothing where the change is none, such as a deletion of what is not there.
    pub(super) fn apply(&self, state: &mut State, change: &storage::Change) -> Option<Arc<Change>> {
        let key = change.key.strip_prefix(&*self.prefix).unwrap_or(&change.key);
        state.last = change.revision;
        let (new, old) = match &change.value {
            Some(value) => {
                let natural = if change.previous.is_some() { EventType::Modified } else { EventType::Added };
                let new = render(&self.reader, &self.prefix, natural, &change.key, change.revision, Ok(value));
                let new = Arc::new(new);
                (Some(Arc::clone(&new)), state.tree.insert(new))
            }
            None => (None, Some(state.tree.remove(key)?)),
        };
        Some(Arc::new(Change::new(change.revision, new, old)))
    }

    /// The newest state and the last change.
    fn state(&self) -> (Snapshot, Revision) {
        let newest = self.shared.snapshot(self.place);
        newest.or_else(|| self.ended.get().cloned()).expect("a resource has its place until it has ended")
    }

    /// Up to where every change is in the window. Read it before looking into that. It stays where it is once the
    /// resource has ended: what comes after that is for whoever resumes on another resource.
    pub(super) fn fed(&self) -> Revision {
        // In this order: what is fed after the end is fed to others.
        let fed = self.shared.fed();
        self.ended.get().map_or(fed, |(last, _)| fed.min(last.revision))
    }

    /// The state at a revision: a past snapshot that is still kept, the newest with the window's changes undone, or
    /// what the store says.
    ///
    /// # Errors
    /// [`ReadError`]: the revision is compacted away or has not happened yet, or the engine failed.
    pub async fn snapshot_at(self: &Arc<Self>, revision: Revision) -> Result<Snapshot, ReadError> {
        let (newest, last) = self.state();
        if revision > newest.revision {
            return Err(ReadError::Future(newest.revision));
        }
        if last <= revision {
            return Ok(Snapshot { revision, tree: newest.tree });
        }
        // The state is published moments before the window has its changes; undoing needs them there.
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
            let tree = load(&resource.reader, &resource.prefix, &entries, &resource.snapshot().tree);
            Ok(Snapshot { revision, tree })
        })
        .await?;
        self.keep(&snapshot);
        Ok(snapshot)
    }

    /// Keeps a snapshot for a while, since more pages of it will be asked for with [`Resource::snapshot_at`].
    pub fn keep(&self, snapshot: &Snapshot) {
        lock(&self.feed).past.keep(snapshot.clone());
    }

    /// Watches from strictly after a revision (which may be in the future: nothing is given until it has passed).
    ///
    /// # Errors
    /// [`WatchError::Expired`] where a change of this resource after the revision may be gone, [`WatchError::Read`].
    pub async fn watch(
        self: &Arc<Self>,
        after: Revision,
        interest: Interest,
        filter: Option<Filter>,
    ) -> Result<Watch, WatchError> {
        if let Some(seat) = lock(&self.feed).join(&interest, after) {
            return Ok(Watch::live(Arc::clone(self), after, interest, filter, seat));
        }
        self.refill(after).await.map_err(WatchError::Read)?;
        let floor = {
            let mut feed = lock(&self.feed);
            if let Some(seat) = feed.join(&interest, after) {
                return Ok(Watch::live(Arc::clone(self), after, interest, filter, seat));
            }
            feed.floor()
        };
        let compacted = self.shared.store.compacted();
        if after < compacted {
            return Err(WatchError::Expired(compacted.min(floor)));
        }
        Ok(Watch::from_history(Arc::clone(self), after, interest, filter))
    }

    /// A state that memory still has.
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

    /// Widens the window back into the store's log, once, where a revision lies before it.
    async fn refill(self: &Arc<Self>, wanted: Revision) -> Result<(), ReadError> {
        let mut refilled = self.refilled.lock().await;
        if *refilled || wanted >= lock(&self.feed).floor() {
            return Ok(());
        }
        let resource = Arc::clone(self);
        match blocking(move || history::refill(&resource)).await {
            // The log was compacted while it was read, or part of it is damaged; what it still has can be read from it
            // directly.
            Ok(()) | Err(ReadError::Compacted(_) | ReadError::Damaged(_)) => {
                *refilled = true;
                Ok(())
            }
            Err(error) => Err(error),
        }
    }
}

/// Runs what blocks on the disk where it holds up nobody.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ReadError> + Send + 'static,
) -> Result<T, ReadError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => Err(ReadError::Engine(format!("reading history was broken off: {error}"))),
    }
}
