//! What all parts of the cache share: the published state of all resources, and how far it has come.

use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicU64, Ordering},
};

use arc_swap::ArcSwap;
use tokio::sync::watch;

use super::{Limits, Snapshot, tree::Tree};
use crate::{meta::Revision, storage::Store};

/// How many states lie in one block. A commit copies a pointer for each block and the blocks that it changes.
const BLOCK: usize = 32;

/// The state of all resources at one revision. One pointer publishes it, so that a commit over several resources is
/// seen whole or not at all.
#[derive(Clone, Default)]
pub(super) struct Root {
    pub(super) revision: Revision,
    pub(super) states: States,
}

/// The states of all resources by number, in blocks that versions of the root share.
#[derive(Clone, Default)]
pub(super) struct States(Vec<Arc<Vec<State>>>);

impl States {
    pub(super) fn get(&self, number: usize) -> &State {
        &self.0[number / BLOCK][number % BLOCK]
    }

    /// The state of a number, to change it; empty where there has been none.
    pub(super) fn get_mut(&mut self, number: usize) -> &mut State {
        while self.0.len() <= number / BLOCK {
            self.0.push(Arc::new(vec![State::default(); BLOCK]));
        }
        &mut Arc::make_mut(&mut self.0[number / BLOCK])[number % BLOCK]
    }
}

/// Where a resource's state lies. Places are used again, so that the number alone does not tell whose state it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) number: usize,
    /// No two resources have the same; never zero.
    pub(super) id: u64,
}

/// One resource's part of a root.
#[derive(Clone, Default)]
pub(super) struct State {
    /// Whose state it is; zero for nobody's.
    pub(super) id: u64,
    pub(super) tree: Tree,
    /// The last change of the resource. It is after the root's revision only where the resource was loaded from a
    /// store that was already ahead.
    pub(super) last: Revision,
}

/// Shared by the cache, its resources and its watches.
pub(super) struct Shared {
    pub(super) store: Arc<dyn Store>,
    pub(super) limits: Limits,
    root: ArcSwap<Root>,
    /// Up to here every change is in the windows. It follows the root's revision within moments.
    fed: AtomicU64,
    /// The root's revision for those who wait for it.
    reached: watch::Sender<Revision>,
}

impl Shared {
    pub(super) fn new(store: Arc<dyn Store>, limits: Limits, revision: Revision) -> Self {
        Self {
            store,
            limits,
            root: ArcSwap::from_pointee(Root { revision, ..Root::default() }),
            fed: AtomicU64::new(revision.0),
            reached: watch::Sender::new(revision),
        }
    }

    pub(super) fn revision(&self) -> Revision {
        self.root.load().revision
    }

    /// A copy of the root to change and publish; only the feeder does.
    pub(super) fn root(&self) -> Root {
        Root::clone(&self.root.load())
    }

    pub(super) fn publish(&self, root: Root) {
        self.root.store(Arc::new(root));
    }

    /// A resource's state, everything up to the snapshot's revision and nothing after it; and its last change. `None`
    /// where its place is no longer its own.
    pub(super) fn snapshot(&self, place: Place) -> Option<(Snapshot, Revision)> {
        let root = self.root.load();
        let state = root.states.get(place.number);
        let revision = root.revision.max(state.last);
        (state.id == place.id).then(|| (Snapshot { revision, tree: state.tree.clone() }, state.last))
    }

    /// Up to where every change is in the windows. Read it before looking into one.
    pub(super) fn fed(&self) -> Revision {
        Revision(self.fed.load(Ordering::Acquire))
    }

    /// States that the windows have everything up to a revision, and lets those go on who wait for it.
    pub(super) fn advance(&self, revision: Revision) {
        self.fed.store(revision.0, Ordering::Release);
        self.reached.send_replace(revision);
    }

    pub(super) async fn reached(&self, revision: Revision) {
        if self.fed() < revision {
            // The sender lives in `self`, so that waiting cannot fail.
            let _ = self.reached.subscribe().wait_for(|fed| *fed >= revision).await;
        }
    }
}

/// Locks, even after a panic of another holder: every critical section leaves its data whole.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
