//! The engine over etcd, for several servers of one API.
//!
//! Keys and values are those of the store's callers, so that etcdctl and etcd's backups work; a revision is etcd's. A commit
//! is one transaction that compares all holds and preconditions. One watch of all keys below the prefix feeds the sink, and
//! a commit is acknowledged when the sink has its change. A change of this process that follows directly on what the sink
//! has does not wait for the watch.
//!
//! # How does a reader learn that it has everything?
//!
//! [`Store::confirm`] reads etcd's revision through the majority of the members, once for all who wait. If no key below the
//! prefix has changed at that revision, the watch is asked for its progress. Versions before 3.4.25 and 3.5.8 may answer
//! that with a revision whose changes are not sent yet; there, a key of the engine's own is written, and its change shows
//! the progress.
//!
//! # What happens in a break?
//!
//! A member that does not answer for a second is left for the next one. Calls that had no effect are made again for five
//! seconds, and each call ends within fifteen; a write that may have happened is [`CommitError::Unknown`]. The watch begins
//! again where it ended. If changes after that are compacted, the sink gets the whole state
//! ([`Delivery::State`](super::Delivery::State)).
//!
//! An etcd that was restored from a backup has another history under the same revisions. It is known by a revision that went
//! back, or by a change that is not the one that was seen. Then this process uses etcd no more, and its health says why.
//!
//! # Why no client crate?
//!
//! The crate `etcd-client` needs `protoc` on each machine that builds it, and three dozen packages beyond those of the server, a
//! web framework among them. It does not say whether a failed request was sent, on which the outcome of a write depends, and
//! copies values. What the engine needs of gRPC is a few hundred lines on hyper, which the server is built on.

mod compaction;
mod confirm;
mod connection;
mod copy_note;
mod endpoint;
mod engine;
mod error;
mod fault;
mod feed;
mod history;
mod keys;
mod leases;
mod members;
mod opening;
mod options;
mod pages;
mod position;
mod proto;
mod session;
mod status;
#[cfg(test)]
pub(crate) mod tests;
mod threads;
#[cfg(any(test, feature = "tools"))]
pub(super) mod tools;
mod turns;
mod txn;
mod watch;
mod wire;

use std::{
    future::{self, Future},
    num::NonZero,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc},
    thread,
    time::{Duration, Instant},
};

use self::{engine::Engine, feed::Feed, keys::Keys, members::Members, pages::Pages, threads::Threads};
use super::{
    Change, Commit, CommitError, CommitFuture, ConfirmFuture, Damages, Entry, Health, Metrics, ReadError, Sink, Store,
    Visit,
};
use crate::{counters::nanoseconds, meta::Revision};

pub use error::EtcdError;
pub use options::EtcdOptions;

/// How long opening may take.
const OPENED_WITHIN: Duration = Duration::from_secs(15);
/// How long closing waits for commits that are on their way.
const CLOSED_WITHIN: Duration = Duration::from_secs(15);
/// The number of pages that a scan reads ahead.
const PAGES_AHEAD: usize = 2;

/// A store in an etcd cluster. Any number of servers can use the same one.
pub struct Etcd {
    threads: Threads,
    engine: Arc<Engine>,
    flights: Arc<Flights>,
}

/// The commits that are on their way.
#[derive(Default)]
struct Flights {
    state: Mutex<(usize, bool)>,
    landed: Condvar,
}

impl Flights {
    fn state(&self) -> MutexGuard<'_, (usize, bool)> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a commit. `None` after [`Flights::close`].
    fn begin(self: &Arc<Self>) -> Option<Flight> {
        let mut state = self.state();
        if state.1 {
            return None;
        }
        state.0 += 1;
        Some(Flight(Arc::clone(self)))
    }

    /// Refuses further commits, and waits for those on their way.
    fn close(&self) {
        let mut state = self.state();
        state.1 = true;
        let waited = self.landed.wait_timeout_while(state, CLOSED_WITHIN, |(count, _)| *count > 0);
        drop(waited);
    }
}

/// A commit on its way.
struct Flight(Arc<Flights>);

impl Drop for Flight {
    fn drop(&mut self) {
        self.0.state().0 -= 1;
        self.0.landed.notify_all();
    }
}

impl Etcd {
    /// Connects to etcd, and checks that the user may write below the prefix. Blocks, for fifteen seconds at most.
    ///
    /// # Errors
    /// [`EtcdError`].
    pub fn open(options: EtcdOptions) -> Result<Self, EtcdError> {
        let keys = Keys::new(&options.prefix)?;
        let age = options.history_age;
        let engine = Arc::new(Engine::new(Members::new(options)?, keys));
        let store = Self { threads: Threads::start()?, engine, flights: Arc::default() };
        let opened = store.threads.spawn(opening::begin(Arc::clone(&store.engine)));
        let opened = opened.recv_timeout(OPENED_WITHIN);
        opened.unwrap_or_else(|_| Err(EtcdError::Unreachable(format!("no answer within {OPENED_WITHIN:?}"))))?;
        store.threads.spawn(compaction::run(Arc::downgrade(&store.engine), age));
        Ok(store)
    }

