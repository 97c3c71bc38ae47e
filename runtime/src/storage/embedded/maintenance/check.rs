//! Whether a store is whole: every checksum, every count, and what the tables say of each other. Changes nothing.

use std::path::Path;

use super::{Error, OnProgress, Progress, stopped::Stopped};
use crate::{
    meta::Revision,
    storage::{
        Damage,
        embedded::{guard::guarded, verify},
    },
};

/// What a check found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// The newest revision.
    pub head: Revision,
    /// The revision after which its history begins.
    pub compacted: Revision,
    /// How many objects there are.
    pub objects: u64,
    /// How many rows were read: values, history, the index.
    pub rows: u64,
    /// How many bytes they have.
    pub bytes: u64,
    /// Whether the server ended without closing the store, so that the engine had to go over its file.
    pub was_killed: bool,
    /// Objects whose newest value cannot be read.
    pub damaged: Vec<(String, Damage)>,
    /// Changes of the history that cannot be read, or not what they replaced.
    pub damaged_changes: Vec<Revision>,
    /// What else is wrong, each in words.
    pub faults: Vec<String>,
}

impl Check {
    /// Whether nothing is wrong.
    pub fn is_whole(&self) -> bool {
        self.damaged.is_empty() && self.damaged_changes.is_empty() && self.faults.is_empty()
    }
}

/// Checks the store of a stopped server.
///
/// # Errors
/// [`Error`]: where a server uses the directory, and where the store is damaged so much that it cannot be opened.
pub fn check(dir: &Path, progress: OnProgress<'_>) -> Result<Check, Error> {
    let stopped = Stopped::open(dir)?;
    let mut opened = stopped.database()?;
    let (mut rows, mut bytes) = (0, 0);
    let report = verify::verify_watched(&opened.db, &mut |total, length| {
        rows += 1;
        bytes += length as u64;
        if rows % 256 == 0 {
            progress(Progress { doing: "reading rows", done: rows, total });
        }
    });
    let report = report.map_err(|error| stopped.damaged(error))?;
    let state = report.state;
    let mut faults: Vec<String> = stopped.format_fault().into_iter().collect();
    if report.unnamed > 0 {
        faults.push(format!("{} rows are missing, of which nothing else is known", report.unnamed));
    }
    for (whole, table) in [(report.log_whole, "log"), (report.index_whole, "index"), (report.marks_whole, "marks")] {
        if !whole {
            faults.push(format!("the table {table} is not what was written"));
        }
    }
    if let Some(testified) = stopped.testified()?.filter(|testified| *testified > state.end.head) {
        let first = state.end.head.next();
        faults.push(format!("the changes {first} to {testified}, which were acknowledged, are missing"));
    }
    progress(Progress { doing: "checking pages", done: rows, total: rows });
    let was_killed = opened.was_repaired();
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
