//! Flow control of answers. Data of a body is counted until the peer has taken it; until then the body is not polled.
//! So a reader that does not read causes only a few buffered pieces, and readers that have been stuck for too long are
//! known. HTTP/1 connections are tracked by their sockets, HTTP/2 streams here, because a peer may read the connection
//! and still give a stream no window.

use std::{
    future::poll_fn,
    pin::Pin,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    task::{Context, Poll, Waker, ready},
};

use axum_core::{body::Body, response::Response};
use bytes::{Buf, Bytes};
use http_body::{Frame, SizeHint};
use hyper::rt::Executor;
use tokio::time::{Instant, Sleep, sleep_until};

use super::peers::{Busy, Peer};
use crate::http::EndsAt;

/// The buffered bytes above which a body is not polled. With less, the events of a busy time would be sent a few at a time, each time
/// after a wake-up.
const WAITING: usize = 64 << 10;

tokio::task_local! {
    /// The HTTP/2 stream of the current task.
    static STREAM: Arc<Flow>;
}

/// The data that one reader has not taken yet.
pub(super) struct Flow {
    peer: Arc<Peer>,
    is_stream: bool,
    waiting: AtomicUsize,
    /// True while `progress` has a waker, so that data is taken without a lock otherwise.
    has_waker: AtomicBool,
    progress: Mutex<Progress>,
}

struct Progress {
    /// When the reader last took data, or got new data after it had taken all.
    last: Instant,
    /// The deadline of the answer.
    ends: Option<Instant>,
    /// The waker for when less than this is buffered.
    waker: Option<(usize, Waker)>,
}

impl Flow {
    fn new(peer: &Arc<Peer>, is_stream: bool) -> Arc<Self> {
        let progress = Progress { last: Instant::now(), ends: None, waker: None };
        Arc::new(Self {
            peer: peer.clone(),
            is_stream,
            waiting: AtomicUsize::new(0),
            has_waker: AtomicBool::new(false),
            progress: Mutex::new(progress),
        })
    }

    /// The flow of a connection whose answers are sequential.
    pub(super) fn of_connection(peer: &Arc<Peer>) -> Arc<Self> {
        Self::new(peer, false)
    }

    /// The flow of the current task's stream.
    pub(super) fn of_stream() -> Arc<Self> {
        STREAM.with(Arc::clone)
    }

    fn progress(&self) -> std::sync::MutexGuard<'_, Progress> {
        // Plain data, consistent after any panic.
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn give(&self, bytes: usize) {
        self.peer.gave(bytes);
        if self.waiting.fetch_add(bytes, Ordering::AcqRel) == 0 && self.is_stream {
            self.progress().last = Instant::now();
        }
    }

    fn take(&self, bytes: usize) {
        if bytes == 0 {
            return;
        }
        self.peer.sent(bytes);
        // In one order with the registration of a waker: either it is seen here, or what is taken here is seen there.
        let left = self.waiting.fetch_sub(bytes, Ordering::SeqCst) - bytes;
        if !self.is_stream && !self.has_waker.load(Ordering::SeqCst) {
            return;
        }
        let mut progress = self.progress();
        if self.is_stream {
            progress.last = Instant::now();
            self.peer.took();
        }
        let waker = progress.waker.take_if(|(bytes, _)| left < *bytes);
        self.has_waker.store(progress.waker.is_some(), Ordering::SeqCst);
        drop(progress);
        if let Some((_, waker)) = waker {
            waker.wake();
        }
    }

    /// Ready if less than this is buffered.
    fn poll_below(&self, cx: &mut Context<'_>, bytes: usize) -> Poll<()> {
        if self.waiting.load(Ordering::Acquire) < bytes {
            return Poll::Ready(());
        }
        let mut progress = self.progress();
        progress.waker = Some((bytes, cx.waker().clone()));
        self.has_waker.store(true, Ordering::SeqCst);
        // Data may have been taken before the waker was registered.
        if self.waiting.load(Ordering::SeqCst) < bytes { Poll::Ready(()) } else { Poll::Pending }
    }

