//! How the writer handles a failing disk: it refuses writes, lets reads continue, and retries by itself.
//!
//! # What is known after an error?
//!
//! A group whose pages could not be written before the engine began to commit was not applied: no root names its pages.
//! Once the engine has begun to commit, the outcome is unknown, because a header that names the group may be on the
//! disk, in the kernel's memory or nowhere. So the file is reopened at once to see whether it has the group's changes.
//! If it has, they are published before any other change. If the file cannot be opened, the outcome stays unknown.
//!
//! # Why is the file read again from the disk?
//!
//! After a failed sync the kernel treats pages that it could not write as written, and continues to return them. So
//! before the engine is reopened, everything that can still be written is synced, the file's pages are dropped from
//! memory, and the whole file is read and its checksums compared. Writes resume if its head is the published one, with
//! or without the group in doubt. The alternative is to copy the store to a new file. That needs as much space again,
//! which a full disk does not have, and writes a lot to a disk that has just failed to write.
//!
//! # How do reads continue?
//!
//! The engine reads nothing more from a disk after its first error. So the file is opened a second time, with the
//! engine's writes kept in memory, and readers move to that handle.

use std::{
    io,
    time::{Duration, Instant},
};

use super::{
    guard::guarded,
    handle::Handle,
    history::History,
    layout::{End, META, State},
    lifetimes::Lifetimes,
    read::View,
    reserve::is_full,
    writer::Writer,
};
use crate::{Change, CommitError, NoCache};

/// The wait before the first retry. Each further wait is twice as long.
const FIRST_WAIT: Duration = Duration::from_millis(100);

/// The wait between two retries on a full disk of which nothing is set aside.
const FULL_WAIT: Duration = Duration::from_mins(1);

/// Why writes are refused.
#[derive(Clone, Debug)]
pub(super) struct Refusal {
    pub(super) cause: Cause,
    pub(super) message: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// The disk is full.
    Full,
    /// The disk fails in another way, or the file was moved or replaced.
    Failing,
    /// The disk's content differs from what was acknowledged.
    Damaged,
}

impl Cause {
    /// The longest wait between two retries. Each retry reads the whole file, except on a disk that is known to be
    /// full.
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
            // The engine reports a foreign or truncated file in this way.
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
    pub(super) fn refusal(&self) -> &Refusal {
        &self.refusal
    }

    pub(super) fn patience(&self) -> Duration {
        self.next_try.saturating_duration_since(Instant::now())
    }
}

impl Writer {
    /// Fails if writes are currently refused. Retries first if it is time to.
    pub(super) fn ready(&mut self) -> Result<(), Refusal> {
        match &self.trouble {
            None => match self.disk.check() {
                Ok(()) => self.refill(),
                Err(error) => self.refuse(error.into()),
            },
            Some(trouble) if trouble.patience().is_zero() => self.try_again(),
            Some(_) => {}
        }
        self.trouble.as_ref().map_or(Ok(()), |trouble| Err(trouble.refusal.clone()))
    }

    /// Records an error of the engine. Nothing more is written through the handle that returned it.
    pub(super) fn fail(&mut self, error: redb::Error) -> Refusal {
        let refusal = cause(&self.current.get(), error);
        self.refuse(refusal.clone());
        refusal
    }

    /// Retries at once, without probing the disk: only its content shows the outcome of a group in doubt.
    pub(super) fn try_at_once(&mut self) {
        let tried = self.reopen();
        self.tried(tried);
    }

    /// Retries if a probe shows that the disk may take writes.
    pub(super) fn try_again(&mut self) {
        let looks_well = self.disk.check().and_then(|()| self.probe());
        let tried = looks_well.map_err(Refusal::from).and_then(|()| self.reopen());
        self.tried(tried);
    }

    /// Fails if the disk certainly takes no writes. On a full disk the file may have free pages, which only a write shows.
    fn probe(&self) -> io::Result<()> {
        let probed = self.disk.probe();
        let may_write = || self.reserve.is_left() || self.reopened.is_none_or(|at| at.elapsed() >= FULL_WAIT);
        if probed.as_ref().is_err_and(is_full) && may_write() { Ok(()) } else { probed }
    }

