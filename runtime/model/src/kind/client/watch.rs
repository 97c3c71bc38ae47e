//! Watches of typed objects.
use std::{
    marker::PhantomData,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use futures_core::Stream;

use super::{InvalidObject, Object, backend::Events, typed::decode_json};
use crate::meta::refusal::Result;

/// A watch event.
#[derive(Clone, Debug)]
pub enum WatchEvent<K> {
    /// The object was created, now matches the selectors, or existed when the watch started.
    Added(K),
    /// The object changed.
    Modified(K),
    /// The object was deleted, or no longer matches the selectors; with its last state.
    Deleted(K),
    /// Everything up to a version has been returned. Sent if [`ListOptions::bookmarks`] is set.
    ///
    /// [`ListOptions::bookmarks`]: crate::meta::options::ListOptions::bookmarks
    Bookmark {
        /// The version, from which a watch can continue.
        resource_version: String,
        /// True if all objects that existed when the watch started have been returned.
        initial_events_end: bool,
    },
    /// An event about an object that the type cannot decode.
    Invalid {
        /// The object.
        object: InvalidObject,
        /// True if it was deleted or no longer matches the selectors.
        deleted: bool,
    },
}

/// A watch: every change of the selected objects, once and in order.
///
/// An error is the last item. Its Status has the code 410 if changes are gone: list, and watch from there. It has 503
/// if this watch was read too slowly: watch from the version of the last event. The watch ends without an error when
/// the server stops or the kind is no longer served.
pub struct Watch<K> {
    events: Events,
    kind: PhantomData<fn() -> K>,
}

impl<K: Object> Watch<K> {
    /// A watch of the events of a server.
    pub fn of(events: Events) -> Self {
        Self { events, kind: PhantomData }
    }

    /// The next event; `None` after the last.
    pub async fn next(&mut self) -> Option<Result<WatchEvent<K>>> {
        std::future::poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }
}

impl<K: Object> Stream for Watch<K> {
    type Item = Result<WatchEvent<K>>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.events.as_mut().poll_next(cx).map(|event| event.map(|event| event.map(WatchEvent::decoded)))
    }
}

impl WatchEvent<Bytes> {
    /// The event with the object as its type.
    fn decoded<K: Object>(self) -> WatchEvent<K> {
        let decode = |json: Bytes, event: fn(K) -> WatchEvent<K>, deleted| {
            decode_json(&json).map_or_else(|object| WatchEvent::Invalid { object, deleted }, event)
        };
        match self {
            Self::Added(json) => decode(json, WatchEvent::Added, false),
            Self::Modified(json) => decode(json, WatchEvent::Modified, false),
            Self::Deleted(json) => decode(json, WatchEvent::Deleted, true),
            Self::Bookmark { resource_version, initial_events_end } => {
                WatchEvent::Bookmark { resource_version, initial_events_end }
            }
            Self::Invalid { object, deleted } => WatchEvent::Invalid { object, deleted },
        }
    }
}
