//! What the writer does about a disk that fails: it refuses writes, lets reads go on, and tries to write again by itself.
//!
//! # What is known after an error?
//!
//! A group whose pages could not be written before the engine began to commit did not happen: no root names its pages. Once
//! the engine has begun to commit, nobody knows, since a header that names the group may be on the disk, in the kernel's
//! memory or nowhere. Then the file tells: it is opened anew at once, and the group's changes are there or they are not.
//! Where they are, they are published before any other change. Where the file cannot be opened, the outcome is unknown.
//!
//! # Why is the file read again from the disk?
//!
//! After a sync that failed the kernel takes pages that it could not write for written, and goes on to show them. So before
//! the engine is opened anew, what can still be written is synced, the file's pages are dropped from memory, and all that
//! the file holds is read with its checksums compared. Writing goes on if its head is what was published, or that and the
//! group in doubt. The other way is to copy the store to a new file. That takes as much room again, which is what a full
//! disk does not have, and writes where reading does, on a disk that has just failed to write.
//!
//! # How do reads go on?
//!
//! The engine reads nothing more from a disk that has failed once. So the file is opened a second time, with what the
//! engine writes while it opens kept in memory, and readers go over to that.

use std::{
    io,
    time::{Duration, Instant},
};

use super::{
    guard::guarded,
    handle::Handle,
    history::History,
    layout::{End, META, State},
    read::View,
    writer::Writer,
};
use crate::storage::{Change, CommitError};

/// How long to wait before the first try; each wait is twice as long as the one before.
const FIRST_WAIT: Duration = Duration::from_millis(100);

/// Why nothing is written.
#[derive(Clone, Debug)]
pub(super) struct Refusal {
    pub(super) cause: Cause,
    pub(super) message: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// The disk is full.
    Full,
    /// The disk fails otherwise, or the file is not where it was.
    Failing,
    /// What the disk holds is not what was acknowledged.
    Damaged,
}

impl Cause {
    /// The longest wait between two tries. Each reads the whole file, except on a disk that is known to be full.
    fn longest_wait(self) -> Duration {
        match self {
            Self::Full => Duration::from_secs(1),
            Self::Failing => Duration::from_secs(5),
            Self::Damaged => Duration::from_mins(1),
        }
    }
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        use io::ErrorKind::{FileTooLarge, InvalidData, QuotaExceeded, StorageFull, UnexpectedEof};
        let cause = match error.kind() {
            StorageFull | QuotaExceeded | FileTooLarge => Cause::Full,
            // How the engine says that a file is none of its own, or has lost its end.
            InvalidData | UnexpectedEof => Cause::Damaged,
            _ => Cause::Failing,
        };
        Self { cause, message: error.to_string() }
    }
}

impl From<redb::Error> for Refusal {
    fn from(error: redb::Error) -> Self {
        match error {
            redb::Error::Io(error) => error.into(),
            redb::Error::Corrupted(message) => Self { cause: Cause::Damaged, message },
            other => Self { cause: Cause::Failing, message: other.to_string() },
        }
    }
}

impl From<Refusal> for CommitError {
    fn from(Refusal { cause, message }: Refusal) -> Self {
        Self::Refused { full: cause == Cause::Full, message }
    }
}

/// The state of a writer that refuses writes.
pub(super) struct Trouble {
    refusal: Refusal,
    wait: Duration,
    next_try: Instant,
}

impl Trouble {
    pub(super) fn patience(&self) -> Duration {
        self.next_try.saturating_duration_since(Instant::now())
    }
}

impl Writer {
    /// Fails where nothing is written at present; tries again first where it is time.
    pub(super) fn ready(&mut self) -> Result<(), Refusal> {
        match &self.trouble {
            None => {
                if let Err(error) = self.disk.check() {
                    self.refuse(error.into());
                }
            }
            Some(trouble) if trouble.patience().is_zero() => self.try_again(),
            Some(_) => {}
        }
        self.trouble.as_ref().map_or(Ok(()), |trouble| Err(trouble.refusal.clone()))
    }

    /// Takes note of an error of the engine. Nothing more is written through the handle that had it.
    pub(super) fn fail(&mut self, error: redb::Error) -> Refusal {
        let refusal = cause(&self.current.get(), error);
        self.refuse(refusal.clone());
        refusal
    }

    /// Tries to go on at once, whatever the disk says of itself: only what it holds tells what became of a group in doubt.
    pub(super) fn try_at_once(&mut self) {
        let tried = self.reopen();
        self.tried(tried);
    }

