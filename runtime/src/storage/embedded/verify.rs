//! Verifies a whole store: every row, the table counts in `state`, and the invariants of `layout.rs`. On the way it
//! passes newest values on, so that the store need not be read again to load them.
//!
//! Names missing or damaged values by key if one of the tables still has the key. Continues after pages that the engine
//! cannot read.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::RangeInclusive,
};

use redb::{Database, ReadableDatabase, ReadableTable};

use super::{
    guard::guarded,
    layout::{INDEX, LIFETIMES, LOG, MARKS, META, Row, Sealed, State, Tally, lifetime, read_mark, read_pointer},
    scan::{Listing, Lost, Piece, Reading, hash, name, on_all_cores},
};
use crate::{
    meta::Revision,
    storage::{Damage, Visit},
};

/// The result of a verification.
#[expect(clippy::struct_excessive_bools, reason = "each is the state of one table")]
pub(super) struct Report {
    pub(super) state: State,
    /// Objects whose newest value cannot be read, by key.
    pub(super) objects: BTreeMap<String, Damage>,
    /// Changes after `compacted` that cannot be read, or whose replaced value cannot be read.
    pub(super) history: Vec<Revision>,
    /// Missing rows of the log that no other table names.
    pub(super) unnamed: u64,
    /// True if every row of the log is present and unchanged.
    pub(super) log_whole: bool,
    /// True if every row of the index is present and unchanged.
    pub(super) index_whole: bool,
    /// True if every row of the marks is present and unchanged.
    pub(super) marks_whole: bool,
    /// True if every newest value that expires has its deadline in the table of lifetimes.
    pub(super) lifetimes_whole: bool,
}

impl Report {
    /// True if the tables are complete. The index may still name single objects that were damaged earlier.
    pub(super) fn is_whole(&self) -> bool {
        self.log_whole && self.index_whole && self.marks_whole && self.lifetimes_whole
    }
}

/// The log as verification found it.
#[derive(Default)]
struct Log {
    /// Unchanged rows by revision that history needs: all after `compacted`, and before that those which are no newest
    /// values.
    seen: Vec<Seen>,
    /// Revisions whose rows are altered.
    altered: BTreeSet<u64>,
    tally: Tally,
    /// The deadlines and revisions of newest values that expire.
    deadlines: BTreeSet<(u64, u64)>,
}

/// What verification keeps of a row of the log.
struct Seen {
    revision: u64,
    key: u64,
    previous: u64,
}

/// What verification found in a piece of the log.
struct Part {
    log: Log,
    readable: bool,
    bytes: usize,
    lost: Vec<Lost>,
}

/// How many rows were read, and their size.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Count {
    pub(super) rows: u64,
    pub(super) bytes: usize,
}

/// Verifies everything. Fails if not even the tables or the state can be read.
pub(super) fn verify(db: &Database) -> Result<Report, redb::Error> {
    verify_and_scan(db, &[], &|_| {}, &mut |_, _| {})
}

/// Verifies everything, and passes the newest values of all keys with one of the prefixes to `visit`, as
/// [`Store::scan`](crate::storage::Store::scan) does. What was passed is complete only if the report is whole. `each`
/// receives the expected number of rows, and what was read since it was called before.
pub(super) fn verify_and_scan(
    db: &Database,
    prefixes: &[&str],
    visit: Visit<'_>,
    each: &mut dyn FnMut(u64, Count),
) -> Result<Report, redb::Error> {
    let transaction = guarded(|| Ok(db.begin_read()?))?;
    let state = guarded(|| State::load(&transaction.open_table(META)?))?;
    let mut report = Report {
        state,
        objects: BTreeMap::new(),
        history: Vec::new(),
        unnamed: 0,
        log_whole: false,
        index_whole: false,
        marks_whole: false,
        lifetimes_whole: false,
    };
    let log = guarded(|| Ok(transaction.open_table(LOG)?))?;
    let index = guarded(|| Ok(transaction.open_table(INDEX)?))?;
    let rows = state.log.rows.saturating_add(state.index.rows);
    let each = &mut |count| each(rows, count);
    let mut listing = Listing::of(prefixes);
    report.verify_index(&index, &mut listing, each);
    let newest = listing.finish();
    let (mut log, lost) = report.verify_log(&log, &Piece::all(&newest), visit, each);
    report.verify_history(&log);
    report.name_lost(&index, lost, &log, visit);
    let named = report.objects.len() + report.history.len();
    report.unnamed = state.log.rows.saturating_sub(log.tally.rows).saturating_sub(named as u64);
    report.marks_whole = guarded(|| {
        let (mut tally, mut whole) = (Tally::default(), true);
        for found in transaction.open_table(MARKS)?.iter()? {
            let (before, sealed) = found?;
            tally.add(sealed.value().1);
            whole &= read_mark(Revision(before.value()), sealed.value()).is_ok();
        }
        Ok(whole && tally == state.marks)
    })
    .unwrap_or(false);
    report.lifetimes_whole = log.deadlines.is_empty()
        || guarded(|| {
            for found in transaction.open_table(LIFETIMES)?.iter()? {
                let (key, sum) = found?;
                let (deadline_ms, revision) = key.value();
                if sum.value() == lifetime(deadline_ms, Revision(revision)) {
                    log.deadlines.remove(&(deadline_ms, revision));
                }
            }
            Ok(log.deadlines.is_empty())
        })
        .unwrap_or(false);
    Ok(report)
}

