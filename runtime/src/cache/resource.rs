//! One resource: its newest state, its past, and watches over it.

use std::sync::{Arc, Mutex};

use super::{
    Filter, Interest, SharedReader, Snapshot, Watch, WatchError,
    fanout::Feed,
    history,
    reader::load,
    state::{Shared, lock},
};
use crate::{meta::Revision, storage::ReadError};

/// One resource in the cache.
pub struct Resource {
    pub(super) shared: Arc<Shared>,
    pub(super) prefix: Arc<str>,
    pub(super) reader: SharedReader,
    pub(super) feed: Mutex<Feed>,
    number: usize,
    /// Whether the window has been widened back into the store's change log.
    refilled: tokio::sync::Mutex<bool>,
}

impl Resource {
    pub(super) fn new(shared: Arc<Shared>, number: usize, prefix: Arc<str>, reader: SharedReader, feed: Feed) -> Self {
        Self { shared, prefix, reader, feed: Mutex::new(feed), number, refilled: tokio::sync::Mutex::new(false) }
    }

    /// The prefix of its keys in the store; it ends with a slash.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// The newest state; no lock, O(1).
    pub fn snapshot(&self) -> Snapshot {
        self.shared.snapshot(self.number).0
    }

    /// The state at a revision: a past snapshot that is still kept, the newest with the window's changes undone, or
    /// what the store says.
    ///
    /// # Errors
    /// [`ReadError`]: the revision is compacted away or has not happened yet, or the engine failed.
    pub async fn snapshot_at(self: &Arc<Self>, revision: Revision) -> Result<Snapshot, ReadError> {
        let (newest, last) = self.shared.snapshot(self.number);
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
