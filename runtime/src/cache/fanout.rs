//! The live feed of a resource: the state, the window of past changes, and the subscribers that wait for more.
//!
//! Subscribers to the whole resource read the window. Each narrower subscription has a channel with exactly those
//! changes of the window that match it (since the channel was opened), so that its subscribers skip all others. The
//! feed keeps only a waker for each subscriber. A slow one therefore holds neither memory nor other subscribers back,
//! and falls behind when the window moves past its position.
//!
//! One lock protects the feed. It is held briefly, and wakers are called after it is released.

use std::{sync::Arc, task::Waker};

use super::{
    Limits, Window,
    change::{Change, Log},
    snapshot::Past,
    subscription::{Index, Subscription},
    tree::Tree,
};
use crate::meta::Revision;

/// The feed of one resource.
pub(super) struct Feed {
    /// The state after the window's last change.
    pub(super) tree: Tree,
    /// Past snapshots, kept for paging.
    pub(super) past: Past,
    window: Log,
    window_bytes: usize,
    limits: Limits,
    subscribers: Subscribers,
    channels: Vec<Option<Channel>>,
    /// Unused positions in `channels`.
    free: Vec<usize>,
    index: Index,
    /// Channels with changes whose subscribers have not been woken.
    pending: Vec<usize>,
    closed: bool,
}

/// The subscribers of one narrow subscription, and the changes that match it.
struct Channel {
    subscription: Subscription,
    log: Log,
    subscribers: Subscribers,
    pending: bool,
}

/// Identifies a subscriber: its channel (`None` for the whole resource), and the position of its waker there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Subscriber {
    channel: Option<usize>,
    number: usize,
}

