//! A session over a WebSocket: standard streams on channels 0 to 2, the result on channel 3, and the terminal's size on
//! channel 4. Only the streams' own buffers hold data.

use std::io;

use bytes::{Buf, Bytes};
use tokio::{
    io::{AsyncReadExt, AsyncWrite, AsyncWriteExt, DuplexStream},
    task::JoinHandle,
};

use super::{
    channels::{ChannelMessage, Channels},
    websocket::{End, Message, Socket},
};
use crate::{
    handlers::{Exit, Refusal, Run, StreamOptions, pair},
    meta::status::{Status, StatusCause, StatusDetails},
    tasks,
};

const STDIN: u8 = 0;
const STDOUT: u8 = 1;
const STDERR: u8 = 2;
const ERROR: u8 = 3;
const RESIZE: u8 = 4;

/// The maximum size of a message.
const PIECE: usize = 32 << 10;

/// How the handler of a session ended: with its result, or by a panic.
type SessionResult = Result<Result<Exit, Refusal>, tokio::task::JoinError>;

/// The handler of a session, cancelled on drop.
struct Work(JoinHandle<Result<Exit, Refusal>>);

impl Drop for Work {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// A running session.
struct Session {
    socket: Socket,
    channels: Channels,
    stdin: Option<DuplexStream>,
    stdout: Option<DuplexStream>,
    stderr: Option<DuplexStream>,
    resize: tokio::sync::mpsc::Sender<crate::handlers::TerminalSize>,
    /// Input of the client that the handler has not read yet.
    waiting: Bytes,
    work: Work,
}

/// Runs a session to its end. `tell` converts the handler's refusal to a Status.
pub(super) async fn run(
    socket: Socket,
    channels: Channels,
    options: StreamOptions,
    run: Run,
    tell: impl Fn(Refusal) -> Status + Send,
) {
    let (remote, ends) = pair(options);
    let mut session = Session {
        socket,
        channels,
        stdin: ends.stdin,
        stdout: ends.stdout,
        stderr: ends.stderr,
        resize: ends.resize,
        waiting: Bytes::new(),
        work: Work(tasks::spawn(run(remote))),
    };
    let greeted = session.greet().await;
    let outcome = match greeted {
        Ok(()) => session.converse().await,
        Err(end) => Err(end),
    };
    let (last, end) = match outcome {
        Ok(result) => (last_words(channels, result, tell), None),
        Err(End::Stopping) => {
            let stopping = Status::failure(503, "ServiceUnavailable", "the server is stopping", None);
            (Some(failure(channels, &stopping)), Some(End::Stopping))
        }
        Err(end) => (None, Some(end)),
    };
    let Session { socket, work, .. } = session;
    drop(work);
    socket.close(last, end).await;
}

impl Session {
    /// Clients treat an empty message on the first stream that they read as the sign that the connection works.
    async fn greet(&mut self) -> Result<(), End> {
        let first = match (&self.stdout, &self.stderr) {
            (Some(_), _) => STDOUT,
            (None, Some(_)) => STDERR,
            (None, None) => ERROR,
        };
        self.socket.send(self.channels.write(first, b"")).await
    }

    /// Transfers data until the handler has ended and its output is sent.
    async fn converse(&mut self) -> Result<SessionResult, End> {
        let (mut out, mut err) = (vec![0; PIECE], vec![0; PIECE]);
        let mut result = None;
        loop {
            let quiet = self.stdout.is_none() && self.stderr.is_none();
            if let Some(result) = result.take_if(|_| quiet) {
                return Ok(result);
            }
            let reading = self.waiting.is_empty();
            tokio::select! {
                message = self.socket.receive(reading) => if let Some(message) = message? {
                    let message = self.channels.read(message);
                    self.receive(message);
                },
                written = write(&mut self.stdin, &self.waiting), if !reading => if let Ok(count) = written {
                    self.waiting.advance(count);
                } else {
                    // The handler no longer reads: drop its input.
                    self.waiting.clear();
                    self.stdin = None;
                },
                count = read(&mut self.stdout, &mut out) => match count {
                    0 => self.stdout = None,
                    count => self.socket.send(self.channels.write(STDOUT, &out[..count])).await?,
                },
                count = read(&mut self.stderr, &mut err) => match count {
                    0 => self.stderr = None,
                    count => self.socket.send(self.channels.write(STDERR, &err[..count])).await?,
                },
                end = &mut self.work.0, if result.is_none() => result = Some(end),
            }
        }
    }

    /// Handles a message of the client.
    fn receive(&mut self, message: ChannelMessage) {
        match message {
            ChannelMessage::Data(STDIN, bytes) if self.stdin.is_some() => self.waiting = bytes,
            ChannelMessage::Closed(STDIN) => self.stdin = None,
            ChannelMessage::Data(RESIZE, bytes) => {
                // An invalid size is ignored, and so is one that the handler does not wait for.
                if let Ok(size) = serde_json::from_slice(&bytes) {
                    let _ = self.resize.try_send(size);
                }
            }
            ChannelMessage::Data(..) | ChannelMessage::Closed(_) | ChannelMessage::Nothing => {}
        }
    }
}

/// Writes some of the bytes.
pub(super) async fn write(stream: &mut Option<impl AsyncWrite + Unpin>, bytes: &[u8]) -> io::Result<usize> {
    match stream {
        Some(stream) => stream.write(bytes).await,
        None => Err(io::ErrorKind::BrokenPipe.into()),
    }
}

/// Reads some bytes; zero at the end, and never returns if there is no stream.
async fn read(stream: &mut Option<DuplexStream>, buffer: &mut [u8]) -> usize {
    match stream {
        Some(stream) => stream.read(buffer).await.unwrap_or(0),
        None => std::future::pending().await,
    }
}

/// The message to the client at the end.
fn last_words(channels: Channels, result: SessionResult, tell: impl Fn(Refusal) -> Status) -> Option<Message> {
    match result {
        Ok(Ok(Exit(0))) if channels.statuses => Some(channels.write(ERROR, &json(&Status::success(None)))),
        Ok(Ok(Exit(0))) => None,
        Ok(Ok(Exit(code))) => Some(failure(channels, &exited(code))),
        Ok(Err(refusal)) => Some(failure(channels, &tell(refusal))),
        Err(panicked) => {
            tracing::error!(%panicked, "the code of a session broke off");
            let status = Status::internal("the server failed in the session; its log says why");
            Some(failure(channels, &status))
        }
    }
}

fn failure(channels: Channels, status: &Status) -> Message {
    if channels.statuses {
        channels.write(ERROR, &json(status))
    } else {
        channels.write(ERROR, status.message.as_bytes())
    }
}

fn json(status: &Status) -> Vec<u8> {
    serde_json::to_vec(status).expect("a Status is plain data")
}

/// The Status of a nonzero exit code, with which kubectl exits.
fn exited(code: i32) -> Status {
    let cause = StatusCause { reason: "ExitCode".to_owned(), message: code.to_string(), ..StatusCause::default() };
    let details = StatusDetails { causes: vec![cause], ..StatusDetails::default() };
    let message = format!("command terminated with non-zero exit code: {code}");
    Status::failure(0, "NonZeroExitCode", message, Some(details))
}
