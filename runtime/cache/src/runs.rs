//! Runs: the frames of consecutive changes in one piece. One watcher makes a run, and all that watch the same send it.
//!
//! A run begins after its maker's position; others send the part after theirs. So a change costs each of many watchers its share
//! of a send, without an event, a copy and counters of its own.

use std::{collections::VecDeque, fmt, sync::Arc};

use bytes::Bytes;

use super::{
    budget::Budget,
    change::{Change, Event},
    subscription::Subscription,
};
use crate::meta::Revision;

/// The largest run of several frames.
const FULL: usize = 64 << 10;
/// A smaller run is made anew once there are changes after it. A frame of this size is not copied if it is the first one, or if
/// the frames before it are of this size, too.
const SHORT: usize = 4 << 10;
/// The bytes that are kept for each subscriber, who could hold as much for itself.
const KEPT_EACH: usize = 32 << 10;
/// The maximum of bytes that are kept.
const KEPT: usize = 4 << 20;

/// The frames of consecutive changes.
pub(super) struct Run {
    /// It has all changes after this revision, up to that of its last frame.
    after: Revision,
    bytes: Bytes,
    /// The revision of each frame, and its end in the bytes. Not empty.
    ends: Vec<(Revision, usize)>,
    /// True if the change after it, if there is one already, does not fit behind it.
    closed: bool,
}

impl Run {
    /// The frames of the first changes after a position; `more` if there may be others after these. `None` if the first one is
    /// unreadable, or if its revision has more changes than fit: a position is never between changes of one revision.
    pub(super) fn of(
        changes: &[Arc<Change>],
        more: bool,
        after: Revision,
        subscription: &Subscription,
        budget: &Budget,
    ) -> Option<Self> {
        let is_readable = |change: &Arc<Change>| change.new.as_ref().is_none_or(|new| new.unreadable().is_none());
        let event = |change: &Arc<Change>| change.event(budget, |object| subscription.covers(object));
        let (mut frames, mut ends, mut size, mut closed) = (Vec::new(), Vec::new(), 0, more);
        for together in changes.chunk_by(|one, next| one.revision == next.revision) {
            let begun = frames.len();
            if together.iter().all(is_readable) {
                frames.extend(together.iter().filter_map(event).map(|event: Event| event.frame()));
            }
            let added: usize = frames[begun..].iter().map(Bytes::len).sum();
            let is_large = |size: usize| size >= SHORT;
            let fits = size + added <= FULL && !(is_large(size) && (is_large(added) || begun == 1));
            if added == 0 || frames.len() > 1 && !fits {
                frames.truncate(begun);
                closed = true;
                break;
            }
            for frame in &frames[begun..] {
                size += frame.len();
                ends.push((together[0].revision, size));
            }
        }
        let bytes = match &frames[..] {
            [] => return None,
            // Shared with the object.
            [frame] => frame.clone(),
            frames => frames.concat().into(),
        };
        Some(Self { after, bytes, ends, closed })
    }

    /// The revision of its last frame.
    fn upto(&self) -> Revision {
        self.ends.last().map_or(self.after, |(revision, _)| *revision)
    }
}

/// Frames of consecutive events in JSON, in one piece.
pub struct Frames {
    run: Arc<Run>,
    first: usize,
}

impl Frames {
    /// The part of a run after a position.
    pub(super) fn after(run: Arc<Run>, position: Revision) -> Self {
        let first = run.ends.partition_point(|(revision, _)| *revision <= position);
        Self { run, first }
    }

    /// The revision of the last one.
    pub(super) fn revision(&self) -> Revision {
        self.run.upto()
    }

    fn start(&self) -> usize {
        self.first.checked_sub(1).map_or(0, |before| self.run.ends[before].1)
    }

    /// All frames, in the order of their events. Not copied.
    pub fn bytes(&self) -> Bytes {
        self.run.bytes.slice(self.start()..)
    }

    /// The size of each frame.
    pub fn sizes(&self) -> impl Iterator<Item = usize> {
        let mut start = self.start();
        self.run.ends[self.first..].iter().map(move |(_, end)| *end - std::mem::replace(&mut start, *end))
    }
}

impl fmt::Debug for Frames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.bytes()))
    }
}

/// Runs of one subscription, in order and without a change in two of them.
#[derive(Default)]
pub(super) struct Runs {
    /// Each with the revision of its last frame.
    runs: VecDeque<(Revision, Arc<Run>)>,
    bytes: usize,
}

impl Runs {
    /// The frames after a position, if they were made; `newest` is the revision of the newest change.
    pub(super) fn after(&self, position: Revision, newest: Option<Revision>) -> Option<Frames> {
        let (upto, run) = self.runs.get(self.runs.partition_point(|(upto, _)| *upto <= position))?;
        let is_enough = run.closed || run.bytes.len() >= SHORT || newest == Some(*upto);
        (run.after <= position && is_enough).then(|| Frames::after(Arc::clone(run), position))
    }

    /// Keeps a run for other subscribers, in place of those that have some of its changes.
    pub(super) fn keep(&mut self, run: &Arc<Run>, subscribers: usize) {
        if subscribers < 2 {
            return;
        }
        let first = self.runs.partition_point(|(upto, _)| *upto <= run.after);
        let end = self.runs.partition_point(|(_, kept)| kept.after < run.upto());
        self.bytes -= self.runs.drain(first..end).map(|(_, old)| old.bytes.len()).sum::<usize>();
        self.runs.insert(first, (run.upto(), Arc::clone(run)));
        self.bytes += run.bytes.len();
        let most = KEPT.min(subscribers * KEPT_EACH);
        while self.bytes > most
            && let Some((_, oldest)) = self.runs.pop_front()
        {
            self.bytes -= oldest.bytes.len();
        }
    }

    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}
