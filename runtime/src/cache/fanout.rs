//! A resource's live feed: the state, the window of past changes, and who waits for the next ones.
//!
//! Watchers of everything read the window itself. Each narrower interest that somebody watches has a topic: exactly
//! those changes of the window that touch it (since the topic began), so that its watchers look at no other. A watcher
//! keeps nothing here but a seat for its waker: a slow one holds neither memory nor anybody back. It is left behind
//! when the window moves past it.
//!
//! All of it lies under one lock, held for moments only; nobody is woken under it.

use std::{sync::Arc, task::Waker};

use super::{
    Limits,
    change::{Change, Log},
    interest::{Index, Interest},
    snapshot::Past,
    tree::Tree,
};
use crate::meta::Revision;

/// The feed of one resource.
pub(super) struct Feed {
    /// The state after the window's last change.
    pub(super) tree: Tree,
    /// Past snapshots that are kept for paging.
    pub(super) past: Past,
    window: Log,
    window_bytes: usize,
    limits: Limits,
    everyone: Seats,
    topics: Vec<Option<Topic>>,
    /// Numbers of `topics` that nobody uses.
    free: Vec<usize>,
    index: Index,
    /// Topics with changes that their watchers have not been woken for.
    stirred: Vec<usize>,
    closed: bool,
}

/// The watchers of one narrow interest, and the changes that touch it.
struct Topic {
    interest: Interest,
    log: Log,
    seats: Seats,
    stirred: bool,
}

/// Where a watcher's waker is kept.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seat {
    topic: Option<usize>,
    number: usize,
}

