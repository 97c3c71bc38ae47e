//! The tables of a store, as verification reads them: through the engine, or without it (`pages`). The engine's reading
//! continues after pages that it cannot read.

use std::ops::RangeInclusive;

use bytes::Bytes;
use redb::{Database, ReadOnlyTable, ReadTransaction, ReadableDatabase, ReadableTable};

use super::{
    guard::guarded,
    layout::{ChecksummedNumber, INDEX, LIFETIMES, LOG, MARKS, META, State, read_pointer},
};
use crate::meta::Revision;

/// The tables as one commit left them.
pub(super) trait Tables: Sync {
    /// The store's record of itself.
    fn state(&self) -> Result<State, redb::Error>;

    /// Passes the rows of the index in the order of keys.
    fn each_pointer(&self, take: &mut dyn FnMut(&[u8], ChecksummedNumber)) -> Result<(), redb::Error>;

    /// Passes the rows of the marks.
    fn each_mark(&self, take: &mut dyn FnMut(u64, ChecksummedNumber)) -> Result<(), redb::Error>;

    /// Passes the rows of the lifetimes.
    fn each_lifetime(&self, take: &mut dyn FnMut((u64, u64), u64)) -> Result<(), redb::Error>;

    /// The last revisions of those parts of the log that are best read together, without the last part.
    fn cuts(&self) -> Option<Vec<u64>>;

    /// Passes the rows of a part of the log, by revision. Returns whether all were readable.
    fn each_row(&self, revisions: RangeInclusive<u64>, take: &mut dyn FnMut(u64, Raw<'_>)) -> bool;
}

/// A row of the log as stored.
#[derive(Clone, Copy)]
pub(super) struct Raw<'r> {
    pub(super) bytes: &'r [u8],
    /// The memory that holds it.
    pub(super) buffer: Option<&'r Bytes>,
}

impl Raw<'_> {
    /// A part of the row. It is copied unless its memory can be shared.
    pub(super) fn share(&self, part: &[u8]) -> Bytes {
        self.buffer.map_or_else(|| Bytes::copy_from_slice(part), |buffer| buffer.slice_ref(part))
    }
}

/// The engine's tables.
pub(super) struct Engines {
    transaction: ReadTransaction,
    log: ReadOnlyTable<u64, &'static [u8]>,
    index: ReadOnlyTable<&'static [u8], ChecksummedNumber>,
}

impl Engines {
    pub(super) fn open(db: &Database) -> Result<Self, redb::Error> {
        let transaction = guarded(|| Ok(db.begin_read()?))?;
        let log = guarded(|| Ok(transaction.open_table(LOG)?))?;
        let index = guarded(|| Ok(transaction.open_table(INDEX)?))?;
        Ok(Self { transaction, log, index })
    }
}

impl Tables for Engines {
    fn state(&self) -> Result<State, redb::Error> {
        guarded(|| State::load(&self.transaction.open_table(META)?))
    }

    fn each_pointer(&self, take: &mut dyn FnMut(&[u8], ChecksummedNumber)) -> Result<(), redb::Error> {
        guarded(|| {
            for found in self.index.iter()? {
                let (key, checksummed) = found?;
                take(key.value(), checksummed.value());
            }
            Ok(())
        })
    }

    fn each_mark(&self, take: &mut dyn FnMut(u64, ChecksummedNumber)) -> Result<(), redb::Error> {
        guarded(|| {
            for found in self.transaction.open_table(MARKS)?.iter()? {
                let (before, checksummed) = found?;
                take(before.value(), checksummed.value());
            }
            Ok(())
        })
    }

    fn each_lifetime(&self, take: &mut dyn FnMut((u64, u64), u64)) -> Result<(), redb::Error> {
        guarded(|| {
            for found in self.transaction.open_table(LIFETIMES)?.iter()? {
                let (key, sum) = found?;
                take(key.value(), sum.value());
            }
            Ok(())
        })
    }

    fn cuts(&self) -> Option<Vec<u64>> {
        None
    }

    fn each_row(&self, revisions: RangeInclusive<u64>, take: &mut dyn FnMut(u64, Raw<'_>)) -> bool {
        each_row_of(&self.log, revisions, |revision, bytes| take(revision, Raw { bytes, buffer: None }))
    }
}

/// Passes every readable row of the log to `take`, as stored and by revision. Returns whether all rows were readable.
pub(super) fn each_row(log: &impl ReadableTable<u64, &'static [u8]>, take: impl FnMut(u64, &[u8])) -> bool {
    each_row_of(log, 0..=u64::MAX, take)
}

/// The same for a part of the log.
fn each_row_of(
    log: &impl ReadableTable<u64, &'static [u8]>,
    revisions: RangeInclusive<u64>,
    mut take: impl FnMut(u64, &[u8]),
) -> bool {
    let (mut from, upto) = revisions.into_inner();
    let mut whole = true;
    while from <= upto {
        let read = guarded(|| {
            for found in log.range(from..=upto)? {
                let (revision, bytes) = found?;
                let revision = revision.value();
                if !(from..=upto).contains(&revision) {
                    return Err(redb::Error::Corrupted("rows are out of order".to_owned()));
                }
                take(revision, bytes.value());
                let Some(next) = revision.checked_add(1) else { break };
                from = next;
            }
            Ok(())
        });
        if read.is_ok() {
            return whole;
        }
        whole = false;
        match next_readable(log, from) {
            Some(next) => from = next,
            None => return false,
        }
    }
    whole
}

/// Passes the readable rows of the index to `take`: up to the first unreadable page, and then backwards from the end.
pub(super) fn each_pointer(
    index: &impl ReadableTable<&'static [u8], ChecksummedNumber>,
    mut take: impl FnMut(&str, Revision),
) {
    for backwards in [false, true] {
        let read = guarded(|| {
            let mut rows = index.iter()?;
            while let Some(found) = if backwards { rows.next_back() } else { rows.next() } {
                let (key, checksummed) = found?;
                if let (Ok(text), Ok(revision)) =
                    (std::str::from_utf8(key.value()), read_pointer(key.value(), checksummed.value()))
                {
                    take(text, revision);
                }
            }
            Ok(())
        });
        if read.is_ok() {
            break;
        }
    }
}

/// The first revision after an unreadable page.
fn next_readable(log: &impl ReadableTable<u64, &'static [u8]>, after: u64) -> Option<u64> {
    let first =
        |from: u64| guarded(|| Ok(log.range(from..)?.next().transpose()?.map(|(revision, _)| revision.value())));
    let (mut bad, mut step) = (after, 1_u64);
    let mut good = loop {
        let from = after.checked_add(step)?;
        match first(from) {
            Ok(found) => break found.filter(|found| *found >= from)?,
            Err(_) => bad = from,
        }
        step = step.checked_mul(2)?;
    };
    while good - bad > 1 {
        let middle = bad + (good - bad) / 2;
        match first(middle) {
            Ok(Some(found)) if found >= middle => good = middle,
            _ => bad = middle,
        }
    }
    Some(good)
}
