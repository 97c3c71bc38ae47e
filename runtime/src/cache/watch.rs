//! A watch: a position in a resource's history and a filter.
//!
//! It begins in the window of past changes where its position lies there, else in the store's change log, from which it
//! moves over to the window when it has caught up. Either way it takes whole changes strictly after its position, so
//! that moving over neither loses nor repeats one.

use std::{
    collections::VecDeque,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use super::{
    Event, Filter, Interest, Object, Resource, WatchError,
    change::Change,
    fanout::{Found, Seat},
    history::{History, Piece},
    resource::blocking,
    state::lock,
};
use crate::{meta::Revision, storage::ReadError};

/// The most changes that are taken from the window at once. Those taken stay in memory until the watcher has read them,
/// so that it is few.
const BATCH: usize = 32;
/// How many changes that do not match are passed over before the thread is given to others.
const PATIENCE: usize = 512;

/// A watch: a position and a filter. Gives every matching change after its position once and in order.
pub struct Watch {
    resource: Arc<Resource>,
    interest: Interest,
    filter: Option<Filter>,
    /// Everything up to here has been given, or does not match.
    position: Revision,
    /// Changes after the position that have not been looked at.
    batch: VecDeque<Arc<Change>>,
    /// Once the batch is through, everything up to here has been given.
    batch_end: Revision,
    phase: Phase,
}

enum Phase {
    /// In the window.
    Live(Seat),
    /// In the store's change log.
    CatchingUp(Box<CatchUp>),
    /// Nothing more comes.
    Ended,
}

/// Reading from the store, a piece at a time.
enum CatchUp {
    Idle(Box<History>),
    Reading(Reading),
    /// Between the two.
    Taken,
}

type Reading = Pin<Box<dyn Future<Output = Result<(Box<History>, Piece), ReadError>> + Send>>;

impl Watch {
    pub(super) fn live(
        resource: Arc<Resource>,
        after: Revision,
        interest: Interest,
        filter: Option<Filter>,
        seat: Seat,
    ) -> Self {
        Self::new(resource, after, interest, filter, Phase::Live(seat))
    }

    pub(super) fn from_history(
        resource: Arc<Resource>,
        after: Revision,
        interest: Interest,
        filter: Option<Filter>,
    ) -> Self {
        let history = Box::new(History::new(Arc::clone(&resource), after));
        Self::new(resource, after, interest, filter, Phase::CatchingUp(Box::new(CatchUp::Idle(history))))
    }

    fn new(resource: Arc<Resource>, after: Revision, interest: Interest, filter: Option<Filter>, phase: Phase) -> Self {
        Self { resource, interest, filter, position: after, batch: VecDeque::new(), batch_end: after, phase }
    }

    /// The next event, or `None` when the cache is closed, or the resource removed or replaced. After an error or `None` it
    /// gives `None`.
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

    /// As many events as are ready, at most `max`, appended to `events`. Ready where at least one was appended, or
    /// where the watch has ended (`None`, or an error) and none was.
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
        // What is at hand already; the window is asked again at the next call.
        let mut appended = 1;
        while appended < max {
            let Some(change) = self.batch.pop_front() else { break };
            match self.event(&change) {
                Some(Ok(event)) => {
                    events.push(event);
                    appended += 1;
                }
                // Told at the next call, after the events before it.
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

    /// The next event, as [`Watch::poll_next`] gives it.
    pub async fn next(&mut self) -> Option<Result<Event, WatchError>> {
        std::future::poll_fn(|cx| self.poll_next(cx)).await
    }

    /// The revision up to which everything has been given: what a bookmark may say. It moves on with the cache's
    /// revision while the watch is idle.
    pub fn position(&self) -> Revision {
        if let Some(next) = self.batch.front() {
            return self.position.max(next.revision.previous());
        }
        let position = self.position.max(self.batch_end);
        let Phase::Live(seat) = &self.phase else { return position };
        // Read before the window is looked into: it has everything up to there.
        let fed = self.resource.fed();
        lock(&self.resource.feed).clear_upto(*seat, position, fed)
    }

    /// What a change is to this watch. One that leaves an object unreadable is of no known labels, so that it concerns
    /// every filter.
    fn event(&self, change: &Change) -> Option<Result<Event, WatchError>> {
        if let Some((new, reason)) = change.new.as_ref().and_then(|new| Some((new, new.unreadable()?)))
            && self.interest.touched(change)
        {
            let key = format!("{}{}", self.resource.prefix(), new.key()).into();
            return Some(Err(WatchError::Unreadable { key, reason: reason.into() }));
        }
        change.event(|object| self.matches(object)).map(Ok)
    }

    fn matches(&self, object: &Object) -> bool {
        self.interest.covers(object) && self.filter.as_ref().is_none_or(|filter| filter(object))
    }

    /// Fills the batch.
    fn poll_batch(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<(), WatchError>>> {
        match &mut self.phase {
            Phase::Ended => Poll::Ready(None),
            Phase::Live(seat) => {
                let complete = self.resource.fed();
                let mut feed = lock(&self.resource.feed);
                match feed.poll(*seat, self.position, BATCH, &mut self.batch, cx.waker()) {
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

    /// Moves over to the window where it reaches back far enough by now, else reads on.
    fn poll_history(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<(), WatchError>>> {
        let Phase::CatchingUp(step) = &mut self.phase else { return Poll::Ready(None) };
        if let CatchUp::Idle(_) = **step {
            let fed = self.resource.fed();
            let mut feed = lock(&self.resource.feed);
            if feed.is_closed() {
                return Poll::Ready(None);
            }
            if let Some(seat) = feed.join(&self.interest, self.position) {
                drop(feed);
                self.phase = Phase::Live(seat);
                return Poll::Ready(Some(Ok(())));
            }
            drop(feed);
            if let CatchUp::Idle(history) = std::mem::replace(&mut **step, CatchUp::Taken) {
                **step = CatchUp::Reading(read(history, self.interest.clone(), fed));
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
        if let Phase::Live(seat) = std::mem::replace(&mut self.phase, Phase::Ended) {
            lock(&self.resource.feed).leave(seat);
        }
        self.batch.clear();
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.end();
    }
}

fn read(mut history: Box<History>, interest: Interest, upto: Revision) -> Reading {
    Box::pin(blocking(move || {
        let piece = history.read(&interest, upto)?;
        Ok((history, piece))
    }))
}
