//! Lists as response bodies that are written as the client reads them: the next piece is rendered after the previous
//! one was taken. In between the answer only holds the listed snapshot.

use std::{
    future::Future,
    io,
    pin::Pin,
    task::{Context, Poll, ready},
};

use axum_core::{body::Body, response::Response};
use bytes::Bytes;
use http::{HeaderValue, StatusCode};
use http_body::{Frame, SizeHint};

use super::{
    guard,
    list_encoder::{ListEncoder, ListError, Step},
    offload, response,
    status::StatusError,
};
use crate::codec::Encoding;

/// The pieces of a list.
struct Pieces {
    /// Rendered before the answer starts, so that errors are found in time.
    first: Option<Bytes>,
    /// `None` while a piece is being rendered, and after the last.
    encoder: Option<Box<ListEncoder>>,
    pending: Option<StepFuture>,
}

/// A piece being rendered, with its list.
type StepFuture = Pin<Box<dyn Future<Output = (Box<ListEncoder>, Option<Step>)> + Send>>;

/// Answers with a list. A short one is rendered on the request's thread, in less than a millisecond.
pub(super) async fn respond(encoding: Encoding, encoder: ListEncoder, is_short: bool) -> Result<Response, ListError> {
    let mut encoder = Box::new(encoder);
    let (first, is_whole) = loop {
        let step;
        encoder.prepare().await?;
        (encoder, step) = if is_short { run_step(encoder) } else { offload::answer(move || run_step(encoder)).await };
        match step? {
            Step::Measured => {}
            Step::Piece(piece) => break (piece, false),
            Step::Last(piece) => break (piece, true),
        }
    };
    if is_whole {
        return Ok(response::encoded(StatusCode::OK, encoding, first));
    }
    let body = Pieces { first: Some(first.into()), encoder: Some(encoder), pending: None };
    Ok(response::with(StatusCode::OK, HeaderValue::from_static(encoding.media_type()), Body::new(body)))
}

fn run_step(mut encoder: Box<ListEncoder>) -> (Box<ListEncoder>, Result<Step, ListError>) {
    let step = encoder.step();
    (encoder, step)
}

/// The next piece of an answer that has started; `None` if it must be aborted.
async fn run_late_step(mut encoder: Box<ListEncoder>) -> (Box<ListEncoder>, Option<Step>) {
    let prepared = encoder.prepare().await;
    let (encoder, step) = offload::answer(move || {
        let step = guard::attempt(|| prepared.and_then(|()| encoder.step()));
        (encoder, step)
    })
    .await;
    let step = match step {
        Some(Ok(step)) => Some(step),
        Some(Err(error)) => {
            let StatusError(status) = error.into_status_error(encoder.served());
            tracing::error!(message = status.message, "a list broke off");
            None
        }
        None => None,
    };
    (encoder, step)
}

impl http_body::Body for Pieces {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        if let Some(first) = self.first.take() {
            return Poll::Ready(Some(Ok(Frame::data(first))));
        }
        let this = &mut *self;
        loop {
            let pending = match (&mut this.pending, this.encoder.take()) {
                (Some(pending), _) => pending,
                (None, None) => return Poll::Ready(None),
                (pending, Some(encoder)) => pending.insert(Box::pin(run_late_step(encoder))),
            };
            let (encoder, step) = ready!(pending.as_mut().poll(cx));
            this.pending = None;
            let piece = match step {
                Some(Step::Last(piece)) => return Poll::Ready(Some(Ok(Frame::data(piece.into())))),
                Some(Step::Piece(piece)) => Some(piece),
                Some(Step::Measured) => None,
                // Abort the connection: the client must not take the partial list for a complete one.
                None => return Poll::Ready(Some(Err(io::Error::other("the list cannot be written")))),
            };
            this.encoder = Some(encoder);
            if let Some(piece) = piece {
                return Poll::Ready(Some(Ok(Frame::data(piece.into()))));
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.first.is_none() && self.encoder.is_none() && self.pending.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        let ready = self.first.as_ref().map_or(0, Bytes::len) as u64;
        let left = match &self.encoder {
            Some(encoder) => encoder.left(),
            None => self.pending.is_none().then_some(0),
        };
        if let Some(left) = left {
            return SizeHint::with_exact(ready + left as u64);
        }
        let mut hint = SizeHint::new();
        hint.set_lower(ready);
        hint
    }
}
