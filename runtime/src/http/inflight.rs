//! How many requests are served at a time: short ones that read, short ones that write, and long-running ones (watches,
//! connections, texts that go on), each with a limit of its own. Health is never refused.
//! Guarantees that a request past its limit is refused at once, and that a slot is held until its answer has been sent or
//! dropped.

use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll, ready},
};

use axum::{body::Body, http::Method, response::Response};
use bytes::Bytes;
use http_body::{Body as _, Frame, SizeHint};

use super::{App, Limits, asked::Asked, methods, path::Target, status, status::Refused};

/// The requests that are served.
pub struct InFlight {
    reading: Arc<Class>,
    writing: Arc<Class>,
    long_running: Arc<Class>,
}

/// The requests of one class.
struct Class {
    served: AtomicUsize,
    most: usize,
}

/// One request's share of its class, given back when the last clone is dropped.
#[derive(Clone)]
pub struct Slot {
    _share: Arc<Share>,
}

struct Share(Arc<Class>);

impl Drop for Share {
    fn drop(&mut self) {
        self.0.served.fetch_sub(1, Ordering::AcqRel);
    }
}

impl InFlight {
    /// With the limits' numbers.
    pub fn new(limits: &Limits) -> Self {
        let class = |most| Arc::new(Class { served: AtomicUsize::new(0), most });
        Self {
            reading: class(limits.reads_in_flight),
            writing: class(limits.writes_in_flight),
            long_running: class(limits.long_running),
        }
    }

    /// A slot for a request; none where it needs none.
    ///
    /// # Errors
    /// 429.
    pub fn enter(&self, app: &App, asked: &Asked) -> Result<Option<Slot>, Refused> {
        let class = match asked.target {
            Target::Resource(_) if methods::is_long_running(app, asked) => &self.long_running,
            Target::Other if super::health::is_health(&asked.path) => return Ok(None),
            _ if matches!(asked.method, Method::GET | Method::HEAD) => &self.reading,
            _ => &self.writing,
        };
        let enter = |served| (served < class.most).then_some(served + 1);
        match class.served.fetch_update(Ordering::AcqRel, Ordering::Relaxed, enter) {
            Ok(_) => Ok(Some(Slot { _share: Arc::new(Share(class.clone())) })),
            Err(_) => Err(status::too_many_requests().into()),
        }
    }
}

/// The answer, which keeps the slot until it has been sent.
pub fn hold(answer: Response, slot: Option<Slot>) -> Response {
    match slot {
        Some(slot) if !answer.body().is_end_stream() => answer.map(|body| Body::new(Held { body, slot: Some(slot) })),
        _ => answer,
    }
}

/// A body with the slot of its request.
struct Held {
    body: Body,
    slot: Option<Slot>,
}

impl http_body::Body for Held {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        if !matches!(frame, Some(Ok(_))) {
            self.slot = None;
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
