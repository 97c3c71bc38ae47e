//! Gathers everything readable from a damaged store, and how certain each part is.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::File,
    sync::Arc,
};

use redb::ReadableDatabase;

use super::{
    Error, OnProgress, Progress,
    locked_dir::LockedDir,
    scan::{self, FileRange},
};
use crate::{
    embedded::{
        guard::guarded,
        handle::Handle,
        layout::{End, INDEX, LOG, MARKS, Row, State, Tally, read_marks},
        tables::{each_pointer, each_row},
        verify::{self, Report},
    },
    meta::Revision,
};

/// A row that can be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ReadableRow {
    pub(super) key: Arc<str>,
    pub(super) previous: Revision,
    pub(super) has_body: bool,
    pub(super) obsolete: u64,
    checksum: u64,
    pub(super) location: RowLocation,
    /// True if only the scan assigns this row to its revision.
    unconfirmed: bool,
}

/// Where a row can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RowLocation {
    Table,
    File(FileRange),
}

/// The known facts about an object's newest value.
pub(super) enum Pointers {
    /// This row is the newest value.
    Certain(Revision),
    /// This row, or a later one that is lost, is the newest value.
    Uncertain(Revision),
    /// The newest value cannot be read.
    Lost,
}

/// The readable content of a store.
pub(super) struct ReadableStore {
    pub(super) file: File,
    pub(super) opened: Option<Handle>,
    /// Why the engine could not open its file.
    pub(super) unopened: Option<String>,
    /// The store's state record, if it is readable.
    pub(super) state: Option<State>,
    /// Rows by revision.
    pub(super) rows: BTreeMap<u64, ReadableRow>,
    /// The readable part of the index.
    index: BTreeMap<String, Revision>,
    /// True if that is the whole index.
    index_whole: bool,
    /// True if the rows are the whole log.
    log_whole: bool,
    pub(super) marks: Vec<(Revision, u64)>,
    /// The number of revisions for which the scan found different rows.
    contested: u64,
}

impl ReadableStore {
    pub(super) fn of(locked: &LockedDir, testified: Option<Revision>, progress: OnProgress<'_>) -> Result<Self, Error> {
        let mut this = Self {
            file: locked.file()?,
            opened: None,
            unopened: None,
            state: None,
            rows: BTreeMap::new(),
            index: BTreeMap::new(),
            index_whole: false,
            log_whole: false,
            marks: Vec::new(),
            contested: 0,
        };
        let altered = match open(locked)? {
            Ok((opened, report)) => {
                let altered = this.read_tables(&opened, &report);
                this.opened = Some(opened);
                altered
            }
            Err(why) => {
                this.unopened = Some(why);
                BTreeMap::new()
            }
        };
        let behind = this.state.is_some_and(|state| testified.is_some_and(|testified| testified > state.end.head));
        if !this.log_whole || !this.index_whole || behind {
            let scanned = this.scan(locked, progress)?;
            this.complete(scanned, &altered);
        }
        Ok(this)
    }

    /// Reads the rows that the engine can reach. Returns the stored checksums of altered rows by revision.
    fn read_tables(&mut self, opened: &Handle, report: &Report) -> BTreeMap<u64, u64> {
        self.state = Some(report.state);
        (self.log_whole, self.index_whole) = (report.log_whole, report.index_whole);
        let mut altered = BTreeMap::new();
        let Ok(transaction) = guarded(|| Ok(opened.db().begin_read()?)) else { return altered };
        if let Ok(log) = guarded(|| Ok(transaction.open_table(LOG)?)) {
            each_row(&log, |revision, stored| {
                // Rows are copied by lookup, and a damaged branch page hides some rows from lookups that a walk finds.
                let is_led_to = || guarded(|| Ok(log.get(revision)?.is_some_and(|found| found.value() == stored)));
                match Row::read(Revision(revision), stored) {
                    Ok(row) if is_led_to().unwrap_or(false) => {
                        self.rows.insert(revision, ReadableRow::new(&row, stored, RowLocation::Table));
                    }
                    read => {
                        self.log_whole &= read.is_err();
                        altered.insert(revision, Row::stored_checksum(stored));
                    }
                }
            });
        }
        if let Ok(index) = guarded(|| Ok(transaction.open_table(INDEX)?)) {
            each_pointer(&index, |key, revision| _ = self.index.insert(key.to_owned(), revision));
        }
        let _ = guarded(|| read_marks(&transaction.open_table(MARKS)?, &mut self.marks));
        altered
    }

    /// Scans the file for rows that the tables do not have.
    fn scan(&mut self, locked: &LockedDir, progress: OnProgress<'_>) -> Result<BTreeMap<u64, ReadableRow>, Error> {
        let mut scanned: BTreeMap<u64, ReadableRow> = BTreeMap::new();
        let mut contested = BTreeSet::new();
        let newest = self.state.map_or(u64::MAX, |state| state.end.head.0);
        let rows = &self.rows;
        let take = |revision: Revision, stored: &[u8], range| {
            if revision.0 > newest || rows.contains_key(&revision.0) {
                return;
            }
            let Ok(row) = Row::read(revision, stored) else { return };
            let found = ReadableRow { unconfirmed: true, ..ReadableRow::new(&row, stored, RowLocation::File(range)) };
            let first = scanned.entry(revision.0).or_insert_with(|| found.clone());
            if first.checksum != found.checksum {
                contested.insert(revision.0);
            }
        };
        scan::scan(&self.file, take, |done, total| progress(Progress::new("scanning the file", done, total)))
            .map_err(|error| locked.damaged(error))?;
        // It is unknown which of them was acknowledged.
        scanned.retain(|revision, _| !contested.contains(revision));
        self.contested = contested.len() as u64;
        Ok(scanned)
    }

