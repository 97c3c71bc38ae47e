//! Reads. Each uses a view of the file as one commit left it, and never waits for the writer.
//!
//! Every row is verified as it is read. A damaged value is returned as damage under its key. Unreadable history is an
//! error, so that no change is omitted or invented.

use std::sync::Arc;

use bytes::Bytes;
use redb::{AccessGuard, Database, ReadOnlyTable, ReadTransaction, ReadableDatabase, ReadableTable};

use super::layout::{ChecksummedNumber, INDEX, LOG, META, Row, State, read_pointer};
use crate::{Change, Damage, Entry, Previous, ReadError, Value, ValueCache, meta::Revision};

/// The store as one commit left it.
pub(super) struct View {
    pub(super) log: ReadOnlyTable<u64, &'static [u8]>,
    pub(super) index: ReadOnlyTable<&'static [u8], ChecksummedNumber>,
    pub(super) state: State,
}

impl View {
    pub(super) fn open(db: &Database) -> Result<Self, redb::Error> {
        Self::of(&db.begin_read()?)
    }

    pub(super) fn of(transaction: &ReadTransaction) -> Result<Self, redb::Error> {
        let state = State::load(&transaction.open_table(META)?)?;
        Ok(Self { log: transaction.open_table(LOG)?, index: transaction.open_table(INDEX)?, state })
    }

    pub(super) fn get(&self, key: &str) -> Result<Option<Entry>, redb::Error> {
        let Some(found) = self.index.get(key.as_bytes())? else { return Ok(None) };
        // A damaged pointer points to nothing, so the value is missing.
        let revision = read_pointer(key.as_bytes(), found.value()).unwrap_or_default();
        Ok(Some(Entry { key: key.into(), value: value(&self.log, key, revision)?, revision }))
    }

    pub(super) fn range(&self, prefix: &str) -> Result<(Vec<Entry>, Revision), redb::Error> {
        let mut entries = Vec::new();
        for found in self.index.range(prefix.as_bytes()..)? {
            let (key, checksummed) = found?;
            let key = key.value();
            if !key.starts_with(prefix.as_bytes()) {
                break;
            }
            let revision = read_pointer(key, checksummed.value()).unwrap_or_default();
            let key: Arc<str> = String::from_utf8_lossy(key).into();
            let value = value(&self.log, &key, revision)?;
            entries.push(Entry { key, value, revision });
        }
        Ok((entries, self.state.end.head))
    }

    /// Changes after a revision. An unreadable change ends the result, and is the error if it is the first.
    /// A replaced value that `cache` does not have is taken from this result or read. Values that it does not need are empty.
    pub(super) fn changes(
        &self,
        after: Revision,
        limit: usize,
        cache: &dyn ValueCache,
    ) -> Result<Result<Vec<Change>, ReadError>, redb::Error> {
        if let Err(error) = self.reaches_back_to(after) {
            return Ok(Err(error));
        }
        let mut changes: Vec<Change> = Vec::new();
        let end = self.each_change(after, |revision, row| {
            if changes.len() == limit {
                return Ok(false);
            }
            let previous = match row.previous {
                Revision(0) => Previous::Absent,
                previous => Previous::Value(previous, self.replaced(row.key, previous, &changes, cache)?),
            };
            let is_newest = row.body.is_some() && cache.is_newest(row.key, revision);
            let body = row.body.map(|body| if is_newest { Bytes::new() } else { Bytes::copy_from_slice(body) });
            changes.push(Change { revision, key: row.key.into(), value: body, previous });
            Ok(true)
        })?;
        Ok(if changes.is_empty() { end.map(|()| changes) } else { Ok(changes) })
    }

    fn replaced(
        &self,
        key: &str,
        at: Revision,
        changes: &[Change],
        cache: &dyn ValueCache,
    ) -> Result<Value, redb::Error> {
        let here = changes.binary_search_by_key(&at, |change| change.revision).ok();
        let here = here.map(|position| &changes[position]).filter(|change| *change.key == *key);
        // An empty one may have been left out.
        let here = here.and_then(|change| change.value.clone()).filter(|value| !value.is_empty());
        match here.or_else(|| cache.value(key, at)) {
            Some(value) => Ok(Ok(value)),
            None => value(&self.log, key, at),
        }
    }

    pub(super) fn reaches_back_to(&self, revision: Revision) -> Result<(), ReadError> {
        let compacted = self.state.compacted_for_readers();
        if revision < compacted { Err(ReadError::Compacted(compacted)) } else { Ok(()) }
    }

    /// Passes each change after a revision to `take` until that returns false. The inner error reports a change that is
    /// damaged or missing.
    pub(super) fn each_change(
        &self,
        after: Revision,
        mut take: impl FnMut(Revision, &Row<'_>) -> Result<bool, redb::Error>,
    ) -> Result<Result<(), ReadError>, redb::Error> {
        let mut expected = after.max(self.state.origin);
        for found in self.log.range(expected.0.saturating_add(1)..=self.state.end.head.0)? {
            expected = expected.next();
            let (revision, bytes): (AccessGuard<'_, u64>, AccessGuard<'_, &[u8]>) = found?;
            let row =
                if revision.value() == expected.0 { Row::read(expected, bytes.value()) } else { Err(Damage::Missing) };
            match row {
                Ok(row) if take(expected, &row)? => {}
                Ok(_) => return Ok(Ok(())),
                Err(damage) => return Ok(Err(ReadError::Damaged(damaged_change(expected, damage)))),
            }
        }
        if expected < self.state.end.head {
            return Ok(Err(ReadError::Damaged(damaged_change(expected.next(), Damage::Missing))));
        }
        Ok(Ok(()))
    }
}

fn damaged_change(revision: Revision, damage: Damage) -> String {
    format!("the change of revision {revision} cannot be read: {damage}")
}

/// A value as the log has it.
pub(super) struct StoredValue {
    pub(super) value: Value,
    /// When it expires, on the store's clock.
    pub(super) deadline_ms: Option<u64>,
}

/// The value that a change wrote to a key.
pub(super) fn value(
    log: &impl ReadableTable<u64, &'static [u8]>,
    key: &str,
    revision: Revision,
) -> Result<Value, redb::Error> {
    Ok(stored_value(log, key, revision)?.value)
}

/// The value that a change wrote to a key, and its deadline.
pub(super) fn stored_value(
    log: &impl ReadableTable<u64, &'static [u8]>,
    key: &str,
    revision: Revision,
) -> Result<StoredValue, redb::Error> {
    let damaged = |damage| StoredValue { value: Err(damage), deadline_ms: None };
    let Some(bytes) = log.get(revision.0)? else { return Ok(damaged(Damage::Missing)) };
    Ok(match Row::read(revision, bytes.value()) {
        Ok(Row { body: Some(body), deadline_ms, key: found, .. }) if found == key => {
            StoredValue { value: Ok(Bytes::copy_from_slice(body)), deadline_ms }
        }
        Ok(_) => damaged(Damage::Missing),
        Err(damage) => damaged(damage),
    })
}
