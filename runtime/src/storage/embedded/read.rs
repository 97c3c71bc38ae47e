//! Reads: each on a view of the file as one commit left it, beside the writer and never waiting for it.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use bytes::Bytes;
use redb::{Database, ReadOnlyTable, ReadableDatabase, ReadableTable};

use super::layout::{COMPACTED, INDEX, LOG, META, ORIGIN, Row};
use crate::{
    meta::Revision,
    storage::{Change, Entry, ReadError},
};

/// The store as one commit left it.
pub(super) struct View {
    log: ReadOnlyTable<u64, &'static [u8]>,
    index: ReadOnlyTable<&'static str, u64>,
    /// History is forgotten up to here.
    pub(super) compacted: Revision,
    /// The newest revision.
    pub(super) head: Revision,
}

impl View {
    pub(super) fn open(db: &Database) -> Result<Self, redb::Error> {
        let transaction = db.begin_read()?;
        let log = transaction.open_table(LOG)?;
        let meta = transaction.open_table(META)?;
        let number = |name| Ok::<_, redb::Error>(meta.get(name)?.map_or(0, |found| found.value()));
        let (compacted, origin) = (number(COMPACTED)?, number(ORIGIN)?);
        let last = log.last()?.map_or(0, |(revision, _)| revision.value());
        Ok(Self {
            index: transaction.open_table(INDEX)?,
            log,
            compacted: Revision(compacted),
            head: Revision(origin.max(compacted).max(last)),
        })
    }

    pub(super) fn get(&self, key: &str) -> Result<Option<Entry>, redb::Error> {
        let Some(revision) = self.index.get(key)?.map(|found| Revision(found.value())) else { return Ok(None) };
        Ok(Some(Entry { key: key.into(), value: self.body(revision)?, revision }))
    }

    pub(super) fn range(&self, prefix: &str, at: Option<Revision>) -> Result<(Vec<Entry>, Revision), ReadError> {
        let at = at.unwrap_or(self.head);
        if at < self.compacted {
            return Err(ReadError::Compacted(self.compacted));
        }
        if at > self.head {
            return Err(ReadError::Future(self.head));
        }
        let entries = self.pointers(prefix, at).and_then(|pointers| self.entries(pointers));
        Ok((entries.map_err(|error| engine(&error))?, at))
    }

    pub(super) fn changes(&self, after: Revision, limit: usize) -> Result<Vec<Change>, ReadError> {
        if after < self.compacted {
            return Err(ReadError::Compacted(self.compacted));
        }
        self.log_after(after, limit).map_err(|error| engine(&error))
    }

    /// Keys with the prefix and the revisions of their values, as of a revision: what the index says now, with the
    /// changes since then undone. The first change of a key after that revision says what was before it.
    fn pointers(&self, prefix: &str, at: Revision) -> Result<BTreeMap<Arc<str>, Revision>, redb::Error> {
        let mut pointers = BTreeMap::new();
        for found in self.index.range(prefix..)? {
            let (key, revision) = found?;
            if !key.value().starts_with(prefix) {
                break;
            }
            pointers.insert(Arc::from(key.value()), Revision(revision.value()));
        }
        let mut undone = BTreeSet::new();
        for found in self.log.range(at.0 + 1..)? {
            let (_, bytes) = found?;
            let row = Row::read(bytes.value())?;
            if !row.key.starts_with(prefix) || undone.contains(row.key) {
                continue;
            }
            let key: Arc<str> = row.key.into();
            if row.previous == Revision(0) {
                pointers.remove(&key);
            } else {
                pointers.insert(Arc::clone(&key), row.previous);
            }
            undone.insert(key);
        }
        Ok(pointers)
    }

    fn entries(&self, pointers: BTreeMap<Arc<str>, Revision>) -> Result<Vec<Entry>, redb::Error> {
        pointers.into_iter().map(|(key, revision)| Ok(Entry { key, value: self.body(revision)?, revision })).collect()
    }

    fn log_after(&self, after: Revision, limit: usize) -> Result<Vec<Change>, redb::Error> {
        let mut changes = Vec::new();
        for found in self.log.range(after.0.saturating_add(1)..)?.take(limit) {
            let (revision, bytes) = found?;
            let row = Row::read(bytes.value())?;
            let previous = match row.previous {
                Revision(0) => None,
                previous => Some((previous, self.body(previous)?)),
            };
            changes.push(Change {
                revision: Revision(revision.value()),
                key: row.key.into(),
                value: row.body.map(Bytes::copy_from_slice),
                previous,
            });
        }
        Ok(changes)
    }

    fn body(&self, revision: Revision) -> Result<Bytes, redb::Error> {
        body(&self.log, revision)
    }
}

/// The body that a change wrote.
pub(super) fn body(log: &impl ReadableTable<u64, &'static [u8]>, revision: Revision) -> Result<Bytes, redb::Error> {
    let missing = || redb::Error::Corrupted(format!("the change log has no value of revision {revision}"));
    let bytes = log.get(revision.0)?.ok_or_else(missing)?;
    Row::read(bytes.value())?.body.map(Bytes::copy_from_slice).ok_or_else(missing)
}

/// An error of the engine as readers see it.
pub(super) fn engine(error: &redb::Error) -> ReadError {
    ReadError::Engine(error.to_string())
}
