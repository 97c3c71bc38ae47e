//! How far back history goes: what age and size say must go, and its removal in small steps.
//!
//! The time of a change is known by marks, one every few seconds: a mark says that all changes before its revision had
//! happened by its time. So a change may outlive its age by the distance of two marks, and is never forgotten early.

use std::{
    collections::VecDeque,
    time::{SystemTime, UNIX_EPOCH},
};

use redb::{Database, Durability, ReadableDatabase, ReadableTable, Table, WriteTransaction};

use super::{
    Options,
    group::End,
    layout::{COMPACTED, LOG, MARKS, META, OBSOLETE, ORIGIN, Row},
};
use crate::meta::Revision;

/// Changes that one step forgets at most: about half a millisecond.
const STEP: usize = 64;

/// Marks within one age.
const MARKS_PER_AGE: u64 = 60;

/// What is kept of the past, and what is to go.
pub(super) struct History {
    age_ms: u64,
    limit_bytes: u64,
    /// Revisions and times, both rising.
    marks: VecDeque<(Revision, u64)>,
    /// Forgotten so far; `obsolete` is that of the row.
    compacted: End,
    /// Nothing happened up to here.
    origin: Revision,
    /// Forget at least up to here: by age, or since somebody asked.
    goal: Revision,
}

impl History {
    /// Reads what the file says; also gives the end of the log.
    pub(super) fn load(db: &Database, options: &Options) -> Result<(Self, End), redb::Error> {
        let transaction = db.begin_read()?;
        let meta = transaction.open_table(META)?;
        let number = |name| Ok::<_, redb::Error>(meta.get(name)?.map_or(0, |found| found.value()));
        let origin = Revision(number(ORIGIN)?);
        let compacted = End { head: origin.max(Revision(number(COMPACTED)?)), obsolete: number(OBSOLETE)? };
        let end = match transaction.open_table(LOG)?.last()? {
            Some((revision, bytes)) if revision.value() > compacted.head.0 => {
                End { head: Revision(revision.value()), obsolete: Row::read(bytes.value())?.obsolete }
            }
            _ => compacted,
        };
        let now = now_ms();
        let marks = transaction
            .open_table(MARKS)?
            .iter()?
            // A clock that was ahead must not keep history for ever.
            .map(|mark| mark.map(|(revision, ms)| (Revision(revision.value()), ms.value().min(now))))
            .collect::<Result<_, _>>()?;
        let age_ms = u64::try_from(options.history_age.as_millis()).unwrap_or(u64::MAX);
        let goal = compacted.head;
        Ok((Self { age_ms, limit_bytes: options.history_bytes, marks, origin, compacted, goal }, end))
    }

    /// The revision up to which history is forgotten.
    pub(super) fn compacted(&self) -> Revision {
        self.compacted.head
    }

    /// The same as readers are told it: zero while history is whole.
    pub(super) fn compacted_for_readers(&self) -> Revision {
        if self.compacted.head == self.origin { Revision(0) } else { self.compacted.head }
    }

    /// Asks for history to be forgotten up to a revision, however young.
    pub(super) fn forget(&mut self, upto: Revision) {
        self.goal = self.goal.max(upto);
    }

    /// Puts a mark before a revision if the last one is old enough, or in any case where `always`.
    pub(super) fn mark(
        &mut self,
        transaction: &WriteTransaction,
        before: Revision,
        always: bool,
    ) -> Result<(), redb::Error> {
        let now = now_ms();
        let distance_ms = if always { 0 } else { (self.age_ms / MARKS_PER_AGE).min(5_000) };
        let due =
            self.marks.back().is_none_or(|&(revision, ms)| revision < before && ms.saturating_add(distance_ms) <= now);
        if due {
            transaction.open_table(MARKS)?.insert(before.0, now)?;
            self.marks.push_back((before, now));
        }
        Ok(())
    }

    /// Whether something is to be forgotten now.
    pub(super) fn due(&mut self, end: End) -> bool {
        let now = now_ms();
        while let Some(&(before, _)) = self.marks.front().filter(|mark| mark.1.saturating_add(self.age_ms) <= now) {
            self.goal = self.goal.max(Revision(before.0 - 1));
            self.marks.pop_front();
        }
        self.goal = self.goal.min(end.head);
        self.compacted.head < self.goal || self.over(end, self.compacted)
    }

    /// In how many milliseconds something grows too old, if nothing else happens.
    pub(super) fn next_due_ms(&self) -> Option<u64> {
        self.marks.front().map(|mark| mark.1.saturating_add(self.age_ms).saturating_sub(now_ms()))
    }

    /// Forgets a few changes, without waiting for the disk: the next durable commit takes them along, and a crash before
    /// it only means that they are forgotten again.
    pub(super) fn step(&mut self, db: &Database, end: End) -> Result<(), redb::Error> {
        let mut transaction = db.begin_write()?;
        transaction.set_durability(Durability::None)?;
        let compacted = self.remove(&mut transaction.open_table(LOG)?, end)?;
        {
            let mut meta = transaction.open_table(META)?;
            meta.insert(COMPACTED, compacted.head.0)?;
            meta.insert(OBSOLETE, compacted.obsolete)?;
            transaction.open_table(MARKS)?.retain_in(..=compacted.head.0, |_, _| false)?;
        }
        transaction.commit()?;
        self.compacted = compacted;
        Ok(())
    }

    /// Removes the rows that a step's changes made obsolete; gives how far it came.
    fn remove(&self, log: &mut Table<'_, u64, &'static [u8]>, end: End) -> Result<End, redb::Error> {
        let mut compacted = self.compacted;
        let mut obsolete_rows = Vec::new();
        for found in log.range(compacted.head.0 + 1..=end.head.0)?.take(STEP) {
            if compacted.head >= self.goal && !self.over(end, compacted) {
                break;
            }
            let (revision, bytes) = found?;
            let row = Row::read(bytes.value())?;
            obsolete_rows.extend(Some(row.previous.0).filter(|&previous| previous != 0));
            obsolete_rows.extend(Some(revision.value()).filter(|_| row.body.is_none()));
            compacted = End { head: Revision(revision.value()), obsolete: row.obsolete };
        }
        for revision in obsolete_rows {
            log.remove(revision)?;
        }
        Ok(compacted)
    }

    fn over(&self, end: End, compacted: End) -> bool {
        end.obsolete - compacted.obsolete > self.limit_bytes
    }
}

fn now_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}
