//! A store for tests that delays commits, so that other writers can act between a writer's read and its commit.
use std::{
    future::Future,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use super::{Change, Commit, CommitFuture, Entry, Health, Memory, ReadError, Sink, Store, Visit};
use crate::meta::Revision;

type Delay = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A memory store that waits before each commit that has operations.
pub struct DelayedStore {
    store: Arc<Memory>,
    delay: Box<dyn Fn(usize) -> Delay + Send + Sync>,
    times: AtomicUsize,
}

impl DelayedStore {
    /// `delay` receives the number of commits delayed so far.
    pub fn new<F>(store: Arc<Memory>, delay: impl Fn(usize) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        Self { store, delay: Box::new(move |time| Box::pin(delay(time))), times: AtomicUsize::new(0) }
    }

    /// The number of delayed commits.
    pub fn times(&self) -> usize {
        self.times.load(Ordering::Relaxed)
    }
}

impl Store for DelayedStore {
    fn commit(&self, commit: Commit) -> CommitFuture<'_> {
        Box::pin(async move {
            if !commit.holds.is_empty() {
                (self.delay)(self.times.fetch_add(1, Ordering::Relaxed)).await;
            }
            self.store.commit(commit).await
        })
    }

    fn attach(&self, sink: Sink) {
        self.store.attach(sink);
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
