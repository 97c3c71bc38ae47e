//! The upgrade from layout 1. Layout 1 had no checksums. Its tables had the same names:
//!
//! | table | key → value |
//! |---|---|
//! | `log` | revision → a row of layout 2 without its checksum |
//! | `index` | key → the revision of its newest value |
//! | `marks` | revision → a time |
//!  | `meta` | `compacted`, `obsolete`, `origin` → one number each, the first two absent until the first compaction |

use std::fs::File;

use redb::{Database, ReadableDatabase, ReadableTable, TableDefinition, TableError};

use super::{
    fresh,
    guard::guarded,
    layout::{End, META, Row, State},
};
use crate::meta::Revision;

const LOG_1: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("log");
const INDEX_1: TableDefinition<'_, &str, u64> = TableDefinition::new("index");
const MARKS_1: TableDefinition<'_, u64, u64> = TableDefinition::new("marks");
const META_1: TableDefinition<'_, &str, u64> = TableDefinition::new("meta");

/// True if a file has layout 1. The file itself is examined, because an upgrade may have ended before `FORMAT` was
/// updated.
pub(super) fn is_needed(db: &Database) -> Result<bool, redb::Error> {
    guarded(|| match db.begin_read()?.open_table(META) {
        Ok(_) => Ok(false),
        Err(TableError::TableTypeMismatch { .. }) => Ok(true),
        Err(error) => Err(error.into()),
    })
}

/// Writes a store of layout 1 into a new file.
pub(super) fn upgrade(old: &Database, file: File) -> Result<(), redb::Error> {
    let damaged = || redb::Error::Corrupted("a row of the change log cannot be read".to_owned());
    guarded(|| {
        let transaction = old.begin_read()?;
        let meta = transaction.open_table(META_1)?;
        let number = |name| Ok::<_, redb::Error>(meta.get(name)?.map_or(0, |found| found.value()));
        let origin = Revision(number("origin")?);
        let compacted = End { head: origin.max(Revision(number("compacted")?)), obsolete: number("obsolete")? };
        let log = transaction.open_table(LOG_1)?;
        let end = match log.last()? {
            Some((revision, bytes)) if revision.value() > compacted.head.0 => {
                let row = Row::parse(bytes.value()).ok_or_else(damaged)?;
                End { head: Revision(revision.value()), obsolete: row.obsolete }
            }
            _ => compacted,
        };
        fresh::write(file, &State { origin, compacted, end, ..State::default() }, |fresh| {
            for found in log.iter()? {
                let (revision, bytes) = found?;
                fresh.put_row(Revision(revision.value()), &Row::parse(bytes.value()).ok_or_else(damaged)?)?;
            }
            for found in transaction.open_table(INDEX_1)?.iter()? {
                let (key, revision) = found?;
                fresh.put_pointer(key.value().as_bytes(), Revision(revision.value()))?;
            }
            for found in transaction.open_table(MARKS_1)?.iter()? {
                let (before, ms) = found?;
                fresh.put_mark(Revision(before.value()), ms.value())?;
            }
            Ok(())
        })
    })
}
