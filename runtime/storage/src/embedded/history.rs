//! Retention of history: decides by age and size what to remove, and removes it in small steps.
//!
//! Each group of commits removes up to twice as many changes as it adds, in its own transaction, so that history keeps to
//! its limits at any rate of writes, and no commit waits for more than its group's share. While no commit waits, steps of
//! their own remove what is left.
//!
//! Marks record the time of changes, one every few seconds. A mark means that all changes before its revision had
//! happened by its time. A change may therefore outlive its age by the distance between two marks, and is never removed
//! early.

use std::collections::VecDeque;

use redb::{Database, Durability, ReadableDatabase, ReadableTable, Table, WriteTransaction};

use super::{
    Options,
    clock::{Clock, ClockReading},
    layout::{ChecksummedNumber, End, LOG, MARKS, META, Row, State, mark, read_marks, read_note, save_note},
};
use crate::meta::Revision;

/// The maximum number of changes that a step removes while no commit waits: a few milliseconds of work.
const STEP: usize = 256;

/// A group of commits removes at least up to this number of changes, however small it is.
const LEAST: usize = 16;

/// Reading this number of changes one after the other takes no longer than a search for the next one that matters.
const FEW: usize = 8;

/// The number of marks within the maximum age.
const MARKS_PER_AGE: u64 = 60;

/// The retained history, and what to remove next.
pub(super) struct History {
    clock: Clock,
    age_ms: u64,
    /// The limit of the space of obsolete rows.
    limit_bytes: u64,
    /// Revisions and times, both ascending.
    marks: VecDeque<(Revision, u64)>,
    /// The end of the compacted part; `obsolete` is that of its last row.
    compacted: End,
    /// The revision before the first change.
    origin: Revision,
    /// Compact at least up to this revision, because of age or a request.
    goal: Revision,
}

impl History {
    /// Loads the history of a file, and returns the end of the log. A store that is already open keeps its clock.
    pub(super) fn load(db: &Database, options: &Options, clock: Option<Clock>) -> Result<(Self, End), redb::Error> {
        let transaction = db.begin_read()?;
        let meta = transaction.open_table(META)?;
        let (state, note) = (State::load(&meta)?, read_note(&meta)?);
        let mut marks = VecDeque::new();
        read_marks(&transaction.open_table(MARKS)?, &mut marks)?;
        let age_ms = u64::try_from(options.history_age.as_millis()).unwrap_or(u64::MAX);
        let (origin, compacted, goal) = (state.origin, state.compacted, state.compacted.head);
        // The rest is for pages that groups of commits have freed, which the engine does not use again at once.
        let limit_bytes = options.history_bytes - options.history_bytes / 8;
        let noted_ms = marks.iter().map(|&(_, ms)| ms).max().unwrap_or(0);
        let clock = clock.unwrap_or_else(|| Clock::starting(ClockReading::now(), note, noted_ms));
        Ok((Self { clock, age_ms, limit_bytes, marks, compacted, origin, goal }, state.end))
    }

    /// The store's clock.
    pub(super) fn clock(&self) -> Clock {
        self.clock
    }

    /// The revision up to which history is compacted.
    pub(super) fn compacted(&self) -> Revision {
        self.compacted.head
    }

    /// The space that compaction has freed over the life of the store.
    pub(super) fn freed_bytes(&self) -> u64 {
        self.compacted.obsolete
    }

    /// The compacted revision as readers see it: zero while history is complete.
    pub(super) fn compacted_for_readers(&self) -> Revision {
        if self.compacted.head == self.origin { Revision(0) } else { self.compacted.head }
    }

    /// Requests compaction up to a revision, whatever its age.
    pub(super) fn forget(&mut self, upto: Revision) {
        self.goal = self.goal.max(upto);
    }

    /// Adds a mark before a revision if the last mark is old enough, or unconditionally with `always`.
    pub(super) fn mark(
        &mut self,
        transaction: &WriteTransaction,
        before: Revision,
        always: bool,
    ) -> Result<(), redb::Error> {
        let now = self.clock.now_ms();
        let distance_ms = if always { 0 } else { (self.age_ms / MARKS_PER_AGE).min(5_000) };
        let due =
            self.marks.back().is_none_or(|&(revision, ms)| revision < before && ms.saturating_add(distance_ms) <= now);
        if due {
            let mut meta = transaction.open_table(META)?;
            let mut state = State::load(&meta)?;
            let checksummed = mark(before, now);
            if let Some(replaced) = transaction.open_table(MARKS)?.insert(before.0, checksummed)? {
                state.marks.remove(replaced.value().1);
            }
            state.marks.add(checksummed.1);
            state.save(&mut meta)?;
            save_note(self.clock.note(), &mut meta)?;
            self.marks.push_back((before, now));
        }
        Ok(())
    }

    /// True if changes are to be removed now.
    pub(super) fn due(&mut self, end: End) -> bool {
        let now = self.clock.now_ms();
        while let Some(&(before, _)) = self.marks.front().filter(|mark| mark.1.saturating_add(self.age_ms) <= now) {
            self.goal = self.goal.max(Revision(before.0 - 1));
            self.marks.pop_front();
        }
        self.goal = self.goal.min(end.head);
        self.wants_more(end, self.compacted)
    }

