//! Text of a handler as a response body. The connection polls it, so a slow client blocks only its own handler, and the
//! handler is cancelled when the client disconnects.

use std::{
    future::pending,
    io,
    pin::Pin,
    task::{Context, Poll, ready},
};

use axum_core::{body::Body, response::Response};
use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use http::{HeaderValue, StatusCode};
use http_body::Frame;
use tokio::io::{AsyncRead, ReadBuf};

use super::{
    guard, response,
    websocket::{self, Message, Socket},
};
use crate::handlers::Text;

/// The maximum size of a piece.
pub(super) const PIECE: usize = 16 << 10;

/// Answers with text as it is written, until it or the server ends.
pub(super) fn respond(text: Text, stopping: impl Future<Output = ()> + Send + 'static) -> Response {
    response::with(StatusCode::OK, HeaderValue::from_static("text/plain"), body(text, stopping))
}

fn body(text: Text, stopping: impl Future<Output = ()> + Send + 'static) -> Body {
    Body::new(TextBody { text: text.into_reader(), stopping: Box::pin(stopping), failed: None, ended: false })
}

/// Sends text over a WebSocket: as binary, or in base64 as text. The socket itself ends with the server.
pub(super) async fn carry(socket: Socket, text: Text, base64: bool) {
    let message = move |piece: Bytes| {
        if base64 { Message::text(STANDARD.encode(&piece)) } else { Message::binary(piece) }
    };
    websocket::carry(socket, body(text, pending()), None, message).await;
}

struct TextBody {
    text: Pin<Box<dyn AsyncRead + Send>>,
    stopping: Pin<Box<dyn Future<Output = ()> + Send>>,
    /// The error that ended the text, to be reported next.
    failed: Option<io::Error>,
    ended: bool,
}

impl http_body::Body for TextBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        if self.ended || self.stopping.as_mut().poll(cx).is_ready() {
            return Poll::Ready(None);
        }
        if let Some(error) = self.failed.take() {
            self.ended = true;
            return Poll::Ready(Some(Err(error)));
        }
        let mut piece = [0; PIECE];
        let mut buffer = ReadBuf::new(&mut piece);
        let read = guard::attempt(|| self.text.as_mut().poll_read(cx, &mut buffer));
        let read = read.unwrap_or_else(|| Poll::Ready(Err(io::Error::other("the handler panicked"))));
        match ready!(read) {
            Ok(()) if buffer.filled().is_empty() => {
                self.ended = true;
                Poll::Ready(None)
            }
            Ok(()) => Poll::Ready(Some(Ok(Frame::data(Bytes::copy_from_slice(buffer.filled()))))),
            // Abort the connection: the client must not take the partial text for a complete one. Earlier data is sent
            // first, while no new data is available; together with the error it would be dropped.
            Err(error) => {
                tracing::debug!(%error, "a handler's text broke off");
                self.failed = Some(error);
                cx.waker().wake_by_ref();
                Poll::Pending
            }
        }
    }
}
