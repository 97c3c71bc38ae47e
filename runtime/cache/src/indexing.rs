//! The indexes of a resource: which ones are built, when, and how they are dropped.
//!
//! Indexes are built on demand, because most fields and labels are never selected, and an index is not free. With 1,000,000
//! objects an entry takes 17 to 21 bytes; building takes 0.1 to 0.35 s of CPU, as one to three scans in vain do; a write that
//! changes labels or selectable fields takes 3 to 8 us more on the commit thread for each index, and a search 1 us. Other
//! writes share these texts with the object's earlier version, and leave all indexes alone. An index is built on a thread of
//! its own from a snapshot, follows the changes since by what the trees do not share, and is added under the feeder's lock
//! when few are left.
//!
//! The rule: a selector that is answered by a scan is charged for the objects that it examined in vain, to the first of its
//! terms without an index. A term gets its index when the charge reaches [`SCANS`] scans of the whole resource (one for a
//! selectable field, because its declaration announces selectors), which is about what building costs. Resources of fewer than
//! [`FEW`] objects have none. An index without a search for [`IDLE`] is dropped, so that an unused one costs writers nothing
//! for long. All indexes together stay within [`Limits::index_bytes`](super::limits::Limits).

use std::{
    sync::{Arc, Weak},
    time::Duration,
};

use super::{
    index::{Condition, ENTRY_BYTES, Index, Term},
    lock::lock,
    resource::Resource,
    search::LOOKUP,
    snapshot::Snapshot,
    tree::Tree,
};

/// A label's index is built after scans in vain of this many times the number of objects.
const SCANS: usize = 4;
/// Scanning this many objects is as fast as anything else that a request does.
const FEW: usize = 512;
/// An index that was not searched for this long is dropped.
const IDLE: Duration = Duration::from_mins(10);
/// How long readers may hold old snapshots. The memory of a dropped index is freed after that, off the commit thread.
const HELD: Duration = Duration::from_secs(10);
/// With at most this many changes left, writers may wait until an index has them.
const FEW_CHANGES: usize = 32;
/// The maximum number of rounds in which an index catches up before writers must wait.
const ROUNDS: usize = 16;

impl Resource {
    /// Notes that a selector with these conditions examined objects of a snapshot one by one, and what it selected. May begin to
    /// build an index. Call it on a thread of the runtime.
    pub fn scanned(self: &Arc<Self>, of: &Snapshot, conditions: &[Condition], examined: usize, selected: usize) {
        let in_vain = examined.saturating_sub(selected * LOOKUP);
        let missing = conditions.iter().find(|condition| !of.has_index(condition));
        let Some(condition) = missing.filter(|_| in_vain > 0 && of.len() >= FEW) else { return };
        let scans = if matches!(condition.term, Term::Field(_)) { 1 } else { SCANS };
        if !lock(&self.demand).charge(&condition.term, in_vain, of.len().saturating_mul(scans)) {
            return;
        }
        let (resource, term) = (Arc::downgrade(self), condition.term.clone());
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn(keep(resource, term))),
            Err(_) => lock(&self.demand).release(&condition.term),
        }
    }

    /// Builds an index and adds it to the state; returns whether it was added.
    fn add_index(&self, term: &Term) -> bool {
        let mut tree = self.snapshot().tree;
        let shared = &self.replica.shared;
        if shared.index_bytes() + tree.len() * ENTRY_BYTES > shared.limits.index_bytes {
            return false;
        }
        let mut index = tree.build(term);
        for _ in 0..ROUNDS {
            let later = self.snapshot().tree;
            let changed = tree.follow(&later, &mut index);
            tree = later;
            if changed <= FEW_CHANGES {
                break;
            }
        }
        self.change_tree(|newest| {
            tree.follow(newest, &mut index);
            newest.add(index);
        })
        .is_some()
    }

    fn remove_index(&self, term: &Term) -> Option<Index> {
        self.change_tree(|tree| tree.drop_index(term)).flatten()
    }

    /// Changes the newest tree's indexes. `None` if the resource has ended.
    fn change_tree<T>(&self, change: impl FnOnce(&mut Tree) -> T) -> Option<T> {
        let feeder = self.feeder.upgrade()?;
        lock(&feeder).change_tree(&self.replica, change)
    }

    fn searches(&self, term: &Term) -> Option<u64> {
        if self.has_ended() {
            return None;
        }
        self.snapshot().tree.index(term).map(Index::searches)
    }
}

/// Builds an index, and drops it when it is not used any more. Ends with the resource.
async fn keep(resource: Weak<Resource>, term: Term) {
    let build = {
        let (resource, term) = (resource.clone(), term.clone());
        move || resource.upgrade().is_some_and(|resource| resource.add_index(&term))
    };
    if tokio::task::spawn_blocking(build).await.unwrap_or(false) {
        unused(&resource, &term).await;
    }
    let Some(resource) = resource.upgrade() else { return };
    let dropped = resource.remove_index(&term);
    lock(&resource.demand).release(&term);
    drop(resource);
    if let Some(index) = dropped {
        tokio::time::sleep(HELD).await;
        drop(tokio::task::spawn_blocking(move || drop(index)));
    }
}

/// Waits until an index is not used any more.
async fn unused(resource: &Weak<Resource>, term: &Term) {
    let mut seen = 0;
    loop {
        tokio::time::sleep(IDLE).await;
        match resource.upgrade().and_then(|resource| resource.searches(term)) {
            Some(searches) if searches > seen => seen = searches,
            _ => return,
        }
    }
}

#[cfg(test)]
mod tests;
