//! The durable engine: one directory on this machine, and no separate server.
//!
//! One thread writes (`writer.rs`). It takes the queued commits, checks each against the state that earlier ones left,
//! writes all of them in one transaction, waits for one fsync, publishes the changes, and acknowledges. Readers see the
//! file as the last transaction left it and never wait for the writer.
//!
//! Guarantees after a kill or a power failure at any moment: every acknowledged or published change is present, every
//! commit is present completely or not at all, and no revision is used twice. A commit in progress may be present or
//! not.
//!
//! # What is verified, and when?
//!
//! Each row carries a checksum, which is verified on every read. Opening a store reads and verifies every page and
//! every row (`pages`, `verify.rs`). While the store is open, a scrub verifies them repeatedly at a low rate (`scrub.rs`). A
//! damaged value is returned as [`Damage`](super::Damage) under its key; all others are served. If opening finds
//! damage, the readable part continues in a new file with sound pages (`fresh.rs`), and the damaged file is kept.
//!
//! # Why redb and not fjall?
//!
//! Measured on two cores with an fsync of 170 µs, objects of 1.6 KB, 16 committers in groups, and the same layout:
//!
//! | | redb 4.4 | fjall 3.1 |
//! |---|---|---|
//! | creates a second, 16 committers (one; 64) | 13,800 (2,500; 29,700) | 27,700 (4,800; 35,900) |
//! | resident memory, an empty store | 0.7 MB | 1.2 MB |
//! | resident memory, after 20,000 creates | 6 MB | 18 MB, memtables and journals |
//! | opening an empty store | 0.3 ms | 0.7–10 ms |
//! | opening 20,000 objects | 0.4 ms | 14–100 ms, by the journal's length |
//! | the same after kill -9 | 71 ms; 0.6 ms once settled | 150 ms |
//! | packages in the build | 2 | 47 |
//!
//! fjall writes less for each commit. Both exceed the goal of 4,000 creates a second over HTTP, so the engine with less
//! code, a faster start and a single file was chosen. With the present layout (`layout.rs` writes a body once) redb
//! does 18,000 creates a second from 16 committers, 36,000 from 64, and 3,500 from one.
//!
//! # Why does the writer "settle"?
//!
//! After a crash redb reads its whole file twice to find the free pages, at about one second per GB. A transaction can
//! record them, and only the last transaction before the crash counts. That takes a second fsync, and the record grows
//! with the file: with 32 MB and with 4 GB, and groups of 1, 16 and 64 commits, each group then takes 1.3 to 2.2 times
//! as long and 1.3 to 1.9 times the CPU time. So the writer does it once after each burst of writes, and when it closes:
//! only a crash during a burst slows down the next start, by a time that the size of the file bounds. The rows are loaded
//! meanwhile, and the repair is written once they are verified.

mod ahead;
mod archive;
mod backend;
mod clock;
mod directory;
mod disk;
mod error;
mod file;
mod fresh;
mod full;
mod group;
mod guard;
mod handle;
mod head;
mod history;
mod layout;
mod lifetimes;
mod load;
#[cfg(any(test, feature = "test-support"))]
mod on_disk;
mod options;
mod pages;
mod queue;
mod read;
mod recovery;
mod reserve;
mod scan;
mod scrub;
mod snapshot;
mod socket;
mod tables;
#[cfg(test)]
mod tests;
#[cfg(any(test, feature = "tools"))]
pub(super) mod tools;
mod upgrade;
mod verify;
mod writer;

use std::{
    path::Path,
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc::{self, Sender},
    },
    thread::{self, JoinHandle},
};

use redb::ReadableDatabase;
use tokio::sync::oneshot;

use self::{
    directory::Directory,
    guard::guarded,
    handle::{Current, Handle},
    head::Witness,
    history::History,
    lifetimes::Lifetimes,
    load::VerifiedStore,
    queue::{Answer, Job, Pending},
    read::View,
    reserve::Reserve,
    scrub::{Findings, Scrub},
    socket::{Socket, answer::Answers},
    writer::{Progress, Writer},
};
use super::{
    Change, Commit, CommitError, CommitFuture, Entry, Health, Metrics, NoCache, ReadError, Sink, Store, ValueCache,
    Visit,
    budget::{Budget, Share},
};
use crate::{meta::Revision, migration::Reports};

pub use disk::Disk;
pub use error::OpenError;
pub use options::Options;

/// The durable store.
///
/// While its disk fails, every commit is refused and reads continue as long as the disk allows. Writes resume by
/// themselves once the cause is gone.
pub struct Embedded {
    jobs: Sender<Job>,
    queue: Budget,
    progress: Arc<Progress>,
    closed: AtomicBool,
    writer: Mutex<Option<JoinHandle<()>>>,
    scrub: Mutex<Option<Scrub>>,
    findings: Arc<Findings>,
    metrics: Arc<Metrics>,
    /// Serves backups and migrations of a running store. `None` if the system could not create the socket.
    socket: Mutex<Option<Socket>>,
    answers: Arc<Answers>,
    current: Arc<Current>,
    /// Dropped last, so that the directory is released after the engine's file is closed.
    directory: Option<Directory>,
}

