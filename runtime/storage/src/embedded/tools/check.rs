//! Checks whether a store is intact: checksums, counts, and the consistency of the tables. Changes nothing.

use std::path::Path;

use super::{Error, OnProgress, Progress, locked_dir::LockedDir};
use crate::{
    Damage,
    embedded::{guard::guarded, tables::Engines, verify},
    meta::Revision,
};

/// The result of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Check {
    /// The newest revision.
    pub head: Revision,
    /// The revision before the first change of its history.
    pub compacted: Revision,
    /// The number of objects.
    pub objects: u64,
    /// The number of rows read: values, history and index.
    pub rows: u64,
    /// The size of these rows in bytes.
    pub bytes: u64,
    /// True if the server did not close the store, so that the engine had to repair its file.
    pub was_killed: bool,
    /// Objects whose newest value cannot be read.
    pub damaged: Vec<(String, Damage)>,
    /// Changes of the history that cannot be read, or whose replaced value cannot be read.
    pub damaged_changes: Vec<Revision>,
    /// Descriptions of other faults.
    pub faults: Vec<String>,
}

impl Check {
    /// True if the store is intact.
    pub fn is_whole(&self) -> bool {
        self.damaged.is_empty() && self.damaged_changes.is_empty() && self.faults.is_empty()
    }
}

/// Checks the store of a stopped server.
///
/// # Errors
/// [`Error`], if a server uses the directory or if the store is too damaged to be opened.
pub fn check(dir: &Path, progress: OnProgress<'_>) -> Result<Check, Error> {
    let locked = LockedDir::open(dir)?;
    let mut opened = locked.database()?;
    let (mut rows, mut bytes) = (0, 0);
    let tables = Engines::open(opened.db()).map_err(|error| locked.damaged(error))?;
    let report = verify::verify_and_scan(&tables, &[], &|_| {}, &mut |total, rows_read, bytes_read| {
        rows += rows_read;
        bytes += bytes_read as u64;
        progress(Progress::new("reading rows", rows, total));
    });
    let report = report.map_err(|error| locked.damaged(error))?;
    // The engine checks its pages only while nothing reads them.
    drop(tables);
    let state = report.state;
    let mut faults: Vec<String> = locked.format_fault().into_iter().collect();
    if report.unnamed > 0 {
        faults.push(format!("{} more rows are missing; their keys are unknown", report.unnamed));
    }
    for (whole, table) in [
        (report.log_whole, "log"),
        (report.index_whole, "index"),
        (report.marks_whole, "marks"),
        (report.lifetimes_whole, "lifetimes"),
    ] {
        if !whole {
            faults.push(format!("the table {table} does not match its checksum"));
        }
    }
    if let Some(testified) = locked.testified()?.filter(|testified| *testified > state.end.head) {
        let first = state.end.head.next();
        faults.push(format!("the changes {first} to {testified}, which were acknowledged, are missing"));
    }
    progress(Progress::new("checking pages", rows, rows));
    let was_killed = opened.pages_verified;
    match guarded(|| Ok(opened.db.check_integrity()?)) {
        Ok(true) => {}
        Ok(false) => faults.push("pages of the engine's file do not match their checksums".to_owned()),
        Err(error) => faults.push(format!("pages of the engine's file do not match their checksums: {error}")),
    }
    Ok(Check {
        head: state.end.head,
        compacted: state.compacted.head,
        objects: state.index.rows,
        rows,
        bytes,
        was_killed,
        damaged: report.objects.into_iter().collect(),
        damaged_changes: report.history,
        faults,
    })
}
