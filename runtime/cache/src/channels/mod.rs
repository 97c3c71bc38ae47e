//! The channels of a resource: each narrow subscription has one, with exactly those changes of the window that match it (since
//! the channel was opened), so that its subscribers skip all others.

mod channel;
mod index;

use std::{mem, sync::Arc, task::Waker};

pub(super) use channel::Subscribers;

use crate::{change::Change, meta::Revision, runs::Run, subscription::Subscription, window::Changes};
use channel::Channel;
use index::Index;

/// Identifies a subscriber: its channel (`None` for the whole resource), and the position of its waker there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Subscriber {
    pub(super) channel: Option<usize>,
    pub(super) number: usize,
}

/// The open channels, by number.
#[derive(Default)]
pub(super) struct Channels {
    channels: Vec<Option<Channel>>,
    /// Unused numbers.
    free: Vec<usize>,
    index: Index,
    /// Channels with changes whose subscribers have not been woken.
    pending: Vec<usize>,
}

impl Channels {
    /// An open channel.
    pub(super) fn get(&self, number: usize) -> Option<&Channel> {
        self.channels[number].as_ref()
    }

    /// An open channel, for its subscribers.
    pub(super) fn get_mut(&mut self, number: usize) -> Option<&mut Channel> {
        self.channels[number].as_mut()
    }

    /// Keeps frames for other subscribers of a channel.
    pub(super) fn keep_run(&mut self, number: usize, run: &Arc<Run>) {
        if let Some(channel) = &mut self.channels[number] {
            channel.keep_run(run);
        }
    }

    /// Forgets all changes. The channels are complete from a revision on.
    pub(super) fn begin(&mut self, floor: Revision) {
        self.channels.iter_mut().flatten().for_each(|channel| channel.begin(floor));
    }

    /// Adds the next change to the channels that it matches.
    pub(super) fn push(&mut self, change: &Arc<Change>) {
        let Self { channels, index, pending, .. } = self;
        index.touched(change, |number| {
            let Some(channel) = channels[number].as_mut() else { return };
            channel.push(Arc::clone(change));
            if !channel.pending {
                channel.pending = true;
                pending.push(number);
            }
        });
    }

    /// Removes the oldest change of the window.
    pub(super) fn pop(&mut self, change: &Change) {
        let Self { channels, index, .. } = self;
        index.touched(change, |number| {
            if let Some(channel) = channels[number].as_mut() {
                channel.pop_if(change.revision);
            }
        });
    }

    /// Adds a subscriber to the channel of its subscription, if that is open and complete after a revision.
    pub(super) fn join(&mut self, subscription: &Subscription, after: Revision) -> Option<Subscriber> {
        let number = self.index.find(subscription)?;
        let channel = self.channels[number].as_mut().filter(|channel| channel.floor() <= after)?;
        Some(Subscriber { channel: Some(number), number: channel.subscribers.add() })
    }

    /// Adds a subscriber to the channel of its subscription, which it opens or extends back to a revision. `found` has all
    /// matching changes after it.
    pub(super) fn subscribe(&mut self, subscription: &Subscription, mut found: Changes, after: Revision) -> Subscriber {
        let number = self.index.find(subscription);
        let number = number.unwrap_or_else(|| self.open(subscription, mem::take(&mut found), after));
        let channel = self.channels[number].as_mut().expect("the index names open channels");
        channel.extend_back(found, after);
        Subscriber { channel: Some(number), number: channel.subscribers.add() }
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
    pub(super) fn unsubscribe(&mut self, number: usize, subscriber: usize) {
        let Some(channel) = self.channels[number].as_mut() else { return };
        channel.subscribers.remove(subscriber);
        if channel.subscribers.is_empty() {
            self.index.remove(&channel.subscription);
            self.channels[number] = None;
            self.free.push(number);
        }
    }

    /// Takes the wakers of subscribers with new changes.
    pub(super) fn take_wakers(&mut self, wakers: &mut Vec<Waker>) {
        for number in self.pending.drain(..) {
            if let Some(channel) = self.channels[number].as_mut() {
                channel.pending = false;
                channel.take_wakers(wakers);
            }
        }
    }

    /// Takes the wakers of all subscribers.
    pub(super) fn take_all_wakers(&mut self, wakers: &mut Vec<Waker>) {
        self.channels.iter_mut().flatten().for_each(|channel| channel.take_wakers(wakers));
    }

    /// The size of the kept frames.
    #[cfg(test)]
    pub(super) fn frame_bytes(&self) -> usize {
        self.channels.iter().flatten().map(Channel::frame_bytes).sum()
    }

    /// The number of allocated places.
    #[cfg(test)]
    pub(super) fn footprint(&self) -> usize {
        self.channels.len()
    }
}