impl Embedded {
    /// Opens the store in a directory, and creates the directory if it is missing.
    ///
    /// # Errors
    /// [`OpenError`].
    pub fn open(dir: impl AsRef<Path>, options: Options) -> Result<Self, OpenError> {
        Ok(Self::open_and_scan(dir, options, &[], &|_| {})?.0)
    }

    /// The same, and passes the newest values of all keys with one of the prefixes to `visit` while it verifies them, as
    /// [`Store::scan`] does. Returns the revision of this state; `None` if damage was found. Then some values may be
    /// missing or outdated; read them again.
    ///
    /// # Errors
    /// [`OpenError`].
    pub fn open_and_scan(
        dir: impl AsRef<Path>,
        options: Options,
        prefixes: &[&str],
        visit: Visit<'_>,
    ) -> Result<(Self, Option<Revision>), OpenError> {
        let directory = Directory::open(dir.as_ref())?;
        let loaded = load::load(&directory, &options, prefixes, visit)?;
        let VerifiedStore { reserve, handle, witness, findings, metrics, scanned } = loaded;
        let started = Self::start(reserve, handle, options, Some(witness), findings, metrics);
        let mut store = started.map_err(|error| load::cannot_open(&directory, error))?;
        store.socket = Mutex::new(store.serve_socket(dir.as_ref()));
        store.directory = Some(directory);
        Ok((store, scanned))
    }

    /// Starts the writer on an open file that has its tables.
    fn start(
        reserve: Arc<Reserve>,
        handle: Handle,
        options: Options,
        witness: Option<Witness>,
        findings: Findings,
        metrics: Arc<Metrics>,
    ) -> Result<Self, redb::Error> {
        let loaded = guarded(|| Ok((History::load(handle.db(), &options, None)?, Lifetimes::load(handle.db())?)))?;
        let current = Arc::new(Current::new(handle));
        let (jobs, queue) = mpsc::channel();
        let room = Budget::new(options.queue_bytes);
        let writer = Writer::new(reserve, options, Arc::clone(&current), queue, loaded, witness, Arc::clone(&metrics));
        let progress = Arc::clone(&writer.progress);
        let thread = thread::Builder::new().name("store".to_owned()).spawn(|| writer.run())?;
        let (closed, writer) = (AtomicBool::new(false), Mutex::new(Some(thread)));
        let (findings, scrubbed, tell) = (Arc::new(findings), Arc::clone(&current), jobs.clone());
        let read = Box::new(move |read: &mut dyn FnMut(&View) -> Result<(), redb::Error>| {
            read_from(&scrubbed, &tell, |view| read(view).map(Ok))
        });
        let scrub = Mutex::new(Some(Scrub::start(&options, Arc::clone(&findings), read)?));
        let read = Arc::downgrade(&current);
        let begin = Box::new(move || read.upgrade().map(|current| guarded(|| Ok(current.get().db().begin_read()?))));
        let (socket, answers) = (Mutex::default(), Arc::new(Answers { begin, migrate: OnceLock::new() }));
        Ok(Self {
            jobs,
            queue: room,
            progress,
            closed,
            writer,
            scrub,
            findings,
            metrics,
            socket,
            answers,
            current,
            directory: None,
        })
    }

    /// Serves migrations on the socket from now on. `migrate` begins a migration of the named resources, or of all, and
    /// must not keep this store open.
    pub fn serve_migrations(&self, migrate: impl Fn(Vec<String>) -> Option<Reports> + Send + Sync + 'static) {
        let first = self.answers.migrate.set(Box::new(migrate));
        debug_assert!(first.is_ok(), "one server uses a store");
    }

    /// A store works without its socket, except that it cannot be backed up or migrated while it runs.
    fn serve_socket(&self, dir: &Path) -> Option<Socket> {
        let served = Socket::serve(dir, Arc::clone(&self.answers));
        if let Err(error) = &served {
            tracing::warn!(dir = %dir.display(), %error, "the store has no socket: back it up while the server is stopped");
        }
        served.ok()
    }

    /// Reads the file as the last commit left it. The outer error of `read` is the engine's, the inner one the read's.
    fn read<T>(&self, read: impl FnMut(&View) -> Result<Result<T, ReadError>, redb::Error>) -> Result<T, ReadError> {
        read_from(&self.current, &self.jobs, read)
    }

