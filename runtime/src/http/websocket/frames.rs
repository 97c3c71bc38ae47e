//! The frames of WebSockets (RFC 6455, section 5), on the server's side. Reading is limited: a message that is too large, is
//! not masked or breaks another rule of the protocol ends the connection.

use std::{
    future::poll_fn,
    io,
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::{Buf, BufMut, Bytes, BytesMut};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The maximum size of a message that is read; clients send pieces of about 32 KiB.
const MESSAGE_BYTES: usize = 1 << 20;
/// The maximum number of bytes read at a time.
const BUFFER: usize = 16 << 10;

const CONTINUATION: u8 = 0;
const TEXT: u8 = 1;
const BINARY: u8 = 2;
const CLOSE: u8 = 8;
const PING: u8 = 9;
const PONG: u8 = 10;
/// The bit of the last frame of a message.
const LAST: u8 = 0x80;
/// The bit of a frame with a mask.
const MASKED: u8 = 0x80;
/// The maximum number of bytes of a control frame.
const CONTROL_BYTES: usize = 125;

/// A message with data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::http) enum Message {
    /// Text.
    Text(String),
    /// Bytes.
    Binary(Bytes),
}

impl Message {
    /// The bytes of the message.
    pub(in crate::http) fn into_data(self) -> Bytes {
        match self {
            Self::Text(text) => text.into(),
            Self::Binary(bytes) => bytes,
        }
    }
}

/// What a peer sent.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Received {
    /// A message.
    Message(Message),
    /// A ping or a pong.
    Alive,
    /// A close, which was answered as far as the peer reads.
    Close,
}

/// A frame without its mask.
struct Frame {
    is_last: bool,
    opcode: u8,
    data: Bytes,
}

/// An upgraded connection.
pub(super) struct WebSocket<S = TokioIo<Upgraded>> {
    stream: S,
    read: BytesMut,
    /// The unsent rest of frames.
    unsent: BytesMut,
    /// The answer to the newest ping, which waits until everything before it was sent.
    pong: Option<Bytes>,
    /// The opcode and the data of a message whose last frame has not arrived.
    partial: Option<(u8, BytesMut)>,
}

impl<S: AsyncRead + AsyncWrite + Unpin> WebSocket<S> {
    /// Reads and writes frames on a connection after its handshake.
    pub(super) fn new(stream: S) -> Self {
        Self { stream, read: BytesMut::new(), unsent: BytesMut::new(), pong: None, partial: None }
    }

    /// Receives. Answers pings and a close, as far as the peer takes it without waiting. Safe to cancel.
    ///
    /// # Errors
    /// If the connection broke, or the peer violates the protocol or a limit.
    pub(super) async fn receive(&mut self) -> io::Result<Received> {
        poll_fn(|cx| self.poll_receive(cx)).await
    }

