//! Sessions of `kubectl exec` and `kubectl attach`: standard streams, the size of a terminal, an exit code.
use std::{
    io,
    pin::Pin,
    process::ExitStatus,
    task::{Context, Poll},
};

use serde::{Deserialize, Serialize};
use tokio::{
    io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf, duplex},
    sync::mpsc,
};

use super::Result;
use crate::ApiType;

/// The size of a stream's buffer, after which its writer waits.
const WAITING: usize = 64 << 10;
/// The number of buffered terminal sizes. Only the newest matters, so nothing is lost if they are not read.
const SIZES: usize = 16;

/// Options of `exec` and `attach`, as kubectl sends them.
#[derive(ApiType, Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct ExecOptions {
    /// Redirect the standard input stream.
    pub stdin: Option<bool>,
    /// Redirect the standard output stream.
    pub stdout: Option<bool>,
    /// Redirect the standard error stream.
    pub stderr: Option<bool>,
    /// A terminal is allocated for the call.
    pub tty: Option<bool>,
    /// The container in which to run. Optional if there is only one.
    pub container: Option<String>,
    /// The command and its arguments. It is not run within a shell.
    pub command: Option<Vec<String>>,
}

/// The result of an `exec`-like handler: the code to run once the connection is established.
///
/// The client gets the handler's own refusal as the answer to its request, and the code's refusal at the end of the
/// session.
///
/// ```
/// # use kindsmith::handlers::{Exit, Session};
/// use tokio::io::AsyncWriteExt;
///
/// let session = Session::new(|mut io| async move {
///     tokio::io::copy(&mut io.stdin, &mut io.stdout).await?;
///     io.stderr.write_all(b"that was all\n").await?;
///     Ok(Exit::code(3))
/// });
/// ```
pub struct Session(Run);

/// The code of a session.
pub(crate) type Run = Box<dyn FnOnce(Remote) -> SessionFuture + Send>;
type SessionFuture = Pin<Box<dyn Future<Output = Result<Exit>> + Send>>;

/// The streams of a session. Streams that the client does not request are empty, or discard their input.
#[non_exhaustive]
pub struct Remote {
    /// The client's input; ends when the client closes it.
    pub stdin: Input,
    /// The output shown to the client.
    pub stdout: Output,
    /// The errors shown to the client. Unused with a terminal.
    pub stderr: Output,
    /// Sizes of the client's terminal, starting with the first.
    pub resize: mpsc::Receiver<TerminalSize>,
    /// True if the client has a terminal.
    pub tty: bool,
}

/// A stream to read; empty if the client does not request it.
pub struct Input(Option<DuplexStream>);

/// A stream to write; discards everything if the client does not request it. Writing waits while the client is slow,
/// and fails once it has disconnected.
pub struct Output(Option<DuplexStream>);

/// The size of a terminal, in characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct TerminalSize {
    /// Columns.
    pub width: u16,
    /// Rows.
    pub height: u16,
}

/// The result of a session's code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exit(pub(crate) i32);

/// The streams that the client requests.
#[expect(clippy::struct_excessive_bools, reason = "four streams, each there or not")]
#[derive(Clone, Copy, Debug)]
pub(crate) struct StreamOptions {
    pub stdin: bool,
    pub stdout: bool,
    pub stderr: bool,
    pub tty: bool,
}

/// The other ends of a session's streams, for the connection.
pub(crate) struct Ends {
    pub stdin: Option<DuplexStream>,
    pub stdout: Option<DuplexStream>,
    pub stderr: Option<DuplexStream>,
    pub resize: mpsc::Sender<TerminalSize>,
}

impl Session {
    /// A session that runs this code.
    pub fn new<F, Fut>(run: F) -> Self
    where
        F: FnOnce(Remote) -> Fut + Send + 'static,
        Fut: Future<Output = Result<Exit>> + Send + 'static,
    {
        Self(Box::new(move |remote| Box::pin(run(remote))))
    }

    pub(crate) fn into_run(self) -> Run {
        self.0
    }
}

impl Exit {
    /// Success.
    pub const SUCCESS: Self = Self(0);

    /// The exit code of a process: zero means success.
    pub const fn code(code: i32) -> Self {
        Self(code)
    }
}

impl From<ExitStatus> for Exit {
    /// A process's exit code, or 128 plus the number of the signal that ended it, as in shells.
    fn from(status: ExitStatus) -> Self {
        use std::os::unix::process::ExitStatusExt;
        Self(status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default()))
    }
}

/// The streams of a session, and their other ends.
pub(crate) fn pair(options: StreamOptions) -> (Remote, Ends) {
    let pipe = |there: bool| if there { Some(duplex(WAITING)).unzip() } else { (None, None) };
    let (stdin, ours_stdin) = pipe(options.stdin);
    let (stdout, ours_stdout) = pipe(options.stdout);
    let (stderr, ours_stderr) = pipe(options.stderr);
    let (sizes, resize) = mpsc::channel(SIZES);
    let (stdin, stdout, stderr, tty) = (Input(stdin), Output(stdout), Output(stderr), options.tty);
    let ends = Ends { stdin: ours_stdin, stdout: ours_stdout, stderr: ours_stderr, resize: sizes };
    (Remote { stdin, stdout, stderr, resize, tty }, ends)
}

impl AsyncRead for Input {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match &mut self.0 {
            Some(stream) => Pin::new(stream).poll_read(cx, buffer),
            None => Poll::Ready(Ok(())),
        }
    }
}

impl AsyncWrite for Output {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match &mut self.0 {
            Some(stream) => Pin::new(stream).poll_write(cx, bytes),
            None => Poll::Ready(Ok(bytes.len())),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.as_mut().map_or(Poll::Ready(Ok(())), |stream| Pin::new(stream).poll_flush(cx))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.as_mut().map_or(Poll::Ready(Ok(())), |stream| Pin::new(stream).poll_shutdown(cx))
    }
}
