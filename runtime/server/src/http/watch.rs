//! Watches as response bodies, polled by the connection itself, without a task or a channel per watcher. Frames are
//! complete: a stream ends between two events, never inside one.

use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll, Waker, ready},
    time::Duration,
};

use axum_core::response::Response;
use bytes::Bytes;
use http::{HeaderValue, StatusCode};
use http_body::{Body, Frame};
use tokio::{
    task::unconstrained,
    time::{Instant, Sleep},
};

use super::{
    call::Call,
    deadline::EndsAt,
    frames::{EventFrame, Render, error_frame},
    response, status,
    websocket::{self, Handshake, Message},
};
use crate::{
    cache::{Event, EventType, Object, WatchError},
    codec::Encoding,
    meta::{Revision, status::Status},
    verbs::{Error, ItemPosition, Items, Watch, WatchResult},
};

/// The interval between bookmarks.
const BOOKMARK_INTERVAL: Duration = Duration::from_mins(1);
/// The maximum duration of a watch; longer timeouts are reduced to it.
const MAX_SECONDS: u64 = 7 * 24 * 3600;
/// The maximum number of events taken from the cache at a time.
const BATCH: usize = 128;
/// The size of the length before a Protobuf frame.
const FRAME_LENGTH: usize = 4;
/// The size of the buffer into which small events are copied before they are sent. A watcher that does not read holds a few
/// of these.
const CHUNK: usize = 16 << 10;

/// Answers with a watch. Events are merged into larger writes unless they are requested one by one.
pub(super) fn respond(
    call: &Call<'_>,
    watching: WatchResult,
    timeout_seconds: Option<i64>,
    one_by_one: bool,
) -> Response {
    let timeout = match timeout_seconds {
        Some(seconds) if seconds != 0 => Duration::from_secs(u64::try_from(seconds).unwrap_or(0).min(MAX_SECONDS)),
        _ => spread(call.backend().limits.get().min_watch_seconds),
    };
    let now = Instant::now();
    let deadline = now + timeout;
    let next_bookmark = watching.bookmarks.then_some(now + BOOKMARK_INTERVAL);
    let render = Render::new(call);
    let body = WatchBody {
        shares_frames: !one_by_one && render.is_plain(),
        render,
        initial: (!watching.initial.is_empty()).then(|| Box::new((watching.initial, ItemPosition::default()))),
        initial_bookmark: watching.initial_bookmark,
        watch: watching.watch,
        events: Vec::new(),
        sent: 0,
        preparation: None,
        rest: None,
        one_by_one,
        deadline,
        next_bookmark,
        alarm: Box::pin(tokio::time::sleep_until(next_bookmark.map_or(deadline, |at| at.min(deadline)))),
        alarm_wakes: None,
        ended: false,
    };
    let mut answer = response::stream(media_type(call.format.encoding), body);
    answer.extensions_mut().insert(EndsAt(deadline));
    answer
}

fn media_type(encoding: Encoding) -> &'static str {
    encoding.stream_media_type().expect("what cannot be streamed was refused")
}

/// Sends a watch's answer, whose events come one by one, over a WebSocket. Each event is a message: text for text
/// encodings, and without the length prefix of plain streams.
pub(super) fn over_socket(call: &Call<'_>, handshake: Handshake, answer: Response) -> Response {
    let encoding = call.format.encoding;
    let message = move |mut frame: Bytes| match encoding {
        Encoding::Json | Encoding::Yaml => Message::text(frame),
        Encoding::Protobuf => Message::binary(frame.split_off(FRAME_LENGTH.min(frame.len()))),
        Encoding::Cbor => Message::binary(frame),
    };
    let ends = answer.extensions().get::<EndsAt>().copied();
    handshake
        .accept(&call.backend().handlers, move |socket| websocket::carry(socket, answer.into_body(), ends, message))
}

/// Answers with a stream that contains only an error.
pub(super) fn refuse(error: Error, encoding: Encoding) -> Response {
    let mut frame = Vec::new();
    error_frame(&mut frame, &Status::from(error), encoding);
    response::with(StatusCode::OK, HeaderValue::from_static(media_type(encoding)), frame.into())
}

/// A random time between one and two times `seconds`, so that the watches of a restarted server do not all end at once.
fn spread(seconds: u64) -> Duration {
    let mut random = [0; 4];
    getrandom::fill(&mut random).unwrap_or_default();
    Duration::from_millis(seconds * 1000 + u64::from(u32::from_le_bytes(random)) % (seconds * 1000).max(1))
}

