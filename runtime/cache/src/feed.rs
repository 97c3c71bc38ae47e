//! The live feed of a resource: the state, the window of past changes, and the subscribers that wait for more.
//!
//! Subscribers to the whole resource read the window; those of narrower subscriptions read a channel. The feed keeps only a
//! waker for each subscriber. A slow one therefore holds neither memory nor other subscribers back, and falls behind when the
//! window moves past its position.
//!
//! One lock protects the feed. It is held briefly: a new subscriber searches a copy of the window, and wakers are
//! called after it is released.

use std::{mem, sync::Arc, task::Waker};

use super::{
    budget::Budget,
    change::Change,
    channels::{Channels, Subscriber, Subscribers},
    runs::{Frames, Run, Runs},
    snapshot::{Past, Snapshot},
    subscription::Subscription,
    tree::Tree,
    window::{Changes, Chunk, Window, WindowSize},
};
use crate::meta::Revision;

/// A window's position in the order of eviction: the revision of its oldest change, and the resource's id.
pub(super) type Rank = (Revision, u64);

/// The feed of one resource.
pub(super) struct Feed {
    /// The state after the window's last change.
    pub(super) tree: Tree,
    /// Past snapshots, kept for paging.
    pub(super) past: Past,
    /// The window's place in the order of eviction, if it has one.
    pub(super) rank: Option<Rank>,
    window: Window,
    window_bytes: usize,
    budget: Arc<Budget>,
    /// The number of times that the window began anew.
    beginnings: u64,
    /// The beginning whose history was read from the store's log.
    filled: u64,
    /// Those of the whole resource.
    subscribers: Subscribers,
    /// Frames for them.
    runs: Runs,
    channels: Channels,
    closed: bool,
}

/// The result of polling for changes.
pub(super) enum PollResult {
    /// Changes were added to the batch.
    Changes,
    /// No changes yet; the waker is kept.
    Nothing,
    /// The window has moved past the position.
    Lagged,
    /// No changes, and no more will come.
    Closed,
}

impl Feed {
    pub(super) fn new(budget: Arc<Budget>) -> Self {
        Self {
            tree: Tree::default(),
            past: Past::default(),
            rank: None,
            window: Window::new(Revision(0)),
            window_bytes: 0,
            budget,
            beginnings: 0,
            filled: 0,
            subscribers: Subscribers::default(),
            runs: Runs::default(),
            channels: Channels::default(),
            closed: false,
        }
    }

    /// Starts with the state at a revision. Subscribers have fallen behind, unless they are at that revision.
    pub(super) fn begin(&mut self, tree: Tree, floor: Revision) {
        self.tree = tree;
        self.beginnings += 1;
        self.clear(floor);
        self.prune_past();
        self.runs.clear();
        self.channels.begin(floor);
    }

    fn clear(&mut self, floor: Revision) {
        let old = mem::replace(&mut self.window, Window::new(floor));
        old.after(Revision(0)).for_each(|change| change.release(&self.budget));
        self.window_bytes = 0;
    }

    /// Drops past snapshots that are not to be kept any more.
    pub(super) fn prune_past(&mut self) {
        self.past.prune(self.window.floor());
    }

    /// Keeps a snapshot, unless its revision is before the window's floor.
    pub(super) fn keep(&mut self, snapshot: Snapshot) {
        self.past.keep(snapshot, self.window.floor());
    }

    /// The size of the window.
    pub(super) fn size(&self) -> WindowSize {
        WindowSize { changes: self.window.len(), bytes: self.window_bytes }
    }

    /// The revision after which the window is complete.
    pub(super) fn floor(&self) -> Revision {
        self.window.floor()
    }

    /// The revision of the window's oldest change.
    pub(super) fn oldest(&self) -> Option<Revision> {
        self.window.oldest()
    }

    /// An unchanging copy of the window, made in constant time.
    pub(super) fn window(&self) -> Window {
        self.window.clone()
    }

    /// The number of times that the window began anew.
    pub(super) fn beginnings(&self) -> u64 {
        self.beginnings
    }

    /// True if the window has been filled since it began.
    pub(super) fn is_filled(&self) -> bool {
        self.filled == self.beginnings
    }

    /// Adds the next change.
    pub(super) fn append(&mut self, change: Arc<Change>) {
        self.channels.push(&change);
        self.count_in(&change);
        self.window.push(change);
    }

    fn count_in(&mut self, change: &Change) {
        self.window_bytes += change.size();
        self.budget.add(change.size());
    }

    /// Drops the oldest change.
    pub(super) fn evict(&mut self) {
        let Some(change) = self.window.pop() else { return };
        self.window_bytes -= change.size();
        change.release(&self.budget);
        self.channels.pop(&change);
    }

    /// Fills the window with older changes: all those after `after` up to `upto`, as of one of its beginnings. If `upto` is no
    /// longer the window's floor, they would leave a gap and are dropped.
    pub(super) fn fill(&mut self, older: Vec<Chunk>, after: Revision, upto: Revision, beginning: u64) {
        if self.window.floor() == upto {
            older.iter().flat_map(Chunk::changes).for_each(|change| self.count_in(change));
            self.window.prepend(older, after.min(upto));
        }
        self.filled = beginning;
    }

    /// Adds a subscriber if that needs no search in the window; otherwise returns `None`, and [`Feed::subscribe`] adds
    /// it after the search.
    ///
    /// # Errors
    /// The window's floor, if the window no longer has all changes of the resource after the subscriber's position.
    pub(super) fn join(
        &mut self,
        subscription: &Subscription,
        after: Revision,
    ) -> Result<Option<Subscriber>, Revision> {
        self.reaches_back_to(after)?;
        if *subscription == Subscription::All {
            return Ok(Some(Subscriber { channel: None, number: self.subscribers.add() }));
        }
        if !self.window.has_after(after) {
            return self.subscribe(subscription, after, Changes::new(), after).map(Some);
        }
        Ok(self.channels.join(subscription, after))
    }

