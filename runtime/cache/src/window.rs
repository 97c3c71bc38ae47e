//! The window of a resource's past changes: in order, and complete after its floor.
//!
//! A copy is made in constant time and does not change, so that a lock is held only to copy a window, never to search
//! one. The changes lie in chunks that the copies share. A chunk between the first and the last has an index that is
//! made at the first search for a narrow subscription; a search costs what it finds and a little for each chunk.

use std::{
    collections::VecDeque,
    mem,
    sync::{Arc, OnceLock},
};

use super::{change::Change, subscription::Subscription, tree::Tree};
use crate::meta::Revision;

/// The number of changes in a chunk. If there is a copy, the next new change copies the pointers of one chunk.
const CHUNK: usize = 512;
/// The part of an entry of an index that is a position in the chunk.
const POSITION: u64 = 0xFFFF;

/// How much of a resource's past is in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowSize {
    /// Changes in the window.
    pub changes: usize,
    /// Their memory, in bytes.
    pub bytes: usize,
}

/// Changes in the order of their revisions.
pub(super) type Changes = VecDeque<Arc<Change>>;

/// Past changes of a resource. The clone is an unchanging copy.
#[derive(Clone)]
pub(super) struct Window {
    /// The rest of the chunk whose changes are being evicted.
    head: Arc<Changes>,
    chunks: Arc<VecDeque<Arc<Chunk>>>,
    /// The newest changes, fewer than a chunk.
    tail: Arc<Changes>,
    len: usize,
    /// The window has all changes after this revision; older ones may be missing.
    floor: Revision,
}

/// Some changes, never empty, with an index by the subscriptions that they match.
pub(super) struct Chunk {
    changes: Changes,
    /// Marks of subscriptions, each with the position of a change that matches. Sorted.
    index: OnceLock<Box<[u64]>>,
}

impl Window {
    pub(super) fn new(floor: Revision) -> Self {
        Self { head: Arc::default(), chunks: Arc::default(), tail: Arc::default(), len: 0, floor }
    }

