//! Long answers, compressed for clients that ask for it. Streams of events never are: what a client waits for would sit in
//! the compressor. Answers that clients know again by an ETag are not either.
//!
//! A body is compressed while it is sent, a piece at a time, so that neither memory nor the thread is held for all of it.

use std::{
    io::Write,
    pin::Pin,
    task::{Context, Poll, ready},
};

use axum::{
    body::Body,
    http::{
        HeaderMap, HeaderValue,
        header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, ETAG, VARY},
    },
    response::Response,
};
use bytes::Bytes;
use flate2::{Compression, write::GzEncoder};
use http_body::{Body as _, Frame};

/// Answers up to this size are sent as they are, as in the reference.
const THRESHOLD: u64 = 128 << 10;

/// Bytes compressed at a time, before others get their turn.
const PIECE: usize = 128 << 10;

/// Whether the client asks for compressed answers.
pub fn is_wanted(headers: &HeaderMap) -> bool {
    let Some(given) = headers.get(ACCEPT_ENCODING).and_then(|value| value.to_str().ok()) else { return false };
    given.split(',').any(|token| token.trim() == "gzip")
}

/// The same answer, compressed where it is long and its length is known.
pub fn gzip(answer: Response) -> Response {
    let is_long = answer.body().size_hint().exact().is_some_and(|size| size > THRESHOLD);
    if !is_long || answer.headers().contains_key(ETAG) || answer.headers().contains_key(CONTENT_ENCODING) {
        return answer;
    }
    let (mut parts, body) = answer.into_parts();
    parts.headers.remove(CONTENT_LENGTH);
    parts.headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    parts.headers.append(VARY, HeaderValue::from_static("Accept-Encoding"));
    // The fastest level, as in the reference: it halves most documents of this size at a tenth of the work of the best.
    let encoder = Some(GzEncoder::new(Vec::new(), Compression::new(1)));
    Response::from_parts(parts, Body::new(Gzip { plain: body, pending: Bytes::new(), encoder }))
}

/// A body that is compressed while it is read.
struct Gzip {
    plain: Body,
    /// Read, and not compressed yet.
    pending: Bytes,
    /// `None` after the last byte.
    encoder: Option<GzEncoder<Vec<u8>>>,
}

impl Gzip {
    /// Compresses a piece; gives what is ready to be sent.
    fn step(&mut self) -> Bytes {
        let piece = self.pending.split_to(self.pending.len().min(PIECE));
        let Some(encoder) = &mut self.encoder else { return Bytes::new() };
        encoder.write_all(&piece).expect("writing to memory does not fail");
        std::mem::take(encoder.get_mut()).into()
    }
}

impl http_body::Body for Gzip {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = &mut *self;
        if this.encoder.is_none() {
            return Poll::Ready(None);
        }
        if this.pending.is_empty() {
            match ready!(Pin::new(&mut this.plain).poll_frame(cx)) {
                Some(Ok(frame)) => this.pending = frame.into_data().unwrap_or_default(),
                Some(Err(error)) => {
                    this.encoder = None;
                    return Poll::Ready(Some(Err(error)));
                }
                None => {
                    let rest = this.encoder.take().map(GzEncoder::finish).transpose();
                    let rest = rest.expect("writing to memory does not fail").unwrap_or_default();
                    return Poll::Ready(Some(Ok(Frame::data(rest.into()))));
                }
            }
        }
        let ready = this.step();
        if ready.is_empty() {
            // The compressor wants more; others come first.
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(Some(Ok(Frame::data(ready))))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use axum::http::StatusCode;
    use flate2::read::GzDecoder;

    use super::*;
    use crate::http::response;

    fn headers(value: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(ACCEPT_ENCODING, HeaderValue::from_static(value))])
    }

    async fn unpacked(answer: Response) -> Vec<u8> {
        let packed = axum::body::to_bytes(answer.into_body(), usize::MAX).await.unwrap();
        let mut plain = Vec::new();
        GzDecoder::new(&*packed).read_to_end(&mut plain).unwrap();
        plain
    }

    #[test]
    fn who_asks() {
        assert!(is_wanted(&headers("gzip")) && is_wanted(&headers("br, gzip")) && is_wanted(&headers("deflate,gzip")));
        assert!(!is_wanted(&headers("br")) && !is_wanted(&headers("")) && !is_wanted(&HeaderMap::new()));
        assert!(!is_wanted(&headers("gzip;q=0")));
    }

    #[tokio::test]
    async fn long_answers_unpack_to_themselves() {
        let mut noise = 1u32;
        let long: Vec<u8> = (0..3_000_000u32)
            .map(|at| {
                noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                if at % 1_000_000 < 500_000 { b'x' } else { noise.to_be_bytes()[0] }
            })
            .collect();
        let answer = gzip(response::json(StatusCode::OK, long.clone()));
        assert_eq!(answer.headers()[CONTENT_ENCODING], "gzip");
        assert_eq!(answer.headers()[VARY], "Accept-Encoding");
        assert_eq!(answer.body().size_hint().exact(), None);
        assert_eq!(unpacked(answer).await, long);
    }

    #[test]
    fn what_stays_as_it_is() {
        let short = gzip(response::json(StatusCode::OK, vec![b'x'; 128 << 10]));
        assert!(!short.headers().contains_key(CONTENT_ENCODING) && !short.headers().contains_key(VARY));
        assert_eq!(short.body().size_hint().exact(), Some(128 << 10));
        let mut known = response::json(StatusCode::OK, vec![b'x'; 1 << 20]);
        known.headers_mut().insert(ETAG, HeaderValue::from_static("\"a\""));
        assert!(!gzip(known).headers().contains_key(CONTENT_ENCODING));
        let stream = Body::new(Endless);
        assert!(!gzip(Response::new(stream)).headers().contains_key(CONTENT_ENCODING), "a watch");
    }

    struct Endless;

    impl http_body::Body for Endless {
        type Data = Bytes;
        type Error = axum::Error;

        fn poll_frame(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
            Poll::Pending
        }
    }
}