impl Report {
    /// Reads every entry of the index.
    fn verify_index(
        &mut self,
        index: &impl ReadableTable<&'static [u8], Sealed>,
        listing: &mut Listing<'_>,
        each: &mut dyn FnMut(Count),
    ) {
        let (mut tally, mut whole) = (Tally::default(), true);
        let mut bytes = 0;
        let read = guarded(|| {
            for found in index.iter()? {
                let (key, sealed) = found?;
                bytes += key.value().len() + size_of::<Sealed>();
                tally.add(sealed.value().1);
                if let Ok(revision) = read_pointer(key.value(), sealed.value()) {
                    listing.add(key.value(), revision);
                } else {
                    whole = false;
                    listing.skip();
                }
            }
            Ok(())
        });
        each(Count { rows: tally.rows, bytes });
        self.index_whole = read.is_ok() && whole && tally == self.state.index;
    }

    /// Reads every row of the log, and passes the newest values on.
    fn verify_log(
        &mut self,
        log: &(impl ReadableTable<u64, &'static [u8]> + Sync),
        pieces: &[Piece<'_>],
        visit: Visit<'_>,
        each: &mut dyn FnMut(Count),
    ) -> (Log, Vec<Lost>) {
        let compacted = self.state.compacted.head;
        let parts = on_all_cores(
            pieces,
            |piece| Part::read(log, piece, compacted, visit),
            |part| {
                each(Count { rows: part.log.tally.rows, bytes: part.bytes });
            },
        );
        let (mut log, mut lost, mut readable) = (Log::default(), Vec::new(), true);
        for part in parts {
            log.seen.extend(part.log.seen);
            log.altered.extend(part.log.altered);
            log.deadlines.extend(part.log.deadlines);
            log.tally.add_all(part.log.tally);
            lost.extend(part.lost);
            readable &= part.readable;
        }
        self.log_whole = readable && log.altered.is_empty() && log.tally == self.state.log;
        (log, lost)
    }

    /// Finds changes that cannot be read, or that replaced an unreadable value.
    fn verify_history(&mut self, log: &Log) {
        let mut expected = self.state.compacted.head.0;
        let first = log.seen.partition_point(|row| row.revision <= expected);
        for row in log.seen[first..].iter().filter(|row| row.revision <= self.state.end.head.0) {
            self.history.extend((expected + 1..row.revision).map(Revision));
            expected = row.revision;
            let previous = log.find(row.previous);
            if row.previous != 0 && previous.is_none_or(|previous| previous.key != row.key) {
                self.history.push(Revision(row.revision));
            }
        }
        self.history.extend((expected + 1..=self.state.end.head.0).map(Revision));
        self.log_whole &= self.history.is_empty();
    }

    /// Finds the keys of newest values that cannot be read.
    fn name_lost(
        &mut self,
        index: &impl ReadableTable<&'static [u8], Sealed>,
        lost: Vec<Lost>,
        log: &Log,
        visit: Visit<'_>,
    ) {
        let objects = &mut self.objects;
        let named = guarded(|| {
            name(index, lost, |lost, entry| {
                let damage = if log.altered.contains(&lost.revision.0) { Damage::Altered } else { Damage::Missing };
                objects.insert(entry.1.key.to_string(), damage);
                if lost.wanted {
                    visit(vec![entry]);
                }
            })
        });
        // The index was read before.
        self.index_whole &= named.is_ok();
    }
}

impl Part {
    fn read(
        log: &impl ReadableTable<u64, &'static [u8]>,
        piece: &Piece<'_>,
        compacted: Revision,
        visit: Visit<'_>,
    ) -> Self {
        let (mut part, mut reading) = (Log::default(), Reading::of(piece));
        let mut bytes_read = 0;
        let readable = each_row_of(log, piece.from..=piece.upto, |revision, bytes| {
            bytes_read += size_of::<u64>() + bytes.len();
            part.tally.add(Row::stored_checksum(bytes));
            let row = Row::read(Revision(revision), bytes);
            let is_newest = reading.take(Revision(revision), || row);
            match row {
                Ok(row) => {
                    if is_newest {
                        part.deadlines.extend(row.deadline_ms.map(|deadline_ms| (deadline_ms, revision)));
                    }
                    if !is_newest || revision > compacted.0 {
                        part.seen.push(Seen { revision, key: hash(row.key.as_bytes()), previous: row.previous.0 });
                    }
                }
                Err(_) => _ = part.altered.insert(revision),
            }
        });
        Self { log: part, readable, bytes: bytes_read, lost: reading.finish(visit) }
    }
}

impl Log {
    fn find(&self, revision: u64) -> Option<&Seen> {
        self.seen.binary_search_by_key(&revision, |row| row.revision).ok().map(|at| &self.seen[at])
    }
}

/// Passes every readable row of the log to `take`, as stored and by revision. Returns whether all rows were readable.
pub(super) fn each_row(log: &impl ReadableTable<u64, &'static [u8]>, take: impl FnMut(u64, &[u8])) -> bool {
    each_row_of(log, 0..=u64::MAX, take)
}

/// The same for a part of the log.
fn each_row_of(
    log: &impl ReadableTable<u64, &'static [u8]>,
    revisions: RangeInclusive<u64>,
    mut take: impl FnMut(u64, &[u8]),
) -> bool {
    let (mut from, upto) = revisions.into_inner();
    let mut whole = true;
    while from <= upto {
        let read = guarded(|| {
            for found in log.range(from..=upto)? {
                let (revision, bytes) = found?;
                let revision = revision.value();
                if !(from..=upto).contains(&revision) {
                    return Err(redb::Error::Corrupted("rows are out of order".to_owned()));
                }
                take(revision, bytes.value());
                let Some(next) = revision.checked_add(1) else { break };
                from = next;
            }
            Ok(())
        });
        if read.is_ok() {
            return whole;
        }
        whole = false;
        match next_readable(log, from) {
            Some(next) => from = next,
            None => return false,
        }
    }
    whole
}

/// Passes the readable rows of the index to `take`: up to the first unreadable page, and then backwards from the end.
pub(super) fn each_pointer(index: &impl ReadableTable<&'static [u8], Sealed>, mut take: impl FnMut(&str, Revision)) {
    for backwards in [false, true] {
        let read = guarded(|| {
            let mut rows = index.iter()?;
            while let Some(found) = if backwards { rows.next_back() } else { rows.next() } {
                let (key, sealed) = found?;
                if let (Ok(text), Ok(revision)) =
                    (std::str::from_utf8(key.value()), read_pointer(key.value(), sealed.value()))
                {
                    take(text, revision);
                }
            }
            Ok(())
        });
        if read.is_ok() {
            break;
        }
    }
}

/// The first revision after an unreadable page.
fn next_readable(log: &impl ReadableTable<u64, &'static [u8]>, after: u64) -> Option<u64> {
    let first =
        |from: u64| guarded(|| Ok(log.range(from..)?.next().transpose()?.map(|(revision, _)| revision.value())));
    let (mut bad, mut step) = (after, 1_u64);
    let mut good = loop {
        let from = after.checked_add(step)?;
        match first(from) {
            Ok(found) => break found.filter(|found| *found >= from)?,
            Err(_) => bad = from,
        }
        step = step.checked_mul(2)?;
    };
    while good - bad > 1 {
        let middle = bad + (good - bad) / 2;
        match first(middle) {
            Ok(Some(found)) if found >= middle => good = middle,
            _ => bad = middle,
        }
    }
    Some(good)
}
