//! One group of commits in one transaction of the engine. Each commit is checked against the state that earlier ones
//! left, and is applied completely or not at all.

use std::{collections::HashMap, sync::Arc, time::Duration};

use redb::{ReadableTable, Table, WriteTransaction};

use super::{
    history::History,
    layout::{ChecksummedNumber, End, INDEX, LOG, MARKS, META, Row, State, pointer, read_pointer},
    lifetimes::{Deadlines, Lifetimes},
    read::{StoredValue, stored_value},
};
use crate::{Change, Commit, CommitError, Op, meta::Revision};

/// A value that an operation replaces or deletes.
type Previous = Option<(Revision, StoredValue)>;

/// A group that is being written.
pub(super) struct Group<'t> {
    pub(super) log: Table<'t, u64, &'static [u8]>,
    index: Table<'t, &'static [u8], ChecksummedNumber>,
    meta: Table<'t, &'static str, &'static [u8]>,
    pub(super) deadlines: Deadlines<'t>,
    /// The store's time.
    pub(super) now_ms: u64,
    marks: Table<'t, u64, ChecksummedNumber>,
    state: State,
    /// True if history was removed.
    compacted: bool,
    changes: Vec<Change>,
    /// The revisions of keys that commits of this group hold. Many commits hold the same keys.
    held: HashMap<Arc<str>, Option<Revision>>,
}

/// A group that is ready for its commit.
pub(super) struct GroupOutcome {
    pub(super) changes: Vec<Change>,
    /// The new end of the log.
    pub(super) end: End,
    /// The end of the compacted history.
    pub(super) compacted: End,
    pub(super) lifetimes: Lifetimes,
    /// False if there is nothing to commit.
    pub(super) changed: bool,
}

impl<'t> Group<'t> {
    pub(super) fn begin(transaction: &'t WriteTransaction, now_ms: u64) -> Result<Self, redb::Error> {
        let meta = transaction.open_table(META)?;
        let (log, index) = (transaction.open_table(LOG)?, transaction.open_table(INDEX)?);
        let (marks, deadlines) = (transaction.open_table(MARKS)?, Deadlines::open(transaction)?);
        let (state, compacted, changes, held) = (State::load(&meta)?, false, Vec::new(), HashMap::new());
        Ok(Self { log, index, meta, deadlines, now_ms, marks, state, compacted, changes, held })
    }

    /// Writes one commit. The outer error comes from the engine and ends the group; the inner one belongs to this
    /// commit.
    pub(super) fn commit(&mut self, commit: Commit) -> Result<Result<Vec<Revision>, CommitError>, redb::Error> {
        let Commit { ops, holds } = commit;
        for (index, hold) in holds.iter().enumerate() {
            match self.held(&hold.key)? {
                Ok(current) if current == hold.revision => {}
                Ok(current) => return Ok(Err(CommitError::Unmet { index, current })),
                Err(error) => return Ok(Err(error)),
            }
        }
        let mut previous = Vec::with_capacity(ops.len());
        for (index, op) in ops.iter().enumerate() {
            match self.judge(index, op)? {
                Ok(found) => previous.push(found),
                Err(error) => return Ok(Err(error)),
            }
        }
        let applied = ops.into_iter().zip(previous).map(|(op, previous)| self.apply(op, previous));
        Ok(Ok(applied.collect::<Result<_, _>>()?))
    }

    /// Removes history that is past its limits, as fast as the group adds to it.
    pub(super) fn compact(&mut self, history: &History) -> Result<(), redb::Error> {
        self.compacted |= history.keep_up(&mut self.log, &mut self.marks, &mut self.state, self.changes.len())?;
        Ok(())
    }

    /// Ends the group.
    pub(super) fn finish(mut self) -> Result<GroupOutcome, redb::Error> {
        let changed = !self.changes.is_empty() || self.deadlines.changed || self.compacted;
        if changed {
            self.state.save(&mut self.meta)?;
        }
        let lifetimes = self.deadlines.next()?;
        let State { end, compacted, .. } = self.state;
        Ok(GroupOutcome { changes: self.changes, end, compacted, lifetimes, changed })
    }

