//! Watch events.

use std::sync::Arc;

use bytes::Bytes;

use super::{EventType, Object};

/// A watch event. If the object was deleted or left the filter, the event has the old body with the new revision.
#[derive(Clone, Debug)]
pub enum Event {
    /// The object was created, or entered the filter.
    Added(Arc<Object>),
    /// The object changed.
    Modified(Arc<Object>),
    /// The object was deleted, or left the filter.
    Deleted(Arc<Object>),
}

impl Event {
    /// The type on the wire.
    pub fn event_type(&self) -> EventType {
        match self {
            Self::Added(_) => EventType::Added,
            Self::Modified(_) => EventType::Modified,
            Self::Deleted(_) => EventType::Deleted,
        }
    }

    /// The object.
    pub fn object(&self) -> &Arc<Object> {
        let (Self::Added(object) | Self::Modified(object) | Self::Deleted(object)) = self;
        object
    }

    /// The same event with another form of its object.
    #[must_use]
    pub fn of(&self, object: Arc<Object>) -> Self {
        match self {
            Self::Added(_) => Self::Added(object),
            Self::Modified(_) => Self::Modified(object),
            Self::Deleted(_) => Self::Deleted(object),
        }
    }

    /// The event as a line of JSON, as a watch sends it. Shared with other watchers if possible.
    pub fn frame(&self) -> Bytes {
        self.object().frame_as(self.event_type())
    }
}