/// What a watcher finds.
pub(super) enum Found {
    /// Changes; they are in the batch.
    Changes,
    /// Nothing yet; its waker is kept.
    Nothing,
    /// The window has moved past its position.
    Lagged,
    /// Nothing, and nothing will come.
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
            everyone: Seats::default(),
            topics: Vec::new(),
            free: Vec::new(),
            index: Index::default(),
            stirred: Vec::new(),
            closed: false,
        }
    }

    /// Begins with the state at a revision.
    pub(super) fn begin(&mut self, tree: Tree, floor: Revision) {
        self.tree = tree;
        self.window = Log::new(floor);
    }

    /// The revision after which no change is missing from the window.
    pub(super) fn floor(&self) -> Revision {
        self.window.floor()
    }

    /// Changes in the window after a revision.
    pub(super) fn after(&self, revision: Revision) -> impl DoubleEndedIterator<Item = &Arc<Change>> {
        self.window.after(revision)
    }

    /// Takes the next change in.
    pub(super) fn append(&mut self, change: Arc<Change>) {
        let Self { topics, index, stirred, .. } = self;
        index.touched(&change, |number| {
            let Some(topic) = topics[number].as_mut() else { return };
            topic.log.push(Arc::clone(&change));
            if !topic.stirred {
                topic.stirred = true;
                stirred.push(number);
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
        let topics = &mut self.topics;
        self.index.touched(&change, |number| {
            if let Some(topic) = topics[number].as_mut() {
                topic.log.pop_if(change.revision);
            }
        });
    }

    /// Puts older changes before the window, as many of the newest as fit. They are all that happened after `after`
    /// and up to `upto`; where that is no longer the window's floor, they would leave a gap and are dropped.
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

    /// Gives a watcher a seat, unless changes of the resource after its position are no longer in the window.
    pub(super) fn join(&mut self, interest: &Interest, after: Revision) -> Option<Seat> {
        if after < self.window.floor() {
            return None;
        }
        if *interest == Interest::All {
            return Some(Seat { topic: None, number: self.everyone.take() });
        }
        let number = self.index.find(interest).unwrap_or_else(|| self.open(interest, after));
        let Self { topics, window, .. } = self;
        let topic = topics[number].as_mut().expect("the index names open topics");
        let floor = topic.log.floor();
        if after < floor {
            // Others began to watch this later: fetch what they did not ask for.
            let missing = window.after(after).take_while(|change| change.revision <= floor);
            let missing: Vec<_> = missing.filter(|change| interest.touched(change)).cloned().collect();
            missing.into_iter().rev().for_each(|change| topic.log.push_older(change));
            topic.log.lower(after);
        }
        Some(Seat { topic: Some(number), number: topic.seats.take() })
    }

    /// Opens a topic with what the window has after a revision.
    fn open(&mut self, interest: &Interest, after: Revision) -> usize {
        let mut log = Log::new(after);
        self.window
            .after(after)
            .filter(|change| interest.touched(change))
            .for_each(|change| log.push(Arc::clone(change)));
        let topic = Some(Topic { interest: interest.clone(), log, seats: Seats::default(), stirred: false });
        let number = self.free.pop().unwrap_or_else(|| {
            self.topics.push(None);
            self.topics.len() - 1
        });
        self.topics[number] = topic;
        self.index.insert(interest, number);
        number
    }

    /// Gives a seat back. A topic that nobody watches goes.
    pub(super) fn leave(&mut self, seat: Seat) {
        let Some(number) = seat.topic else { return self.everyone.give_back(seat.number) };
        let Some(topic) = self.topics[number].as_mut() else { return };
        topic.seats.give_back(seat.number);
        if topic.seats.is_empty() {
            self.index.remove(&topic.interest);
            self.topics[number] = None;
            self.free.push(number);
        }
    }

    /// Gives a watcher the changes after its position, at most `max`; or keeps its waker.
    pub(super) fn poll(
        &mut self,
        seat: Seat,
        position: Revision,
        max: usize,
        batch: &mut impl Extend<Arc<Change>>,
        waker: &Waker,
    ) -> Found {
        let (log, seats) = match seat.topic.map(|number| self.topics[number].as_mut()) {
            None => (&self.window, &mut self.everyone),
            Some(Some(topic)) => (&topic.log, &mut topic.seats),
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
        seats.keep(seat.number, waker);
        Found::Nothing
    }

    /// Up to where nothing waits for a watcher, given that the window has everything up to `fed`.
    pub(super) fn clear_upto(&self, seat: Seat, position: Revision, fed: Revision) -> Revision {
        let log = match seat.topic.map(|number| self.topics[number].as_ref()) {
            None => &self.window,
            Some(Some(topic)) => &topic.log,
            Some(None) => return position,
        };
        if position < log.floor() {
            return position;
        }
        let next = log.after(position).next();
        next.map_or(fed, |change| change.revision.previous()).max(position)
    }

    /// Takes the wakers of all who can go on since the last call. Call them after the lock is released.
    pub(super) fn take_wakers(&mut self, wakers: &mut Vec<Waker>) {
        self.everyone.empty_into(wakers);
        for number in self.stirred.drain(..) {
            if let Some(topic) = self.topics[number].as_mut() {
                topic.stirred = false;
                topic.seats.empty_into(wakers);
            }
        }
    }

    /// How many seats for watchers of everything and how many topics there have been at most.
    #[cfg(test)]
    pub(super) fn footprint(&self) -> (usize, usize) {
        (self.everyone.wakers.len(), self.topics.len())
    }

    /// Whether watches end once they are through.
    pub(super) fn is_closed(&self) -> bool {
        self.closed
    }

    /// Lets every watcher end after what is in its log, and takes all wakers.
    pub(super) fn close(&mut self, wakers: &mut Vec<Waker>) {
        self.closed = true;
        self.everyone.empty_into(wakers);
        self.topics.iter_mut().flatten().for_each(|topic| topic.seats.empty_into(wakers));
    }
}

/// Wakers of those who wait, one seat a watcher.
#[derive(Default)]
struct Seats {
    wakers: Vec<Option<Waker>>,
    free: Vec<usize>,
}

impl Seats {
    fn take(&mut self) -> usize {
        self.free.pop().unwrap_or_else(|| {
            self.wakers.push(None);
            self.wakers.len() - 1
        })
    }

    fn give_back(&mut self, number: usize) {
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

    fn empty_into(&mut self, wakers: &mut Vec<Waker>) {
        wakers.extend(self.wakers.iter_mut().filter_map(Option::take));
    }
}