    /// Adds a subscriber to its channel. `found` has the matching changes after its position, up to `searched`. Those
    /// that came during the search are added here.
    ///
    /// # Errors
    /// Those of [`Feed::join`].
    pub(super) fn subscribe(
        &mut self,
        subscription: &Subscription,
        after: Revision,
        mut found: Changes,
        searched: Revision,
    ) -> Result<Subscriber, Revision> {
        self.reaches_back_to(after)?;
        // A position in the future: the channel has all changes from now on.
        let after = after.min(self.window.newest().unwrap_or(self.window.floor()));
        found.extend(self.window.after(searched).filter(|change| change.touches(subscription)).cloned());
        Ok(self.channels.subscribe(subscription, found, after))
    }

    fn reaches_back_to(&self, revision: Revision) -> Result<(), Revision> {
        let floor = self.window.floor();
        if revision < floor { Err(floor) } else { Ok(()) }
    }

    /// Removes a subscriber, and closes its channel if it was the last.
    pub(super) fn unsubscribe(&mut self, subscriber: Subscriber) {
        if let Some(channel) = subscriber.channel {
            return self.channels.unsubscribe(channel, subscriber.number);
        }
        self.subscribers.remove(subscriber.number);
        if self.subscribers.is_empty() {
            self.runs.clear();
        }
    }

    /// The frames of the changes after a position, if another subscriber made them.
    pub(super) fn frames(&self, subscriber: Subscriber, position: Revision) -> Option<Frames> {
        match subscriber.channel {
            None => self.runs.after(position, self.window.newest()),
            Some(channel) => self.channels.get(channel)?.frames(position),
        }
    }

    /// Keeps frames for other subscribers to the same changes.
    pub(super) fn keep_run(&mut self, subscriber: Subscriber, run: &Arc<Run>) {
        match subscriber.channel {
            None => self.runs.keep(run, self.subscribers.len()),
            Some(channel) => self.channels.keep_run(channel, run),
        }
    }

    /// Adds the next changes after a position to the batch, about `max`, or keeps the waker.
    pub(super) fn poll(
        &mut self,
        subscriber: Subscriber,
        position: Revision,
        max: usize,
        batch: &mut impl Extend<Arc<Change>>,
        waker: &Waker,
    ) -> PollResult {
        let Self { window, channels, subscribers, .. } = self;
        let (floor, has_more, subscribers) = match subscriber.channel.map(|number| channels.get_mut(number)) {
            None => {
                let has_more = window.has_after(position);
                if has_more && position >= window.floor() {
                    batch.extend(whole(window.after(position), max));
                }
                (window.floor(), has_more, subscribers)
            }
            Some(Some(channel)) => {
                let has_more = channel.has_after(position);
                if has_more && position >= channel.floor() {
                    batch.extend(whole(channel.after(position), max));
                }
                (channel.floor(), has_more, &mut channel.subscribers)
            }
            Some(None) => return PollResult::Closed,
        };
        if position < floor {
            return PollResult::Lagged;
        }
        if has_more {
            return PollResult::Changes;
        }
        if self.closed {
            return PollResult::Closed;
        }
        subscribers.keep(subscriber.number, waker);
        PollResult::Nothing
    }

    /// The revision up to which the subscriber has no pending change, if the window has all changes up to `fed`.
    pub(super) fn clear_upto(&self, subscriber: Subscriber, position: Revision, fed: Revision) -> Revision {
        let (floor, next) = match subscriber.channel.map(|number| self.channels.get(number)) {
            None => (self.window.floor(), self.window.after(position).next()),
            Some(Some(channel)) => (channel.floor(), channel.after(position).next()),
            Some(None) => return position,
        };
        if position < floor {
            return position;
        }
        next.map_or(fed, |change| change.revision.previous()).max(position)
    }

    /// Takes the wakers of subscribers with new changes. Call them after the lock is released.
    pub(super) fn take_wakers(&mut self, wakers: &mut Vec<Waker>) {
        if self.subscribers.drain_into(wakers) {
            self.runs.clear();
        }
        self.channels.take_wakers(wakers);
    }

    /// The number of allocated places for subscribers to the whole resource, and for channels.
    #[cfg(test)]
    pub(super) fn footprint(&self) -> (usize, usize) {
        (self.subscribers.footprint(), self.channels.footprint())
    }

    /// The size of the kept frames.
    #[cfg(test)]
    pub(super) fn frame_bytes(&self) -> usize {
        self.runs.bytes() + self.channels.frame_bytes()
    }

    /// Ends every subscriber after its remaining changes, and takes all wakers.
    pub(super) fn close(&mut self, wakers: &mut Vec<Waker>) {
        self.closed = true;
        self.take_all_wakers(wakers);
    }

    /// Takes the wakers of all subscribers.
    pub(super) fn take_all_wakers(&mut self, wakers: &mut Vec<Waker>) {
        self.subscribers.drain_into(wakers);
        self.channels.take_all_wakers(wakers);
    }
}

/// The first `max` changes, and the others of the last revision: a position is never between changes of one revision.
fn whole<'c>(changes: impl Iterator<Item = &'c Arc<Change>>, max: usize) -> impl Iterator<Item = Arc<Change>> {
    let (mut taken, mut last) = (0, Revision(0));
    let fits = move |change: &&Arc<Change>| {
        let fits = taken < max || change.revision == last;
        (taken, last) = (taken + 1, change.revision);
        fits
    };
    changes.take_while(fits).cloned()
}

impl Drop for Feed {
    fn drop(&mut self) {
        self.clear(Revision(0));
    }
}