    /// Runs a read on the engine's threads, and blocks until it is done. Each call of etcd in it has a time limit.
    fn read<T: Send + 'static>(
        &self,
        read: impl Future<Output = Result<T, ReadError>> + Send + 'static,
    ) -> Result<T, ReadError> {
        let stopped = || ReadError::Engine("the engine's threads have stopped".to_owned());
        self.engine.position.asking().map_err(ReadError::Engine)?;
        self.threads.spawn(read).recv().unwrap_or_else(|_| Err(stopped()))
    }
}

impl Store for Etcd {
    fn attach(&self, sink: Sink) {
        let feed = Feed::new(Arc::clone(&self.engine), sink, self.engine.position.attach());
        let engine = Arc::clone(&self.engine);
        self.threads.spawn(async move {
            if let Err(panicked) = tokio::spawn(feed.run()).await {
                engine.members.changes_stop(format!("the sink has failed: {panicked}; restart this server"));
            }
        });
    }

    fn commit(&self, commit: Commit) -> CommitFuture<'_> {
        let Some(flight) = self.flights.begin() else { return Box::pin(future::ready(Err(CommitError::Closed))) };
        let (engine, (answer, done)) = (Arc::clone(&self.engine), tokio::sync::oneshot::channel());
        engine.metrics.enqueue();
        self.threads.spawn(async move {
            let start = Instant::now();
            let result = engine.commit(commit).await;
            engine.metrics.take(1);
            engine.metrics.commits.observe(nanoseconds(start.elapsed()));
            drop(flight);
            // The caller may have given up.
            let _ = answer.send(result);
        });
        let stopped = || Err(CommitError::Unknown("the engine's threads have stopped".to_owned()));
        Box::pin(async move { done.await.unwrap_or_else(|_| stopped()) })
    }

    fn get(&self, key: &str) -> Result<Option<Entry>, ReadError> {
        let Some(key) = self.engine.keys.stored(key) else { return Ok(None) };
        let engine = Arc::clone(&self.engine);
        self.read(async move { engine.get(key).await })
    }

    fn range(&self, prefix: &str) -> Result<(Vec<Entry>, Revision), ReadError> {
        let Some(span) = self.engine.keys.span(prefix) else { return Ok((Vec::new(), self.head())) };
        let engine = Arc::clone(&self.engine);
        self.read(async move {
            let (entries, at) = Pages::of([span], None).all(&engine).await?;
            engine.position.want(at);
            Ok((entries, at))
        })
    }

    fn scan(&self, prefixes: &[&str], visit: Visit<'_>) -> Result<Revision, ReadError> {
        let mut pages = Pages::of(self.engine.keys.spans(prefixes), None);
        let (pieces, queue) = mpsc::sync_channel(PAGES_AHEAD);
        let queue = Arc::new(Mutex::new(queue));
        thread::scope(|scope| {
            // Moved in, so that the workers end with it.
            let (pieces, mut position) = (pieces, 0);
            for _ in 0..thread::available_parallelism().map_or(1, NonZero::get) {
                let queue = Arc::clone(&queue);
                scope.spawn(move || {
                    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
                    while let Ok(piece) = next() {
                        visit(piece);
                    }
                });
            }
            // It is the workers': without them, nothing may wait for room in it.
            drop(queue);
            loop {
                let (engine, mut rest) = (Arc::clone(&self.engine), pages);
                let (page, rest, revision) = self.read(async move {
                    let page = rest.next(&engine).await?;
                    let revision = rest.revision(&engine).await?;
                    Ok((page, rest, revision))
                })?;
                let Some(page) = page else {
                    self.engine.position.want(revision);
                    return Ok(revision);
                };
                let numbered: Vec<_> = (position..).zip(page).collect();
                position += numbered.len();
                pages = rest;
                // It fails if all workers have panicked, which the end of the scope reports.
                let _ = pieces.send(numbered);
            }
        })
    }

    fn head(&self) -> Revision {
        self.engine.position.known()
    }

    fn is_shared(&self) -> bool {
        true
    }

    fn confirm(&self) -> Option<ConfirmFuture<'_>> {
        let (answer, begins) = self.engine.confirms.join();
        if begins {
            self.threads.spawn(confirm::run(Arc::clone(&self.engine)));
        }
        let stopped = || Err(ReadError::Engine("the engine's threads have stopped".to_owned()));
        Some(Box::pin(async move { answer.await.unwrap_or_else(|_| stopped()) }))
    }

    fn compacted(&self) -> Revision {
        self.engine.position.compacted()
    }

    fn changes(&self, after: Revision, limit: usize) -> Result<Vec<Change>, ReadError> {
        let engine = Arc::clone(&self.engine);
        self.read(async move { history::changes(&engine, after, limit).await })
    }

    fn compact(&self, upto: Revision) -> Result<(), ReadError> {
        let engine = Arc::clone(&self.engine);
        self.read(async move {
            let upto = upto.min(engine.newest().await?);
            if upto <= engine.position.compacted() {
                return Ok(());
            }
            compaction::compact(&engine, upto).await.map_err(|fault| fault.of_read())
        })
    }

    fn health(&self) -> Health {
        let refusal = self.engine.position.asking().err().or_else(|| self.engine.members.refusal());
        Health { refuses_writes: refusal, damage: Damages::default() }
    }

    fn metrics(&self) -> Option<&Metrics> {
        Some(&self.engine.metrics)
    }

    fn close(&self) {
        self.flights.close();
    }
}

impl Drop for Etcd {
    fn drop(&mut self) {
        self.close();
    }
}
