//! The objects of a store at one moment, in the order of their keys and a piece at a time; and its changes.

use std::{collections::VecDeque, ops::Bound, sync::Arc};

use redb::ReadTransaction;

use super::{
    clock::{Clock, Lead},
    guard::guarded,
    layout::{MARKS, META, Row, read_marks, read_note, read_pointer},
    read::{StoredValue, View, stored_value},
};
use crate::{ReadError, Value, meta::Revision};

/// The size at which a piece ends. A piece has at least one entry.
const PIECE_BYTES: usize = 1 << 20;
/// The greatest number of entries of a piece.
const PIECE: usize = 1_024;

/// An object, or a change that wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Object {
    pub(crate) key: Arc<str>,
    pub(crate) value: Value,
    /// The revision that wrote the value; zero if damage has made it unreadable.
    pub(crate) revision: Revision,
    /// When the value expires, on the system's clock; `None` for a value that stays.
    pub(crate) deadline_ms: Option<u64>,
}

/// A store as one commit left it. Deadlines are on the system's clock, with which other stores can compare them.
pub(super) struct Snapshot {
    view: View,
    lead: Lead,
}

impl Snapshot {
    pub(super) fn of(transaction: &ReadTransaction) -> Result<Self, redb::Error> {
        guarded(|| {
            let mut marks = Vec::new();
            // Objects can be copied without the marks that are unreadable.
            let _ = guarded(|| read_marks(&transaction.open_table(MARKS)?, &mut marks));
            let noted_ms = marks.iter().map(|&(_, ms)| ms).max().unwrap_or(0);
            let lead = Clock::lead(read_note(&transaction.open_table(META)?)?, noted_ms);
            Ok(Self { view: View::of(transaction)?, lead })
        })
    }

    /// The newest revision.
    pub(super) fn head(&self) -> Revision {
        self.view.state.end.head
    }

    /// The number of objects.
    pub(super) fn objects(&self) -> u64 {
        self.view.state.index.rows
    }

    /// The next entries after a key; none after the last.
    pub(super) fn piece(&self, after: Option<&str>) -> Result<VecDeque<Object>, redb::Error> {
        let mut piece = VecDeque::new();
        let mut bytes = 0;
        guarded(|| {
            let begin = after.map_or(Bound::Unbounded, |after| Bound::Excluded(after.as_bytes()));
            for found in self.view.index.range::<&[u8]>((begin, Bound::Unbounded))? {
                let (key, checksummed) = found?;
                // A damaged pointer points to nothing, so the value is missing.
                let revision = read_pointer(key.value(), checksummed.value()).unwrap_or_default();
                let key = String::from_utf8_lossy(key.value());
                let StoredValue { value, deadline_ms } = stored_value(&self.view.log, &key, revision)?;
                bytes += key.len() + value.as_ref().map_or(0, bytes::Bytes::len);
                let deadline_ms = deadline_ms.map(|deadline_ms| self.lead.on_system_clock(deadline_ms));
                piece.push_back(Object { key: key.into(), value, revision, deadline_ms });
                if bytes >= PIECE_BYTES || piece.len() == PIECE {
                    break;
                }
            }
            Ok(())
        })?;
        Ok(piece)
    }

    /// Passes each change after a revision to `take`. The inner error says that history does not reach back so far, or is
    /// damaged.
    pub(super) fn changes(
        &self,
        after: Revision,
        mut take: impl FnMut(Revision, &Row<'_>) -> Result<(), redb::Error>,
    ) -> Result<Result<(), ReadError>, redb::Error> {
        if let Err(error) = self.view.reaches_back_to(after) {
            return Ok(Err(error));
        }
        let mut shifted = |revision, row: &Row<'_>| {
            let deadline_ms = row.deadline_ms.map(|deadline_ms| self.lead.on_system_clock(deadline_ms));
            take(revision, &Row { deadline_ms, ..*row }).map(|()| true)
        };
        guarded(|| self.view.each_change(after, &mut shifted))
    }
}
