//! Lists as response bodies that are written as the client reads them: the next piece is rendered after the previous
//! one was taken. In between the answer only holds the listed snapshot.

use std::{
    future::Future,
    io,
    pin::Pin,
    task::{Context, Poll},
};

use axum::{
    body::Body,
    http::{HeaderValue, StatusCode},
    response::Response,
};
use bytes::Bytes;
use http_body::{Frame, SizeHint};

use super::{
    guard,
    listing::{Listing, Step, Unlisted},
    offload, response,
    status::Refused,
};
use crate::codec::Encoding;

/// The pieces of a list.
struct Pieces {
    /// Rendered before the answer starts, so that errors are found in time.
    first: Option<Bytes>,
    next: Next,
}

/// A piece being rendered, with its list.
type Making = Pin<Box<dyn Future<Output = (Box<Listing>, Option<Step>)> + Send>>;

enum Next {
    /// No piece is requested.
    Idle(Box<Listing>),
    Making(Making),
    End,
}

/// Answers with a list. A short one is rendered on the request's thread, in less than a millisecond.
///
/// # Errors
/// [`Unlisted`].
pub(super) async fn respond(encoding: Encoding, listing: Listing, is_short: bool) -> Result<Response, Unlisted> {
    let mut listing = Box::new(listing);
    let (first, is_whole) = loop {
        let step;
        (listing, step) = if is_short { made(listing) } else { offload::answer(move || made(listing)).await };
        match step? {
            Step::Measured => {}
            Step::Piece(piece) => break (piece, false),
            Step::Last(piece) => break (piece, true),
        }
    };
    if is_whole {
        return Ok(response::encoded(StatusCode::OK, encoding, first));
    }
    let body = Pieces { first: Some(first.into()), next: Next::Idle(listing) };
    Ok(response::with(StatusCode::OK, HeaderValue::from_static(encoding.media_type()), Body::new(body)))
}

fn made(mut listing: Box<Listing>) -> (Box<Listing>, Result<Step, Unlisted>) {
    let step = listing.step();
    (listing, step)
}

/// The next piece of an answer that has started; `None` if it must be aborted.
fn made_late(mut listing: Box<Listing>) -> (Box<Listing>, Option<Step>) {
    let step = match guard::attempt(|| listing.step()) {
        Some(Ok(step)) => Some(step),
        Some(Err(unlisted)) => {
            let Refused(status) = unlisted.refusal(listing.served());
            tracing::error!(message = status.message, "a list broke off");
            None
        }
        None => None,
    };
    (listing, step)
}

impl http_body::Body for Pieces {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        if let Some(first) = self.first.take() {
            return Poll::Ready(Some(Ok(Frame::data(first))));
        }
        loop {
            match std::mem::replace(&mut self.next, Next::End) {
                Next::End => return Poll::Ready(None),
                Next::Idle(listing) => {
                    self.next = Next::Making(Box::pin(offload::answer(move || made_late(listing))));
                }
                Next::Making(mut making) => {
                    let Poll::Ready((listing, step)) = making.as_mut().poll(cx) else {
                        self.next = Next::Making(making);
                        return Poll::Pending;
                    };
                    let piece = match step {
                        Some(Step::Last(piece)) => piece,
                        Some(Step::Piece(piece)) => {
                            self.next = Next::Idle(listing);
                            piece
                        }
                        Some(Step::Measured) => {
                            self.next = Next::Idle(listing);
                            continue;
                        }
                        // Abort the connection: the client must not take the partial list for a complete one.
                        None => return Poll::Ready(Some(Err(io::Error::other("the list cannot be written")))),
                    };
                    return Poll::Ready(Some(Ok(Frame::data(piece.into()))));
                }
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.first.is_none() && matches!(self.next, Next::End)
    }

    fn size_hint(&self) -> SizeHint {
        let ready = self.first.as_ref().map_or(0, Bytes::len) as u64;
        match &self.next {
            Next::Idle(listing) => match listing.left() {
                Some(left) => SizeHint::with_exact(ready + left as u64),
                None => lower(ready),
            },
            Next::Making(_) => lower(ready),
            Next::End => SizeHint::with_exact(ready),
        }
    }
}

fn lower(bytes: u64) -> SizeHint {
    let mut hint = SizeHint::new();
    hint.set_lower(bytes);
    hint
}