/// The result of polling for changes.
pub(super) enum Found {
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
    pub(super) fn new(limits: Limits) -> Self {
        Self {
            tree: Tree::default(),
            past: Past::default(),
            window: Log::new(Revision(0)),
            window_bytes: 0,
            limits,
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
        self.window = Log::new(floor);
        self.window_bytes = 0;
        for channel in self.channels.iter_mut().flatten() {
            channel.log = Log::new(floor);
        }
    }

    /// How much there is in the window, and how much there may be.
    pub(super) fn size(&self) -> Window {
        Window { changes: self.window.len(), bytes: self.window_bytes, capacity: self.limits.window }
    }

    /// The revision after which the window is complete.
    pub(super) fn floor(&self) -> Revision {
        self.window.floor()
    }

    /// Changes in the window after a revision.
    pub(super) fn after(&self, revision: Revision) -> impl DoubleEndedIterator<Item = &Arc<Change>> {
        self.window.after(revision)
    }

    /// Adds the next change.
    pub(super) fn append(&mut self, change: Arc<Change>) {
        let Self { channels, index, pending, .. } = self;
        index.touched(&change, |number| {
            let Some(channel) = channels[number].as_mut() else { return };
            channel.log.push(Arc::clone(&change));
            if !channel.pending {
                channel.pending = true;
                pending.push(number);
            }
        });
        self.window_bytes += change.size();
        self.window.push(change);
        while self.window.len() > 1 && self.is_full() {
            self.evict();
        }
    }

    fn is_full(&self) -> bool {
        self.window.len() > self.limits.window || self.window_bytes > self.limits.window_bytes
    }

    fn evict(&mut self) {
        let Some(change) = self.window.pop() else { return };
        self.window_bytes -= change.size();
        let channels = &mut self.channels;
        self.index.touched(&change, |number| {
            if let Some(channel) = channels[number].as_mut() {
                channel.log.pop_if(change.revision);
            }
        });
    }

    /// Adds older changes before the window, as many of the newest as fit. They must be all changes after `after` up to
    /// `upto`. If `upto` is no longer the window's floor, they would leave a gap and are dropped.
    pub(super) fn prepend(&mut self, changes: Vec<Arc<Change>>, after: Revision, upto: Revision) {
        if self.window.floor() != upto {
            return;
        }
        for change in changes.into_iter().rev() {
            let size = change.size();
            if self.window.len() >= self.limits.window || self.window_bytes + size > self.limits.window_bytes {
                self.window.lower(change.revision);
                return;
            }
            self.window_bytes += size;
            self.window.push_older(change);
        }
        self.window.lower(after);
    }

    /// Adds a subscriber, unless the window no longer has all changes of the resource after its position.
    pub(super) fn subscribe(&mut self, subscription: &Subscription, after: Revision) -> Option<Subscriber> {
        if after < self.window.floor() {
            return None;
        }
        if *subscription == Subscription::All {
            return Some(Subscriber { channel: None, number: self.subscribers.add() });
        }
        let number = self.index.find(subscription).unwrap_or_else(|| self.open(subscription, after));
        let Self { channels, window, .. } = self;
        let channel = channels[number].as_mut().expect("the index names open channels");
        let floor = channel.log.floor();
        if after < floor {
            // The channel was opened at a later position: add the matching changes before that.
            let missing = window.after(after).take_while(|change| change.revision <= floor);
            let missing: Vec<_> = missing.filter(|change| subscription.touched(change)).cloned().collect();
            missing.into_iter().rev().for_each(|change| channel.log.push_older(change));
            channel.log.lower(after);
        }
        Some(Subscriber { channel: Some(number), number: channel.subscribers.add() })
    }

    /// Opens a channel with the window's matching changes after a revision.
    fn open(&mut self, subscription: &Subscription, after: Revision) -> usize {
        let mut log = Log::new(after);
        self.window
            .after(after)
            .filter(|change| subscription.touched(change))
            .for_each(|change| log.push(Arc::clone(change)));
        let channel = Some(Channel {
            subscription: subscription.clone(),
            log,
            subscribers: Subscribers::default(),
            pending: false,
        });
        let number = self.free.pop().unwrap_or_else(|| {
            self.channels.push(None);
            self.channels.len() - 1
        });
        self.channels[number] = channel;
        self.index.insert(subscription, number);
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

    /// Adds at most `max` changes after a position to the batch, or keeps the waker.
    pub(super) fn poll(
        &mut self,
        subscriber: Subscriber,
        position: Revision,
        max: usize,
        batch: &mut impl Extend<Arc<Change>>,
        waker: &Waker,
    ) -> Found {
        let (log, subscribers) = match subscriber.channel.map(|number| self.channels[number].as_mut()) {
            None => (&self.window, &mut self.subscribers),
            Some(Some(channel)) => (&channel.log, &mut channel.subscribers),
            Some(None) => return Found::Closed,
        };
        if position < log.floor() {
            return Found::Lagged;
        }
        if log.has_after(position) {
            batch.extend(log.after(position).take(max).cloned());
            return Found::Changes;
        }
        if self.closed {
            return Found::Closed;
        }
        subscribers.keep(subscriber.number, waker);
        Found::Nothing
    }

    /// The revision up to which the subscriber has no pending change, if the window has all changes up to `fed`.
    pub(super) fn clear_upto(&self, subscriber: Subscriber, position: Revision, fed: Revision) -> Revision {
        let log = match subscriber.channel.map(|number| self.channels[number].as_ref()) {
            None => &self.window,
            Some(Some(channel)) => &channel.log,
            Some(None) => return position,
        };
        if position < log.floor() {
            return position;
        }
        let next = log.after(position).next();
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
        (self.subscribers.wakers.len(), self.channels.len())
    }

    /// True if watches end after their remaining changes.
    pub(super) fn is_closed(&self) -> bool {
        self.closed
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

/// The wakers of subscribers that wait, by position.
#[derive(Default)]
struct Subscribers {
    wakers: Vec<Option<Waker>>,
    free: Vec<usize>,
}

impl Subscribers {
    fn add(&mut self) -> usize {
        self.free.pop().unwrap_or_else(|| {
            self.wakers.push(None);
            self.wakers.len() - 1
        })
    }

    fn remove(&mut self, number: usize) {
        self.wakers[number] = None;
        self.free.push(number);
    }

    fn is_empty(&self) -> bool {
        self.free.len() == self.wakers.len()
    }

    fn keep(&mut self, number: usize, waker: &Waker) {
        match &mut self.wakers[number] {
            Some(kept) => kept.clone_from(waker),
            empty => *empty = Some(waker.clone()),
        }
    }

    fn drain_into(&mut self, wakers: &mut Vec<Waker>) {
        wakers.extend(self.wakers.iter_mut().filter_map(Option::take));
    }
}
