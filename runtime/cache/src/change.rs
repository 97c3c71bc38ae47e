//! Changes of a resource and the events that watchers see of them.

use std::{
    mem,
    sync::{Arc, Mutex},
};

use bytes::Bytes;

use super::{
    budget::Budget,
    lock::lock,
    object::{EventType, Object},
    subscription::Subscription,
};
use crate::meta::Revision;

/// The memory of a change besides the objects: itself, and its entries in the window, in its index and in channels.
pub(super) const OVERHEAD: usize = size_of::<Change>() + 10 * size_of::<usize>();

/// One change of one object, shared by the window and all watchers. It has a new object, an old object, or both.
pub(super) struct Change {
    pub(super) revision: Revision,
    pub(super) new: Option<Arc<Object>>,
    pub(super) old: Option<Arc<Object>>,
    /// The old body at this change's revision, for watchers whose filter the object leaves.
    tombstone: Mutex<Tombstone>,
}

/// The deleted object, rendered by the first watcher that needs it and shared with all others.
enum Tombstone {
    Unused,
    Kept(Arc<Object>),
    /// The change has left the window and keeps nothing more.
    Dropped,
}

impl Change {
    pub(super) fn new(revision: Revision, new: Option<Arc<Object>>, old: Option<Arc<Object>>) -> Self {
        Self { revision, new, old, tombstone: Mutex::new(Tombstone::Unused) }
    }

    /// The object after the change, or the deleted object.
    pub(super) fn object(&self) -> Option<&Arc<Object>> {
        self.new.as_ref().or(self.old.as_ref())
    }

    /// True if a subscription includes the object before or after the change.
    pub(super) fn touches(&self, subscription: &Subscription) -> bool {
        [&self.new, &self.old].into_iter().flatten().any(|object| subscription.covers(object))
    }

    /// The event for a watcher that sees only matching objects. What it keeps for others is added to the budget.
    pub(super) fn event(&self, budget: &Budget, matches: impl Fn(&Object) -> bool) -> Option<Event> {
        let old = self.old.as_ref().filter(|old| matches(old));
        let new = self.new.as_ref().filter(|new| matches(new));
        let (event_type, object) = match (old, new) {
            (None, Some(new)) => (EventType::Added, Arc::clone(new)),
            (Some(_), Some(new)) => (EventType::Modified, Arc::clone(new)),
            (Some(old), None) => (EventType::Deleted, self.tombstone(old, budget)),
            (None, None) => return None,
        };
        Some(Event { event_type, object })
    }

    fn tombstone(&self, old: &Arc<Object>, budget: &Budget) -> Arc<Object> {
        let mut tombstone = lock(&self.tombstone);
        if let Tombstone::Kept(object) = &*tombstone {
            return Arc::clone(object);
        }
        let object = Arc::new(old.deleted_at(self.revision));
        if matches!(*tombstone, Tombstone::Unused) {
            budget.add(object.size());
            *tombstone = Tombstone::Kept(Arc::clone(&object));
        }
        object
    }

    /// The memory that the change takes. Its new object is counted as the old one of the next change, or is part of the
    /// newest state.
    pub(super) fn size(&self) -> usize {
        self.old.as_ref().map_or(0, |object| object.size()) + OVERHEAD
    }

    /// Returns all memory of a change that leaves the window to the budget.
    pub(super) fn release(&self, budget: &Budget) {
        let tombstone = mem::replace(&mut *lock(&self.tombstone), Tombstone::Dropped);
        let kept = if let Tombstone::Kept(object) = tombstone { object.size() } else { 0 };
        budget.subtract(self.size() + kept);
    }

    /// Passes the mark of each narrow subscription that includes the change; see [`Subscription::mark`].
    pub(super) fn marks(&self, mut found: impl FnMut(u64)) {
        let Some(object) = self.object() else { return };
        found(Subscription::namespace_mark(object.namespace()));
        found(Subscription::key_mark(object.key()));
        for object in [&self.new, &self.old].into_iter().flatten() {
            for (position, value) in object.fields().enumerate() {
                found(Subscription::field_mark(position, value));
            }
        }
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
    /// True if [`Event::frame`] copies nothing.
    pub fn is_frame_shared(&self) -> bool {
        self.object.is_natural(self.event_type)
    }

    /// The event as a line of JSON, as a watch sends it. Shared with other watchers if possible.
    pub fn frame(&self) -> Bytes {
        self.object.frame_as(self.event_type)
    }
}
