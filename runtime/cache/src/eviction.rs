//! The order of eviction. If past changes exceed their budget, the oldest change of the whole cache is dropped, whichever
//! resource it belongs to.
//!
//! Locks are taken in this order: the order of eviction, then a resource's feed.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, Weak},
};

use super::{
    budget::Budget,
    feed::{Feed, Rank},
    lock::lock,
};

/// The windows that have changes, by the revision of their oldest change and the resource's id.
#[derive(Default)]
pub(super) struct EvictionOrder(BTreeMap<Rank, Weak<Mutex<Feed>>>);

impl EvictionOrder {
    /// Moves a window to its place after its oldest change has become another one. `feed` is `shared`, locked.
    pub(super) fn place(&mut self, id: u64, shared: &Arc<Mutex<Feed>>, feed: &mut Feed) {
        let rank = feed.oldest().map(|oldest| (oldest, id));
        if feed.rank != rank {
            self.remove(feed);
            if let Some(rank) = rank {
                self.0.insert(rank, Arc::downgrade(shared));
            }
            feed.rank = rank;
        }
    }

    /// Removes a window.
    pub(super) fn remove(&mut self, feed: &mut Feed) {
        if let Some(rank) = feed.rank.take() {
            self.0.remove(&rank);
        }
    }

    /// Drops the oldest changes of the cache until the rest fits. The newest change of all always stays.
    pub(super) fn evict(&mut self, budget: &Budget) {
        while budget.is_exceeded() {
            let Some((rank, feed)) = self.0.pop_first() else { return };
            let Some(shared) = feed.upgrade() else { continue };
            let next = self.0.first_key_value().map(|(next, _)| next.0);
            let mut feed = lock(&shared);
            feed.rank = None;
            while budget.is_exceeded() && feed.oldest().is_some_and(|oldest| next.is_none_or(|next| oldest <= next)) {
                if next.is_none() && feed.size().changes == 1 {
                    self.place(rank.1, &shared, &mut feed);
                    return;
                }
                feed.evict();
            }
            feed.prune_past();
            self.place(rank.1, &shared, &mut feed);
        }
    }
}
