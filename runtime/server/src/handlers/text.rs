//! Text that a handler writes incrementally, such as a log: sent as it is written, at the client's speed.
use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, DuplexStream, ReadBuf};

/// The size of the buffer for a slow client, after which its handler waits.
const WAITING: usize = 64 << 10;

/// The result of a `log`-like handler: text, complete or written incrementally.
///
/// ```
/// # use kindsmith::handlers::Text;
/// let ticking = Text::written(|mut out| async move {
///     for tick in 0.. {
///         out.line(format!("tick {tick}")).await?;
///         tokio::time::sleep(std::time::Duration::from_secs(1)).await;
///     }
///     Ok(())
/// });
/// ```
pub struct Text(Pin<Box<dyn AsyncRead + Send>>);

/// The writer of a handler's text. Writing waits while the client is slow, and fails once it has disconnected.
pub struct TextWriter(DuplexStream);

impl Text {
    /// Complete text.
    pub fn whole(text: impl Into<Bytes>) -> Self {
        Self::from_reader(io::Cursor::new(text.into()))
    }

    /// The output of a reader until its end: a file, a pipe, a connection.
    pub fn from_reader(reader: impl AsyncRead + Send + 'static) -> Self {
        Self(Box::pin(reader))
    }

    /// Text that code writes. The code is cancelled when the client disconnects or the server stops. An error aborts
    /// the answer, so that the client sees that it is incomplete.
    pub fn written<F, Fut>(write: F) -> Self
    where
        F: FnOnce(TextWriter) -> Fut,
        Fut: Future<Output = io::Result<()>> + Send + 'static,
    {
        let (theirs, ours) = tokio::io::duplex(WAITING);
        let write: WriteFuture = Box::pin(write(TextWriter(theirs)));
        Self::from_reader(WrittenText { write: Some(write), text: ours })
    }

    pub(crate) fn into_reader(self) -> Pin<Box<dyn AsyncRead + Send>> {
        self.0
    }
}

impl TextWriter {
    /// Writes a line.
    ///
    /// # Errors
    /// If the client has disconnected.
    pub async fn line(&mut self, text: impl AsRef<str>) -> io::Result<()> {
        let text = text.as_ref();
        let mut line = String::with_capacity(text.len() + 1);
        line.push_str(text);
        line.push('\n');
        self.0.write_all(line.as_bytes()).await
    }
}

impl AsyncWrite for TextWriter {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}

/// The code that writes.
type WriteFuture = Pin<Box<dyn Future<Output = io::Result<()>> + Send>>;

/// Text that is written while it is read: the code runs in the reader's task, and is dropped with it.
struct WrittenText {
    write: Option<WriteFuture>,
    text: DuplexStream,
}

impl AsyncRead for WrittenText {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let mut failed = None;
        if let Some(write) = &mut self.write
            && let Poll::Ready(result) = write.as_mut().poll(cx)
        {
            self.write = None;
            failed = result.err();
        }
        let before = buffer.filled().len();
        match Pin::new(&mut self.text).poll_read(cx, buffer) {
            // Data written before an error is still read.
            Poll::Ready(Ok(())) if buffer.filled().len() == before => {
                failed.map_or(Poll::Ready(Ok(())), |error| Poll::Ready(Err(error)))
            }
            Poll::Ready(Ok(())) if failed.is_some() => {
                self.write = Some(Box::pin(async move { failed.map_or(Ok(()), Err) }));
                Poll::Ready(Ok(()))
            }
            polled => polled,
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt;

    use super::*;

    #[tokio::test]
    async fn text_is_read_as_it_is_written_and_to_its_end() {
        let text = Text::written(|mut out| async move {
            for number in 0..10_000 {
                out.line(format!("line {number}")).await?;
            }
            Ok(())
        });
        let mut all = String::new();
        text.into_reader().read_to_string(&mut all).await.unwrap();
        assert_eq!(all.lines().count(), 10_000);
        assert!(all.ends_with("line 9999\n"));
    }

    #[tokio::test]
    async fn an_error_comes_after_what_was_written() {
        let text = Text::written(|mut out| async move {
            out.line("before").await?;
            Err(io::Error::other("broken"))
        });
        let mut all = Vec::new();
        let error = text.into_reader().read_to_end(&mut all).await.unwrap_err();
        assert_eq!((&all[..], error.to_string().as_str()), (&b"before\n"[..], "broken"));
    }

    #[tokio::test]
    async fn code_that_writes_faster_than_its_reader_waits() {
        let (told, mut written) = tokio::sync::watch::channel(0_usize);
        let text = Text::written(move |mut out| async move {
            loop {
                out.line("x".repeat(1023)).await?;
                told.send_modify(|count| *count += 1);
            }
        });
        let mut reader = text.into_reader();
        let mut some = [0; 10];
        reader.read_exact(&mut some).await.unwrap();
        assert!(*written.borrow_and_update() <= WAITING / 1024 + 1);
        drop(reader);
        assert!(written.changed().await.is_err(), "the code went with its reader");
    }
}
