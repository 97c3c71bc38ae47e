//! Writes the rows gathered from a damaged store into a new one.

use std::path::Path;

use redb::ReadableDatabase;

use super::{
    Error, OnProgress, Progress,
    build::{BuildError, build},
    gather::{Found, Gathered, Source},
    salvage::Plan,
    scan,
};
use crate::{
    meta::Revision,
    storage::embedded::{
        fresh::Fresh,
        guard::guarded,
        layout::{LOG, Row, State},
    },
};

/// Builds the store that a plan describes.
pub(super) fn write(to: &Path, gathered: &Gathered, plan: &Plan, progress: OnProgress<'_>) -> Result<(), Error> {
    let state = State { origin: plan.origin, compacted: plan.compacted, end: plan.end, ..State::default() };
    let rows = plan.rows(gathered);
    build(to, &state, |fresh| {
        for (done, (revision, row)) in (0..).zip(&rows) {
            if done % 256 == 0 {
                progress(Progress { doing: "writing rows", done, total: rows.len() as u64 });
            }
            copy(gathered, Revision(*revision), row, fresh)?;
        }
        for (key, revision) in &plan.pointers {
            fresh.put_pointer(key.as_bytes(), *revision)?;
        }
        for (before, ms) in gathered.marks.iter().filter(|(before, _)| *before > plan.compacted.head) {
            fresh.put_mark(*before, *ms)?;
        }
        Ok(())
    })
}

fn copy(gathered: &Gathered, revision: Revision, row: &Found, fresh: &mut Fresh<'_>) -> Result<(), BuildError> {
    let gone =
        || redb::Error::Corrupted(format!("the row of revision {revision} was readable before and no longer is"));
    match (row.source, &gathered.opened) {
        (Source::File(place), _) => {
            let stored = scan::read(&gathered.file, place).map_err(redb::Error::Io)?;
            fresh.put_row(revision, &Row::read(revision, &stored).map_err(|_| gone())?)?;
        }
        (Source::Table, Some(opened)) => guarded(|| {
            let log = opened.db().begin_read()?.open_table(LOG)?;
            let stored = log.get(revision.0)?.ok_or_else(gone)?;
            fresh.put_row(revision, &Row::read(revision, stored.value()).map_err(|_| gone())?)
        })?,
        (Source::Table, None) => return Err(gone().into()),
    }
    Ok(())
}
