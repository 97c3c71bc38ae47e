//! Reads all newest values in one pass over the log, in the order of the file, on all cores.
//!
//! The index says first which rows hold newest values, and at which position of the result. That takes a few bytes for
//! each key. The log is then read in pieces, by as many threads as there are cores.

use std::{
    num::NonZero,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use bytes::Bytes;
use redb::ReadableTable;

use super::{
    guard::guarded,
    layout::{Row, Sealed, read_pointer},
    read::View,
};
use crate::{
    meta::Revision,
    storage::{Damage, Entry, Visit},
};

/// The maximum number of newest values in a piece.
const PIECE: usize = 512;

/// The row that the index names for a key.
#[derive(Clone, Copy)]
pub(super) struct Newest {
    pub(super) revision: u64,
    /// The hash of the key.
    pub(super) key: u64,
    pub(super) position: usize,
}

/// A part of the log, and the newest values in it.
pub(super) struct Piece<'n> {
    pub(super) from: u64,
    pub(super) upto: u64,
    pub(super) newest: &'n [Newest],
}

/// Passes the newest values of all keys with one of the prefixes to `visit`.
pub(super) fn scan(view: &View, prefixes: &[&str], visit: Visit<'_>) -> Result<Revision, redb::Error> {
    let has_prefix = |key: &[u8]| prefixes.iter().any(|prefix| key.starts_with(prefix.as_bytes()));
    let (mut newest, mut lost) = (Vec::new(), Vec::new());
    let mut position = 0;
    for found in view.index.iter()? {
        let (key, sealed) = found?;
        let key = key.value();
        if !has_prefix(key) {
            continue;
        }
        match read_pointer(key, sealed.value()) {
            Ok(revision) => newest.push(Newest { revision: revision.0, key: hash(key), position }),
            Err(_) => lost.push((position, Revision(0), Damage::Missing)),
        }
        position += 1;
    }
    newest.sort_unstable_by_key(|newest| newest.revision);
    let pieces: Vec<_> = newest.chunks(PIECE).map(Piece::of).collect();
    let read = |piece: &Piece<'_>| {
        guarded(|| {
            let mut reading = Reading::default();
            for found in view.log.range(piece.from..=piece.upto)? {
                let (revision, bytes) = found?;
                reading.take(piece, revision.value(), bytes.value());
            }
            visit(std::mem::take(&mut reading.entries));
            Ok(reading.finish(piece))
        })
    };
    for found in on_all_cores(&pieces, read) {
        lost.extend(found?);
    }
    if !lost.is_empty() {
        visit(name(&view.index, has_prefix, lost)?);
    }
    Ok(view.state.end.head)
}

impl<'n> Piece<'n> {
    /// The part of the log from the first to the last of these.
    fn of(newest: &'n [Newest]) -> Self {
        let revision = |newest: Option<&Newest>| newest.map_or(0, |newest| newest.revision);
        Self { from: revision(newest.first()), upto: revision(newest.last()), newest }
    }
}

/// The newest values found in a piece.
#[derive(Default)]
struct Reading {
    entries: Vec<(usize, Entry)>,
    /// How many of the piece's newest values the log has passed.
    passed: usize,
    /// The positions of those that cannot be read.
    lost: Vec<(usize, Revision, Damage)>,
}

impl Reading {
    /// Takes the next row of the log.
    fn take(&mut self, piece: &Piece<'_>, revision: u64, bytes: &[u8]) {
        while let Some(newest) = piece.newest.get(self.passed).filter(|newest| newest.revision <= revision) {
            self.passed += 1;
            let value =
                if newest.revision == revision { Row::read(Revision(revision), bytes) } else { Err(Damage::Missing) };
            let position = newest.position;
            match value {
                Ok(Row { key, body: Some(body), .. }) if hash(key.as_bytes()) == newest.key => {
                    let value = Ok(Bytes::copy_from_slice(body));
                    self.entries.push((position, Entry { key: key.into(), value, revision: Revision(revision) }));
                }
                Ok(_) => self.lost.push((position, Revision(newest.revision), Damage::Missing)),
                Err(damage) => self.lost.push((position, Revision(newest.revision), damage)),
            }
        }
    }

    /// What could not be read.
    fn finish(mut self, piece: &Piece<'_>) -> Vec<(usize, Revision, Damage)> {
        let rest = piece.newest[self.passed..].iter();
        self.lost.extend(rest.map(|newest| (newest.position, Revision(newest.revision), Damage::Missing)));
        self.lost
    }
}

/// Entries for values that cannot be read. Their keys are only in the index.
fn name(
    index: &impl ReadableTable<&'static [u8], Sealed>,
    has_prefix: impl Fn(&[u8]) -> bool,
    mut lost: Vec<(usize, Revision, Damage)>,
) -> Result<Vec<(usize, Entry)>, redb::Error> {
    lost.sort_unstable_by_key(|(position, ..)| *position);
    let mut lost = lost.into_iter().peekable();
    let (mut entries, mut position) = (Vec::new(), 0);
    for found in index.iter()? {
        let (key, _) = found?;
        if !has_prefix(key.value()) {
            continue;
        }
        if let Some((at, revision, damage)) = lost.next_if(|(lost, ..)| *lost == position) {
            let key = String::from_utf8_lossy(key.value());
            entries.push((at, Entry { key: key.into(), value: Err(damage), revision }));
        }
        position += 1;
    }
    Ok(entries)
}

/// Does the work for every piece, on as many threads as there are cores. The results are in the order of the pieces.
pub(super) fn on_all_cores<P: Sync, T: Send>(pieces: &[P], work: impl Fn(&P) -> T + Sync) -> Vec<T> {
    let threads = thread::available_parallelism().map_or(1, NonZero::get).min(pieces.len());
    if threads < 2 {
        return pieces.iter().map(work).collect();
    }
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::with_capacity(pieces.len())));
    let run = || {
        while let Some((number, piece)) = {
            let number = next.fetch_add(1, Ordering::Relaxed);
            pieces.get(number).map(|piece| (number, piece))
        } {
            let result = work(piece);
            done.lock().unwrap_or_else(PoisonError::into_inner).push((number, result));
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(run);
        }
        run();
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_unstable_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, result)| result).collect()
}

/// The hash of a key.
pub(super) fn hash(key: &[u8]) -> u64 {
    twox_hash::XxHash3_64::oneshot(key)
}