    fn held(&mut self, key: &Arc<str>) -> Result<Result<Option<Revision>, CommitError>, redb::Error> {
        if let Some(known) = self.held.get(key) {
            return Ok(Ok(*known));
        }
        let current = self.current(key)?;
        if let Ok(current) = current {
            self.held.insert(Arc::clone(key), current);
        }
        Ok(current)
    }

    /// The revision of a key's newest value. Only the index is read.
    fn current(&self, key: &Arc<str>) -> Result<Result<Option<Revision>, CommitError>, redb::Error> {
        let found = self.index.get(key.as_bytes())?;
        let current = found.map(|found| read_pointer(key.as_bytes(), found.value())).transpose();
        Ok(current.map_err(|damage| CommitError::Damaged { key: Arc::clone(key), damage }))
    }

    /// Checks an operation and returns the value that it replaces. An unreadable value cannot be overwritten, but it
    /// can be deleted.
    fn judge(&self, index: usize, op: &Op) -> Result<Result<Previous, CommitError>, redb::Error> {
        let current = match self.current(&op.key)? {
            Ok(current) => current,
            Err(error) => return Ok(Err(error)),
        };
        if !op.expect.holds(current, op.value.is_none()) {
            return Ok(Err(CommitError::Conflict { index, current }));
        }
        let Some(current) = current else { return Ok(Ok(None)) };
        match stored_value(&self.log, &op.key, current)? {
            StoredValue { value: Err(damage), .. } if op.value.is_some() => {
                Ok(Err(CommitError::Damaged { key: Arc::clone(&op.key), damage }))
            }
            stored => Ok(Ok(Some((current, stored)))),
        }
    }

    fn apply(&mut self, op: Op, previous: Previous) -> Result<Revision, redb::Error> {
        let revision = self.state.end.head.next();
        let key = op.key.as_bytes();
        let replaced = if op.value.is_some() {
            let checksummed = pointer(key, revision);
            self.state.index.add(checksummed.1);
            self.index.insert(key, checksummed)?.map(|found| found.value())
        } else {
            self.index.remove(key)?.map(|found| found.value())
        };
        if let Some((_, checksum)) = replaced {
            self.state.index.remove(checksum);
        }
        if let Some(held) = self.held.get_mut(&op.key) {
            *held = op.value.is_some().then_some(revision);
        }
        let mut row = Row {
            previous: previous.as_ref().map(|(revision, _)| *revision).unwrap_or_default(),
            obsolete: self.state.end.obsolete,
            key: &op.key,
            body: op.value.as_deref(),
            deadline_ms: op.lifetime.filter(|_| op.value.is_some()).map(|lifetime| self.deadline_ms(lifetime)),
        };
        if let Some(deadline_ms) = row.deadline_ms {
            self.deadlines.add(deadline_ms, revision)?;
        }
        if let Some((replaced, StoredValue { deadline_ms: Some(deadline_ms), .. })) = previous {
            self.deadlines.remove(deadline_ms, replaced)?;
        }
        row.obsolete += made_obsolete(&row, previous.as_ref());
        let checksum = row.write(revision, self.log.insert_reserve(revision.0, row.size())?.as_mut());
        self.state.log.add(checksum);
        self.state.end = End { head: revision, obsolete: row.obsolete };
        let previous = previous.map(|(revision, stored)| (revision, stored.value)).into();
        self.changes.push(Change { revision, key: Arc::clone(&op.key), value: op.value, previous });
        Ok(revision)
    }

    /// When a value written now expires: not before its lifetime has passed, so both times are rounded up.
    fn deadline_ms(&self, lifetime: Duration) -> u64 {
        let lifetime_ms = lifetime.as_nanos().div_ceil(1_000_000);
        self.now_ms.saturating_add(1).saturating_add(u64::try_from(lifetime_ms).unwrap_or(u64::MAX))
    }
}

/// The space that compacting this change frees: that of the row that it replaced, and its own row if it is a deletion.
fn made_obsolete(row: &Row<'_>, previous: Option<&(Revision, StoredValue)>) -> u64 {
    let replaced = match previous {
        Some((_, StoredValue { value: Ok(body), deadline_ms })) => {
            Row { body: Some(body), deadline_ms: *deadline_ms, ..*row }.space()
        }
        // The length of a damaged row is unknown.
        _ => 0,
    };
    let own = if row.body.is_none() { row.space() } else { 0 };
    replaced + own
}
