//! Watches of typed objects.
use std::{
    marker::PhantomData,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use futures_core::Stream;
use tokio::time::{Instant, Sleep};

use super::{InvalidObject, parsed, typed::decode_object};
use crate::{
    cache::{Event, EventType, WatchError},
    handlers::{Object, Refusal, Result},
    meta::Revision,
    registry::Registered,
    verbs::{self, Error, Items, Place, Request, Watching, status::of_watch},
};

/// The interval between bookmarks.
const BOOKMARK_INTERVAL: Duration = Duration::from_mins(1);

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
    served: Arc<Registered>,
    initial: Option<(Items, Place)>,
    initial_bookmark: Option<Revision>,
    next_bookmark: Option<Pin<Box<Sleep>>>,
    changes: Option<verbs::Watch>,
    /// It ends with the first deletion.
    of_one: bool,
    kind: PhantomData<fn() -> K>,
}

impl<K: Object> Watch<K> {
    pub(in crate::handlers) fn of(request: &Request, watching: Watching) -> Self {
        let Watching { initial, initial_bookmark, bookmarks, watch } = watching;
        Self {
            served: request.served.clone(),
            initial: (!initial.is_empty()).then(|| (initial, Place::default())),
            initial_bookmark,
            next_bookmark: bookmarks.then(|| Box::pin(tokio::time::sleep(BOOKMARK_INTERVAL))),
            changes: Some(watch),
            of_one: false,
            kind: PhantomData,
        }
    }

    /// A watch of the only selected object, until it is deleted. `None` if it is not the one with this uid.
    pub(in crate::handlers) fn of_one(request: &Request, watching: Watching, uid: &str) -> Option<Self> {
        let first = parsed(watching.initial.iter().next()?).ok()?;
        (first["metadata"]["uid"] == uid).then(|| Self { of_one: true, ..Self::of(request, watching) })
    }

    /// The next event; `None` after the last.
    pub async fn next(&mut self) -> Option<Result<WatchEvent<K>>> {
        std::future::poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }

    fn poll_initial(&mut self) -> Option<WatchEvent<K>> {
        if let Some((items, place)) = &mut self.initial {
            let mut walk = items.walk(*place);
            let next = walk.next();
            *place = walk.place();
            if let Some(object) = next {
                let decoded = decode_object(&self.served, object, items.json_bytes());
                return Some(decoded.map_or_else(|object| invalid(object, false), WatchEvent::Added));
            }
            self.initial = None;
        }
        let revision = self.initial_bookmark.take()?;
        Some(WatchEvent::Bookmark { resource_version: revision.to_string(), initial_events_end: true })
    }

    fn event(&self, event: &Event) -> WatchEvent<K> {
        let made = match event.event_type {
            EventType::Added => WatchEvent::Added,
            EventType::Modified => WatchEvent::Modified,
            EventType::Deleted => WatchEvent::Deleted,
        };
        let deleted = event.event_type == EventType::Deleted;
        decode_object(&self.served, &event.object, 0).map_or_else(|object| invalid(object, deleted), made)
    }

    /// A bookmark, if it is due.
    fn poll_bookmark(&mut self, cx: &mut Context<'_>) -> Poll<WatchEvent<K>> {
        let (Some(alarm), Some(changes)) = (&mut self.next_bookmark, &self.changes) else { return Poll::Pending };
        std::task::ready!(alarm.as_mut().poll(cx));
        alarm.as_mut().reset(Instant::now() + BOOKMARK_INTERVAL);
        let resource_version = changes.position().to_string();
        Poll::Ready(WatchEvent::Bookmark { resource_version, initial_events_end: false })
    }
}

impl<K: Object> Stream for Watch<K> {
    type Item = Result<WatchEvent<K>>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        if let Some(event) = this.poll_initial() {
            return Poll::Ready(Some(Ok(event)));
        }
        let Some(changes) = &mut this.changes else { return Poll::Ready(None) };
        match changes.poll_next(cx) {
            Poll::Ready(Some(Ok(event))) => {
                if this.of_one && event.event_type == EventType::Deleted {
                    this.changes = None;
                }
                Poll::Ready(Some(Ok(this.event(&event))))
            }
            Poll::Ready(Some(Err(error))) => {
                this.changes = None;
                Poll::Ready(Some(Err(refusal(error))))
            }
            Poll::Ready(None) => {
                this.changes = None;
                Poll::Ready(None)
            }
            Poll::Pending => this.poll_bookmark(cx).map(|bookmark| Some(Ok(bookmark))),
        }
    }
}

fn invalid<K>(object: InvalidObject, deleted: bool) -> WatchEvent<K> {
    WatchEvent::Invalid { object, deleted }
}

fn refusal(error: WatchError) -> Refusal {
    match of_watch(error) {
        Some(status) => status.into(),
        None => Error::Unavailable("the watch was read too slowly; watch from the last version".to_owned()).into(),
    }
}
