//! The part shared by the whole cache: the published state of all resources, and its progress.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicU64, Ordering},
};

use arc_swap::ArcSwap;
use tokio::sync::watch;

use super::{
    budget::Budget, eviction::EvictionOrder, index::ENTRY_BYTES, limits::Limits, snapshot::Snapshot, tree::Tree,
};
use crate::{meta::Revision, storage::Store};

/// The number of states in one block. A commit copies a pointer for each block, and the blocks that it changes.
const BLOCK: usize = 32;

/// The state of all resources at one revision. It is published through one pointer, so that a commit over several
/// resources is visible completely or not at all.
#[derive(Clone, Default)]
pub(super) struct Root {
    pub(super) revision: Revision,
    pub(super) states: States,
}

/// The states of all resources by number, in blocks shared between versions of the root.
#[derive(Clone, Default)]
pub(super) struct States(Vec<Arc<Vec<State>>>);

impl States {
    pub(super) fn get(&self, number: usize) -> &State {
        &self.0[number / BLOCK][number % BLOCK]
    }

    /// The state with a number, for modification; empty if absent.
    pub(super) fn get_mut(&mut self, number: usize) -> &mut State {
        while self.0.len() <= number / BLOCK {
            self.0.push(Arc::new(vec![State::default(); BLOCK]));
        }
        &mut Arc::make_mut(&mut self.0[number / BLOCK])[number % BLOCK]
    }
}

/// The slot of a resource's state. Numbers are reused, so a number alone does not identify the resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slot {
    pub(super) number: usize,
    /// Unique to the resource; never zero.
    pub(super) id: u64,
}

/// One resource's part of a root.
#[derive(Clone, Default)]
pub(super) struct State {
    /// The owner's id; zero if unused.
    pub(super) id: u64,
    pub(super) tree: Tree,
    /// The last change of the resource. It is after the root's revision only if the resource was loaded from a store
    /// that was already ahead.
    pub(super) last: Revision,
}

/// Shared between the cache, its resources and its watches.
pub(super) struct SharedState {
    pub(super) store: Arc<dyn Store>,
    pub(super) limits: Limits,
    /// The memory of past changes.
    pub(super) budget: Arc<Budget>,
    /// Locked while windows of served resources change, before their feeds.
    pub(super) eviction: Mutex<EvictionOrder>,
    root: ArcSwap<Root>,
    /// The revision up to which the windows are complete. It follows the root's revision within moments.
    fed: AtomicU64,
    /// The root's revision, for tasks that wait for it.
    reached: watch::Sender<Revision>,
}

impl SharedState {
    pub(super) fn new(store: Arc<dyn Store>, limits: Limits, revision: Revision) -> Self {
        Self {
            store,
            limits,
            budget: Arc::new(Budget::new(limits.history_bytes)),
            eviction: Mutex::default(),
            root: ArcSwap::from_pointee(Root { revision, ..Root::default() }),
            fed: AtomicU64::new(revision.0),
            reached: watch::Sender::new(revision),
        }
    }

    pub(super) fn revision(&self) -> Revision {
        self.root.load().revision
    }

    /// A copy of the root to change and publish. Only the feeder does that.
    pub(super) fn root(&self) -> Root {
        Root::clone(&self.root.load())
    }

    pub(super) fn publish(&self, root: Root) {
        self.root.store(Arc::new(root));
    }

    /// A resource's state at exactly the snapshot's revision, and its last change. `None` if the slot no longer
    /// belongs to the resource.
    pub(super) fn snapshot(&self, slot: Slot) -> Option<(Snapshot, Revision)> {
        let root = self.root.load();
        let state = root.states.get(slot.number);
        let revision = root.revision.max(state.last);
        (state.id == slot.id).then(|| (Snapshot { revision, tree: state.tree.clone() }, state.last))
    }

    /// True if a tree is that of a resource's newest state. `None` if the slot no longer belongs to the resource.
    pub(super) fn is_newest(&self, slot: Slot, tree: &Tree) -> Option<bool> {
        let root = self.root.load();
        let state = root.states.get(slot.number);
        (state.id == slot.id).then(|| state.tree.is_same(tree))
    }

    /// The approximate size of all indexes in bytes.
    pub(super) fn index_bytes(&self) -> usize {
        let root = self.root.load();
        let indexes = root.states.0.iter().flat_map(|block| block.iter()).flat_map(|state| state.tree.indexes());
        indexes.map(|index| index.len() * ENTRY_BYTES).sum()
    }

    /// The revision up to which the windows are complete. Read it before reading a window.
    pub(super) fn fed(&self) -> Revision {
        Revision(self.fed.load(Ordering::Acquire))
    }

    /// Declares the windows complete up to a revision, and wakes tasks that wait for it.
    pub(super) fn advance(&self, revision: Revision) {
        self.fed.store(revision.0, Ordering::Release);
        self.reached.send_replace(revision);
    }

    pub(super) async fn reached(&self, revision: Revision) {
        if self.fed() < revision {
            // The sender is in `self`, so waiting cannot fail.
            let _ = self.reached.subscribe().wait_for(|fed| *fed >= revision).await;
        }
    }
}