    /// Queues a commit.
    fn enqueue(&self, commit: Commit, share: Share) -> oneshot::Receiver<Answer> {
        let (reply, answer) = oneshot::channel();
        if !self.closed.load(Ordering::Acquire) {
            self.metrics.enqueue();
            // If the writer has stopped, dropping the job drops the reply, which the receiver treats as the answer.
            let _ = self.jobs.send(Job::Commit(Pending { commit, reply, share }));
        }
        answer
    }

    /// Why the writer did not do a job: it stops after `close`, and otherwise only because of a bug.
    fn stopped(&self) -> CommitError {
        if self.closed.load(Ordering::Acquire) {
            CommitError::Closed
        } else {
            CommitError::Unknown("the store's writer has stopped".to_owned())
        }
    }
}

/// Reads from the newest handle, and retries if it is replaced meanwhile. Reports a failed handle to the writer.
fn read_from<T>(
    current: &Current,
    jobs: &Sender<Job>,
    mut read: impl FnMut(&View) -> Result<Result<T, ReadError>, redb::Error>,
) -> Result<T, ReadError> {
    let mut handle = current.get();
    loop {
        let error = match guarded(|| read(&View::open(handle.db())?)) {
            Ok(result) => return result,
            Err(error) => error,
        };
        let newest = current.get();
        if !Arc::ptr_eq(&handle, &newest) {
            handle = newest;
            continue;
        }
        if !handle.is_readable() {
            // A stopped writer does not reopen anything.
            let _ = jobs.send(Job::Look);
        }
        return Err(match error {
            redb::Error::Corrupted(message) => ReadError::Damaged(format!(
                "store.redb: {message}; stop the server and copy what can be read with `kindsmith store salvage`"
            )),
            error => ReadError::Engine(error.to_string()),
        });
    }
}

impl Store for Embedded {
    fn attach(&self, sink: Sink) {
        // A stopped writer has nothing to publish.
        let _ = self.jobs.send(Job::Attach(sink));
    }

    fn commit(&self, commit: Commit) -> CommitFuture<'_> {
        let bytes = queue::size(&commit);
        if let Some(share) = self.queue.take(bytes) {
            let answer = self.enqueue(commit, share);
            return Box::pin(async move { answer.await.unwrap_or_else(|_| Err(self.stopped())) });
        }
        Box::pin(async move {
            let share = self.queue.wait(bytes).await.ok_or(CommitError::Busy)?;
            self.enqueue(commit, share).await.unwrap_or_else(|_| Err(self.stopped()))
        })
    }

    fn get(&self, key: &str) -> Result<Option<Entry>, ReadError> {
        self.read(|view| view.get(key).map(Ok))
    }

    fn range(&self, prefix: &str) -> Result<(Vec<Entry>, Revision), ReadError> {
        self.read(|view| view.range(prefix).map(Ok))
    }

    fn scan(&self, prefixes: &[&str], visit: Visit<'_>) -> Result<Revision, ReadError> {
        let mut begun = false;
        self.read(|view| {
            if std::mem::replace(&mut begun, true) {
                // What was passed already must not be passed again.
                return Ok(Err(ReadError::Engine("the store was reopened while it was read".to_owned())));
            }
            scan::scan(view, prefixes, visit).map(Ok)
        })
    }

    fn head(&self) -> Revision {
        self.progress.head()
    }

    fn compacted(&self) -> Revision {
        self.progress.compacted()
    }

    fn changes(&self, after: Revision, limit: usize) -> Result<Vec<Change>, ReadError> {
        self.pass(after, limit, &NoCache)
    }

    fn pass(&self, after: Revision, limit: usize, cache: &dyn ValueCache) -> Result<Vec<Change>, ReadError> {
        self.read(|view| view.changes(after, limit, cache))
    }

    fn compact(&self, upto: Revision) -> Result<(), ReadError> {
        let (reply, answer) = mpsc::sync_channel(1);
        let _ = self.jobs.send(Job::Compact(upto, reply));
        let answer = answer.recv().unwrap_or_else(|_| Err(self.stopped().to_string()));
        answer.map_err(ReadError::Engine)
    }

    fn health(&self) -> Health {
        Health { refuses_writes: self.progress.refusal(), damage: self.findings.report() }
    }

    fn metrics(&self) -> Option<&Metrics> {
        Some(&self.metrics)
    }

    fn close(&self) {
        drop(self.scrub.lock().unwrap_or_else(PoisonError::into_inner).take());
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(thread) = writer.take() else { return };
        // New commits are refused from here on. Those already queued precede the request to close.
        self.closed.store(true, Ordering::Release);
        let _ = self.jobs.send(Job::Close);
        drop(self.socket.lock().unwrap_or_else(PoisonError::into_inner).take());
        // The writer's panic was already reported.
        let _ = thread.join();
    }
}

impl Drop for Embedded {
    fn drop(&mut self) {
        self.close();
    }
}
