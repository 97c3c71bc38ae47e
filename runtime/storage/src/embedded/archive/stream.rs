//! Writes the rows of a store, as of one moment, into an archive.

use std::{
    fmt,
    io::{self, Write},
};

use redb::{ReadTransaction, ReadableTable};

use super::Writer;
use crate::{
    embedded::{
        clock::now_ms,
        guard::guarded,
        layout::{INDEX, LOG, MARKS, META, Row, State, Tally, read_mark, read_pointer},
    },
    meta::Revision,
};

/// The number of rows between two calls of `each`.
const REPORT: u64 = 256;

/// Why a store could not be streamed.
#[derive(Debug)]
pub(in crate::embedded) enum StreamError {
    /// The store cannot be read.
    Store(redb::Error),
    /// The peer or the file does not accept the stream.
    Out(io::Error),
}

impl fmt::Display for StreamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Store(error) => write!(f, "the store cannot be read: {error}"),
            Self::Out(error) => error.fmt(f),
        }
    }
}

impl From<redb::Error> for StreamError {
    fn from(error: redb::Error) -> Self {
        Self::Store(error)
    }
}

/// Writes the store as of the beginning of the transaction, and verifies it on the way. `each` is called regularly with
/// the number of rows done and the total.
pub(in crate::embedded) fn stream(
    transaction: &ReadTransaction,
    writer: &mut Writer<impl Write>,
    mut each: impl FnMut(u64, u64),
) -> Result<(), StreamError> {
    let state = guarded(|| State::load(&transaction.open_table(META)?))?;
    writer.header(now_ms(), &state).map_err(StreamError::Out)?;
    let mut read = [Tally::default(); 3];
    let log = guarded(|| Ok(transaction.open_table(LOG)?))?;
    let mut rows = guarded(|| Ok(log.iter()?))?;
    while let Some((revision, stored)) = guarded(|| Ok(rows.next().transpose()?))? {
        let (revision, stored) = (Revision(revision.value()), stored.value());
        Row::read(revision, stored).map_err(|_| wrong(format!("the change of revision {revision} cannot be read")))?;
        read[0].add(Row::stored_checksum(stored));
        if read[0].rows % REPORT == 0 {
            each(read[0].rows, state.log.rows);
        }
        writer.row(revision, stored).map_err(StreamError::Out)?;
    }
    let index = guarded(|| Ok(transaction.open_table(INDEX)?))?;
    let mut pointers = guarded(|| Ok(index.iter()?))?;
    while let Some((key, checksummed)) = guarded(|| Ok(pointers.next().transpose()?))? {
        let (key, checksummed) = (key.value(), checksummed.value());
        read_pointer(key, checksummed)
            .map_err(|_| wrong(format!("the entry of {} cannot be read", String::from_utf8_lossy(key))))?;
        read[1].add(checksummed.1);
        writer.pointer(key, checksummed).map_err(StreamError::Out)?;
    }
    let marks = guarded(|| Ok(transaction.open_table(MARKS)?))?;
    let mut marks = guarded(|| Ok(marks.iter()?))?;
    while let Some((before, checksummed)) = guarded(|| Ok(marks.next().transpose()?))? {
        let (before, checksummed) = (Revision(before.value()), checksummed.value());
        read_mark(before, checksummed).map_err(|_| wrong("a mark of history cannot be read".to_owned()))?;
        read[2].add(checksummed.1);
        writer.mark(before, checksummed).map_err(StreamError::Out)?;
    }
    if read != [state.log, state.index, state.marks] {
        return Err(wrong("rows are missing, or there are too many".to_owned()));
    }
    writer.finish().map_err(StreamError::Out)
}

fn wrong(message: String) -> StreamError {
    StreamError::Store(redb::Error::Corrupted(message))
}
