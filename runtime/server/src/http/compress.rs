//! Compresses long answers for clients that accept it. Event streams are never compressed, because events would be
//! stuck in the compressor. Answers with an ETag are not compressed either.
//!
//! A body is compressed while it is sent, one piece at a time, so that only one piece is in memory. The work runs off
//! the threads that serve connections.

use std::{
    future::Future,
    io::Write,
    mem,
    pin::Pin,
    task::{Context, Poll, ready},
};

use axum_core::{body::Body, response::Response};
use bytes::Bytes;
use flate2::{Compression, write::GzEncoder};
use http::{
    HeaderMap, HeaderValue,
    header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, ETAG, VARY},
};
use http_body::{Body as _, Frame};

use super::{headers::text, offload};

/// Answers up to this size are not compressed, as in kube-apiserver.
pub(super) const THRESHOLD: usize = 128 << 10;

/// True if the client accepts compressed answers.
pub(super) fn is_wanted(headers: &HeaderMap) -> bool {
    let Some(given) = text(headers, ACCEPT_ENCODING) else { return false };
    given.split(',').any(|token| token.trim() == "gzip")
}

/// The answer, compressed if it is known to be long.
pub(super) fn gzip(answer: Response) -> Response {
    let is_long = answer.body().size_hint().lower() > THRESHOLD as u64;
    if !is_long || answer.headers().contains_key(ETAG) || answer.headers().contains_key(CONTENT_ENCODING) {
        return answer;
    }
    let (mut parts, body) = answer.into_parts();
    parts.headers.remove(CONTENT_LENGTH);
    parts.headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    parts.headers.append(VARY, HeaderValue::from_static("Accept-Encoding"));
    // The fastest level, as in kube-apiserver: it halves most large documents with a tenth of the work of the best
    // level.
    let encoder = Some(Box::new(GzEncoder::new(Vec::new(), Compression::new(1))));
    Response::from_parts(parts, Body::new(Gzip { plain: body, encoder, pending: None }))
}

/// A body that is compressed while it is read.
struct Gzip {
    plain: Body,
    /// `None` while a piece is being compressed, and after the end.
    encoder: Option<Box<Encoder>>,
    pending: Option<CompressionFuture>,
}

type Encoder = GzEncoder<Vec<u8>>;
/// The compression of a piece, which returns the encoder.
type CompressionFuture = Pin<Box<dyn Future<Output = (Box<Encoder>, Bytes)> + Send>>;

/// Compresses a piece; returns the available output.
fn pack(mut encoder: Box<Encoder>, plain: &[u8]) -> (Box<Encoder>, Bytes) {
    encoder.write_all(plain).expect("writing to memory does not fail");
    let packed = mem::take(encoder.get_mut()).into();
    (encoder, packed)
}

impl http_body::Body for Gzip {
    type Data = Bytes;
    type Error = axum_core::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum_core::Error>>> {
        let this = &mut *self;
        loop {
            if let Some(pending) = &mut this.pending {
                let (encoder, packed) = ready!(pending.as_mut().poll(cx));
                (this.pending, this.encoder) = (None, Some(encoder));
                // Without output yet, there is no frame.
                if !packed.is_empty() {
                    return Poll::Ready(Some(Ok(Frame::data(packed))));
                }
            }
            if this.encoder.is_none() {
                return Poll::Ready(None);
            }
            let frame = ready!(Pin::new(&mut this.plain).poll_frame(cx)).transpose();
            let Some(encoder) = this.encoder.take() else { return Poll::Ready(None) };
            let Some(frame) = frame? else {
                let rest = encoder.finish().expect("writing to memory does not fail");
                return Poll::Ready(Some(Ok(Frame::data(rest.into()))));
            };
            let plain = frame.into_data().unwrap_or_default();
            this.pending = Some(Box::pin(offload::answer(move || pack(encoder, &plain))));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::read::GzDecoder;
    use http::StatusCode;

    use super::*;
    use crate::http::response;

    fn headers(value: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(ACCEPT_ENCODING, HeaderValue::from_static(value))])
    }

    async fn unpacked(answer: Response) -> Vec<u8> {
        let packed = crate::http::local::whole(answer.into_body()).await.unwrap();
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
        assert_eq!(unpacked(answer).await, [&*long, b"\n"].concat());
    }

    #[test]
    fn answers_that_are_not_compressed() {
        let short = gzip(response::json(StatusCode::OK, vec![b'x'; (128 << 10) - 1]));
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
        type Error = axum_core::Error;

        fn poll_frame(
            self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, axum_core::Error>>> {
            Poll::Pending
        }
    }
}
