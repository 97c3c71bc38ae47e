//! One resource for its readers: its newest and past states, and its watches.

use std::sync::{Arc, Mutex, Weak};

use super::{
    demand::Demand,
    feeder::Feeder,
    history::{History, blocking},
    lock::lock,
    replica::Replica,
    snapshot::Snapshot,
    subscription::Subscription,
    watch::{Filter, Watch, WatchError},
    window::WindowSize,
};
use crate::{meta::Revision, storage::ReadError};

/// The number of changes that may be undone at once without holding up other tasks.
const FEW_UNDONE: usize = 500;

/// A resource in the cache.
pub struct Resource {
    pub(super) replica: Arc<Replica>,
    pub(super) feeder: Weak<Mutex<Feeder>>,
    history: Arc<History>,
    /// Which indexes readers need.
    pub(super) demand: Mutex<Demand>,
    /// Locked while a past state is made, so that requests for the same one share the work.
    undoing: tokio::sync::Mutex<()>,
}

impl Resource {
    pub(super) fn new(replica: Arc<Replica>, feeder: &Arc<Mutex<Feeder>>, history: Arc<History>) -> Self {
        let feeder = Arc::downgrade(feeder);
        Self { replica, feeder, history, demand: Mutex::default(), undoing: tokio::sync::Mutex::new(()) }
    }

    /// The prefix of its keys in the store, with a trailing slash.
    pub fn prefix(&self) -> &str {
        &self.replica.keyspace.prefix
    }

    /// The newest state, or the last state of a removed or replaced resource. Lock-free and O(1).
    pub fn snapshot(&self) -> Snapshot {
        self.replica.state().0
    }

    /// True if a state is the newest one. Faster than another snapshot.
    pub fn is_newest(&self, state: &Snapshot) -> bool {
        self.replica.is_newest(&state.tree)
    }

    /// How much of the resource's past is in memory.
    pub fn window(&self) -> WindowSize {
        lock(&self.replica.feed).size()
    }

    /// True if the resource was removed or replaced. It keeps its last state for existing readers, and its watches end.
    pub fn has_ended(&self) -> bool {
        self.replica.has_ended()
    }

    /// The state at a revision: the newest state with the window's changes undone.
    ///
    /// # Errors
    /// [`ReadError::Compacted`] if changes of this resource after the revision are gone, [`ReadError::Future`] if it has
    /// not happened yet, and errors of the engine if history was still to be read.
    pub async fn snapshot_at(&self, revision: Revision) -> Result<Snapshot, ReadError> {
        let (newest, last) = self.replica.state();
        if revision > newest.revision {
            return Err(ReadError::Future(newest.revision));
        }
        if last <= revision {
            return Ok(Snapshot { revision, tree: newest.tree });
        }
        // The state is published moments before the window has its changes, and undoing needs these.
        self.replica.shared.reached(last).await;
        self.reach_back_to(revision).await?;
        let one_at_a_time = self.undoing.lock().await;
        let (tree, window) = {
            let mut feed = lock(&self.replica.feed);
            if let Some(kept) = feed.past.find(revision) {
                return Ok(kept);
            }
            if revision < feed.floor() {
                return Err(ReadError::Compacted(feed.floor()));
            }
            (feed.tree.clone(), feed.window())
        };
        let snapshot = if window.after(revision).nth(FEW_UNDONE).is_none() {
            Snapshot { revision, tree: window.undone(tree, revision) }
        } else {
            blocking(move || Ok(Snapshot { revision, tree: window.undone(tree, revision) })).await?
        };
        self.keep(&snapshot);
        drop(one_at_a_time);
        Ok(snapshot)
    }

    /// Keeps a snapshot for a while, for further pages requested with [`Resource::snapshot_at`].
    pub fn keep(&self, snapshot: &Snapshot) {
        lock(&self.replica.feed).keep(snapshot.clone());
    }

    /// Watches from strictly after a revision. For a future revision, no events come until it has passed.
    ///
    /// # Errors
    /// [`WatchError::Expired`] if changes of this resource after the revision are gone; [`WatchError::Read`] if history
    /// was still to be read, and could not be.
    pub async fn watch(
        &self,
        after: Revision,
        subscription: Subscription,
        filter: Option<Filter>,
    ) -> Result<Watch, WatchError> {
        self.reach_back_to(after).await.map_err(WatchError::Read)?;
        Watch::new(Arc::clone(&self.replica), after, subscription, filter).map_err(WatchError::Expired)
    }

    /// Waits until the window has been filled from the store's log, if it does not reach back to a revision.
    async fn reach_back_to(&self, revision: Revision) -> Result<(), ReadError> {
        if revision < lock(&self.replica.feed).floor() { self.history.fill(Some(&self.replica)).await } else { Ok(()) }
    }
}
