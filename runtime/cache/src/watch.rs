//! A watch: a position in a resource's history and a filter.
//!
//! It reads the window of past changes, from which it takes whole changes strictly after its position. It ends when the
//! window has moved past its position, and the client resumes.

use std::{
    collections::VecDeque,
    fmt,
    sync::Arc,
    task::{Context, Poll, ready},
};

use super::{
    change::{Change, Event},
    channels::Subscriber,
    feed::PollResult,
    lock::lock,
    object::Object,
    replica::Replica,
    runs::{Frames, Run},
    subscription::Subscription,
};
use crate::{meta::Revision, storage::ReadError};

/// The maximum number of changes taken from the window at once. They stay in memory until the watcher has read them, so
/// it is small.
const BATCH: usize = 32;
/// The same if their frames are made at once.
const FRAMES: usize = 128;
/// The number of non-matching changes to skip before yielding to other tasks.
const PATIENCE: usize = 512;

/// Selects the objects of a watcher. The result must depend on the object only.
pub type Filter = Arc<dyn Fn(&Object) -> bool + Send + Sync>;

/// Why a watch cannot start or continue.
#[derive(Clone, Debug)]
pub enum WatchError {
    /// Changes of this resource after the requested revision are gone. The oldest revision to resume from is given.
    Expired(Revision),
    /// The watcher fell behind the window. The client must resume.
    Lagged,
    /// A change made an object unreadable, so its event cannot be produced.
    Unreadable {
        /// The object's key in the store.
        key: Box<str>,
        /// Why it cannot be decoded.
        reason: Box<str>,
    },
    /// History could not be read.
    Read(ReadError),
    /// The webhook that converts objects to the watched version has failed.
    Unconverted(Box<str>),
}

impl fmt::Display for WatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Expired(oldest) => write!(f, "changes up to revision {oldest} are gone"),
            Self::Lagged => f.write_str("the watcher fell behind"),
            Self::Unreadable { key, reason } => write!(f, "{key} cannot be decoded: {reason}"),
            Self::Read(error) => write!(f, "history could not be read: {error}"),
            Self::Unconverted(reason) => f.write_str(reason),
        }
    }
}

impl std::error::Error for WatchError {}

/// A watch: returns every matching change after its position once and in order.
pub struct Watch {
    replica: Arc<Replica>,
    subscription: Subscription,
    filter: Option<Filter>,
    /// All matching changes up to here have been returned.
    position: Revision,
    /// Changes after the position that are still to be examined.
    batch: VecDeque<Arc<Change>>,
    /// The position once the batch is consumed.
    batch_end: Revision,
    /// `None` after the end.
    subscriber: Option<Subscriber>,
}

impl Watch {
    /// A watch from strictly after a revision.
    ///
    /// # Errors
    /// The window's floor, if the window no longer has all changes of the resource after the revision.
    pub(super) fn new(
        replica: Arc<Replica>,
        after: Revision,
        subscription: Subscription,
        filter: Option<Filter>,
    ) -> Result<Self, Revision> {
        let (batch, subscriber) = (VecDeque::new(), Some(subscribe(&replica, &subscription, after)?));
        Ok(Self { replica, subscription, filter, position: after, batch, batch_end: after, subscriber })
    }