/// A watch as a response body.
struct WatchBody {
    render: Render,
    /// The initial objects and the number of sent ones, until all were sent. Boxed, because most watches have none most
    /// of the time.
    initial: Option<Box<(Items, ItemPosition)>>,
    initial_bookmark: Option<Revision>,
    watch: Watch,
    events: Vec<Event>,
    /// How many of the events were sent.
    sent: usize,
    /// The preparation of the next event, if that takes long.
    preparation: Option<Preparation>,
    /// The rest of an event whose opening was sent separately.
    rest: Option<Bytes>,
    /// Events are not merged: each is a separate message.
    one_by_one: bool,
    /// Changes are sent in frames that all watchers share.
    shares_frames: bool,
    deadline: Instant,
    next_bookmark: Option<Instant>,
    /// Fires at the deadline or at the next bookmark, whichever comes first.
    alarm: Pin<Box<Sleep>>,
    /// The waker registered with the alarm.
    alarm_wakes: Option<Waker>,
    ended: bool,
}

/// The writing of an event off the threads that serve connections.
type Preparation = Pin<Box<dyn Future<Output = EventFrame> + Send>>;

impl WatchBody {
    /// The next bytes of the initial events, including their closing bookmark. `None` after them.
    fn initial(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if let Some(rest) = self.rest.take() {
            return Poll::Ready(Some(rest));
        }
        if let Some(frame) = ready!(self.long_initial(cx)) {
            return Poll::Ready(Some(frame));
        }
        let mut out = Vec::new();
        let chunk = if self.one_by_one { 1 } else { CHUNK };
        let mut all_sent = false;
        if let Some((items, place)) = self.initial.as_deref_mut() {
            let mut walk = items.iter_from(*place);
            loop {
                *place = walk.position();
                let Some(object) = walk.next() else {
                    all_sent = true;
                    break;
                };
                if !has_room(&out, chunk, object) {
                    break;
                }
                let event = Event { event_type: EventType::Added, object: object.clone() };
                let shares = self.render.is_worth_sharing(&event);
                if shares && !out.is_empty() {
                    break;
                }
                *place = walk.position();
                let Some(event) = self.render.shown(&event, items.json_bytes(), &mut out) else { break };
                if shares && let Some((frame, rest)) = self.render.uncopied(&event, self.one_by_one) {
                    self.rest = rest;
                    return Poll::Ready(Some(frame));
                }
                if out.capacity() == 0 {
                    out.reserve_exact(chunk);
                }
                self.render.event(&mut out, &event);
            }
        }
        if all_sent {
            // The snapshot is no longer needed.
            self.initial = None;
        }
        if self.initial.is_none()
            && !self.render.is_broken()
            && (out.is_empty() || !self.one_by_one)
            && let Some(revision) = self.initial_bookmark.take()
        {
            self.render.bookmark(&mut out, revision, true);
        }
        Poll::Ready((!out.is_empty()).then(|| out.into()))
    }

    /// The next initial event if it takes long to write. It does not fit behind others.
    fn long_initial(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let Some((items, place)) = self.initial.as_deref().filter(|_| !self.render.is_as_stored()) else {
            return Poll::Ready(None);
        };
        let mut walk = items.iter_from(*place);
        let next = walk.next().filter(|object| self.render.takes_long(object));
        let Some(object) = next.cloned() else { return Poll::Ready(None) };
        let (after, among_bytes) = (walk.position(), items.json_bytes());
        let frame = ready!(self.prepared(cx, &Event { event_type: EventType::Added, object }, among_bytes));
        if let Some((_, place)) = self.initial.as_deref_mut() {
            *place = after;
        }
        Poll::Ready(Some(frame))
    }

