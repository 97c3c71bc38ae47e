//! A channel: the changes that match one narrow subscription, and the subscribers that wait for more.

use std::{sync::Arc, task::Waker};

use crate::{
    change::Change,
    meta::Revision,
    runs::{Frames, Run, Runs},
    subscription::Subscription,
    window::{self, Changes},
};

/// The changes of the window that match a subscription, complete after a floor, and its subscribers.
pub(crate) struct Channel {
    pub(super) subscription: Subscription,
    pub(crate) subscribers: Subscribers,
    /// True if there are new changes for which the subscribers have not been woken.
    pub(super) pending: bool,
    changes: Changes,
    floor: Revision,
    /// Frames for the subscribers.
    runs: Runs,
}

impl Channel {
    /// A channel with all matching changes after a revision.
    pub(super) fn new(subscription: Subscription, changes: Changes, floor: Revision) -> Self {
        Self {
            subscription,
            subscribers: Subscribers::default(),
            pending: false,
            changes,
            floor,
            runs: Runs::default(),
        }
    }

    /// The channel has all matching changes after this revision.
    pub(crate) fn floor(&self) -> Revision {
        self.floor
    }

    /// Forgets all changes. The channel is complete from a revision on.
    pub(super) fn begin(&mut self, floor: Revision) {
        self.changes.clear();
        self.runs.clear();
        self.floor = floor;
    }

    pub(super) fn push(&mut self, change: Arc<Change>) {
        self.changes.push_back(change);
    }

    /// Removes the oldest change if it has this revision.
    pub(super) fn pop_if(&mut self, revision: Revision) {
        if self.changes.front().is_some_and(|first| first.revision == revision) {
            self.changes.pop_front();
            self.floor = self.floor.max(revision);
        }
    }

    /// Extends the channel back to a revision. `found` has all matching changes after it.
    pub(super) fn extend_back(&mut self, mut found: Changes, floor: Revision) {
        if floor < self.floor {
            found.truncate(found.partition_point(|change| change.revision <= self.floor));
            found.append(&mut self.changes);
            self.changes = found;
            self.floor = floor;
        }
    }

    /// Changes strictly after a revision, in order.
    pub(crate) fn after(&self, revision: Revision) -> impl Iterator<Item = &Arc<Change>> {
        window::after(&self.changes, revision)
    }

    /// True if there is a change after a revision.
    pub(crate) fn has_after(&self, revision: Revision) -> bool {
        self.newest().is_some_and(|newest| newest > revision)
    }

    fn newest(&self) -> Option<Revision> {
        self.changes.back().map(|last| last.revision)
    }

    /// The frames of the changes after a position, if another subscriber made them.
    pub(crate) fn frames(&self, position: Revision) -> Option<Frames> {
        self.runs.after(position, self.newest())
    }

    pub(crate) fn keep_run(&mut self, run: &Arc<Run>) {
        self.runs.keep(run, self.subscribers.len());
    }

    #[cfg(test)]
    pub(super) fn frame_bytes(&self) -> usize {
        self.runs.bytes()
    }

    /// Takes the wakers of all subscribers.
    pub(super) fn take_wakers(&mut self, wakers: &mut Vec<Waker>) {
        if self.subscribers.drain_into(wakers) {
            self.runs.clear();
        }
    }
}

/// The wakers of subscribers that wait, by position.
#[derive(Default)]
pub(crate) struct Subscribers {
    wakers: Vec<Option<Waker>>,
    free: Vec<usize>,
}

impl Subscribers {
    pub(crate) fn add(&mut self) -> usize {
        self.free.pop().unwrap_or_else(|| {
            self.wakers.push(None);
            self.wakers.len() - 1
        })
    }

    pub(crate) fn remove(&mut self, number: usize) {
        self.wakers[number] = None;
        self.free.push(number);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn len(&self) -> usize {
        self.wakers.len() - self.free.len()
    }

    pub(crate) fn keep(&mut self, number: usize, waker: &Waker) {
        match &mut self.wakers[number] {
            Some(kept) => kept.clone_from(waker),
            empty => *empty = Some(waker.clone()),
        }
    }

    /// Takes all wakers. True if all subscribers waited: none of them needs a change before that for which they are woken.
    pub(crate) fn drain_into(&mut self, wakers: &mut Vec<Waker>) -> bool {
        let before = wakers.len();
        wakers.extend(self.wakers.iter_mut().filter_map(Option::take));
        wakers.len() - before == self.len()
    }

    /// The number of allocated places.
    #[cfg(test)]
    pub(crate) fn footprint(&self) -> usize {
        self.wakers.len()
    }
}
