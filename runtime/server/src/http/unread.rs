//! Unread request bodies. Many clients send a whole body before they read the answer, and lose the answer if the
//! connection is closed before. So the rest of a body is read and dropped first, within limits of size, time and
//! number. Beyond them the connection is closed after the answer, with a lingering close.

use std::{
    future::poll_fn,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, ready},
    time::Duration,
};

use axum_core::{body::Body, extract::Request, response::Response};
use bytes::{Buf, Bytes};
use http::{
    HeaderValue, StatusCode, Version,
    header::{CONNECTION, EXPECT},
};
use http_body::{Body as _, Frame, SizeHint};
use tokio::{
    sync::{Semaphore, oneshot},
    time::timeout,
};

/// Limits of reading the rest of a refused body.
#[derive(Clone, Debug)]
pub struct DrainLimits {
    /// The maximum number of bytes.
    pub bytes: u64,
    /// The maximum total time.
    pub time: Duration,
    /// The maximum time without data.
    pub silence: Duration,
    /// The maximum number of bodies at a time.
    pub at_once: usize,
}

impl Default for DrainLimits {
    fn default() -> Self {
        Self { bytes: 8 << 20, time: Duration::from_secs(15), silence: Duration::from_secs(2), at_once: 256 }
    }
}

/// Reads and drops the rest of bodies.
pub(super) struct Drain {
    limits: DrainLimits,
    permits: Semaphore,
}

/// Receives a body that its reader drops.
pub(super) struct UnreadBody {
    rest: oneshot::Receiver<Body>,
    touched: Arc<AtomicBool>,
    waits_to_send: bool,
    version: Version,
}

/// A body that is returned if it is dropped before its end.
struct RecoverableBody {
    body: Option<Body>,
    return_to: Option<oneshot::Sender<Body>>,
    touched: Arc<AtomicBool>,
}

/// Makes the body of a request recoverable. Also returns the receiver of its unread rest, if the request has a body.
pub(super) fn recoverable(request: Request) -> (Request, Option<UnreadBody>) {
    if request.body().is_end_stream() {
        return (request, None);
    }
    let waits_to_send = request.headers().contains_key(EXPECT);
    let version = request.version();
    let (return_to, rest) = oneshot::channel();
    let touched = Arc::new(AtomicBool::new(false));
    let unread = UnreadBody { rest, touched: touched.clone(), waits_to_send, version };
    let request =
        request.map(|body| Body::new(RecoverableBody { body: Some(body), return_to: Some(return_to), touched }));
    (request, Some(unread))
}

impl http_body::Body for RecoverableBody {
    type Data = Bytes;
    type Error = axum_core::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum_core::Error>>> {
        self.touched.store(true, Ordering::Relaxed);
        let Some(body) = &mut self.body else { return Poll::Ready(None) };
        let frame = ready!(Pin::new(body).poll_frame(cx));
        if !matches!(frame, Some(Ok(_))) {
            self.body = None;
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(http_body::Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or_else(SizeHint::default, http_body::Body::size_hint)
    }
}

impl Drop for RecoverableBody {
    fn drop(&mut self) {
        if let (Some(body), Some(return_to)) = (self.body.take(), self.return_to.take())
            && !body.is_end_stream()
        {
            // If the request is gone, the body is not needed.
            let _ = return_to.send(body);
        }
    }
}

impl Drain {
    /// Creates a drain with limits.
    pub(super) fn new(limits: DrainLimits) -> Self {
        let permits = Semaphore::new(limits.at_once);
        Self { limits, permits }
    }

    /// Ensures that an answer arrives, by reading the rest of the request's body first. If that would exceed the
    /// limits, the answer announces that the connection will be closed.
    pub(super) async fn before(&self, mut answer: Response, mut unread: UnreadBody) -> Response {
        let Ok(body) = unread.rest.try_recv() else { return answer };
        // A client that waits for 100 Continue reads the answer at once; one that was too slow has had its time.
        let waits = unread.waits_to_send && !unread.touched.load(Ordering::Relaxed);
        let slow = matches!(answer.status(), StatusCode::REQUEST_TIMEOUT | StatusCode::GATEWAY_TIMEOUT);
        let hopeless = waits || slow;
        if (hopeless || !self.drop_rest(body).await) && unread.version < Version::HTTP_2 {
            answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
        answer
    }

    /// Reads a body to its end; returns whether that succeeded within the limits.
    async fn drop_rest(&self, mut body: Body) -> bool {
        if body.size_hint().lower() > self.limits.bytes {
            return false;
        }
        let Ok(_permit) = self.permits.try_acquire() else { return false };
        let all = async {
            let mut read = 0;
            loop {
                let frame = timeout(self.limits.silence, poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)));
                match frame.await {
                    Ok(Some(Ok(frame))) => {
                        read += frame.data_ref().map_or(0, |data| data.remaining() as u64);
                        if read > self.limits.bytes {
                            return false;
                        }
                    }
                    Ok(Some(Err(_)) | None) => return true,
                    Err(_) => return false,
                }
            }
        };
        timeout(self.limits.time, all).await.unwrap_or(false)
    }
}
