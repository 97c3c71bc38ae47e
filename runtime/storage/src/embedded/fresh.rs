//! Writes a store into a new file of the engine: an empty store, an upgraded one, or the readable part of a damaged
//! one. Rows are written in order, and the table counts in `state` are computed on the way.

use std::{
    collections::{BTreeMap, HashMap, HashSet, btree_map::Entry},
    fs::File,
};

use redb::{Database, ReadableDatabase, ReadableTable, Table, WriteTransaction, backends::FileBackend};

use super::{
    guard::{Engine, guarded},
    layout::{
        ChecksummedNumber, End, INDEX, LIFETIMES, LOG, MARKS, META, Row, State, lifetime, mark, pointer, read_marks,
        read_pointer,
    },
    tables::{each_pointer, each_row},
    verify::Report,
};
use crate::meta::Revision;

/// The tables of a new file while it is written.
pub(super) struct Fresh<'t> {
    log: Table<'t, u64, &'static [u8]>,
    index: Table<'t, &'static [u8], ChecksummedNumber>,
    marks: Table<'t, u64, ChecksummedNumber>,
    lifetimes: Table<'t, (u64, u64), u64>,
    /// The deadlines of the rows that have one, by revision.
    deadlines: HashMap<Revision, u64>,
    state: State,
}

/// Writes a new file. The extent of the log and of history comes from `state`; `fill` writes the rows.
pub(super) fn write(
    file: File,
    state: &State,
    fill: impl FnOnce(&mut Fresh<'_>) -> Result<(), redb::Error>,
) -> Result<(), redb::Error> {
    guarded(|| {
        let created = Database::builder().create_with_backend(FileBackend::new(file)?)?;
        write_to(&Engine::new(created), state, fill)
    })
}

/// Does the same with an open, empty file.
pub(super) fn write_to(
    db: &Database,
    state: &State,
    fill: impl FnOnce(&mut Fresh<'_>) -> Result<(), redb::Error>,
) -> Result<(), redb::Error> {
    let transaction = db.begin_write()?;
    let State { origin, compacted, end, passed, .. } = *state;
    let state = State { origin, compacted, end, passed, ..State::default() };
    let mut fresh = Fresh::begin(&transaction, state)?;
    fill(&mut fresh)?;
    let state = fresh.state;
    drop(fresh);
    state.save(&mut transaction.open_table(META)?)?;
    transaction.commit()?;
    Ok(())
}

impl<'t> Fresh<'t> {
    fn begin(transaction: &'t WriteTransaction, state: State) -> Result<Self, redb::Error> {
        let (log, index) = (transaction.open_table(LOG)?, transaction.open_table(INDEX)?);
        let (marks, lifetimes) = (transaction.open_table(MARKS)?, transaction.open_table(LIFETIMES)?);
        Ok(Self { log, index, marks, lifetimes, deadlines: HashMap::new(), state })
    }

    /// Adds a row of the log. The rows of newest values come before the pointers to them.
    pub(super) fn put_row(&mut self, revision: Revision, row: &Row<'_>) -> Result<(), redb::Error> {
        let checksum = row.write(revision, self.log.insert_reserve(revision.0, row.size())?.as_mut());
        self.state.log.add(checksum);
        self.deadlines.extend(row.deadline_ms.map(|deadline_ms| (revision, deadline_ms)));
        Ok(())
    }

    pub(super) fn put_pointer(&mut self, key: &[u8], revision: Revision) -> Result<(), redb::Error> {
        let checksummed = pointer(key, revision);
        self.index.insert(key, checksummed)?;
        self.state.index.add(checksummed.1);
        if let Some(&deadline_ms) = self.deadlines.get(&revision) {
            self.lifetimes.insert((deadline_ms, revision.0), lifetime(deadline_ms, revision))?;
        }
        Ok(())
    }

    pub(super) fn put_mark(&mut self, before: Revision, ms: u64) -> Result<(), redb::Error> {
        let checksummed = mark(before, ms);
        self.marks.insert(before.0, checksummed)?;
        self.state.marks.add(checksummed.1);
        Ok(())
    }
}

/// Writes the readable part of a damaged store into a new file, so that the tables are complete again and the engine
/// writes to sound pages. The new file names every object that the old one names, including unreadable ones. History
/// begins after the last change that cannot be read.
pub(super) fn write_again(old: &Database, report: &Report, file: File) -> Result<(), redb::Error> {
    let transaction = old.begin_read()?;
    let log = transaction.open_table(LOG)?;
    let compacted = report.history.last().copied().unwrap_or_default().max(report.state.compacted.head);
    let index = index_again(&transaction.open_table(INDEX)?, &log, report);
    let mut kept: HashSet<u64> = index.values().map(|revision| revision.0).collect();
    let mut obsolete = report.state.compacted.obsolete;
    each_row(&log, |revision, bytes| {
        let Ok(row) = Row::read(Revision(revision), bytes) else { return };
        if revision > compacted.0 {
            kept.extend([revision, row.previous.0]);
        } else {
            obsolete = obsolete.max(row.obsolete);
        }
    });
    // Rows without a pointer to them are not copied.
    let state = State { compacted: End { head: compacted, obsolete }, passed: 0, ..report.state };
    write(file, &state, |fresh| {
        let mut result = Ok(());
        each_row(&log, |revision, bytes| {
            let revision = Revision(revision);
            if let Ok(row) = Row::read(revision, bytes)
                && kept.contains(&revision.0)
                && result.is_ok()
            {
                result = fresh.put_row(revision, &row);
            }
        });
        result?;
        for (key, revision) in &index {
            fresh.put_pointer(key.as_bytes(), *revision)?;
        }
        let (table, mut marks) = (transaction.open_table(MARKS)?, Vec::new());
        // Marks before an unreadable page are still copied.
        let _ = guarded(|| read_marks(&table, &mut marks));
        marks.into_iter().try_for_each(|(before, ms)| fresh.put_mark(before, ms))
    })
}

/// Copies the index if it is complete, or rebuilds it from the log if that is complete. If both are damaged, an object
/// that only the log knows may have changed or been deleted since. Such an object is named and points to nothing.
fn index_again(
    index: &impl ReadableTable<&'static [u8], ChecksummedNumber>,
    log: &impl ReadableTable<u64, &'static [u8]>,
    report: &Report,
) -> BTreeMap<String, Revision> {
    let mut pointers = BTreeMap::new();
    let derivable = report.log_whole && report.state.passed == 0;
    if report.index_whole || !derivable {
        each_pointer(index, |key, revision| _ = pointers.insert(key.to_owned(), revision));
    }
    if report.index_whole {
        return pointers;
    }
    let mut live = BTreeMap::new();
    each_row(log, |revision, bytes| {
        let Ok(row) = Row::read(Revision(revision), bytes) else { return };
        match row.body {
            Some(_) => _ = live.insert(row.key.to_owned(), Revision(revision)),
            None => _ = live.remove(row.key),
        }
    });
    if derivable {
        return live;
    }
    for key in live.into_keys() {
        let Entry::Vacant(unknown) = pointers.entry(key) else { continue };
        let key = unknown.key().as_bytes();
        let found = guarded(|| Ok(index.get(key)?.map(|checksummed| checksummed.value())));
        let revision = found.ok().flatten().and_then(|checksummed| read_pointer(key, checksummed).ok());
        unknown.insert(revision.unwrap_or_default());
    }
    pointers
}
