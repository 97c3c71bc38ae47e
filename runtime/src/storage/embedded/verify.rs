//! Verifies a whole store: every row, the table counts in `state`, and the invariants of `layout.rs`.
//!
//! Names missing or damaged values by key if one of the tables still has the key. Continues after pages that the engine
//! cannot read.

use std::collections::{BTreeMap, BTreeSet};

use redb::{Database, ReadableDatabase, ReadableTable};

use super::{
    guard::guarded,
    layout::{INDEX, LIFETIMES, LOG, MARKS, META, Row, Sealed, State, Tally, lifetime, read_mark, read_pointer},
};
use crate::{meta::Revision, storage::Damage};

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
    /// The deadlines that this table must have.
    deadlines: BTreeSet<(u64, u64)>,
}

impl Report {
    /// True if the tables are complete. The index may still name single objects that were damaged earlier.
    pub(super) fn is_whole(&self) -> bool {
        self.log_whole && self.index_whole && self.marks_whole && self.lifetimes_whole
    }
}

/// The log as verification found it.
struct Log {
    /// Unchanged rows by revision.
    seen: Vec<Seen>,
    /// Revisions whose rows are altered.
    altered: BTreeSet<u64>,
    /// The deadlines of rows, by revision.
    deadlines: BTreeMap<u64, u64>,
    /// The number of rows of both kinds.
    rows: u64,
}

/// What verification keeps of a row of the log.
struct Seen {
    revision: u64,
    key: u64,
    previous: u64,
    has_body: bool,
}

/// Verifies everything. Fails if not even the tables or the state can be read.
pub(super) fn verify(db: &Database) -> Result<Report, redb::Error> {
    verify_watched(db, &mut |_, _| {})
}

/// Verifies everything. `each` receives the expected number of rows, and the size of each row as it is read.
pub(super) fn verify_watched(db: &Database, each: &mut dyn FnMut(u64, usize)) -> Result<Report, redb::Error> {
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
        deadlines: BTreeSet::new(),
    };
    let log = guarded(|| Ok(transaction.open_table(LOG)?))?;
    let index = guarded(|| Ok(transaction.open_table(INDEX)?))?;
    let rows = state.log.rows.saturating_add(state.index.rows);
    let each = &mut |size| each(rows, size);
    let log = report.verify_log(&log, each);
    report.verify_history(&log);
    report.verify_index(&index, &log, each);
    let named = report.objects.len() + report.history.len();
    report.unnamed = state.log.rows.saturating_sub(log.rows).saturating_sub(named as u64);
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
    report.lifetimes_whole = report.deadlines.is_empty()
        || guarded(|| {
            for found in transaction.open_table(LIFETIMES)?.iter()? {
                let (key, sum) = found?;
                let (deadline_ms, revision) = key.value();
                if sum.value() == lifetime(deadline_ms, Revision(revision)) {
                    report.deadlines.remove(&(deadline_ms, revision));
                }
            }
            Ok(report.deadlines.is_empty())
        })
        .unwrap_or(false);
    Ok(report)
}

impl Report {
    fn verify_log(&mut self, log: &impl ReadableTable<u64, &'static [u8]>, each: &mut dyn FnMut(usize)) -> Log {
        let (mut seen, mut altered, mut tally) = (Vec::new(), BTreeSet::new(), Tally::default());
        let mut deadlines = BTreeMap::new();
        let readable = each_row(log, |revision, bytes| {
            each(size_of::<u64>() + bytes.len());
            tally.add(Row::stored_checksum(bytes));
            match Row::read(Revision(revision), bytes) {
                Ok(row) => {
                    deadlines.extend(row.deadline_ms.map(|deadline_ms| (revision, deadline_ms)));
                    seen.push(Seen {
                        revision,
                        key: hash(row.key.as_bytes()),
                        previous: row.previous.0,
                        has_body: row.body.is_some(),
                    });
                }
                Err(_) => _ = altered.insert(revision),
            }
        });
        self.log_whole = readable && altered.is_empty() && tally == self.state.log;
        Log { seen, altered, deadlines, rows: tally.rows }
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

    /// Reads every entry of the index and looks up its row.
    fn verify_index(
        &mut self,
        index: &impl ReadableTable<&'static [u8], Sealed>,
        log: &Log,
        each: &mut dyn FnMut(usize),
    ) {
        let (mut tally, mut whole) = (Tally::default(), true);
        let (objects, deadlines) = (&mut self.objects, &mut self.deadlines);
        let read = guarded(|| {
            for found in index.iter()? {
                let (key, sealed) = found?;
                each(key.value().len() + size_of::<Sealed>());
                tally.add(sealed.value().1);
                let Ok(revision) = read_pointer(key.value(), sealed.value()) else {
                    whole = false;
                    continue;
                };
                deadlines.extend(log.deadlines.get(&revision.0).map(|deadline_ms| (*deadline_ms, revision.0)));
                let row = log.find(revision.0);
                if row.is_none_or(|row| !row.has_body || row.key != hash(key.value())) {
                    let damage = if log.altered.contains(&revision.0) { Damage::Altered } else { Damage::Missing };
                    objects.insert(String::from_utf8_lossy(key.value()).into_owned(), damage);
                }
            }
            Ok(())
        });
        self.index_whole = read.is_ok() && whole && tally == self.state.index;
    }
}

fn hash(key: &[u8]) -> u64 {
    twox_hash::XxHash3_64::oneshot(key)
}

impl Log {
    fn find(&self, revision: u64) -> Option<&Seen> {
        self.seen.binary_search_by_key(&revision, |row| row.revision).ok().map(|at| &self.seen[at])
    }
}

/// Passes every readable row of the log to `take`, as stored and by revision. Returns whether all rows were readable.
pub(super) fn each_row(log: &impl ReadableTable<u64, &'static [u8]>, mut take: impl FnMut(u64, &[u8])) -> bool {
    let (mut from, mut whole) = (0, true);
    loop {
        let read = guarded(|| {
            for found in log.range(from..)? {
                let (revision, bytes) = found?;
                let revision = revision.value();
                if revision < from {
                    return Err(redb::Error::Corrupted("rows are out of order".to_owned()));
                }
                take(revision, bytes.value());
                from = revision.saturating_add(1);
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
