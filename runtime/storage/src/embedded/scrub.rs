//! The scrub verifies all rows repeatedly at a low rate while the store is open, and records the damage that it finds.
//! It reads one small piece at a time, each in its own view, so that it blocks neither the writer nor the reuse of
//! pages.

use std::{
    collections::BTreeSet,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread::{self, JoinHandle},
    time::Duration,
};

use redb::ReadableTable;

use super::{
    Options,
    layout::{Row, read_pointer},
    read::View,
};
use crate::{Damages, ReadError, meta::Revision};

/// The approximate size of one piece in bytes.
const PIECE: usize = 256 << 10;

/// The maximum number of keys in the report and in a log line.
const REPORTED: usize = 100;
const NAMED: usize = 10;

/// All known damage.
#[derive(Default)]
pub(super) struct Findings(Mutex<BTreeSet<String>>);

impl Findings {
    /// Adds findings, and logs the new ones in one line.
    pub(super) fn add(&self, found: impl IntoIterator<Item = String>) {
        let mut known = self.lock();
        let new: Vec<String> = found.into_iter().filter(|what| known.insert(what.clone())).collect();
        if !new.is_empty() {
            let first = &new[..new.len().min(NAMED)];
            tracing::error!(count = new.len(), ?first, "stored data is damaged; reading it answers StoreReadError");
        }
    }

    pub(super) fn report(&self) -> Damages {
        let known = self.lock();
        Damages { count: known.len(), keys: known.iter().take(REPORTED).cloned().collect() }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads the current state of the store.
pub(super) type Reader = Box<dyn Fn(&mut dyn FnMut(&View) -> Result<(), redb::Error>) -> Result<(), ReadError> + Send>;

/// The scrub's thread. It ends when this is dropped.
pub(super) struct Scrub {
    stop: Arc<(Mutex<bool>, Condvar)>,
    thread: Option<JoinHandle<()>>,
}

impl Scrub {
    pub(super) fn start(options: &Options, findings: Arc<Findings>, read: Reader) -> std::io::Result<Self> {
        let stop = Arc::new((Mutex::new(false), Condvar::new()));
        let (rate, pause, stopped) = (options.scrub_bytes_per_second, options.scrub_pause, Arc::clone(&stop));
        let run = move || {
            let wait = |duration| {
                let guard = stopped.0.lock().unwrap_or_else(PoisonError::into_inner);
                let waited = stopped.1.wait_timeout_while(guard, duration, |stop| !*stop);
                !*waited.unwrap_or_else(PoisonError::into_inner).0
            };
            let mut next = Position::default();
            while wait(if next.is_start() { pause } else { piece_time(rate) }) {
                let mut piece = Piece { next, found: BTreeSet::new() };
                if let Err(error) = read(&mut |view| piece.read(view)) {
                    // The writer reports a failing disk. The next round verifies the rest of this one.
                    piece.next = Position::default();
                    if let ReadError::Damaged(message) = error {
                        piece.found.insert(message);
                    }
                }
                findings.add(piece.found);
                next = piece.next;
            }
        };
        let thread = if rate == 0 { None } else { Some(thread::Builder::new().name("scrub".to_owned()).spawn(run)?) };
        Ok(Self { stop, thread })
    }
}

impl Drop for Scrub {
    fn drop(&mut self) {
        *self.stop.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.stop.1.notify_all();
        if let Some(thread) = self.thread.take() {
            // The thread's panic was already reported.
            let _ = thread.join();
        }
    }
}

/// The minimum duration of a piece.
fn piece_time(bytes_per_second: u64) -> Duration {
    Duration::from_millis((PIECE as u64).saturating_mul(1_000) / bytes_per_second.max(1))
}

/// The scrub's position: first in the log, then in the index.
#[derive(Clone)]
enum Position {
    Log(Revision),
    Index(Vec<u8>),
}

impl Default for Position {
    fn default() -> Self {
        Self::Log(Revision(0))
    }
}

impl Position {
    fn is_start(&self) -> bool {
        matches!(self, Self::Log(Revision(0)))
    }
}

struct Piece {
    next: Position,
    found: BTreeSet<String>,
}

impl Piece {
    fn read(&mut self, view: &View) -> Result<(), redb::Error> {
        self.next = match self.next.clone() {
            Position::Log(from) => self.read_log(view, from)?,
            Position::Index(from) => self.read_index(view, &from)?,
        };
        Ok(())
    }

    fn read_log(&mut self, view: &View, from: Revision) -> Result<Position, redb::Error> {
        let mut bytes_read = 0;
        let mut altered = BTreeSet::new();
        let mut end = Position::Index(Vec::new());
        for row in view.log.range(from.0..)? {
            let (revision, bytes) = row?;
            let revision = Revision(revision.value());
            if Row::read(revision, bytes.value()).is_err() {
                altered.insert(revision);
            }
            bytes_read += bytes.value().len();
            if bytes_read >= PIECE {
                end = Position::Log(revision.next());
                break;
            }
        }
        if !altered.is_empty() {
            // The index tells which rows hold newest values; the others are history.
            for entry in view.index.iter()? {
                let (key, checksummed) = entry?;
                let revision = read_pointer(key.value(), checksummed.value());
                if revision.is_ok_and(|revision| altered.remove(&revision)) {
                    self.found.insert(String::from_utf8_lossy(key.value()).into_owned());
                }
            }
            self.found.extend(altered.into_iter().map(|revision| format!("the change of revision {revision}")));
        }
        Ok(end)
    }

    fn read_index(&mut self, view: &View, from: &[u8]) -> Result<Position, redb::Error> {
        let mut bytes_read = 0;
        for entry in view.index.range(from..)? {
            let (key, checksummed) = entry?;
            let whole = match read_pointer(key.value(), checksummed.value()) {
                Ok(revision) => view.log.get(revision.0)?.is_some(),
                Err(_) => false,
            };
            if !whole {
                self.found.insert(String::from_utf8_lossy(key.value()).into_owned());
            }
            bytes_read += key.value().len() + 16;
            if bytes_read >= PIECE {
                let mut next = key.value().to_vec();
                next.push(0);
                return Ok(Position::Index(next));
            }
        }
        Ok(Position::default())
    }
}
