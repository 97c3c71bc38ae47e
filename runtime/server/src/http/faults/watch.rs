//! The bodies of watches, which faults may end after a whole event.
use std::{
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll},
};

use axum_core::{BoxError, body::Body};
use bytes::Bytes;
use http_body::Frame;

use super::{
    effect::{self, Effect},
    request::FaultyRequest,
    rule::Rule,
    rules::Faults,
};

/// The numbers of watches.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// The body of a watch. Events in JSON are lines, which are counted; of other encodings, pieces are.
pub(super) struct FaultyWatch {
    body: Body,
    faults: Faults,
    request: FaultyRequest,
    number: u64,
    /// The events that were sent.
    events: u64,
    /// The rules that the watch has seen, and the number of events when it first saw each.
    seen_at: Vec<(Arc<Rule>, u64)>,
    /// What is not sent yet.
    rest: Bytes,
    is_json: bool,
    /// True between two events.
    is_whole: bool,
    ended: bool,
}

impl FaultyWatch {
    pub(super) fn new(body: Body, is_json: bool, faults: Faults, request: FaultyRequest) -> Self {
        Self {
            body,
            faults,
            request,
            number: NEXT.fetch_add(1, Ordering::Relaxed),
            events: 0,
            seen_at: Vec::new(),
            rest: Bytes::new(),
            is_json,
            is_whole: true,
            ended: false,
        }
    }

    /// The rule that the watch meets now, or else the number of events until it meets one.
    fn look(&mut self) -> Result<Arc<Rule>, u64> {
        let mut left = u64::MAX;
        for rule in self.faults.of_watch(&self.request) {
            let seen_at = self.seen_at.iter().find(|(seen, _)| Arc::ptr_eq(seen, &rule)).map(|(_, at)| *at);
            let seen_at = seen_at.unwrap_or_else(|| {
                self.seen_at.push((rule.clone(), self.events));
                self.events
            });
            let until = (seen_at.saturating_add(rule.after_events)).saturating_sub(self.events);
            if until == 0 && self.is_whole && rule.take() {
                return Ok(rule);
            }
            left = left.min(until.max(1));
        }
        Err(left)
    }

    /// The next piece of at most this many events.
    fn piece(&mut self, events: u64) -> Bytes {
        if !self.is_json {
            self.events += 1;
            return std::mem::take(&mut self.rest);
        }
        let (mut count, mut end) = (0, self.rest.len());
        for (at, _) in self.rest.iter().enumerate().filter(|(_, byte)| **byte == b'\n') {
            count += 1;
            if count == events {
                end = at + 1;
                break;
            }
        }
        let piece = self.rest.split_to(end);
        self.events += count;
        self.is_whole = piece.last() == Some(&b'\n');
        piece
    }
}

type Item = Option<Result<Frame<Bytes>, BoxError>>;

impl http_body::Body for FaultyWatch {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Item> {
        let this = &mut *self;
        // First, so that a rule that is added meanwhile wakes it.
        this.faults.wake_on_change(this.number, cx.waker());
        loop {
            if this.ended {
                return Poll::Ready(None);
            }
            let left = match this.look() {
                Ok(rule) => {
                    this.ended = true;
                    return Poll::Ready(match rule.effect {
                        Effect::ExpireWatch if this.is_json => {
                            Some(Ok(Frame::data(effect::expired_frame(&this.request))))
                        }
                        Effect::ExpireWatch => None,
                        _ => Some(Err(effect::broken().into())),
                    });
                }
                Err(left) => left,
            };
            if !this.rest.is_empty() {
                return Poll::Ready(Some(Ok(Frame::data(this.piece(left)))));
            }
            match std::task::ready!(Pin::new(&mut this.body).poll_frame(cx)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => {
                        this.rest = data;
                    }
                    Err(other) => return Poll::Ready(Some(Ok(other))),
                },
                Some(Err(error)) => return Poll::Ready(Some(Err(io::Error::other(error).into()))),
                None => this.ended = true,
            }
        }
    }
}

impl Drop for FaultyWatch {
    fn drop(&mut self) {
        self.faults.forget(self.number);
    }
}