    pub(super) fn floor(&self) -> Revision {
        self.floor
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The revision of the oldest change.
    pub(super) fn oldest(&self) -> Option<Revision> {
        let in_chunks = || self.chunks.front()?.changes.front();
        self.head.front().or_else(in_chunks).or_else(|| self.tail.front()).map(|change| change.revision)
    }

    /// The revision of the newest change.
    pub(super) fn newest(&self) -> Option<Revision> {
        let in_chunks = || self.chunks.back()?.changes.back();
        self.tail.back().or_else(in_chunks).or_else(|| self.head.back()).map(|change| change.revision)
    }

    /// True if there is a change after a revision.
    pub(super) fn has_after(&self, revision: Revision) -> bool {
        self.newest().is_some_and(|newest| newest > revision)
    }

    /// Adds the next change.
    pub(super) fn push(&mut self, change: Arc<Change>) {
        let tail = Arc::make_mut(&mut self.tail);
        tail.push_back(change);
        if tail.len() == CHUNK {
            let full = Arc::new(Chunk::of(mem::take(tail)));
            Arc::make_mut(&mut self.chunks).push_back(full);
        }
        self.len += 1;
    }

    /// Removes the oldest change, which raises the floor.
    pub(super) fn pop(&mut self) -> Option<Arc<Change>> {
        if self.head.is_empty()
            && let Some(first) = Arc::make_mut(&mut self.chunks).pop_front()
        {
            self.head =
                Arc::new(Arc::try_unwrap(first).map_or_else(|first| first.changes.clone(), Chunk::into_changes));
        }
        let first = if self.head.is_empty() { &mut self.tail } else { &mut self.head };
        let change = Arc::make_mut(first).pop_front()?;
        self.len -= 1;
        self.floor = self.floor.max(change.revision);
        Some(change)
    }

    /// Adds all changes after a revision that are older than the window.
    pub(super) fn prepend(&mut self, older: Vec<Chunk>, floor: Revision) {
        let chunks = Arc::make_mut(&mut self.chunks);
        let head = Arc::unwrap_or_clone(mem::take(&mut self.head));
        if !head.is_empty() {
            chunks.push_front(Arc::new(Chunk::of(head)));
        }
        for chunk in older.into_iter().rev() {
            self.len += chunk.changes.len();
            chunks.push_front(Arc::new(chunk));
        }
        self.floor = floor;
    }

    /// Changes strictly after a revision, in order.
    pub(super) fn after(&self, revision: Revision) -> impl DoubleEndedIterator<Item = &Arc<Change>> {
        // Watchers that keep up read only the tail.
        let only_tail = self.tail.front().is_some_and(|first| first.revision <= revision);
        let (head, chunks) =
            if only_tail { (None, self.chunks.len()) } else { (Some(&*self.head), self.chunk(revision)) };
        let in_head = head.into_iter().flat_map(move |head| after(head, revision));
        let in_chunks = self.chunks.range(chunks..).flat_map(move |chunk| after(&chunk.changes, revision));
        in_head.chain(in_chunks).chain(after(&self.tail, revision))
    }

    /// The changes strictly after a revision that a narrow subscription includes, in order.
    pub(super) fn matching(&self, subscription: &Subscription, revision: Revision) -> Changes {
        let Some(mark) = subscription.mark() else {
            return self.after(revision).filter(|change| change.touches(subscription)).cloned().collect();
        };
        let in_head = after(&self.head, revision);
        let in_chunks = self.chunks.range(self.chunk(revision)..).flat_map(|chunk| chunk.marked(mark & !POSITION));
        let in_chunks = in_chunks.filter(|change| change.revision > revision);
        let found = in_head.chain(in_chunks).chain(after(&self.tail, revision));
        found.filter(|change| change.touches(subscription)).cloned().collect()
    }

    /// The state before the changes after a revision. `tree` is the state after the last one.
    pub(super) fn undone(&self, mut tree: Tree, revision: Revision) -> Tree {
        for change in self.after(revision).rev() {
            match (&change.old, &change.new) {
                (Some(old), _) => drop(tree.insert(Arc::clone(old))),
                (None, Some(new)) => drop(tree.remove(new.key())),
                (None, None) => {}
            }
        }
        tree
    }

    /// The position of the first chunk with changes after a revision.
    fn chunk(&self, revision: Revision) -> usize {
        let is_before = |chunk: &Arc<Chunk>| chunk.changes.back().is_none_or(|last| last.revision <= revision);
        self.chunks.partition_point(is_before)
    }
}

impl Chunk {
    fn of(changes: Changes) -> Self {
        Self { changes, index: OnceLock::new() }
    }

    /// Chunks of consecutive changes.
    pub(super) fn of_all(changes: Vec<Arc<Change>>) -> Vec<Self> {
        let mut changes = changes.into_iter().peekable();
        let mut chunks = Vec::new();
        while changes.peek().is_some() {
            chunks.push(Self::of(changes.by_ref().take(CHUNK).collect()));
        }
        chunks
    }

    pub(super) fn changes(&self) -> impl Iterator<Item = &Arc<Change>> {
        self.changes.iter()
    }

    fn into_changes(self) -> Changes {
        self.changes
    }

    /// The changes with a mark, in order. There may be others, because marks of different texts can be the same.
    fn marked(&self, mark: u64) -> impl Iterator<Item = &Arc<Change>> {
        let index = self.index.get_or_init(|| self.make_index());
        let from = index.partition_point(|entry| *entry < mark);
        let entries = index[from..].iter().take_while(move |entry| **entry & !POSITION == mark);
        entries.filter_map(|entry| self.changes.get(usize::try_from(entry & POSITION).ok()?))
    }

    fn make_index(&self) -> Box<[u64]> {
        let mut index = Vec::with_capacity(self.changes.len() * 2);
        for (position, change) in (0_u64..).zip(&self.changes) {
            change.marks(|mark| index.push(mark & !POSITION | position));
        }
        index.sort_unstable();
        index.dedup();
        index.into_boxed_slice()
    }
}

/// Changes strictly after a revision, in order.
pub(super) fn after(changes: &Changes, revision: Revision) -> impl DoubleEndedIterator<Item = &Arc<Change>> {
    // Watchers that keep up read near the end: a few steps back find their position without a search in cold memory.
    let near = changes.iter().rev().take(4).take_while(|change| change.revision > revision).count();
    let from =
        if near < 4 { changes.len() - near } else { changes.partition_point(|change| change.revision <= revision) };
    changes.range(from..)
}
