//! Reads all newest values in one pass over the log, in the order of the file, on all cores.
//!
//! The index says first which rows hold newest values, and at which position of the result. That takes a few bytes for
//! each key. The log is then read in pieces, by as many threads as there are cores.

use std::{
    mem,
    num::NonZero,
    sync::{
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    thread,
};

use bytes::Bytes;
use redb::ReadableTable;

use super::{
    guard::guarded,
    layout::{Row, read_pointer},
    read::View,
};
use crate::{Damage, Entry, Visit, meta::Revision};

/// The number of newest values in a piece.
const PIECE: usize = 512;

/// The row that the index names for a key.
#[derive(Clone, Copy)]
pub(super) struct Newest {
    revision: u64,
    /// The hash of the key.
    key: u64,
    position: u32,
    /// True if the scan was asked for this key.
    wanted: bool,
}

/// A part of the log, and the newest values in it.
#[derive(Clone, Copy)]
pub(super) struct Piece<'n> {
    pub(super) from: u64,
    pub(super) upto: u64,
    newest: &'n [Newest],
}

/// A newest value that cannot be read.
#[derive(Clone, Copy)]
pub(super) struct Lost {
    position: u32,
    pub(super) wanted: bool,
    pub(super) revision: Revision,
    pub(super) damage: Damage,
}

/// Passes the newest values of all keys with one of the prefixes to `visit`.
pub(super) fn scan(view: &View, prefixes: &[&str], visit: Visit<'_>) -> Result<Revision, redb::Error> {
    let (mut listing, mut lost) = (IndexListing::of(prefixes), Vec::new());
    for found in view.index.iter()? {
        let (key, checksummed) = found?;
        let key = key.value();
        if !listing.wants(key) {
            listing.skip();
        } else if let Ok(revision) = read_pointer(key, checksummed.value()) {
            listing.add(key, revision);
        } else {
            lost.push(listing.lose());
        }
    }
    let newest = listing.finish();
    let pieces: Vec<_> = newest.chunks(PIECE).map(Piece::within).collect();
    let read = |piece: &Piece<'_>| {
        guarded(|| {
            let mut reader = PieceReader::of(piece);
            for found in view.log.range(piece.from..=piece.upto)? {
                let (revision, bytes) = found?;
                let revision = Revision(revision.value());
                reader.take(revision, || Row::read(revision, bytes.value()), Bytes::copy_from_slice);
            }
            Ok(reader.finish(visit))
        })
    };
    for found in on_all_cores(&pieces, read, |_| {}) {
        lost.extend(found?);
    }
    let keys = |take: &mut dyn FnMut(&[u8])| {
        for found in view.index.iter()? {
            take(found?.0.value());
        }
        Ok(())
    };
    name(lost, keys, |lost, entry| {
        if lost.wanted {
            visit(vec![entry]);
        }
    })?;
    Ok(view.state.end.head)
}

/// The index, as it is read.
pub(super) struct IndexListing<'p> {
    prefixes: &'p [&'p str],
    newest: Vec<Newest>,
    position: u32,
}

impl<'p> IndexListing<'p> {
    pub(super) fn of(prefixes: &'p [&'p str]) -> Self {
        Self { prefixes, newest: Vec::new(), position: 0 }
    }

    /// True if a key has one of the prefixes.
    fn wants(&self, key: &[u8]) -> bool {
        self.prefixes.iter().any(|prefix| key.starts_with(prefix.as_bytes()))
    }

    /// Adds the next key of the index.
    pub(super) fn add(&mut self, key: &[u8], revision: Revision) {
        let (wanted, position) = (self.wants(key), self.position);
        self.newest.push(Newest { revision: revision.0, key: hash(key), position, wanted });
        self.skip();
    }

    /// Passes over the next key of the index.
    pub(super) fn skip(&mut self) {
        self.position += 1;
    }

    /// Passes over the next key of the index, whose revision is unknown.
    fn lose(&mut self) -> Lost {
        let position = self.position;
        self.skip();
        Lost { position, wanted: true, revision: Revision(0), damage: Damage::Missing }
    }

    /// The newest values in the order of the log.
    pub(super) fn finish(mut self) -> Vec<Newest> {
        self.newest.sort_unstable_by_key(|newest| newest.revision);
        self.newest
    }
}

impl<'n> Piece<'n> {
    /// The part of the log from the first to the last of these.
    fn within(newest: &'n [Newest]) -> Self {
        let revision = |newest: Option<&Newest>| newest.map_or(0, |newest| newest.revision);
        Self { from: revision(newest.first()), upto: revision(newest.last()), newest }
    }

