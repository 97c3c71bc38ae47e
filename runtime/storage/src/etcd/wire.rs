//! gRPC on a connection of HTTP/2: requests with one message or a stream of them, answers split into messages.

use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::{Buf, BufMut, Bytes, BytesMut};
use http_body::{Body, Frame};
use hyper::{HeaderMap, body::Incoming};
use prost::Message;
use tokio::sync::mpsc::UnboundedReceiver;

use super::fault::{Fault, text};

/// The bytes before each message: a flag for compression, and the length.
const HEAD: usize = 5;

/// A message as it is sent.
pub(super) fn framed(message: &impl Message) -> Bytes {
    let length = message.encoded_len();
    let mut framed = BytesMut::with_capacity(HEAD + length);
    framed.put_u8(0);
    framed.put_u32(u32::try_from(length).unwrap_or(u32::MAX));
    message.encode(&mut framed).expect("the buffer grows");
    framed.freeze()
}

/// The body of a request: one message, and more of them as long as the stream is open.
pub(super) struct RequestBody {
    first: Option<Bytes>,
    more: Option<UnboundedReceiver<Bytes>>,
}

impl RequestBody {
    pub(super) fn one(message: Bytes) -> Self {
        Self { first: Some(message), more: None }
    }

    pub(super) fn stream(first: Bytes, more: UnboundedReceiver<Bytes>) -> Self {
        Self { first: Some(first), more: Some(more) }
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if let Some(first) = self.first.take() {
            return Poll::Ready(Some(Ok(Frame::data(first))));
        }
        let Some(more) = &mut self.more else { return Poll::Ready(None) };
        Poll::Ready(ready!(more.poll_recv(cx)).map(|next| Ok(Frame::data(next))))
    }

    fn is_end_stream(&self) -> bool {
        self.first.is_none() && self.more.is_none()
    }
}

/// The messages of an answer.
pub(super) struct Messages {
    body: Incoming,
    pieces: Pieces,
    ended: bool,
}

impl Messages {
    /// The messages of a response. Fails if the response already has the outcome, and it is an error.
    pub(super) fn of(response: hyper::Response<Incoming>) -> Result<Self, Fault> {
        let (head, body) = response.into_parts();
        if !head.status.is_success() {
            return Err(Fault::Lost(format!("the answer has the code {} of HTTP", head.status)));
        }
        if head.headers.contains_key("grpc-status") {
            outcome(&head.headers)?;
        }
        Ok(Self { body, pieces: Pieces::default(), ended: false })
    }

    /// The next message, or `None` after the last one. Safe to cancel.
    pub(super) async fn next<M: Message + Default>(&mut self) -> Result<Option<M>, Fault> {
        std::future::poll_fn(|cx| self.poll_next(cx)).await
    }

    /// The next message, if it is there.
    pub(super) async fn next_now<M: Message + Default>(&mut self) -> Result<Option<M>, Fault> {
        std::future::poll_fn(|cx| match self.poll_next(cx) {
            Poll::Ready(next) => Poll::Ready(next),
            Poll::Pending => Poll::Ready(Ok(None)),
        })
        .await
    }

    fn poll_next<M: Message + Default>(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<M>, Fault>> {
        loop {
            if let Some(message) = self.pieces.next() {
                let decoded = M::decode(message).map_err(|error| Fault::Lost(format!("a message is invalid: {error}")));
                return Poll::Ready(decoded.map(Some));
            }
            if self.ended {
                return Poll::Ready(Ok(None));
            }
            match ready!(Pin::new(&mut self.body).poll_frame(cx)) {
                None => self.ended = true,
                Some(Err(error)) => {
                    return Poll::Ready(Err(Fault::Lost(format!("the connection broke: {}", text(&error)))));
                }
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => self.pieces.received = data,
                    Err(frame) => {
                        self.ended = true;
                        if let Some(Err(fault)) = frame.trailers_ref().map(outcome) {
                            return Poll::Ready(Err(fault));
                        }
                    }
                },
            }
        }
    }
}

/// Splits what comes into messages.
#[derive(Default)]
struct Pieces {
    received: Bytes,
    /// The beginning of a message whose rest has not come.
    partial: BytesMut,
}

impl Pieces {
    /// Takes a message that is complete. Without one, nothing is left in `received`.
    fn next(&mut self) -> Option<Bytes> {
        // A message that came in one piece is not copied.
        if self.partial.is_empty()
            && let Some(end) = end_of(&self.received).filter(|end| self.received.len() >= *end)
        {
            return Some(self.received.split_to(end).slice(HEAD..));
        }
        loop {
            let missing = end_of(&self.partial).unwrap_or(HEAD) - self.partial.len();
            if missing == 0 {
                return Some(std::mem::take(&mut self.partial).freeze().slice(HEAD..));
            }
            let piece = self.received.split_to(missing.min(self.received.len()));
            if piece.is_empty() {
                return None;
            }
            self.partial.reserve(missing);
            self.partial.extend_from_slice(&piece);
        }
    }
}

/// The end of a message, if its head is complete.
fn end_of(message: &[u8]) -> Option<usize> {
    let length = usize::try_from(message.get(1..HEAD)?.get_u32()).ok()?;
    Some(HEAD + length)
}

/// The outcome that the trailers of an answer have.
fn outcome(trailers: &HeaderMap) -> Result<(), Fault> {
    let text = |name| trailers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    match text("grpc-status").parse() {
        Ok(0) => Ok(()),
        Ok(code) => Err(Fault::Status { code, message: unescaped(text("grpc-message")) }),
        Err(_) => Err(Fault::Lost("the answer has no outcome".to_owned())),
    }
}

/// Decodes the percent-encoding of a status message.
fn unescaped(text: &str) -> String {
    let bytes = text.as_bytes();
    let (mut plain, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while at < bytes.len() {
        let code = text.get(at + 1..at + 3).filter(|_| bytes[at] == b'%');
        if let Some(code) = code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            plain.push(code);
            at += 3;
        } else {
            plain.push(bytes[at]);
            at += 1;
        }
    }
    String::from_utf8_lossy(&plain).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_message_is_decoded() {
        assert_eq!(unescaped("no%3A leader %e2%82%ac 100%"), "no: leader € 100%");
    }

    #[test]
    fn messages_are_whole_wherever_they_are_cut() {
        let messages: Vec<Bytes> = [3, 0, 300, 1].map(|length| vec![b'm'; length].into()).into();
        let mut sent = BytesMut::new();
        for message in &messages {
            sent.put_u8(0);
            sent.put_u32(u32::try_from(message.len()).unwrap());
            sent.put_slice(message);
        }
        let sent = sent.freeze();
        for size in 1..=sent.len() {
            let (mut pieces, mut found) = (Pieces::default(), Vec::new());
            for piece in sent.chunks(size) {
                pieces.received = Bytes::copy_from_slice(piece);
                found.extend(std::iter::from_fn(|| pieces.next()));
            }
            assert_eq!(found, messages, "in pieces of {size}");
        }
    }

    #[test]
    fn an_outcome_that_is_missing_is_no_success() {
        assert!(matches!(outcome(&HeaderMap::new()), Err(Fault::Lost(_))));
        let trailers = |code: &'static str| {
            [("grpc-status", code)].map(|(name, value)| {
                (hyper::header::HeaderName::from_static(name), hyper::header::HeaderValue::from_static(value))
            })
        };
        assert!(outcome(&trailers("0").into_iter().collect()).is_ok());
        assert!(matches!(outcome(&trailers("14").into_iter().collect()), Err(Fault::Status { code: 14, .. })));
    }
}
