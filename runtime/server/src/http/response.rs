//! Responses: the headers of every answer, and the common forms of answers.

use std::{
    convert::Infallible,
    mem,
    pin::Pin,
    sync::{
        OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll},
};

use axum_core::{body::Body, response::Response};
use bytes::Bytes;
use http::{
    HeaderValue, StatusCode,
    header::{CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, HeaderName, RETRY_AFTER, WWW_AUTHENTICATE},
};
use http_body::{Body as _, Frame, SizeHint};

use super::{negotiate::ResponseFormat, pretty, render};
use crate::{
    codec::{self, Encoding, protobuf},
    meta::{status::Status, uid::uuid},
    schema::Document,
};

/// The header that identifies a request in logs.
pub(super) const AUDIT_ID: HeaderName = HeaderName::from_static("audit-id");
/// The challenge that every 401 contains (RFC 9110, 11.6.1).
const CHALLENGE: HeaderValue = HeaderValue::from_static("Bearer realm=\"kindsmith\"");
const NO_CACHE: HeaderValue = HeaderValue::from_static("no-cache, private");
const JSON: HeaderValue = HeaderValue::from_static("application/json");
/// The end of compact JSON.
const NEWLINE: &[u8] = b"\n";
/// The size in bytes up to which JSON is copied to be sent in one piece with its newline.
const COPIED: usize = 4 << 10;
const TEXT: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");

/// An answer with the common headers.
pub(super) fn with(code: StatusCode, content_type: HeaderValue, body: Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = code;
    let headers = response.headers_mut();
    headers.reserve(4);
    headers.insert(CONTENT_TYPE, content_type);
    headers.insert(CACHE_CONTROL, NO_CACHE);
    response
}

/// Compact JSON, and the newline that kube-apiserver ends it with.
pub(super) fn json(code: StatusCode, body: impl Into<Bytes>) -> Response {
    with(code, JSON, line(body.into()))
}

/// JSON, indented for people if requested; then no newline follows, as in kube-apiserver.
pub(super) fn json_for(code: StatusCode, body: impl Into<Bytes>, indented: bool) -> Response {
    let body = body.into();
    if indented { with(code, JSON, Body::from(pretty::indent(&body))) } else { json(code, body) }
}

/// A text and a newline. A short text is copied, because two pieces cost more to send than a copy.
fn line(text: Bytes) -> Body {
    if text.len() > COPIED {
        return Body::new(Line { text: Some(text), is_ended: false });
    }
    let mut line = Vec::with_capacity(text.len() + NEWLINE.len());
    line.extend_from_slice(&text);
    line.extend_from_slice(NEWLINE);
    Body::from(line)
}

/// A long text, which is not copied, and a newline.
struct Line {
    text: Option<Bytes>,
    is_ended: bool,
}