    fn tried(&mut self, tried: Result<(), Refusal>) {
        match tried {
            Ok(()) => {
                self.trouble = None;
                self.set_aside();
                self.unsettled = true;
                tracing::info!("the store accepts writes again");
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
                    "the store refuses writes; reads continue, and writes resume when the cause is gone"
                );
                FIRST_WAIT
            }
        };
        self.progress.refuses(Some(&refusal.message));
        self.trouble = Some(Trouble { refusal, wait, next_try: Instant::now() + wait });
    }

    /// Reopens the file, compares its content, and writes to it. What it learns is kept even if the write fails.
    fn reopen(&mut self) -> Result<(), Refusal> {
        self.disk.check()?;
        self.current.get().gate().fence();
        self.disk.sync()?;
        self.disk.forget()?;
        let handle = guarded(|| Handle::open_verified(&self.disk, &self.options))?;
        let state = self.look_into(&handle).inspect_err(|_| handle.gate().fence())?;
        let probed = self.probe();
        self.reopened = Some(Instant::now());
        let written = probed.map_err(Refusal::from).and_then(|()| {
            let written = guarded(|| write_something(&handle));
            written.map_err(|error| cause(&handle, error))
        });
        if written.is_ok() {
            self.current.replace(handle);
        } else {
            handle.gate().fence();
            // The attempt may have changed the pages that readers see.
            self.current.get().gate().shut();
        }
        self.doubtful = None;
        self.history = state.history;
        self.lifetimes = state.lifetimes;
        for (upto, _) in &self.forgetting {
            self.history.forget(*upto);
        }
        self.publish(&state.missed, state.end);
        written
    }

    /// Reads the content of a reopened file and compares it with what was published.
    fn look_into(&self, handle: &Handle) -> Result<ReopenedState, Refusal> {
        let loaded = guarded(|| {
            let loaded = History::load(handle.db(), &self.options, Some(self.history.clock()))?;
            Ok((loaded, Lifetimes::load(handle.db())?))
        });
        let ((history, end), lifetimes) = loaded.map_err(|error| cause(handle, error))?;
        let published = self.progress.head();
        if end.head != published && Some(end.head) != self.doubtful {
            let message = format!(
                "the file holds the changes up to revision {}, and those up to {published} were acknowledged",
                end.head
            );
            return Err(Refusal { cause: Cause::Damaged, message });
        }
        let missed = guarded(|| View::open(handle.db())?.changes(published, usize::MAX, &NoCache));
        let missed = missed.map_err(|error| cause(handle, error))?;
        let missed = missed.map_err(|error| Refusal { cause: Cause::Damaged, message: error.to_string() })?;
        Ok(ReopenedState { history, lifetimes, end, missed })
    }

    /// Gives readers a handle that works, if theirs does not.
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
            Ok(_) => tracing::debug!("the store's file cannot be read while the outcome of a write is unknown"),
            Err(error) => tracing::debug!(%error, "the store's file cannot be read"),
        }
    }
}

/// The content of a reopened file.
struct ReopenedState {
    history: History,
    lifetimes: Lifetimes,
    end: End,
    /// Changes of the group in doubt, which were not published yet.
    missed: Vec<Change>,
}

/// A small durable write that changes nothing.
fn write_something(handle: &Handle) -> Result<(), redb::Error> {
    let transaction = handle.db().begin_write()?;
    {
        let mut meta = transaction.open_table(META)?;
        State::load(&meta)?.save(&mut meta)?;
    }
    transaction.commit()?;
    Ok(())
}

/// Why the engine failed. Prefers the disk's own error, which the engine reports only once.
fn cause(handle: &Handle, error: redb::Error) -> Refusal {
    match &*handle.gate().failure() {
        Some(failure) => io::Error::new(failure.kind(), failure.to_string()).into(),
        None => error.into(),
    }
}
