//! Copies what can be read of a damaged store into a new one, and says what cannot.
//!
//! Rows come from the tables, as far as the engine leads to them, and where it does not, from a scan of its file (`scan.rs`).
//! What a scan finds may have been replaced or deleted since, or never acknowledged. Therefore:
//!
//! - Where the rows found complete the log, to the row and to the sum of their checksums, nothing is lost.
//! - Otherwise the index decides which revision of an object is its newest. A row of that revision which only the scan
//!   found, and which nothing else confirms, is copied and named as uncertain.
//! - Objects that no readable index names are copied with their newest value found, and named as uncertain.
//! - Where an object is lost or uncertain, the new store has no history, and its newest revision is a later one: every
//!   client lists anew, and none takes a lost object for an existing one. No revision is given twice.

use std::{collections::BTreeMap, path::Path};

use super::{
    Error, OnProgress,
    gather::{Found, Gathered, Pointers},
    stopped::Stopped,
    write::write,
};
use crate::{meta::Revision, storage::embedded::layout::End};

/// By how much the newest revision is raised where nothing says which it was.
const UNKNOWN_HEAD: u64 = 1 << 20;

/// What was copied, and what was not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Salvage {
    /// The newest revision of the new store.
    pub head: Revision,
    /// The revision after which its history begins.
    pub compacted: Revision,
    /// How many objects were copied.
    pub objects: u64,
    /// How many rows were copied: values and history.
    pub rows: u64,
    /// Objects that cannot be read.
    pub lost: Vec<String>,
    /// Rows that cannot be read, and of which it is not known what they held: an object, a deletion, or only history.
    pub lost_rows: u64,
    /// Objects that were copied, but may have been changed or deleted since.
    pub uncertain: Vec<String>,
    /// Whether history that was there is not in the new store.
    pub history_cut: bool,
    /// Why the engine could not open its file, where that is so: then everything comes from the scan.
    pub unopened: Option<String>,
}

impl Salvage {
    /// Whether everything was copied.
    pub fn is_complete(&self) -> bool {
        self.lost.is_empty()
            && self.lost_rows == 0
            && self.uncertain.is_empty()
            && !self.history_cut
            && self.unopened.is_none()
    }
}

/// Copies what can be read of a stopped server's store into a directory that does not exist or is empty.
///
/// # Errors
/// [`Error`]: not where something cannot be read, but where nothing can be.
pub fn salvage(dir: &Path, to: &Path, progress: OnProgress<'_>) -> Result<Salvage, Error> {
    super::target::refuse_taken(to)?;
    let stopped = Stopped::open(dir)?;
    let testified = stopped.testified().unwrap_or_default();
    let gathered = Gathered::of(&stopped, testified, progress)?;
    let (plan, salvage) = Plan::of(&gathered, testified);
    write(to, &gathered, &plan, progress)?;
    Ok(salvage)
}

/// What goes into the new store.
pub(super) struct Plan {
    pub(super) origin: Revision,
    pub(super) compacted: End,
    pub(super) end: End,
    /// Objects and the revisions of their values. There is a row for each.
    pub(super) pointers: BTreeMap<String, Revision>,
}

impl Plan {
    fn of(gathered: &Gathered, testified: Option<Revision>) -> (Self, Salvage) {
        let mut salvage = Salvage { unopened: gathered.unopened.clone(), ..Salvage::default() };
        let mut pointers = BTreeMap::new();
        for (key, found) in gathered.pointers() {
            match found {
                Pointers::Certain(revision) => _ = pointers.insert(key, revision),
                Pointers::Uncertain(revision) => {
                    salvage.uncertain.push(key.clone());
                    pointers.insert(key, revision);
                }
                Pointers::Lost => salvage.lost.push(key),
            }
        }
        let mut end = gathered.end();
        let mut compacted = gathered.history_after();
        salvage.lost_rows = gathered.lost_rows().saturating_sub(salvage.lost.len() as u64);
        let acknowledged = testified.unwrap_or_default();
        let behind = acknowledged > end.head;
        if behind && gathered.unopened.is_none() {
            salvage.lost_rows += acknowledged.0 - end.head.0;
        }
        let lost = !salvage.lost.is_empty() || !salvage.uncertain.is_empty() || salvage.lost_rows > 0 || behind;
        if gathered.unopened.is_some() || lost {
            let margin = if gathered.state.is_none() { UNKNOWN_HEAD } else { 1 };
            end.head = Revision(end.head.max(acknowledged).0 + margin);
            compacted = end;
        }
        salvage.history_cut = compacted.head > gathered.compacted();
        (salvage.head, salvage.compacted) = (end.head, compacted.head);
        salvage.objects = pointers.len() as u64;
        let plan = Self { origin: gathered.origin(), compacted, end, pointers };
        salvage.rows = plan.rows(gathered).len() as u64;
        (plan, salvage)
    }

    /// The rows that the new store needs, by revision.
    pub(super) fn rows<'g>(&self, gathered: &'g Gathered) -> BTreeMap<u64, &'g Found> {
        let mut needed: Vec<u64> = self.pointers.values().map(|revision| revision.0).collect();
        for (revision, row) in gathered.rows.range(self.compacted.head.0 + 1..) {
            needed.extend([*revision, row.previous.0]);
        }
        needed.into_iter().filter_map(|revision| Some((revision, gathered.rows.get(&revision)?))).collect()
    }
}