    /// The next event, or `None` if the cache is closed or the resource was removed or replaced. Returns `None` after
    /// an error or `None`.
    pub fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Event, WatchError>>> {
        let mut patience = PATIENCE;
        loop {
            while let Some(change) = self.batch.pop_front() {
                self.position = change.revision;
                if let Some(event) = self.event(&change) {
                    if event.is_err() {
                        self.end();
                    }
                    return Poll::Ready(Some(event));
                }
                patience -= 1;
                if patience == 0 {
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
            }
            self.position = self.position.max(self.batch_end);
            match ready!(self.poll_batch(cx, false)) {
                Some(Ok(_)) => {}
                end => {
                    self.end();
                    return Poll::Ready(end.and_then(Result::err).map(Err));
                }
            }
        }
    }

    /// Appends the events that are ready to `events`: at most `max`, and the others of the last revision, because a client
    /// could not resume between them. Ready if at least one was appended, or if none was and the watch has ended (`None`, or
    /// an error).
    pub fn poll_events(
        &mut self,
        cx: &mut Context<'_>,
        max: usize,
        events: &mut Vec<Event>,
    ) -> Poll<Option<Result<(), WatchError>>> {
        match ready!(self.poll_next(cx)) {
            Some(Ok(event)) => events.push(event),
            Some(Err(error)) => return Poll::Ready(Some(Err(error))),
            None => return Poll::Ready(None),
        }
        // Only events at hand; the next call reads the window again.
        let mut appended = 1;
        while appended < max || self.batch.front().is_some_and(|next| next.revision == self.position) {
            let Some(change) = self.batch.pop_front() else { break };
            match self.event(&change) {
                Some(Ok(event)) => {
                    events.push(event);
                    appended += 1;
                }
                // The next call reports the error, after the events before it.
                Some(Err(_)) => {
                    self.batch.push_front(change);
                    break;
                }
                None => {}
            }
            self.position = change.revision;
        }
        Poll::Ready(Some(Ok(())))
    }

    /// Like [`Watch::poll_events`], but returns the frames of the next changes instead if all who watch the same can send them.
    pub fn poll_frames(
        &mut self,
        cx: &mut Context<'_>,
        max: usize,
        events: &mut Vec<Event>,
    ) -> Poll<Option<Result<Option<Frames>, WatchError>>> {
        if self.filter.is_none() && self.batch.is_empty() {
            self.position = self.position.max(self.batch_end);
            let frames = match ready!(self.poll_batch(cx, true)) {
                Some(Ok(made)) => made.or_else(|| self.make_frames()),
                end => {
                    self.end();
                    return Poll::Ready(end.and_then(Result::err).map(Err));
                }
            };
            if let Some(frames) = frames {
                self.batch_end = frames.revision();
                return Poll::Ready(Some(Ok(Some(frames))));
            }
        }
        self.poll_events(cx, max, events).map(|polled| polled.map(|appended| appended.map(|()| None)))
    }

    /// Makes the frames of the first changes of the batch. The others are read again, so that they can be frames of another
    /// watcher.
    fn make_frames(&mut self) -> Option<Frames> {
        let (has_more, changes) = (self.batch.len() >= FRAMES, self.batch.make_contiguous());
        let run = Run::of(changes, has_more, self.position, &self.subscription, &self.replica.shared.budget)?;
        let run = Arc::new(run);
        lock(&self.replica.feed).keep_run(self.subscriber?, &run);
        self.batch.clear();
        Some(Frames::after(run, self.position))
    }

    /// The next event, like [`Watch::poll_next`].
    pub async fn next(&mut self) -> Option<Result<Event, WatchError>> {
        std::future::poll_fn(|cx| self.poll_next(cx)).await
    }

    /// The revision up to which all events have been returned, as a bookmark may report. It advances with the cache's
    /// revision while the watch is idle.
    pub fn position(&self) -> Revision {
        if let Some(next) = self.batch.front() {
            return self.position.max(next.revision.previous());
        }
        let position = self.position.max(self.batch_end);
        let Some(subscriber) = self.subscriber else { return position };
        // Read before the window is read: the window is complete up to there.
        let fed = self.replica.fed();
        lock(&self.replica.feed).clear_upto(subscriber, position, fed)
    }

    /// The event of a change for this watch. A change that leaves an object unreadable has unknown labels, so it
    /// matches every filter.
    fn event(&self, change: &Change) -> Option<Result<Event, WatchError>> {
        if let Some((new, reason)) = change.new.as_ref().and_then(|new| Some((new, new.unreadable()?)))
            && change.touches(&self.subscription)
        {
            let key = format!("{}{}", self.replica.keyspace.prefix, new.key()).into();
            return Some(Err(WatchError::Unreadable { key, reason: reason.into() }));
        }
        let budget = &self.replica.shared.budget;
        if self.filter.is_none() && self.subscription.is_of_keys() {
            // Both objects of a change have the same key, so one decides, and the other need not be in the processor's cache.
            let covered = change.object().is_some_and(|object| self.subscription.covers(object));
            return covered.then(|| change.event(budget, |_| true)).flatten().map(Ok);
        }
        change.event(budget, |object| self.matches(object)).map(Ok)
    }

    fn matches(&self, object: &Object) -> bool {
        self.subscription.covers(object) && self.filter.as_ref().is_none_or(|filter| filter(object))
    }

    /// Fills the batch, or returns the next frames if another watcher made them and this one `shares` them.
    fn poll_batch(&mut self, cx: &mut Context<'_>, shares: bool) -> Poll<Option<Result<Option<Frames>, WatchError>>> {
        let Some(subscriber) = self.subscriber else { return Poll::Ready(None) };
        let complete = self.replica.fed();
        let mut feed = lock(&self.replica.feed);
        if shares && let Some(frames) = feed.frames(subscriber, self.position) {
            return Poll::Ready(Some(Ok(Some(frames))));
        }
        let found =
            feed.poll(subscriber, self.position, if shares { FRAMES } else { BATCH }, &mut self.batch, cx.waker());
        drop(feed);
        match found {
            PollResult::Changes => {
                self.batch_end = self.batch.back().map_or(self.position, |change| change.revision);
                Poll::Ready(Some(Ok(None)))
            }
            PollResult::Lagged => Poll::Ready(Some(Err(WatchError::Lagged))),
            PollResult::Closed => Poll::Ready(None),
            PollResult::Nothing => {
                self.position = self.position.max(complete);
                Poll::Pending
            }
        }
    }

    fn end(&mut self) {
        if let Some(subscriber) = self.subscriber.take() {
            lock(&self.replica.feed).unsubscribe(subscriber);
        }
        self.batch.clear();
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.end();
    }
}

/// Adds a subscriber. The lock of the feed, which writers need, is not held while the window is searched.
fn subscribe(replica: &Replica, subscription: &Subscription, after: Revision) -> Result<Subscriber, Revision> {
    let window = {
        let mut feed = lock(&replica.feed);
        if let Some(joined) = feed.join(subscription, after)? {
            return Ok(joined);
        }
        feed.window()
    };
    let found = window.matching(subscription, after);
    let searched = window.newest().map_or(after, |newest| newest.max(after));
    lock(&replica.feed).subscribe(subscription, after, found, searched)
}
