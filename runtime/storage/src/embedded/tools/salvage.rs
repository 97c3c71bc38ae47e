//! Copies the readable part of a damaged store into a new one, and reports what is lost.
//!
//! Rows come from the tables where the engine can reach them, and otherwise from a scan of its file (`scan.rs`). A
//! scanned row may have been replaced or deleted since, or may never have been acknowledged. Therefore:
//!
//! - If the rows found complete the log, by count and by sum of checksums, nothing is lost.
//! - Otherwise the index decides which revision of an object is its newest. If only the scan found that revision's row,
//!   and nothing else confirms it, the row is copied and reported as uncertain.
//! - Objects that no readable index names are copied with their newest value found, and reported as uncertain.
//! - If an object is lost or uncertain, the new store has no history, and its newest revision is raised. Every client
//!   then lists again, so that no client keeps a lost object as existing. No revision is used twice.

use std::{collections::BTreeMap, path::Path};

use redb::ReadableDatabase;

use super::{
    Error, OnProgress, Progress,
    build::{BuildError, build},
    locked_dir::LockedDir,
    readable_store::{Pointers, ReadableRow, ReadableStore, RowLocation},
    scan,
};
use crate::{
    embedded::{
        fresh::Fresh,
        guard::guarded,
        layout::{End, LOG, Row, State},
    },
    meta::Revision,
};

/// How far the newest revision is raised if it is unknown.
const UNKNOWN_HEAD: u64 = 1 << 20;

/// The result of a salvage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Salvage {
    /// The newest revision of the new store.
    pub head: Revision,
    /// The revision before the first change of its history.
    pub compacted: Revision,
    /// The number of copied objects.
    pub objects: u64,
    /// The number of copied rows: values and history.
    pub rows: u64,
    /// Objects that cannot be read.
    pub lost: Vec<String>,
    /// The number of unreadable rows with unknown content: an object, a deletion, or only history.
    pub lost_rows: u64,
    /// Objects that were copied, but may have been changed or deleted since.
    pub uncertain: Vec<String>,
    /// True if the new store lacks history that the old one had.
    pub history_cut: bool,
    /// Why the engine could not open its file. If set, everything comes from the scan.
    pub unopened: Option<String>,
}

impl Salvage {
    /// True if everything was copied.
    pub fn is_complete(&self) -> bool {
        self.lost.is_empty()
            && self.lost_rows == 0
            && self.uncertain.is_empty()
            && !self.history_cut
            && self.unopened.is_none()
    }
}

/// Copies the readable part of a stopped server's store into a directory that is missing or empty.
///
/// # Errors
/// [`Error`], if nothing can be read. Partial losses are not errors.
pub fn salvage(dir: &Path, to: &Path, progress: OnProgress<'_>) -> Result<Salvage, Error> {
    super::aside::refuse_taken(to)?;
    let locked = LockedDir::open(dir)?;
    let testified = locked.testified().unwrap_or_default();
    let store = ReadableStore::of(&locked, testified, progress)?;
    let (plan, salvage) = Plan::of(&store, testified);
    write(to, &store, &plan, progress)?;
    Ok(salvage)
}

/// The content of the new store.
struct Plan {
    origin: Revision,
    compacted: End,
    end: End,
    /// Objects and the revisions of their values. Each has a row.
    pointers: BTreeMap<String, Revision>,
}

impl Plan {
    fn of(store: &ReadableStore, testified: Option<Revision>) -> (Self, Salvage) {
        let mut salvage = Salvage { unopened: store.unopened.clone(), ..Salvage::default() };
        let mut pointers = BTreeMap::new();
        for (key, found) in store.pointers() {
            match found {
                Pointers::Certain(revision) => _ = pointers.insert(key, revision),
                Pointers::Uncertain(revision) => {
                    salvage.uncertain.push(key.clone());
                    pointers.insert(key, revision);
                }
                Pointers::Lost => salvage.lost.push(key),
            }
        }
        let mut end = store.end();
        let mut compacted = store.history_after();
        salvage.lost_rows = store.lost_rows().saturating_sub(salvage.lost.len() as u64);
        let acknowledged = testified.unwrap_or_default();
        let behind = acknowledged > end.head;
        if behind && store.unopened.is_none() {
            salvage.lost_rows += acknowledged.0 - end.head.0;
        }
        let lost = !salvage.lost.is_empty() || !salvage.uncertain.is_empty() || salvage.lost_rows > 0 || behind;
        if store.unopened.is_some() || lost {
            let margin = if store.state.is_none() { UNKNOWN_HEAD } else { 1 };
            end.head = Revision(end.head.max(acknowledged).0 + margin);
            compacted = end;
        }
        salvage.history_cut = compacted.head > store.compacted();
        (salvage.head, salvage.compacted) = (end.head, compacted.head);
        salvage.objects = pointers.len() as u64;
        let plan = Self { origin: store.origin(), compacted, end, pointers };
        salvage.rows = plan.rows(store).len() as u64;
        (plan, salvage)
    }

    /// The rows for the new store, by revision.
    fn rows<'g>(&self, store: &'g ReadableStore) -> BTreeMap<u64, &'g ReadableRow> {
        let mut needed: Vec<u64> = self.pointers.values().map(|revision| revision.0).collect();
        for (revision, row) in store.rows.range(self.compacted.head.0 + 1..) {
            needed.extend([*revision, row.previous.0]);
        }
        needed.into_iter().filter_map(|revision| Some((revision, store.rows.get(&revision)?))).collect()
    }
}

/// Builds the store that a plan describes.
fn write(to: &Path, store: &ReadableStore, plan: &Plan, progress: OnProgress<'_>) -> Result<(), Error> {
    let state = State { origin: plan.origin, compacted: plan.compacted, end: plan.end, ..State::default() };
    let rows = plan.rows(store);
    build(to, &state, |fresh| {
        for (done, (revision, row)) in (0..).zip(&rows) {
            if done % 256 == 0 {
                progress(Progress::new("writing rows", done, rows.len() as u64));
            }
            copy(store, Revision(*revision), row, fresh)?;
        }
        for (key, revision) in &plan.pointers {
            fresh.put_pointer(key.as_bytes(), *revision)?;
        }
        for (before, ms) in store.marks.iter().filter(|(before, _)| *before > plan.compacted.head) {
            fresh.put_mark(*before, *ms)?;
        }
        Ok(())
    })
}

fn copy(store: &ReadableStore, revision: Revision, row: &ReadableRow, fresh: &mut Fresh<'_>) -> Result<(), BuildError> {
    let gone =
        || redb::Error::Corrupted(format!("the row of revision {revision} was readable before and no longer is"));
    match (row.location, &store.opened) {
        (RowLocation::File(range), _) => {
            let stored = scan::read(&store.file, range).map_err(redb::Error::Io)?;
            fresh.put_row(revision, &Row::read(revision, &stored).map_err(|_| gone())?)?;
        }
        (RowLocation::Table, Some(opened)) => guarded(|| {
            let log = opened.db().begin_read()?.open_table(LOG)?;
            let stored = log.get(revision.0)?.ok_or_else(gone)?;
            fresh.put_row(revision, &Row::read(revision, stored.value()).map_err(|_| gone())?)
        })?,
        (RowLocation::Table, None) => return Err(gone().into()),
    }
    Ok(())
}
