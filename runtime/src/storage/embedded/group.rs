//! One group of commits inside one transaction of the engine: each judged against what those before it left, each
//! whole or not at all.

use std::sync::Arc;

use redb::{ReadableTable, Table, WriteTransaction};

use super::{
    layout::{INDEX, LOG, Row},
    read::body,
};
use crate::{
    meta::Revision,
    storage::{Change, CommitError, Op},
};

/// Where the log ends: the newest revision, and how many bytes all changes so far made obsolete.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct End {
    pub(super) head: Revision,
    pub(super) obsolete: u64,
}

/// A group while it is written.
pub(super) struct Group<'t> {
    log: Table<'t, u64, &'static [u8]>,
    index: Table<'t, &'static str, u64>,
    end: End,
    changes: Vec<Change>,
}

impl<'t> Group<'t> {
    pub(super) fn begin(transaction: &'t WriteTransaction, end: End) -> Result<Self, redb::Error> {
        Ok(Self { log: transaction.open_table(LOG)?, index: transaction.open_table(INDEX)?, end, changes: Vec::new() })
    }

    /// Writes one commit. The outer error is the engine's and ends the group; the inner one is this commit's own.
    pub(super) fn commit(&mut self, ops: Vec<Op>) -> Result<Result<Vec<Revision>, CommitError>, redb::Error> {
        for (index, op) in ops.iter().enumerate() {
            let current = self.index.get(&*op.key)?.map(|found| Revision(found.value()));
            if !op.expect.holds(current, op.value.is_none()) {
                return Ok(Err(CommitError::Conflict { index, current }));
            }
        }
        let revisions = ops.into_iter().map(|op| self.apply(op)).collect::<Result<_, _>>()?;
        Ok(Ok(revisions))
    }

    /// What the group changed, and where the log ends now.
    pub(super) fn finish(self) -> (Vec<Change>, End) {
        (self.changes, self.end)
    }

    fn apply(&mut self, op: Op) -> Result<Revision, redb::Error> {
        let revision = self.end.head.next();
        let pointed = match op.value {
            Some(_) => self.index.insert(&*op.key, revision.0)?.map(|found| Revision(found.value())),
            None => self.index.remove(&*op.key)?.map(|found| Revision(found.value())),
        };
        let previous = match pointed {
            Some(previous) => Some((previous, body(&self.log, previous)?)),
            None => None,
        };
        let mut row = Row {
            previous: pointed.unwrap_or_default(),
            obsolete: self.end.obsolete,
            key: &op.key,
            body: op.value.as_deref(),
        };
        row.obsolete += made_obsolete(&row, previous.as_ref().map(|(_, value)| value.as_ref()));
        row.write(self.log.insert_reserve(revision.0, row.size())?.as_mut());
        self.end = End { head: revision, obsolete: row.obsolete };
        self.changes.push(Change { revision, key: Arc::clone(&op.key), value: op.value, previous });
        Ok(revision)
    }
}

/// The bytes that compacting this change frees: the row that it replaced, and its own where it is a deletion.
fn made_obsolete(row: &Row<'_>, previous: Option<&[u8]>) -> u64 {
    let replaced = previous.map_or(0, |body| Row { body: Some(body), ..*row }.size());
    let own = if row.body.is_none() { row.size() } else { 0 };
    (replaced + own) as u64
}
