//! What the writer accepts on a full disk.
//!
//! Once a write has used the reserve (`reserve.rs`), the store accepts deletions, and history is compacted as before, so
//! that the rest of the reserve suffices for long. Other commits are refused.
//!
//! # When are other commits accepted again?
//!
//! All are, as soon as the reserve can be set aside again. Until then, compaction leaves free pages in the engine's file, which
//! need no space on the disk. New rows are accepted that take as much as was freed. If a write finds the disk full even so,
//! because the engine can reuse a page only when no row is left in it, the count begins again; once much of the reserve is
//! used, only a quarter counts, and once little is left, nothing.

use std::time::{Duration, Instant};

use super::{
    layout::Row,
    queue::Answer,
    reserve::{ReserveLevel, is_full},
    writer::Writer,
};
use crate::{Commit, CommitError, Op, meta::Revision};

/// How often to try whether the reserve can be set aside again.
const RETRY: Duration = Duration::from_secs(1);

/// The state of a writer whose disk is full.
pub(super) struct Full {
    cause: String,
    /// The space that new rows may take in free pages.
    room: u64,
    /// What compaction had freed over the life of the store when that was last counted.
    counted: u64,
    next_try: Instant,
}

impl Writer {
    /// Sets space aside. A disk without enough of it counts as full.
    pub(super) fn set_aside(&mut self) {
        let filled = self.reserve.fill();
        // A disk that had space for the reserve only is full again after the next write.
        match filled.and_then(|()| if self.full.is_some() { self.disk.probe() } else { Ok(()) }) {
            Ok(()) => {
                // A write that used the reserve before no longer matters.
                self.reserve.take_used();
                if self.full.take().is_some() {
                    tracing::info!("the disk has space again, and the store accepts all writes");
                }
            }
            Err(error) => {
                let is_full = is_full(&error);
                if !is_full {
                    tracing::warn!(%error, "the store cannot set space aside for a time when the disk is full");
                }
                match &mut self.full {
                    // Another error does not show that the disk has space.
                    Some(full) => full.next_try = Instant::now() + RETRY,
                    None if is_full => self.note_full(error.to_string()),
                    None => {}
                }
            }
        }
        self.report_full();
    }

    /// Sets space aside again if it was used, from time to time.
    pub(super) fn refill(&mut self) {
        if self.full.as_ref().is_some_and(|full| full.next_try <= Instant::now()) {
            self.set_aside();
        }
    }

    /// Called after each transaction: counts what it removed, and whether it used the reserve.
    pub(super) fn look_at_disk(&mut self) {
        if let Some(cause) = self.reserve.take_used() {
            self.note_full(cause);
        } else if let Some(full) = &mut self.full {
            let freed_in_all = self.history.freed_bytes();
            let freed = freed_in_all.saturating_sub(full.counted);
            full.room = match self.reserve.level() {
                ReserveLevel::Most => full.room + freed,
                ReserveLevel::Some => full.room + freed / 4,
                ReserveLevel::Little => 0,
            };
            full.counted = freed_in_all;
        }
        if self.full.is_some() {
            self.report_full();
        }
    }

    fn note_full(&mut self, cause: String) {
        if self.full.is_none() {
            tracing::error!(cause, "the disk is full: the store accepts deletions only until there is space");
        }
        // A write that found no free page shows that the count was too high.
        let counted = self.history.freed_bytes();
        self.full = Some(Full { cause, room: 0, counted, next_try: Instant::now() + RETRY });
    }

    /// The state of the disk as readers see it.
    pub(super) fn report_full(&self) {
        let full = self.full.as_ref().filter(|full| full.room == 0);
        self.progress.refuses(full.map(|full| full.message(self.options.history_age)).as_deref());
    }

    /// The space of a commit's rows, if the disk is full. Fails if there is no room for them.
    pub(super) fn admit(&self, commit: &Commit) -> Result<u64, CommitError> {
        let Some(full) = &self.full else { return Ok(0) };
        if commit.ops.iter().all(|op| op.value.is_none()) {
            return Ok(0);
        }
        let bytes = commit.ops.iter().map(row_space).sum();
        if bytes <= full.room {
            return Ok(bytes);
        }
        Err(CommitError::Refused { full: true, message: full.message(self.options.history_age) })
    }

    /// Called with the answer to a commit that was admitted, and its size.
    pub(super) fn spend(&mut self, bytes: u64, answer: &Answer) {
        if let Some(full) = self.full.as_mut().filter(|_| answer.is_ok()) {
            full.room = full.room.saturating_sub(bytes);
        }
    }
}

/// The space of the row that an operation adds. Compaction counts the same when the row is removed.
fn row_space(op: &Op) -> u64 {
    let (body, deadline_ms) = (op.value.as_deref(), op.lifetime.map(|_| 0));
    Row { previous: Revision(0), obsolete: 0, key: &op.key, body, deadline_ms }.space()
}

impl Full {
    fn message(&self, history_age: Duration) -> String {
        format!(
            "{}; free some space on that disk, or enlarge it; until then objects can be deleted, and the store uses the space of \
             what is replaced or deleted again once history is older than {history_age:?}",
            self.cause
        )
    }
}