    fn poll_receive(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Received>> {
        let _ = self.poll_send(cx)?;
        loop {
            if let Some(frame) = take_frame(&mut self.read)? {
                if let Some(received) = self.accept(frame)? {
                    let _ = self.poll_send(cx)?;
                    return Poll::Ready(Ok(received));
                }
                continue;
            }
            let mut room = [0; BUFFER];
            let mut room = ReadBuf::new(&mut room);
            ready!(Pin::new(&mut self.stream).poll_read(cx, &mut room))?;
            if room.filled().is_empty() {
                return Poll::Ready(Err(io::ErrorKind::UnexpectedEof.into()));
            }
            self.read.extend_from_slice(room.filled());
        }
    }

    /// What a frame completes; `None` if more frames of its message follow.
    fn accept(&mut self, frame: Frame) -> io::Result<Option<Received>> {
        let Frame { is_last, opcode, data } = frame;
        match opcode {
            PING => self.pong = Some(data),
            PONG => {}
            CLOSE => {
                // The answer has the code of the close, if there is one.
                self.write(CLOSE, &data[..data.len().min(2)]);
                return Ok(Some(Received::Close));
            }
            CONTINUATION => {
                let Some((_, partial)) = &mut self.partial else {
                    return Err(violation("a message without a beginning"));
                };
                if data.len() > MESSAGE_BYTES - partial.len() {
                    return Err(violation("a message that is too large"));
                }
                partial.extend_from_slice(&data);
                return match self.partial.take_if(|_| is_last) {
                    Some((opcode, all)) => message(opcode, all.freeze()).map(Some),
                    None => Ok(None),
                };
            }
            TEXT | BINARY if self.partial.is_some() => return Err(violation("a message within another one")),
            TEXT | BINARY if is_last => return message(opcode, data).map(Some),
            TEXT | BINARY => {
                self.partial = Some((opcode, data.into()));
                return Ok(None);
            }
            _ => return Err(violation("an unknown opcode")),
        }
        Ok(Some(Received::Alive))
    }

    /// Sends a message. If it is cancelled, the rest is sent before the next one.
    ///
    /// # Errors
    /// If the connection broke.
    pub(super) async fn send(&mut self, message: Message) -> io::Result<()> {
        match &message {
            Message::Text(text) => self.write(TEXT, text.as_bytes()),
            Message::Binary(bytes) => self.write(BINARY, bytes),
        }
        poll_fn(|cx| self.poll_send(cx)).await
    }

    /// Sends a ping.
    ///
    /// # Errors
    /// If the connection broke.
    pub(super) async fn ping(&mut self) -> io::Result<()> {
        self.write(PING, &[]);
        poll_fn(|cx| self.poll_send(cx)).await
    }

    /// Sends a close with its code and reason.
    ///
    /// # Errors
    /// If the connection broke.
    pub(super) async fn close(&mut self, code: u16, reason: &str) -> io::Result<()> {
        self.write(CLOSE, &[&code.to_be_bytes(), reason.as_bytes()].concat());
        poll_fn(|cx| self.poll_send(cx)).await
    }

    /// Appends a whole message to what is unsent.
    fn write(&mut self, opcode: u8, data: &[u8]) {
        self.unsent.reserve(10 + data.len());
        self.unsent.put_u8(LAST | opcode);
        match u16::try_from(data.len()) {
            Ok(length @ ..126) => self.unsent.put_u8(length.to_le_bytes()[0]),
            Ok(length) => {
                self.unsent.put_u8(126);
                self.unsent.put_u16(length);
            }
            Err(_) => {
                self.unsent.put_u8(127);
                self.unsent.put_u64(data.len() as u64);
            }
        }
        self.unsent.put_slice(data);
    }

    /// Ready when everything was sent.
    fn poll_send(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            if self.unsent.is_empty() {
                let Some(pong) = self.pong.take() else { break };
                self.write(PONG, &pong);
            }
            let count = ready!(Pin::new(&mut self.stream).poll_write(cx, &self.unsent))?;
            if count == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.unsent.advance(count);
        }
        Pin::new(&mut self.stream).poll_flush(cx)
    }
}

/// Takes the first frame out of what was read, when it is whole.
fn take_frame(read: &mut BytesMut) -> io::Result<Option<Frame>> {
    let &[first, second, ref rest @ ..] = &read[..] else { return Ok(None) };
    let (opcode, is_last) = (first & 0xf, first & LAST != 0);
    let (length, head) = match (second & !MASKED, rest.first_chunk(), rest.first_chunk()) {
        (126, Some(length), _) => (u64::from(u16::from_be_bytes(*length)), 4),
        (127, _, Some(length)) => (u64::from_be_bytes(*length), 10),
        (126 | 127, ..) => return Ok(None),
        (length, ..) => (u64::from(length), 2),
    };
    if first & 0x70 != 0 {
        return Err(violation("a frame of an extension that was not agreed on"));
    }
    if second & MASKED == 0 {
        return Err(violation("a frame without a mask"));
    }
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    if length > MESSAGE_BYTES {
        return Err(violation("a frame that is too large"));
    }
    if opcode >= CLOSE && (length > CONTROL_BYTES || !is_last) {
        return Err(violation("a control frame that is too large or in pieces"));
    }
    let Some(&mask) = read.get(head..).and_then(<[u8]>::first_chunk::<4>) else { return Ok(None) };
    if read.len() < head + 4 + length {
        return Ok(None);
    }
    read.advance(head + 4);
    let mut data = read.split_to(length);
    for (byte, mask) in data.iter_mut().zip(mask.into_iter().cycle()) {
        *byte ^= mask;
    }
    Ok(Some(Frame { is_last, opcode, data: data.freeze() }))
}

fn message(opcode: u8, data: Bytes) -> io::Result<Received> {
    Ok(Received::Message(if opcode == BINARY {
        Message::Binary(data)
    } else {
        Message::Text(String::from_utf8(data.into()).map_err(|_| violation("text that is not UTF-8"))?)
    }))
}

fn violation(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the peer sent {what}"))
}

#[cfg(test)]
mod tests;
