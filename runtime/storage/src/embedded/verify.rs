//! Verifies a whole store: every row, the table counts in `state`, and the invariants of `layout.rs`. On the way it
//! passes newest values on, so that the store need not be read again to load them.
//!
//! Names missing or damaged values by key if one of the tables still has the key.

use std::collections::{BTreeMap, BTreeSet};

use redb::Database;

use super::{
    layout::{ChecksummedNumber, Row, State, Tally, lifetime, read_mark, read_pointer},
    scan::{IndexListing, Lost, Piece, PieceReader, hash, name, on_all_cores},
    tables::{Engines, Tables},
};
use crate::{Damage, Visit, meta::Revision};

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
    rows: Vec<LogRow>,
    /// Revisions whose rows are altered.
    altered: BTreeSet<u64>,
    tally: Tally,
    /// The deadlines and revisions of newest values that expire.
    deadlines: BTreeSet<(u64, u64)>,
}

/// What verification keeps of a row of the log.
struct LogRow {
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

/// Verifies everything. Fails if not even the tables or the state can be read.
pub(super) fn verify(db: &Database) -> Result<Report, redb::Error> {
    verify_and_scan(&Engines::open(db)?, &[], &|_| {}, &mut |_, _, _| {})
}

/// Verifies everything, and passes the newest values of all keys with one of the prefixes to `visit`, as
/// [`Store::scan`](crate::Store::scan) does. What was passed is complete only if the report is whole. `each`
/// receives the expected number of rows, and the number and the size of those read since it was called before.
pub(super) fn verify_and_scan(
    tables: &impl Tables,
    prefixes: &[&str],
    visit: Visit<'_>,
    each: &mut dyn FnMut(u64, u64, usize),
) -> Result<Report, redb::Error> {
    let state = tables.state()?;
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
    let rows = state.log.rows.saturating_add(state.index.rows);
    let each = &mut |read, bytes| each(rows, read, bytes);
    let mut listing = IndexListing::of(prefixes);
    report.verify_index(tables, &mut listing, each);
    let newest = listing.finish();
    let pieces = Piece::all(&newest, tables.cuts());
    let (mut log, lost) = report.verify_log(tables, &pieces, visit, each);
    report.verify_history(&log);
    report.name_lost(tables, lost, &log, visit);
    let named = report.objects.len() + report.history.len();
    report.unnamed = state.log.rows.saturating_sub(log.tally.rows).saturating_sub(named as u64);
    let (mut tally, mut whole) = (Tally::default(), true);
    let read = tables.each_mark(&mut |before, checksummed| {
        tally.add(checksummed.1);
        whole &= read_mark(Revision(before), checksummed).is_ok();
    });
    report.marks_whole = read.is_ok() && whole && tally == state.marks;
    // A store of layout 2 has no such table.
    report.lifetimes_whole = log.deadlines.is_empty() || {
        let read = tables.each_lifetime(&mut |(deadline_ms, revision), sum| {
            if sum == lifetime(deadline_ms, Revision(revision)) {
                log.deadlines.remove(&(deadline_ms, revision));
            }
        });
        read.is_ok() && log.deadlines.is_empty()
    };
    Ok(report)
}

impl Report {
    /// Reads every entry of the index.
    fn verify_index(&mut self, tables: &impl Tables, listing: &mut IndexListing<'_>, each: &mut dyn FnMut(u64, usize)) {
        let (mut tally, mut whole) = (Tally::default(), true);
        let mut bytes = 0;
        let read = tables.each_pointer(&mut |key, checksummed| {
            bytes += key.len() + size_of::<ChecksummedNumber>();
            tally.add(checksummed.1);
            if let Ok(revision) = read_pointer(key, checksummed) {
                listing.add(key, revision);
            } else {
                whole = false;
                listing.skip();
            }
        });
        each(tally.rows, bytes);
        self.index_whole = read.is_ok() && whole && tally == self.state.index;
    }

    /// Reads every row of the log, and passes the newest values on.
    fn verify_log(
        &mut self,
        tables: &impl Tables,
        pieces: &[Piece<'_>],
        visit: Visit<'_>,
        each: &mut dyn FnMut(u64, usize),
    ) -> (Log, Vec<Lost>) {
        let compacted = self.state.compacted.head;
        let parts = on_all_cores(
            pieces,
            |piece| Part::read(tables, piece, compacted, visit),
            |part| each(part.log.tally.rows, part.bytes),
        );
        let (mut log, mut lost, mut readable) = (Log::default(), Vec::new(), true);
        for part in parts {
            log.rows.extend(part.log.rows);
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
        let first = log.rows.partition_point(|row| row.revision <= expected);
        for row in log.rows[first..].iter().filter(|row| row.revision <= self.state.end.head.0) {
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
    fn name_lost(&mut self, tables: &impl Tables, lost: Vec<Lost>, log: &Log, visit: Visit<'_>) {
        let objects = &mut self.objects;
        let named = name(
            lost,
            |take| tables.each_pointer(&mut |key, _| take(key)),
            |lost, entry| {
                let damage = if log.altered.contains(&lost.revision.0) { Damage::Altered } else { Damage::Missing };
                objects.insert(entry.1.key.to_string(), damage);
                if lost.wanted {
                    visit(vec![entry]);
                }
            },
        );
        // The index was read before.
        self.index_whole &= named.is_ok();
    }
}

impl Part {
    fn read(tables: &impl Tables, piece: &Piece<'_>, compacted: Revision, visit: Visit<'_>) -> Self {
        let (mut part, mut reader) = (Log::default(), PieceReader::of(piece));
        let mut bytes_read = 0;
        let readable = tables.each_row(piece.from..=piece.upto, &mut |revision, raw| {
            bytes_read += size_of::<u64>() + raw.bytes.len();
            part.tally.add(Row::stored_checksum(raw.bytes));
            let row = Row::read(Revision(revision), raw.bytes);
            let is_newest = reader.take(Revision(revision), || row, |body| raw.share(body));
            match row {
                Ok(row) => {
                    if is_newest {
                        part.deadlines.extend(row.deadline_ms.map(|deadline_ms| (deadline_ms, revision)));
                    }
                    if !is_newest || revision > compacted.0 {
                        part.rows.push(LogRow { revision, key: hash(row.key.as_bytes()), previous: row.previous.0 });
                    }
                }
                Err(_) => _ = part.altered.insert(revision),
            }
        });
        Self { log: part, readable, bytes: bytes_read, lost: reader.finish(visit) }
    }
}

impl Log {
    fn find(&self, revision: u64) -> Option<&LogRow> {
        self.rows.binary_search_by_key(&revision, |row| row.revision).ok().map(|at| &self.rows[at])
    }
}