impl http_body::Body for Line {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let piece = self.text.take();
        let piece = piece.or_else(|| {
            let was_ended = mem::replace(&mut self.is_ended, true);
            (!was_ended).then_some(Bytes::from_static(NEWLINE))
        });
        Poll::Ready(piece.map(|piece| Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.is_ended
    }

    fn size_hint(&self) -> SizeHint {
        let newline = if self.is_ended { 0 } else { NEWLINE.len() };
        SizeHint::with_exact((self.text.as_ref().map_or(0, Bytes::len) + newline) as u64)
    }
}

/// A body in pieces.
pub(super) fn stream<B>(media_type: &'static str, body: B) -> Response
where
    B: http_body::Body<Data = Bytes, Error = std::convert::Infallible> + Send + 'static,
{
    with(StatusCode::OK, HeaderValue::from_static(media_type), Body::new(body))
}

/// Bytes in an encoding.
pub(super) fn encoded(code: StatusCode, encoding: Encoding, body: impl Into<Bytes>) -> Response {
    with(code, HeaderValue::from_static(encoding.media_type()), Body::from(body.into()))
}

/// A document in a text encoding, given as JSON.
pub(super) fn text_form(code: StatusCode, json: impl Into<Bytes>, form: ResponseFormat) -> Response {
    match form.encoding {
        Encoding::Yaml => encoded(code, Encoding::Yaml, render::yaml(&json.into())),
        _ => json_for(code, json, form.pretty),
    }
}

/// A document that is not an object of a kind, in the negotiated encoding, or in JSON if Protobuf has no message for
/// it.
pub(super) fn document(code: StatusCode, document: &Document, form: ResponseFormat) -> Response {
    if form.encoding != Encoding::Json {
        let kind = document.get("kind").and_then(Document::as_str).unwrap_or_default();
        if let Some(body) = render::document(form.encoding, message_of(kind), document) {
            return encoded(code, form.encoding, body);
        }
    }
    let mut body = Vec::new();
    codec::encode(document, &mut body);
    json_for(code, body, form.pretty)
}

/// The messages of answers other than objects.
fn message_of(kind: &str) -> Option<&'static protobuf::Message> {
    Some(match kind {
        "Status" => &protobuf::STATUS,
        "Scale" => &protobuf::SCALE,
        "PartialObjectMetadata" => &protobuf::PARTIAL_OBJECT_METADATA,
        "APIVersions" => &protobuf::API_VERSIONS,
        "APIGroupList" => &protobuf::API_GROUP_LIST,
        "APIGroup" => &protobuf::API_GROUP,
        "APIResourceList" => &protobuf::API_RESOURCE_LIST,
        _ => return None,
    })
}

/// Plain text.
pub(super) fn text(code: StatusCode, body: impl Into<Bytes>) -> Response {
    with(code, TEXT, Body::from(body.into()))
}

/// The answer to HEAD: that of GET without its body, with its length if known.
pub(super) fn head(answer: Response) -> Response {
    let length = answer.body().size_hint().exact();
    let mut answer = answer.map(|_| Body::empty());
    if let Some(length) = length {
        answer.headers_mut().entry(CONTENT_LENGTH).or_insert_with(|| length.into());
    }
    answer
}

/// kube-apiserver's answer for unknown paths.
pub(super) fn page_not_found() -> Response {
    text(StatusCode::NOT_FOUND, "404 page not found\n")
}

/// A Status in the negotiated form.
pub(super) fn status(status: &Status, form: ResponseFormat) -> Response {
    let code = if status.code == 0 { 200 } else { status.code };
    let code = StatusCode::from_u16(code).expect("a Status has a code of HTTP");
    let mut response = if form.encoding == Encoding::Json {
        let body = serde_json::to_vec(status).expect("a Status is plain data");
        json_for(code, body, form.pretty)
    } else {
        document(code, &codec::from_typed(status).expect("a Status is plain data"), form)
    };
    if code == StatusCode::UNAUTHORIZED {
        response.headers_mut().insert(WWW_AUTHENTICATE, CHALLENGE);
    }
    if let Some(seconds) = status.details.as_ref().map(|d| d.retry_after_seconds).filter(|s| *s > 0) {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

/// The audit id of an answer: the client's, or a new one.
pub(super) fn audit_id(given: Option<&HeaderValue>) -> HeaderValue {
    given.filter(|id| id.len() <= 64).cloned().unwrap_or_else(fresh_audit_id)
}

/// A uuid that is unique in this process: one random half, and a scattered counter.
fn fresh_audit_id() -> HeaderValue {
    static SEED: OnceLock<u128> = OnceLock::new();
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let seed = SEED.get_or_init(|| {
        let mut bytes = [0; 16];
        // Without randomness the ids are still unique within the process, which is all that is promised.
        getrandom::fill(&mut bytes).unwrap_or_default();
        u128::from_be_bytes(bytes)
    });
    let count = COUNT.fetch_add(1, Ordering::Relaxed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    HeaderValue::from_bytes(&uuid(seed ^ u128::from(count))).expect("hexadecimal digits and dashes are a header value")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{http::local, meta::status::StatusDetails};

    #[test]
    fn audit_ids_are_distinct_uuids() {
        let (a, b) = (fresh_audit_id(), fresh_audit_id());
        assert_ne!(a, b);
        let lengths: Vec<usize> = a.to_str().unwrap().split('-').map(str::len).collect();
        assert_eq!(lengths, [8, 4, 4, 4, 12]);
        assert_eq!(&a.to_str().unwrap()[14..15], "4");
        assert!("89ab".contains(&a.to_str().unwrap()[19..20]));
        let given = HeaderValue::from_static("mine");
        assert_eq!(audit_id(Some(&given)), given);
    }

    #[tokio::test]
    async fn compact_json_ends_with_a_newline_and_indented_json_does_not() {
        for size in [0, 1, COPIED - 1, COPIED, COPIED + 1, 1 << 20] {
            let text = format!("[{}]", "1".repeat(size));
            let answer = json_for(StatusCode::OK, text.clone(), false);
            assert_eq!(answer.body().size_hint().exact(), Some(text.len() as u64 + 1));
            assert!(!answer.body().is_end_stream());
            assert_eq!(local::whole(answer.into_body()).await.unwrap(), text.clone() + "\n");
            let answer = local::whole(json_for(StatusCode::OK, text, true).into_body()).await.unwrap();
            assert!(answer.ends_with(b"]"), "{size}");
        }
    }

    #[test]
    fn a_status_says_when_to_retry() {
        let mut failed = Status::failure(503, "ServiceUnavailable", "later", Some(StatusDetails::default()));
        failed.details.as_mut().unwrap().retry_after_seconds = 7;
        let response = status(&failed, ResponseFormat::default());
        assert_eq!(response.status(), 503);
        assert_eq!(response.headers()[RETRY_AFTER], "7");
        assert_eq!(status(&Status::success(None), ResponseFormat::default()).status(), 200);
    }
}