    /// The whole log in pieces, which end at these revisions if they are given.
    pub(super) fn all(newest: &'n [Newest], cuts: Option<Vec<u64>>) -> Vec<Self> {
        let even = || newest.chunks(PIECE).skip(1).map(|next| next[0].revision.saturating_sub(1)).collect();
        let ends = cuts.unwrap_or_else(even).into_iter().filter(|end| *end < u64::MAX).chain([u64::MAX]);
        let (mut from, mut rest) = (0, newest);
        let piece = |upto: u64| {
            let (newest, later) = rest.split_at(rest.partition_point(|newest| newest.revision <= upto));
            let piece = Self { from, upto, newest };
            (from, rest) = (upto.saturating_add(1), later);
            piece
        };
        ends.map(piece).collect()
    }
}

/// The newest values of a piece, as the log is read.
pub(super) struct PieceReader<'n> {
    /// The rows that the log has not reached.
    ahead: &'n [Newest],
    found: Vec<(usize, Entry)>,
    lost: Vec<Lost>,
}

impl<'n> PieceReader<'n> {
    pub(super) fn of(piece: &Piece<'n>) -> Self {
        Self { ahead: piece.newest, found: Vec::new(), lost: Vec::new() }
    }

    /// Takes the next row of the log. Returns true if the row is the newest value of its key. Rows that the index does
    /// not name are not read. `keep` makes a value of the row's body.
    pub(super) fn take<'r>(
        &mut self,
        revision: Revision,
        read: impl FnOnce() -> Result<Row<'r>, Damage>,
        keep: impl FnOnce(&[u8]) -> Bytes,
    ) -> bool {
        while let Some(missing) = self.next_if(|newest| newest.revision < revision.0) {
            self.lose(missing, Damage::Missing);
        }
        let Some(newest) = self.next_if(|newest| newest.revision == revision.0) else { return false };
        match read() {
            Ok(Row { key, body: Some(body), .. }) if hash(key.as_bytes()) == newest.key => {
                if newest.wanted {
                    let value = Ok(keep(body));
                    self.found.push((newest.position as usize, Entry { key: key.into(), value, revision }));
                }
                return true;
            }
            Ok(_) => self.lose(newest, Damage::Missing),
            Err(damage) => self.lose(newest, damage),
        }
        false
    }

    fn next_if(&mut self, is_meant: impl FnOnce(&Newest) -> bool) -> Option<&'n Newest> {
        let (first, rest) = self.ahead.split_first()?;
        is_meant(first).then(|| {
            self.ahead = rest;
            first
        })
    }

    fn lose(&mut self, newest: &Newest, damage: Damage) {
        let Newest { revision, position, wanted, .. } = *newest;
        self.lost.push(Lost { position, wanted, revision: Revision(revision), damage });
    }

    /// Passes on what was found. Returns what was not.
    pub(super) fn finish(mut self, visit: Visit<'_>) -> Vec<Lost> {
        for missing in mem::take(&mut self.ahead) {
            self.lose(missing, Damage::Missing);
        }
        if !self.found.is_empty() {
            visit(self.found);
        }
        self.lost
    }
}

/// Passes entries for values that cannot be read to `take`. Their keys are only in the index, which `each_key` passes.
pub(super) fn name(
    mut lost: Vec<Lost>,
    each_key: impl FnOnce(&mut dyn FnMut(&[u8])) -> Result<(), redb::Error>,
    mut take: impl FnMut(&Lost, (usize, Entry)),
) -> Result<(), redb::Error> {
    if lost.is_empty() {
        return Ok(());
    }
    lost.sort_unstable_by_key(|lost| lost.position);
    let (mut lost, mut positions) = (lost.iter().peekable(), 0..);
    each_key(&mut |key| {
        let position = positions.next();
        if let Some(lost) = lost.next_if(|lost| Some(lost.position) == position) {
            let (key, value) = (String::from_utf8_lossy(key).into(), Err(lost.damage));
            take(lost, (lost.position as usize, Entry { key, value, revision: lost.revision }));
        }
    })
}

/// Does the work for every piece, on as many threads as there are cores. `each` gets the results as they come, on this
/// thread. Returns them in the order of the pieces.
pub(super) fn on_all_cores<P: Sync, T: Send>(
    pieces: &[P],
    work: impl Fn(&P) -> T + Sync,
    mut each: impl FnMut(&T),
) -> Vec<T> {
    let threads = thread::available_parallelism().map_or(1, NonZero::get).min(pieces.len());
    let (next, (send, results)) = (AtomicUsize::new(0), mpsc::channel());
    let mut done: Vec<(usize, T)> = thread::scope(|scope| {
        for _ in 0..threads {
            let (next, work, send) = (&next, &work, send.clone());
            scope.spawn(move || {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(piece) = pieces.get(number) else { break };
                    if send.send((number, work(piece))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(send);
        results.into_iter().inspect(|(_, result)| each(result)).collect()
    });
    done.sort_unstable_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, result)| result).collect()
}

/// The hash of a key.
pub(super) fn hash(key: &[u8]) -> u64 {
    twox_hash::XxHash3_64::oneshot(key)
}
