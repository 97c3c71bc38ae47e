//! The live feed of a resource: the state, the window of past changes, and the subscribers that wait for more.
//!
//! Subscribers to the whole resource read the window. Each narrower subscription has a channel with exactly those
//! changes of the window that match it (since the channel was opened), so that its subscribers skip all others. The
//! feed keeps only a waker for each subscriber. A slow one therefore holds neither memory nor other subscribers back,
//! and falls behind when the window moves past its position.
//!
//! One lock protects the feed. It is held briefly: a new subscriber searches a copy of the window, and wakers are
//! called after it is released.

use std::{mem, sync::Arc, task::Waker};

use super::{
    WindowSize,
    budget::{Budget, Rank},
    change::Change,
    channel::{Channel, Subscribers},
    snapshot::{Past, Snapshot},
    subscription::{Index, Subscription},
    tree::Tree,
    window::{Changes, Chunk, Window},
};
use crate::meta::Revision;

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
    subscribers: Subscribers,
    channels: Vec<Option<Channel>>,
    /// Unused positions in `channels`.
    free: Vec<usize>,
    index: Index,
    /// Channels with changes whose subscribers have not been woken.
    pending: Vec<usize>,
    closed: bool,
}

/// Identifies a subscriber: its channel (`None` for the whole resource), and the position of its waker there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Subscriber {
    channel: Option<usize>,
    number: usize,
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
            subscribers: Subscribers::default(),
            channels: Vec::new(),
            free: Vec::new(),
            index: Index::default(),
            pending: Vec::new(),
            closed: false,
        }
    }

    /// Starts with the state at a revision. Subscribers have fallen behind, unless they are at that revision.
    pub(super) fn begin(&mut self, tree: Tree, floor: Revision) {
        self.tree = tree;
        self.clear(floor);
        self.prune_past();
        for channel in self.channels.iter_mut().flatten() {
            channel.begin(floor);
        }
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

    /// Adds the next change.
    pub(super) fn append(&mut self, change: Arc<Change>) {
        let Self { channels, index, pending, .. } = self;
        index.touched(&change, |number| {
            let Some(channel) = channels[number].as_mut() else { return };
            channel.push(Arc::clone(&change));
            if !channel.pending {
                channel.pending = true;
                pending.push(number);
            }
        });
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
        let channels = &mut self.channels;
        self.index.touched(&change, |number| {
            if let Some(channel) = channels[number].as_mut() {
                channel.pop_if(change.revision);
            }
        });
    }

    /// Adds older changes before the window: all those after `after` up to `upto`. If `upto` is no longer the window's
    /// floor, they would leave a gap and are dropped.
    pub(super) fn prepend(&mut self, older: Vec<Chunk>, after: Revision, upto: Revision) {
        if self.window.floor() == upto {
            older.iter().flat_map(Chunk::changes).for_each(|change| self.count_in(change));
            self.window.prepend(older, after.min(upto));
        }
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
        let Some(number) = self.index.find(subscription) else { return Ok(None) };
        let Some(channel) = self.channels[number].as_mut().filter(|channel| channel.floor() <= after) else {
            return Ok(None);
        };
        Ok(Some(Subscriber { channel: Some(number), number: channel.subscribers.add() }))
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
        found.extend(self.window.after(searched).filter(|change| subscription.touched(change)).cloned());
        let number = self.index.find(subscription);
        let number = number.unwrap_or_else(|| self.open(subscription, mem::take(&mut found), after));
        let channel = self.channels[number].as_mut().expect("the index names open channels");
        channel.extend_back(found, after);
        Ok(Subscriber { channel: Some(number), number: channel.subscribers.add() })
    }

    fn reaches_back_to(&self, revision: Revision) -> Result<(), Revision> {
        let floor = self.window.floor();
        if revision < floor { Err(floor) } else { Ok(()) }
    }

    /// Opens a channel that is complete after a revision.
    fn open(&mut self, subscription: &Subscription, changes: Changes, floor: Revision) -> usize {
        let number = self.free.pop().unwrap_or_else(|| {
            self.channels.push(None);
            self.channels.len() - 1
        });
        self.index.insert(subscription, number);
        self.channels[number] = Some(Channel::new(subscription.clone(), changes, floor));
        number
    }

    /// Removes a subscriber, and closes its channel if it was the last.
    pub(super) fn unsubscribe(&mut self, subscriber: Subscriber) {
        let Some(number) = subscriber.channel else { return self.subscribers.remove(subscriber.number) };
        let Some(channel) = self.channels[number].as_mut() else { return };
        channel.subscribers.remove(subscriber.number);
        if channel.subscribers.is_empty() {
            self.index.remove(&channel.subscription);
            self.channels[number] = None;
            self.free.push(number);
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
        let (floor, has_more, subscribers) = match subscriber.channel.map(|number| channels[number].as_mut()) {
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
        let (floor, next) = match subscriber.channel.map(|number| self.channels[number].as_ref()) {
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
        self.subscribers.drain_into(wakers);
        for number in self.pending.drain(..) {
            if let Some(channel) = self.channels[number].as_mut() {
                channel.pending = false;
                channel.subscribers.drain_into(wakers);
            }
        }
    }

    /// The number of allocated places for subscribers to the whole resource, and for channels.
    #[cfg(test)]
    pub(super) fn footprint(&self) -> (usize, usize) {
        (self.subscribers.footprint(), self.channels.len())
    }

    /// Ends every subscriber after its remaining changes, and takes all wakers.
    pub(super) fn close(&mut self, wakers: &mut Vec<Waker>) {
        self.closed = true;
        self.take_all_wakers(wakers);
    }

    /// Takes the wakers of all subscribers.
    pub(super) fn take_all_wakers(&mut self, wakers: &mut Vec<Waker>) {
        self.subscribers.drain_into(wakers);
        self.channels.iter_mut().flatten().for_each(|channel| channel.subscribers.drain_into(wakers));
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
