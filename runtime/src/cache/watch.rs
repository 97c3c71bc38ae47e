//! A watch: a position in a resource's history and a filter.
//!
//! It starts in the window of past changes if the window covers its position. Otherwise it reads the store's change log
//! until it has caught up, and then moves to the window. In both places it takes whole changes strictly after its
//! position, so the move neither loses nor repeats one.

use std::{
    collections::VecDeque,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use super::{
    Event, Filter, Object, Resource, Subscription, WatchError,
    change::Change,
    fanout::{Found, Subscriber},
    history::{History, Piece},
    resource::blocking,
    state::lock,
};
use crate::{meta::Revision, storage::ReadError};

/// The maximum number of changes taken from the window at once. They stay in memory until the watcher has read them, so
/// it is small.
const BATCH: usize = 32;
/// The number of non-matching changes to skip before yielding to other tasks.
const PATIENCE: usize = 512;

/// A watch: returns every matching change after its position once and in order.
pub struct Watch {
    resource: Arc<Resource>,
    subscription: Subscription,
    filter: Option<Filter>,
    /// All matching changes up to here have been returned.
    position: Revision,
    /// Changes after the position that are still to be examined.
    batch: VecDeque<Arc<Change>>,
    /// The position once the batch is consumed.
    batch_end: Revision,
    phase: Phase,
}

enum Phase {
    /// Reads the window.
    Live(Subscriber),
    /// Reads the store's change log.
    CatchingUp(Box<CatchUp>),
    /// The watch has ended.
    Ended,
}

/// Reads from the store, a piece at a time.
enum CatchUp {
    Idle(Box<History>),
    Reading(Reading),
    /// A transient value between the two.
    Taken,
}

type Reading = Pin<Box<dyn Future<Output = Result<(Box<History>, Piece), ReadError>> + Send>>;

impl Watch {
    /// Without a subscriber, the watch begins in the store's change log.
    pub(super) fn new(
        resource: Arc<Resource>,
        after: Revision,
        subscription: Subscription,
        filter: Option<Filter>,
        subscriber: Option<Subscriber>,
    ) -> Self {
        let history = || Box::new(CatchUp::Idle(Box::new(History::new(Arc::clone(&resource), after))));
        let phase = subscriber.map_or_else(|| Phase::CatchingUp(history()), Phase::Live);
        Self { resource, subscription, filter, position: after, batch: VecDeque::new(), batch_end: after, phase }
    }

    /// The next event, or `None` if the cache is closed or the resource was removed or replaced. Returns `None` after
    /// an error or `None`.
    pub fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Event, WatchError>>> {
        let mut patience = PATIENCE;
        loop {
            while let Some(change) = self.batch.pop_front() {
                self.position = change.revision;
                match self.event(&change) {
                    Some(Ok(event)) => return Poll::Ready(Some(Ok(event))),
                    Some(Err(error)) => {
                        self.end();
                        return Poll::Ready(Some(Err(error)));
                    }
                    None => {}
                }
                patience -= 1;
                if patience == 0 {
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
            }
            self.position = self.position.max(self.batch_end);
            match ready!(self.poll_batch(cx)) {
                Some(Ok(())) => {}
                Some(Err(error)) => {
                    self.end();
                    return Poll::Ready(Some(Err(error)));
                }
                None => {
                    self.end();
                    return Poll::Ready(None);
                }
            }
        }
    }

    /// Appends the events that are ready, at most `max`, to `events`. Ready if at least one was appended, or if none
    /// was and the watch has ended (`None`, or an error).
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
        while appended < max {
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
        let Phase::Live(subscriber) = &self.phase else { return position };
        // Read before the window is read: the window is complete up to there.
        let fed = self.resource.fed();
        lock(&self.resource.feed).clear_upto(*subscriber, position, fed)
    }

    /// The event of a change for this watch. A change that leaves an object unreadable has unknown labels, so it
    /// matches every filter.
    fn event(&self, change: &Change) -> Option<Result<Event, WatchError>> {
        if let Some((new, reason)) = change.new.as_ref().and_then(|new| Some((new, new.unreadable()?)))
            && self.subscription.touched(change)
        {
            let key = format!("{}{}", self.resource.prefix(), new.key()).into();
            return Some(Err(WatchError::Unreadable { key, reason: reason.into() }));
        }
        change.event(|object| self.matches(object)).map(Ok)
    }

    fn matches(&self, object: &Object) -> bool {
        self.subscription.covers(object) && self.filter.as_ref().is_none_or(|filter| filter(object))
    }

    /// Fills the batch.
    fn poll_batch(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<(), WatchError>>> {
        match &mut self.phase {
            Phase::Ended => Poll::Ready(None),
            Phase::Live(subscriber) => {
                let complete = self.resource.fed();
                let mut feed = lock(&self.resource.feed);
                match feed.poll(*subscriber, self.position, BATCH, &mut self.batch, cx.waker()) {
                    Found::Changes => {}
                    Found::Lagged => return Poll::Ready(Some(Err(WatchError::Lagged))),
                    Found::Closed => return Poll::Ready(None),
                    Found::Nothing => {
                        self.position = self.position.max(complete);
                        return Poll::Pending;
                    }
                }
                drop(feed);
                self.batch_end = self.batch.back().map_or(self.position, |change| change.revision);
                Poll::Ready(Some(Ok(())))
            }
            Phase::CatchingUp(_) => self.poll_history(cx),
        }
    }

    /// Moves to the window if the window covers the position by now; otherwise continues to read the log.
    fn poll_history(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<(), WatchError>>> {
        let Phase::CatchingUp(step) = &mut self.phase else { return Poll::Ready(None) };
        if let CatchUp::Idle(_) = **step {
            let fed = self.resource.fed();
            let mut feed = lock(&self.resource.feed);
            if feed.is_closed() {
                return Poll::Ready(None);
            }
            if let Some(subscriber) = feed.subscribe(&self.subscription, self.position) {
                drop(feed);
                self.phase = Phase::Live(subscriber);
                return Poll::Ready(Some(Ok(())));
            }
            drop(feed);
            if let CatchUp::Idle(history) = std::mem::replace(&mut **step, CatchUp::Taken) {
                **step = CatchUp::Reading(read(history, self.subscription.clone(), fed));
            }
        }
        let CatchUp::Reading(reading) = &mut **step else { return Poll::Ready(None) };
        match ready!(reading.as_mut().poll(cx)) {
            Ok((history, piece)) => {
                **step = CatchUp::Idle(history);
                self.batch.extend(piece.changes);
                self.batch_end = piece.upto;
                Poll::Ready(Some(Ok(())))
            }
            Err(ReadError::Compacted(upto)) => Poll::Ready(Some(Err(WatchError::Expired(upto)))),
            Err(error) => Poll::Ready(Some(Err(WatchError::Read(error)))),
        }
    }

    fn end(&mut self) {
        if let Phase::Live(subscriber) = std::mem::replace(&mut self.phase, Phase::Ended) {
            lock(&self.resource.feed).unsubscribe(subscriber);
        }
        self.batch.clear();
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.end();
    }
}

fn read(mut history: Box<History>, subscription: Subscription, upto: Revision) -> Reading {
    Box::pin(blocking(move || {
        let piece = history.read(&subscription, upto)?;
        Ok((history, piece))
    }))
}