    /// The output that the time requires: a bookmark, the end, or nothing yet. Events at hand are sent before the end: they may
    /// have the revision of one that was sent, after which the client resumes.
    fn on_time(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let now = Instant::now();
        // The alarm already has this task's waker: polling it again for every event would cost more than reading the
        // clock.
        if now < self.alarm.deadline() && self.alarm_wakes.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
            return Poll::Pending;
        }
        self.alarm_wakes = Some(cx.waker().clone());
        // Unconstrained, because a task without budget would yield before the alarm has registered its waker.
        ready!(Pin::new(&mut unconstrained(self.alarm.as_mut())).poll(cx));
        self.alarm_wakes = None;
        if now >= self.deadline {
            if self.has_events() {
                return Poll::Pending;
            }
            self.ended = true;
        }
        let mut out = Vec::new();
        if self.next_bookmark.is_some() {
            // A bookmark must not come before events that are still to be sent.
            if !self.has_events() {
                self.render.bookmark(&mut out, self.watch.position(), false);
            }
            let next = now + BOOKMARK_INTERVAL;
            self.next_bookmark = Some(next);
            self.alarm.as_mut().reset(next.min(self.deadline));
        }
        Poll::Ready((!out.is_empty()).then(|| out.into()))
    }

    /// The events that are ready, as one piece.
    fn live(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if !self.has_events() {
            self.events.clear();
            self.sent = 0;
            let polled = if self.shares_frames {
                ready!(self.watch.poll_frames(cx, BATCH, &mut self.events))
            } else {
                let batch = if self.one_by_one { 1 } else { BATCH };
                ready!(self.watch.poll_events(cx, batch, &mut self.events)).map(|polled| polled.map(|()| None))
            };
            let failed = match polled {
                Some(Ok(Some(frames))) => {
                    self.render.count_all(frames.sizes());
                    return Poll::Ready(Some(frames.bytes()));
                }
                Some(Ok(None)) => None,
                Some(Err(error)) => Some(failure(error, self.render.encoding())),
                None => Some(None),
            };
            if let Some(last) = failed {
                self.ended = true;
                return Poll::Ready(last);
            }
        }
        if let Some(event) = self.events.get(self.sent).filter(|event| self.render.takes_long(&event.object)).cloned() {
            let frame = ready!(self.prepared(cx, &event, 0));
            self.sent += 1;
            return Poll::Ready(Some(frame));
        }
        Poll::Ready(Some(self.frames()))
    }

    /// The frame of the next event, which takes long to write. The same event must be given until it is ready.
    fn prepared(&mut self, cx: &mut Context<'_>, event: &Event, among_bytes: usize) -> Poll<Bytes> {
        let (render, whole) = (&self.render, self.one_by_one);
        let preparation =
            self.preparation.get_or_insert_with(|| Box::pin(render.prepare(event.clone(), among_bytes, whole)));
        let EventFrame { render, frame, rest } = ready!(preparation.as_mut().poll(cx));
        (self.preparation, self.render, self.rest) = (None, render, rest);
        Poll::Ready(frame)
    }

    /// True if events that were taken from the cache are still to be sent.
    fn has_events(&self) -> bool {
        self.sent < self.events.len()
    }

    /// The frames of the next events, in one piece: several small ones, or one that all watchers share.
    fn frames(&mut self) -> Bytes {
        let mut out = Vec::new();
        let chunk = if self.one_by_one { 1 } else { CHUNK };
        while let Some(event) = self.events.get(self.sent).filter(|event| has_room(&out, chunk, &event.object)) {
            let is_alone = out.is_empty() && self.sent + 1 == self.events.len();
            let shares = is_alone || self.render.is_worth_sharing(event);
            if shares && !out.is_empty() {
                break;
            }
            let Some(event) = self.render.shown(event, 0, &mut out) else { break };
            self.sent += 1;
            if shares && let Some((frame, rest)) = self.render.uncopied(&event, self.one_by_one) {
                self.rest = rest;
                return frame;
            }
            if out.is_empty() {
                out.reserve_exact(chunk);
            }
            self.render.event(&mut out, &event);
        }
        out.into()
    }
}

/// True if an event of the object still fits, or is the first.
fn has_room(out: &[u8], most: usize, object: &Object) -> bool {
    out.is_empty() || out.len() + object.json_bytes().len() < most
}

fn failure(error: WatchError, encoding: Encoding) -> Option<Bytes> {
    let status = status::of_watch(error)?;
    let mut out = Vec::new();
    error_frame(&mut out, &status, encoding);
    Some(out.into())
}

impl Body for WatchBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let this = &mut *self;
        if this.render.is_broken() {
            return Poll::Ready(None);
        }
        if let Some(bytes) = ready!(this.initial(cx)) {
            return Poll::Ready(Some(Ok(Frame::data(bytes))));
        }
        while !this.ended {
            // The time is checked first, so that a busy watch ends in time, too.
            let bytes = match this.on_time(cx) {
                Poll::Ready(bytes) => bytes,
                Poll::Pending => ready!(this.live(cx)),
            };
            if let Some(bytes) = bytes {
                return Poll::Ready(Some(Ok(Frame::data(bytes))));
            }
        }
        Poll::Ready(None)
    }
}
