//! One store of several servers, for tests: each server has a handle, and the changes reach the sink of a handle late, as those
//! of other servers do.
use std::{
    mem,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::sync::watch;

use super::{
    Change, Commit, CommitError, CommitFuture, ConfirmFuture, Delivery, Entry, Health, Memory, ReadError, Sink, Store,
    Visit,
};
use crate::meta::Revision;

/// When changes reach the sink of a handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lag {
    /// At once.
    None,
    /// After this time.
    For(Duration),
    /// When the server asks what the newest revision is, or commits something itself.
    UntilAsked,
    /// Not until another lag is set: the server is cut off from changes.
    CutOff,
}

/// The store that all handles share.
#[derive(Clone, Default)]
pub struct Several {
    memory: Arc<Memory>,
    servers: Arc<Mutex<Vec<Weak<Server>>>>,
}

/// The handle of one server.
pub struct Server {
    /// Keeps the others reachable.
    #[expect(dead_code, reason = "it is only held")]
    several: Several,
    memory: Arc<Memory>,
    feed: Mutex<Feed>,
    /// The newest revision that the sink has.
    delivered: watch::Sender<Revision>,
    asked: AtomicUsize,
}

struct Feed {
    lag: Lag,
    sink: Option<Sink>,
    /// Changes that the sink does not have yet.
    waiting: Vec<Change>,
    /// True while the store cannot be reached: commits, questions and reads of history fail.
    failing: bool,
}

impl Several {
    /// A store without servers.
    pub fn new() -> Self {
        let several = Self::default();
        let servers = Arc::downgrade(&several.servers);
        several.memory.attach(Box::new(move |delivery| {
            let Some(servers) = servers.upgrade() else { return };
            for server in lock(&servers).iter().filter_map(Weak::upgrade) {
                server.queue(delivery.changes());
            }
        }));
        several
    }

    /// The handle of another server, which has everything committed before.
    pub fn server(&self, lag: Lag) -> Arc<Server> {
        let server = Arc::new(Server {
            several: self.clone(),
            memory: self.memory.clone(),
            feed: Mutex::new(Feed { lag, sink: None, waiting: Vec::new(), failing: false }),
            delivered: watch::Sender::new(self.memory.head()),
            asked: AtomicUsize::new(0),
        });
        lock(&self.servers).push(Arc::downgrade(&server));
        server
    }

    /// The shared state.
    pub fn memory(&self) -> &Arc<Memory> {
        &self.memory
    }
}

impl Server {
    /// Sets another lag. What waits arrives as this one says.
    pub fn set_lag(self: &Arc<Self>, lag: Lag) {
        lock(&self.feed).lag = lag;
        self.queue(&[]);
    }

    /// Makes commits, questions and reads of history fail, or succeed again.
    pub fn set_failing(&self, failing: bool) {
        lock(&self.feed).failing = failing;
    }

    fn check(&self) -> Result<(), ReadError> {
        let cut_off = || ReadError::Unreachable("the store is cut off".to_owned());
        if lock(&self.feed).failing { Err(cut_off()) } else { Ok(()) }
    }

    /// How often the server asked what the newest revision is.
    pub fn asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }

    fn queue(self: &Arc<Self>, changes: &[Change]) {
        let mut feed = lock(&self.feed);
        feed.waiting.extend_from_slice(changes);
        match feed.lag {
            Lag::None => self.deliver(feed),
            Lag::For(time) => {
                let (server, upto) = (self.clone(), feed.waiting.last().map(|last| last.revision));
                drop(tokio::spawn(async move {
                    tokio::time::sleep(time).await;
                    server.deliver_upto(upto);
                }));
            }
            Lag::UntilAsked | Lag::CutOff => {}
        }
    }

    /// Gives the sink everything that waits.
    fn deliver(&self, feed: MutexGuard<'_, Feed>) {
        let last = feed.waiting.last().map(|last| last.revision);
        drop(feed);
        self.deliver_upto(last);
    }

    fn deliver_upto(&self, upto: Option<Revision>) {
        let (Some(upto), mut feed) = (upto, lock(&self.feed)) else { return };
        if feed.lag == Lag::CutOff {
            return;
        }
        let later = feed.waiting.iter().position(|change| change.revision > upto).unwrap_or(feed.waiting.len());
        let rest = feed.waiting.split_off(later);
        let due = mem::replace(&mut feed.waiting, rest);
        if !due.is_empty() {
            if let Some(sink) = &mut feed.sink {
                sink(Delivery::Changes(&due, upto));
            }
            self.delivered.send_replace(upto);
        }
    }

    /// Delivers what waits if no other thread will.
    fn answer(&self) {
        let feed = lock(&self.feed);
        if feed.lag == Lag::UntilAsked {
            self.deliver(feed);
        }
    }
}

impl Store for Server {
    fn attach(&self, sink: Sink) {
        lock(&self.feed).sink = Some(sink);
    }

    fn commit(&self, commit: Commit) -> CommitFuture<'_> {
        Box::pin(async move {
            if lock(&self.feed).failing {
                return Err(CommitError::Unknown("the store cannot be reached".to_owned()));
            }
            let done = self.memory.commit(commit).await?;
            self.answer();
            if let Some(last) = done.last() {
                let _ = self.delivered.subscribe().wait_for(|delivered| delivered >= last).await;
            }
            Ok(done)
        })
    }

    fn get(&self, key: &str) -> Result<Option<Entry>, ReadError> {
        self.memory.get(key)
    }

    fn range(&self, prefix: &str) -> Result<(Vec<Entry>, Revision), ReadError> {
        self.memory.range(prefix)
    }

    fn scan(&self, prefixes: &[&str], visit: Visit<'_>) -> Result<Revision, ReadError> {
        self.memory.scan(prefixes, visit)
    }

    fn head(&self) -> Revision {
        *self.delivered.borrow()
    }

    fn is_shared(&self) -> bool {
        true
    }

    fn confirm(&self) -> Option<ConfirmFuture<'_>> {
        Some(Box::pin(async move {
            self.asked.fetch_add(1, Ordering::Relaxed);
            self.check()?;
            let newest = self.memory.head();
            self.answer();
            Ok(newest)
        }))
    }

    fn compacted(&self) -> Revision {
        self.memory.compacted()
    }

    fn changes(&self, after: Revision, limit: usize) -> Result<Vec<Change>, ReadError> {
        self.check()?;
        self.memory.changes(after, limit)
    }

    fn compact(&self, upto: Revision) -> Result<(), ReadError> {
        self.memory.compact(upto)
    }

    fn health(&self) -> Health {
        self.memory.health()
    }

    /// Ends this server's deliveries. The others go on.
    fn close(&self) {
        lock(&self.feed).sink = None;
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