    /// Tries to go on if the disk looks as if it took writes.
    pub(super) fn try_again(&mut self) {
        let looks_well = self.disk.check().and_then(|()| self.disk.probe());
        let tried = looks_well.map_err(Refusal::from).and_then(|()| self.reopen());
        self.tried(tried);
    }

    fn tried(&mut self, tried: Result<(), Refusal>) {
        match tried {
            Ok(()) => {
                self.trouble = None;
                self.progress.refuses(None);
                self.unsettled = true;
                tracing::info!("the store writes again");
            }
            Err(refusal) => {
                self.refuse(refusal);
                self.keep_reading();
            }
        }
    }

    fn refuse(&mut self, refusal: Refusal) {
        self.current.get().gate().fence();
        let wait = match &self.trouble {
            Some(trouble) if trouble.refusal.cause == refusal.cause => {
                (trouble.wait * 2).min(refusal.cause.longest_wait())
            }
            _ => {
                tracing::error!(
                    cause = refusal.message,
                    "the store refuses writes; reads go on, and so do writes when the cause is gone"
                );
                FIRST_WAIT
            }
        };
        self.progress.refuses(Some(&refusal.message));
        self.trouble = Some(Trouble { refusal, wait, next_try: Instant::now() + wait });
    }

    /// Opens the file anew, learns what it holds, and writes to it. What was learnt stays known where writing fails.
    fn reopen(&mut self) -> Result<(), Refusal> {
        self.disk.check()?;
        self.current.get().gate().fence();
        self.disk.sync()?;
        self.disk.forget()?;
        let handle = guarded(|| Handle::open_verified(&self.disk, &self.options))?;
        let found = self.look_into(&handle).inspect_err(|_| handle.gate().fence())?;
        // A few pages may be free in a file that has no room to grow: the next write would fail again.
        let written = self.disk.probe().map_err(Refusal::from).and_then(|()| {
            let written = guarded(|| write_something(&handle));
            written.map_err(|error| cause(&handle, error))
        });
        if written.is_ok() {
            self.current.replace(handle);
        } else {
            handle.gate().fence();
            // What was tried may have changed what readers are looking at.
            self.current.get().gate().shut();
        }
        self.doubtful = None;
        self.history = found.history;
        for (upto, _) in &self.forgetting {
            self.history.forget(*upto);
        }
        self.publish(&found.missed, found.end);
        written
    }

    /// Reads what a file that was opened anew holds, and compares it with what was published.
    fn look_into(&self, handle: &Handle) -> Result<Found, Refusal> {
        let loaded = guarded(|| History::load(handle.db(), &self.options, self.history.time()));
        let (history, end) = loaded.map_err(|error| cause(handle, error))?;
        let published = self.progress.head();
        if end.head != published && Some(end.head) != self.doubtful {
            let message = format!(
                "the file holds the changes up to revision {}, and those up to {published} were acknowledged",
                end.head
            );
            return Err(Refusal { cause: Cause::Damaged, message });
        }
        let missed = guarded(|| View::open(handle.db())?.changes(published, usize::MAX));
        let missed = missed.map_err(|error| cause(handle, error))?;
        let missed = missed.map_err(|error| Refusal { cause: Cause::Damaged, message: error.to_string() })?;
        Ok(Found { history, end, missed })
    }

    /// Gives readers a handle that reads, where the one they have does not.
    fn keep_reading(&self) {
        if self.current.get().is_readable() {
            return;
        }
        let opened = guarded(|| {
            let handle = Handle::open_reading(&self.disk, &self.options)?;
            let head = View::open(handle.db())?.state.end.head;
            Ok((handle, head))
        });
        match opened {
            Ok((handle, head)) if head == self.progress.head() => self.current.replace(handle),
            Ok(_) => tracing::debug!("the store's file is not read while a write to it is in doubt"),
            Err(error) => tracing::debug!(%error, "the store's file cannot be read"),
        }
    }
}

/// What a file that was opened anew holds.
struct Found {
    history: History,
    end: End,
    /// Changes that were not published: those of the group in doubt.
    missed: Vec<Change>,
}

/// A small write that changes nothing, made durable.
fn write_something(handle: &Handle) -> Result<(), redb::Error> {
    let transaction = handle.db().begin_write()?;
    {
        let mut meta = transaction.open_table(META)?;
        State::load(&meta)?.save(&mut meta)?;
    }
    transaction.commit()?;
    Ok(())
}

/// Why the engine failed: what the disk said, where it said something. The engine tells it only once.
fn cause(handle: &Handle, error: redb::Error) -> Refusal {
    match &*handle.gate().failure() {
        Some(failure) => io::Error::new(failure.kind(), failure.to_string()).into(),
        None => error.into(),
    }
}
