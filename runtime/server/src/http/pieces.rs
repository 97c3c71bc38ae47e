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
    listing::{Listing, Step, Unlisted},
    offload, response,
    status::Refused,
};
use crate::codec::Encoding;

/// The pieces of a list.
struct Pieces {
    /// Rendered before the answer starts, so that errors are found in time.
    first: Option<Bytes>,
    /// `None` while a piece is being rendered, and after the last.
    listing: Option<Box<Listing>>,
    making: Option<Making>,
}

/// A piece being rendered, with its list.
type Making = Pin<Box<dyn Future<Output = (Box<Listing>, Option<Step>)> + Send>>;

/// Answers with a list. A short one is rendered on the request's thread, in less than a millisecond.
pub(super) async fn respond(encoding: Encoding, listing: Listing, is_short: bool) -> Result<Response, Unlisted> {
    let mut listing = Box::new(listing);
    let (first, is_whole) = loop {
        let step;
        listing.prepare().await?;
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
    let body = Pieces { first: Some(first.into()), listing: Some(listing), making: None };
    Ok(response::with(StatusCode::OK, HeaderValue::from_static(encoding.media_type()), Body::new(body)))
}

fn made(mut listing: Box<Listing>) -> (Box<Listing>, Result<Step, Unlisted>) {
    let step = listing.step();
    (listing, step)
}

/// The next piece of an answer that has started; `None` if it must be aborted.
async fn made_late(mut listing: Box<Listing>) -> (Box<Listing>, Option<Step>) {
    let prepared = listing.prepare().await;
    let (listing, step) = offload::answer(move || {
        let step = guard::attempt(|| prepared.and_then(|()| listing.step()));
        (listing, step)
    })
    .await;
    let step = match step {
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
        let this = &mut *self;
        loop {
            let making = match (&mut this.making, this.listing.take()) {
                (Some(making), _) => making,
                (None, None) => return Poll::Ready(None),
                (making, Some(listing)) => making.insert(Box::pin(made_late(listing))),
            };
            let (listing, step) = ready!(making.as_mut().poll(cx));
            this.making = None;
            let piece = match step {
                Some(Step::Last(piece)) => return Poll::Ready(Some(Ok(Frame::data(piece.into())))),
                Some(Step::Piece(piece)) => Some(piece),
                Some(Step::Measured) => None,
                // Abort the connection: the client must not take the partial list for a complete one.
                None => return Poll::Ready(Some(Err(io::Error::other("the list cannot be written")))),
            };
            this.listing = Some(listing);
            if let Some(piece) = piece {
                return Poll::Ready(Some(Ok(Frame::data(piece.into()))));
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.first.is_none() && self.listing.is_none() && self.making.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        let ready = self.first.as_ref().map_or(0, Bytes::len) as u64;
        let left = match &self.listing {
            Some(listing) => listing.left(),
            None => self.making.is_none().then_some(0),
        };
        if let Some(left) = left {
            return SizeHint::with_exact(ready + left as u64);
        }
        let mut hint = SizeHint::new();
        hint.set_lower(ready);
        hint
    }
}