    /// Ready if the reader has been stuck for too long.
    fn poll_given_up(&self, cx: &mut Context<'_>, alarm: &mut Option<Pin<Box<Sleep>>>) -> Poll<()> {
        while self.waiting.load(Ordering::Acquire) > 0 {
            let limits = self.peer.limits();
            let progress = self.progress();
            let patience = progress.last + limits.stall;
            let at = progress.ends.map_or(patience, |ends| patience.min(ends + limits.overtime));
            drop(progress);
            // If the alarm is early, it finds a later time here.
            let alarm = alarm.get_or_insert_with(|| Box::pin(sleep_until(at)));
            ready!(alarm.as_mut().poll(cx));
            if at <= Instant::now() {
                return Poll::Ready(());
            }
            alarm.as_mut().reset(at);
        }
        Poll::Pending
    }
}

/// The answer, at the speed of its reader.
pub(super) fn pace(answer: Response, mut busy: Busy, flow: Arc<Flow>) -> hyper::Response<PacedBody> {
    busy.answer();
    let ends = answer.extensions().get::<EndsAt>().map(|EndsAt(at)| *at);
    if flow.is_stream {
        flow.progress().ends = ends;
    } else {
        flow.peer.set_end(ends);
    }
    answer.map(|body| PacedBody { body, flow, _busy: busy })
}

/// A body that waits for its reader.
pub(super) struct PacedBody {
    body: Body,
    flow: Arc<Flow>,
    _busy: Busy,
}

impl http_body::Body for PacedBody {
    type Data = Piece;
    type Error = axum_core::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Piece>, axum_core::Error>>> {
        ready!(self.flow.poll_below(cx, WAITING));
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        let piece = |bytes: Bytes| {
            self.flow.give(bytes.len());
            Piece { bytes, flow: self.flow.clone() }
        };
        Poll::Ready(frame.map(|frame| frame.map(|frame| frame.map_data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for PacedBody {
    fn drop(&mut self) {
        if !self.flow.is_stream {
            self.flow.peer.set_end(None);
        }
    }
}

/// Bytes for a reader, which takes them with `advance`.
pub(super) struct Piece {
    bytes: Bytes,
    flow: Arc<Flow>,
}

impl Buf for Piece {
    fn remaining(&self) -> usize {
        self.bytes.len()
    }

    fn chunk(&self) -> &[u8] {
        &self.bytes
    }

    fn advance(&mut self, count: usize) {
        self.bytes.advance(count);
        self.flow.take(count);
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        self.flow.take(self.bytes.len());
    }
}

/// Runs the streams of an HTTP/2 connection, each in a task. A stream whose reader is stuck is reset. The rest of an
/// answer cannot be reset: if only that is left, the connection is closed.
#[derive(Clone)]
pub(super) struct Streams(Arc<Peer>);

impl Streams {
    /// Creates the executor of a connection.
    pub(super) fn new(peer: &Arc<Peer>) -> Self {
        Self(peer.clone())
    }
}

impl<F: Future<Output = ()> + Send + 'static> Executor<F> for Streams {
    fn execute(&self, stream: F) {
        let flow = Flow::new(&self.0, true);
        // Boxed here, so that a stream whose rest waits to be taken is small.
        let watched = watch_over(Box::pin(stream), flow.clone());
        tokio::spawn(STREAM.scope(flow, watched));
    }
}

async fn watch_over(mut stream: Pin<Box<impl Future<Output = ()>>>, flow: Arc<Flow>) {
    let mut alarm = None;
    let ended = poll_fn(|cx| {
        if stream.as_mut().poll(cx).is_ready() {
            return Poll::Ready(true);
        }
        flow.poll_given_up(cx, &mut alarm).map(|()| false)
    });
    let ended = ended.await;
    // Dropping resets a stream that has not ended; one that has ended keeps nothing.
    drop(stream);
    if !ended {
        tracing::debug!("a stream was reset, because its reader read nothing for too long");
        return;
    }
    let taken = poll_fn(|cx| match flow.poll_below(cx, 1) {
        Poll::Ready(()) => Poll::Ready(true),
        Poll::Pending => flow.poll_given_up(cx, &mut alarm).map(|()| false),
    });
    if !taken.await {
        flow.peer.send_away();
    }
}