    /// The time in milliseconds until the next change expires if nothing else happens.
    pub(super) fn next_due_ms(&self) -> Option<u64> {
        self.marks.front().map(|mark| mark.1.saturating_add(self.age_ms).saturating_sub(self.clock.now_ms()))
    }

    /// Removes a few changes. Without an fsync, the next durable commit includes the removal, and after a crash before that
    /// commit they are removed again.
    pub(super) fn step(&mut self, db: &Database, durability: Durability) -> Result<(), redb::Error> {
        let mut transaction = db.begin_write()?;
        transaction.set_durability(durability)?;
        let mut state;
        {
            let mut meta = transaction.open_table(META)?;
            state = State::load(&meta)?;
            self.remove(&mut transaction.open_table(LOG)?, &mut transaction.open_table(MARKS)?, &mut state, STEP)?;
            state.save(&mut meta)?;
        }
        transaction.commit()?;
        self.compacted = state.compacted;
        Ok(())
    }

    /// Removes changes in a group that adds some. Returns whether any was removed.
    pub(super) fn keep_up(
        &self,
        log: &mut Table<'_, u64, &'static [u8]>,
        marks: &mut Table<'_, u64, ChecksummedNumber>,
        state: &mut State,
        added: usize,
    ) -> Result<bool, redb::Error> {
        let before = state.compacted;
        self.remove(log, marks, state, added.saturating_mul(2).max(LEAST))?;
        Ok(state.compacted != before)
    }

    /// Called when what a group has removed is durable.
    pub(super) fn kept_up(&mut self, compacted: End) {
        self.compacted = compacted;
    }

    /// Removes the rows that the oldest changes made obsolete, of this number of changes at most, and advances `compacted`. An
    /// unreadable row is skipped and stays, because the index may point to it.
    fn remove(
        &self,
        log: &mut Table<'_, u64, &'static [u8]>,
        marks: &mut Table<'_, u64, ChecksummedNumber>,
        state: &mut State,
        limit: usize,
    ) -> Result<(), redb::Error> {
        if !self.wants_more(state.end, state.compacted) {
            return Ok(());
        }
        let (mut obsolete_rows, mut left) = (Vec::new(), limit);
        while left > 0 && self.wants_more(state.end, state.compacted) {
            self.pass_creations(log, state)?;
            let mut creations = 0;
            let mut rows = log.range(state.compacted.head.0 + 1..=state.end.head.0)?;
            while left > 0 && creations < FEW && self.wants_more(state.end, state.compacted) {
                let Some(found) = rows.next() else {
                    // All rows up to the end are missing.
                    state.passed += state.end.head.0 - state.compacted.head.0;
                    state.compacted = state.end;
                    break;
                };
                let (revision, bytes) = found?;
                let revision = Revision(revision.value());
                state.passed += revision.0 - state.compacted.head.0 - 1;
                state.compacted.head = revision;
                match Row::read(revision, bytes.value()) {
                    Ok(row) if row.obsolete == state.compacted.obsolete => {
                        creations += 1;
                        continue;
                    }
                    Ok(row) => {
                        obsolete_rows.extend(Some(row.previous.0).filter(|&previous| previous != 0));
                        obsolete_rows.extend(Some(revision.0).filter(|_| row.body.is_none()));
                        state.compacted.obsolete = row.obsolete;
                    }
                    Err(_) => state.passed += 1,
                }
                (creations, left) = (0, left - 1);
            }
        }
        for revision in obsolete_rows {
            if let Some(removed) = log.remove(revision)? {
                state.log.remove(Row::stored_checksum(removed.value()));
            }
        }
        let tally = &mut state.marks;
        marks.retain_in(..=state.compacted.head.0, |_, (_, checksum)| {
            tally.remove(checksum);
            false
        })?;
        Ok(())
    }

    /// Advances over the creations that come next. They make nothing obsolete, so removing one by one those of a million
    /// objects would take so long that history passes its limit far meanwhile.
    fn pass_creations(&self, log: &Table<'_, u64, &'static [u8]>, state: &mut State) -> Result<(), redb::Error> {
        let upto = if self.is_too_long(state.end, state.compacted) { state.end.head } else { self.goal };
        // True if one of the changes up to this one, or up to the first readable one after it, made something obsolete.
        let frees = |revision: u64| -> Result<bool, redb::Error> {
            for found in log.range(revision..=state.end.head.0)? {
                let (revision, bytes) = found?;
                if let Ok(row) = Row::read(Revision(revision.value()), bytes.value()) {
                    return Ok(row.obsolete > state.compacted.obsolete);
                }
            }
            Ok(true)
        };
        let (mut passed, mut step) = (state.compacted.head.0, 1);
        while passed + step <= upto.0 && !frees(passed + step)? {
            passed += step;
            step *= 2;
        }
        let mut bound = (passed + step).min(upto.0 + 1);
        while bound - passed > 1 {
            let middle = passed.midpoint(bound);
            if frees(middle)? {
                bound = middle;
            } else {
                passed = middle;
            }
        }
        state.compacted.head = Revision(passed);
        Ok(())
    }

    /// True if more is to be removed when history is compacted up to `compacted`.
    fn wants_more(&self, end: End, compacted: End) -> bool {
        compacted.head < self.goal || self.is_too_long(end, compacted)
    }

    fn is_too_long(&self, end: End, compacted: End) -> bool {
        end.obsolete.saturating_sub(compacted.obsolete) > self.limit_bytes
    }
}
