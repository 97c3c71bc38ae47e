//! A store that other processes write to, as an engine over a network is one: the connection to it breaks, and what was
//! committed meanwhile is lost to this process.

#![allow(clippy::unwrap_used, reason = "for tests alone: only functions marked as tests are exempt by themselves")]

use std::{
    future,
    sync::{Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

use super::{Change, Commit, CommitFuture, Delivery, Entry, Health, Memory, ReadError, Sink, Store, Visit};
use crate::meta::Revision;

/// A memory store that delivers its changes while it is connected.
#[derive(Default)]
pub struct Relay {
    store: Memory,
    link: Mutex<Link>,
}

#[derive(Default)]
struct Link {
    sink: Option<Sink>,
    is_cut: bool,
    /// True if the changes of a commit are delivered with the revision of the last one, as by an engine whose transactions
    /// have one revision.
    is_joined: bool,
    /// Everything that was committed, delivered or not, compacted or not.
    log: Vec<Change>,
}

impl Relay {
    /// From now on changes are committed and not delivered.
    pub fn cut(&self) {
        lock(&self.link).is_cut = true;
    }

    /// Compacts what was committed, delivers the state, and from then on changes again.
    pub fn reconnect(&self) {
        let link = lock(&self.link);
        self.connect(link, self.store.range("").unwrap());
    }

    /// The same with a state that was read earlier.
    pub fn reconnect_with(&self, state: (Vec<Entry>, Revision)) {
        self.connect(lock(&self.link), state);
    }

    fn connect(&self, mut link: MutexGuard<'_, Link>, (entries, at): (Vec<Entry>, Revision)) {
        self.store.compact(at).unwrap();
        link.is_cut = false;
        link.sink.as_mut().unwrap()(Delivery::State(&entries, at));
    }

    /// From now on the changes of a commit have one revision.
    pub fn join(&self) {
        lock(&self.link).is_joined = true;
    }

    /// Delivers no change, and a revision or the newest one if that is later.
    pub fn skip_to(&self, revision: Revision) {
        let mut link = lock(&self.link);
        let upto = revision.max(self.store.head());
        link.sink.as_mut().unwrap()(Delivery::Changes(&[], upto));
    }

    /// The changes that were delivered.
    pub fn log(&self) -> Vec<Change> {
        lock(&self.link).log.clone()
    }
}

impl Store for Relay {
    fn attach(&self, sink: Sink) {
        lock(&self.link).sink = Some(sink);
    }

    fn commit(&self, commit: Commit) -> CommitFuture<'_> {
        let mut link = lock(&self.link);
        let before = self.store.head();
        let Poll::Ready(result) = self.store.commit(commit).as_mut().poll(&mut Context::from_waker(Waker::noop()))
        else {
            panic!("the memory store commits at once")
        };
        let mut changes = self.store.changes(before, usize::MAX).unwrap();
        if link.is_joined {
            for change in &mut changes {
                change.revision = self.store.head();
            }
        }
        let is_cut = link.is_cut;
        if let (Some(last), Some(sink)) = (changes.last(), link.sink.as_mut().filter(|_| !is_cut)) {
            sink(Delivery::Changes(&changes, last.revision));
        }
        link.log.extend(changes);
        Box::pin(future::ready(result))
    }

    fn get(&self, key: &str) -> Result<Option<Entry>, ReadError> {
        self.store.get(key)
    }

    fn range(&self, prefix: &str) -> Result<(Vec<Entry>, Revision), ReadError> {
        self.store.range(prefix)
    }

    fn scan(&self, prefixes: &[&str], visit: Visit<'_>) -> Result<Revision, ReadError> {
        self.store.scan(prefixes, visit)
    }

    fn head(&self) -> Revision {
        self.store.head()
    }

    fn compacted(&self) -> Revision {
        self.store.compacted()
    }

    fn changes(&self, after: Revision, limit: usize) -> Result<Vec<Change>, ReadError> {
        self.store.changes(after, limit)
    }

    fn compact(&self, upto: Revision) -> Result<(), ReadError> {
        self.store.compact(upto)
    }

    fn health(&self) -> Health {
        self.store.health()
    }

    fn close(&self) {
        self.store.close();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
