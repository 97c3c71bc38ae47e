//! A TCP connection, below TLS. Guarantees that a write fails if the peer has read nothing for too long, and that after a
//! close the peer can read the last written data: the sending half is closed first, and for a limited time data from the
//! peer is read and discarded. Otherwise the kernel would answer unread data with a reset, which discards sent data, too.

use std::{
    io::{self, IoSlice},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use bytes::{Buf, Bytes};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
    time::{Instant, Sleep, sleep_until},
};

use super::{
    peers::{LingerPermit, Peer},
    timed_out,
};

/// The number of bytes read at a time from a lingering peer.
const DROPPED: usize = 8 << 10;
/// The maximum number of bytes read from it.
const MOST_DROPPED: usize = 64 << 20;

/// A TCP connection.
pub(super) struct Socket {
    stream: TcpStream,
    /// Data that was read and returned, to be read again.
    first: Bytes,
    /// The time since which the peer reads nothing.
    blocked: Option<Instant>,
    /// Wakes the task when that is too long ago.
    alarm: Option<Pin<Box<Sleep>>>,
    closing: CloseState,
    // Dropped last: the table removes the connection when its descriptor is free.
    peer: Arc<Peer>,
}

/// The progress of a close.
enum CloseState {
    No,
    /// The sending half is closed, and the rest is read.
    Lingers(Box<Farewell>),
    Done,
}

struct Farewell {
    _permit: LingerPermit,
    ends: Instant,
    alarm: Pin<Box<Sleep>>,
    dropped: usize,
}

impl Socket {
    /// A connection that was just accepted.
    pub(super) fn new(stream: TcpStream, peer: Arc<Peer>) -> Self {
        Self { stream, first: Bytes::new(), blocked: None, alarm: None, closing: CloseState::No, peer }
    }

    /// Sends small pieces at once. Fails if the connection is closed.
    pub(super) fn set_nodelay(&self) -> io::Result<()> {
        self.stream.set_nodelay(true)
    }

    /// Returns data, to be read again.
    pub(super) fn unread(&mut self, bytes: &[u8]) {
        self.first = Bytes::copy_from_slice(bytes);
    }

    /// Checks the result of a write: fails if the peer has read nothing for too long.
    fn judge(&mut self, cx: &mut Context<'_>, wrote: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if wrote.is_ready() {
            self.peer.took();
            if self.blocked.take().is_some() {
                self.peer.set_blocked(false);
            }
            return wrote;
        }
        let since = *self.blocked.get_or_insert_with(Instant::now);
        self.peer.set_blocked(true);
        let ends = self.peer.patience_with(since);
        let alarm = self.alarm.get_or_insert_with(|| Box::pin(sleep_until(ends)));
        if alarm.deadline() != ends {
            alarm.as_mut().reset(ends);
        }
        ready!(alarm.as_mut().poll(cx));
        Poll::Ready(Err(timed_out()))
    }

    /// Reads and discards data from the peer until its end or the time limit.
    fn poll_farewell(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let CloseState::Lingers(farewell) = &mut self.closing else { return Poll::Ready(()) };
        let (silence, mut piece) = (self.peer.limits().silence, [0; DROPPED]);
        loop {
            let mut buffer = ReadBuf::new(&mut piece);
            match Pin::new(&mut self.stream).poll_read(cx, &mut buffer) {
                Poll::Ready(Ok(())) if !buffer.filled().is_empty() => {
                    farewell.dropped += buffer.filled().len();
                    let now = Instant::now();
                    if farewell.dropped > MOST_DROPPED || now >= farewell.ends || self.peer.must_hurry() {
                        return Poll::Ready(());
                    }
                    farewell.alarm.as_mut().reset(farewell.ends.min(now + silence));
                }
                Poll::Ready(_) => return Poll::Ready(()),
                Poll::Pending => return farewell.alarm.as_mut().poll(cx),
            }
        }
    }
}

impl AsyncRead for Socket {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.first.is_empty() {
            return Pin::new(&mut self.stream).poll_read(cx, buffer);
        }
        let count = self.first.len().min(buffer.remaining());
        buffer.put_slice(&self.first[..count]);
        self.first.advance(count);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Socket {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let wrote = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.judge(cx, wrote)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let wrote = Pin::new(&mut self.stream).poll_write_vectored(cx, pieces);
        self.judge(cx, wrote)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if matches!(self.closing, CloseState::No) {
            ready!(Pin::new(&mut self.stream).poll_shutdown(cx))?;
            self.closing = match self.peer.linger() {
                Some(permit) if !self.peer.must_hurry() => {
                    let now = Instant::now();
                    let ends = now + self.peer.limits().linger;
                    let alarm = Box::pin(sleep_until(ends.min(now + self.peer.limits().silence)));
                    CloseState::Lingers(Box::new(Farewell { _permit: permit, ends, alarm, dropped: 0 }))
                }
                _ => CloseState::Done,
            };
        }
        ready!(self.poll_farewell(cx));
        self.closing = CloseState::Done;
        Poll::Ready(Ok(()))
    }
}
