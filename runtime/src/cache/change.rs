//! Changes of a resource, and the log that keeps the recent ones for watchers.

use std::{
    collections::VecDeque,
    sync::{Arc, OnceLock},
};

use bytes::Bytes;

use super::{EventType, Object};
use crate::meta::Revision;

/// One change of one object, shared by the window and all watchers. It has a new object, an old object, or both.
pub(super) struct Change {
    pub(super) revision: Revision,
    pub(super) new: Option<Arc<Object>>,
    pub(super) old: Option<Arc<Object>>,
    /// The old body at this change's revision, for watchers whose filter the object leaves.
    gone: OnceLock<Arc<Object>>,
}

impl Change {
    pub(super) fn new(revision: Revision, new: Option<Arc<Object>>, old: Option<Arc<Object>>) -> Self {
        Self { revision, new, old, gone: OnceLock::new() }
    }

    /// The object after the change, or the deleted object.
    pub(super) fn object(&self) -> Option<&Arc<Object>> {
        self.new.as_ref().or(self.old.as_ref())
    }

    /// The event for a watcher that sees only matching objects.
    pub(super) fn event(&self, matches: impl Fn(&Object) -> bool) -> Option<Event> {
        let old = self.old.as_ref().filter(|old| matches(old));
        let new = self.new.as_ref().filter(|new| matches(new));
        let (event_type, object) = match (old, new) {
            (None, Some(new)) => (EventType::Added, new),
            (Some(_), Some(new)) => (EventType::Modified, new),
            (Some(old), None) => (EventType::Deleted, self.gone(old)),
            (None, None) => return None,
        };
        Some(Event { event_type, object: Arc::clone(object) })
    }

    /// Rendered on first use, once for all watchers.
    fn gone(&self, old: &Arc<Object>) -> &Arc<Object> {
        self.gone.get_or_init(|| Arc::new(old.deleted_at(self.revision)))
    }

    /// The memory that the change takes. Its old object is counted as the new one of an earlier change.
    pub(super) fn size(&self) -> usize {
        self.object().map_or(0, |object| object.size()) + size_of::<Self>()
    }
}

/// A watch event. If the object was deleted or left the filter, the event has the old body with the new revision.
#[derive(Clone, Debug)]
pub struct Event {
    /// What happened to the object, as the watcher sees it.
    pub event_type: EventType,
    /// The object.
    pub object: Arc<Object>,
}

impl Event {
    /// The event as a line of JSON, as a watch sends it. Shared with other watchers if possible.
    pub fn frame(&self) -> Bytes {
        self.object.frame_as(self.event_type)
    }
}

/// Consecutive changes in revision order, complete after the floor.
pub(super) struct Log {
    entries: VecDeque<(Revision, Arc<Change>)>,
    /// The log has all changes after this revision; older ones may be missing.
    floor: Revision,
}

impl Log {
    pub(super) fn new(floor: Revision) -> Self {
        Self { entries: VecDeque::new(), floor }
    }

    pub(super) fn floor(&self) -> Revision {
        self.floor
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn push(&mut self, change: Arc<Change>) {
        self.entries.push_back((change.revision, change));
    }

    /// Removes the oldest change.
    pub(super) fn pop(&mut self) -> Option<Arc<Change>> {
        let (revision, change) = self.entries.pop_front()?;
        self.floor = self.floor.max(revision);
        Some(change)
    }

    /// Removes the oldest change if it has this revision.
    pub(super) fn pop_if(&mut self, revision: Revision) {
        if self.entries.front().is_some_and(|(first, _)| *first == revision) {
            self.pop();
        }
    }

    /// Adds a change before all others. When all are added, [`Log::lower`] lowers the floor.
    pub(super) fn push_older(&mut self, change: Arc<Change>) {
        self.entries.push_front((change.revision, change));
    }

    /// Declares the log complete after a revision.
    pub(super) fn lower(&mut self, floor: Revision) {
        self.floor = self.floor.min(floor);
    }

    /// Changes strictly after a revision, in order.
    pub(super) fn after(&self, revision: Revision) -> impl DoubleEndedIterator<Item = &Arc<Change>> {
        self.entries.range(self.position(revision)..).map(|(_, change)| change)
    }

    /// True if there is a change after a revision.
    pub(super) fn has_after(&self, revision: Revision) -> bool {
        self.entries.back().is_some_and(|(last, _)| *last > revision)
    }

    fn position(&self, after: Revision) -> usize {
        // Watchers that keep up read near the end. A few steps back find their position without a search in cold
        // memory.
        let near = self.entries.iter().rev().take(4).take_while(|(revision, _)| *revision > after).count();
        if near < 4 {
            self.entries.len() - near
        } else {
            self.entries.partition_point(|(revision, _)| *revision <= after)
        }
    }
}