    /// Adds scanned rows that the tables lack.
    fn complete(&mut self, scanned: BTreeMap<u64, ReadableRow>, altered: &BTreeMap<u64, u64>) {
        let Some(state) = self.state else {
            self.rows = scanned;
            return;
        };
        let mut needed: BTreeSet<u64> = self.index.values().map(|revision| revision.0).collect();
        let history = state.compacted.head.0 + 1..;
        needed.extend(altered.keys().copied());
        needed.extend(scanned.range(history.clone()).map(|(revision, _)| *revision));
        let later = self.rows.range(history.clone()).chain(scanned.range(history));
        needed.extend(later.map(|(_, row)| row.previous.0).collect::<Vec<_>>());
        for (revision, mut row) in scanned {
            let is_needed = needed.contains(&revision);
            row.unconfirmed = altered.get(&revision) != Some(&row.checksum);
            // If the index is incomplete, any of these rows may be needed.
            if is_needed || !self.index_whole {
                self.rows.entry(revision).or_insert(row);
            }
        }
        let mut tally = Tally::default();
        let counted = |(revision, row): (&u64, &ReadableRow)| {
            (row.location == RowLocation::Table || needed.contains(revision)).then_some(row.checksum)
        };
        self.rows.iter().filter_map(counted).for_each(|checksum| tally.add(checksum));
        if tally == state.log {
            self.log_whole = true;
            self.rows.retain(|revision, row| row.location == RowLocation::Table || needed.contains(revision));
            self.rows.values_mut().for_each(|row| row.unconfirmed = false);
        }
    }

    /// The newest values of all known objects.
    pub(super) fn pointers(&self) -> Vec<(String, Pointers)> {
        let by_index = |(key, revision): (&String, &Revision)| {
            let row = self.rows.get(&revision.0).filter(|row| row.has_body && *row.key == **key);
            let found = match row {
                Some(row) if row.unconfirmed => Pointers::Uncertain(*revision),
                Some(_) => Pointers::Certain(*revision),
                None => Pointers::Lost,
            };
            (key.clone(), found)
        };
        let mut all: Vec<_> = self.index.iter().map(by_index).collect();
        if self.index_whole {
            return all;
        }
        let derivable = self.log_whole && self.state.is_some_and(|state| state.passed == 0);
        let replayed = self.replay().into_iter().filter(|(key, _)| !self.index.contains_key(*key));
        all.extend(replayed.map(|(key, revision)| {
            let found = if derivable { Pointers::Certain(revision) } else { Pointers::Uncertain(revision) };
            (key.to_owned(), found)
        }));
        all
    }

    /// The index as rebuilt from the rows.
    fn replay(&self) -> BTreeMap<&str, Revision> {
        let mut live = BTreeMap::new();
        for (revision, row) in &self.rows {
            if row.has_body {
                live.insert(&*row.key, Revision(*revision));
            } else {
                live.remove(&*row.key);
            }
        }
        live
    }

    pub(super) fn origin(&self) -> Revision {
        self.state.map(|state| state.origin).unwrap_or_default()
    }

    /// The revision up to which history was already compacted.
    pub(super) fn compacted(&self) -> Revision {
        self.state.map(|state| state.compacted.head).unwrap_or_default()
    }

    /// The point after which history is complete.
    pub(super) fn history_after(&self) -> End {
        match self.state {
            Some(state) if self.log_whole => state.compacted,
            _ => self.end(),
        }
    }

    /// The newest change.
    pub(super) fn end(&self) -> End {
        let newest =
            self.rows.last_key_value().map(|(revision, row)| End { head: Revision(*revision), obsolete: row.obsolete });
        self.state.map_or(newest.unwrap_or_default(), |state| state.end)
    }

    /// The number of rows that were present and cannot be read.
    pub(super) fn lost_rows(&self) -> u64 {
        match self.state {
            _ if self.log_whole => 0,
            Some(state) => state.log.rows.saturating_sub(self.rows.len() as u64).max(1),
            None => self.contested,
        }
    }
}

impl ReadableRow {
    fn new(row: &Row<'_>, stored: &[u8], location: RowLocation) -> Self {
        Self {
            key: row.key.into(),
            previous: row.previous,
            has_body: row.body.is_some(),
            obsolete: row.obsolete,
            checksum: Row::stored_checksum(stored),
            location,
            unconfirmed: false,
        }
    }
}

/// Opens and verifies the store. The inner error is the engine's reason for failing.
fn open(locked: &LockedDir) -> Result<Result<(Handle, Report), String>, Error> {
    let opened = match locked.database() {
        Ok(opened) => opened,
        Err(error) if error.is_damage() => return Ok(Err(error.to_string())),
        Err(error) => return Err(error),
    };
    Ok(match verify::verify(opened.db()) {
        Ok(report) => Ok((opened, report)),
        Err(error) => Err(error.to_string()),
    })
}
