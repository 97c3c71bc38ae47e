//! Values that expire: what is due, and its deletion.
//!
//! A row of the log has its value's deadline, on the store's clock (`clock.rs`), so that no restart changes it. The table
//! `lifetimes` orders the deadlines of the newest values. A deletion is an ordinary change in an ordinary group, a limited number at a
//! time, with the group that is being written or alone if no commit waits.

use redb::{Database, ReadableDatabase, ReadableTable, TableError, WriteTransaction};

use super::{
    group::Group,
    layout::{LIFETIMES, Row, lifetime},
};
use crate::{Commit, Expect, Op, meta::Revision};

/// The maximum number of deletions in a group that has commits, and in one that has none.
const BESIDE_COMMITS: usize = 64;
const ALONE: usize = 256;

/// Knows when a value expires next.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Lifetimes {
    next_ms: Option<u64>,
}

/// The rows of `lifetimes` while a group is written.
pub(super) struct Deadlines<'t> {
    table: redb::Table<'t, (u64, u64), u64>,
    /// True if a row was added or removed.
    pub(super) changed: bool,
}

impl Lifetimes {
    /// Reads when the first value expires.
    pub(super) fn load(db: &Database) -> Result<Self, redb::Error> {
        let table = match db.begin_read()?.open_table(LIFETIMES) {
            Ok(table) => table,
            // No value has ever had a lifetime.
            Err(TableError::TableDoesNotExist(_)) => return Ok(Self::default()),
            Err(error) => return Err(error.into()),
        };
        Ok(Self { next_ms: first(&table)? })
    }

    /// The time until a value expires.
    pub(super) fn next_due_ms(self, now_ms: u64) -> Option<u64> {
        self.next_ms.map(|next_ms| next_ms.saturating_sub(now_ms))
    }

    /// True if a value has expired.
    pub(super) fn due(self, now_ms: u64) -> bool {
        self.next_due_ms(now_ms) == Some(0)
    }
}

fn first(table: &impl ReadableTable<(u64, u64), u64>) -> Result<Option<u64>, redb::Error> {
    Ok(table.first()?.map(|(key, _)| key.value().0))
}

impl<'t> Deadlines<'t> {
    pub(super) fn open(transaction: &'t WriteTransaction) -> Result<Self, redb::Error> {
        Ok(Self { table: transaction.open_table(LIFETIMES)?, changed: false })
    }

    pub(super) fn add(&mut self, deadline_ms: u64, revision: Revision) -> Result<(), redb::Error> {
        self.changed = true;
        self.table.insert((deadline_ms, revision.0), lifetime(deadline_ms, revision))?;
        Ok(())
    }

    pub(super) fn remove(&mut self, deadline_ms: u64, revision: Revision) -> Result<(), redb::Error> {
        self.changed = true;
        self.table.remove((deadline_ms, revision.0))?;
        Ok(())
    }

    /// When the next value expires.
    pub(super) fn next(&self) -> Result<Lifetimes, redb::Error> {
        Ok(Lifetimes { next_ms: first(&self.table)? })
    }

    fn due(&self, now_ms: u64, limit: usize) -> Result<Vec<(u64, Revision)>, redb::Error> {
        let due = self.table.range(..=(now_ms, u64::MAX))?.take(limit);
        due.map(|found| Ok(found.map(|(key, _)| (key.value().0, Revision(key.value().1)))?)).collect()
    }
}

impl Group<'_> {
    /// Deletes expired values, but not many at a time.
    pub(super) fn expire(&mut self, beside_commits: bool) -> Result<(), redb::Error> {
        let limit = if beside_commits { BESIDE_COMMITS } else { ALONE };
        for (deadline_ms, revision) in self.deadlines.due(self.now_ms, limit)? {
            let key = self.log.get(revision.0)?.and_then(|stored| {
                let row = Row::read(revision, stored.value()).ok()?;
                (row.deadline_ms == Some(deadline_ms)).then(|| row.key.into())
            });
            let deleted = match key {
                Some(key) => {
                    let op = Op { key, value: None, expect: Expect::At(revision), lifetime: None };
                    self.commit(Commit::from(vec![op]))?.is_ok()
                }
                // Its row is damaged, which loading and the scrub report.
                None => false,
            };
            if !deleted {
                self.deadlines.remove(deadline_ms, revision)?;
            }
        }
        Ok(())
    }
}
