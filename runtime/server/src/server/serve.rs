//! The ways from a builder to a server: an [`App`], or serving at once.
use std::{
    future,
    io::{self, Write},
    pin::pin,
};

use tokio::sync::{Notify, watch};

use super::{App, Error, Result, builder::Builder, export, listen, stop};

impl Builder {
    /// Opens the store, loads its content, and starts the controllers. From then on requests are answered by
    /// [`App::service`] and, once it [runs](App::run), on a listener.
    ///
    /// If the environment variable `KINDSMITH_EXPORT` names a file, the kinds are written to it for `kindsmith export`, and nothing
    /// is built.
    ///
    /// # Errors
    /// [`Error`] if the server cannot start, and [`Error::Exported`].
    pub async fn build(self) -> Result<App> {
        match export::file() {
            Some(file) => Err(Box::pin(self.export(file)).await.err().unwrap_or(Error::Exported)),
            // The future is large, and callers hold it in their own.
            None => Box::pin(self.load()).await,
        }
    }

    /// Serves on `host:port` until a signal stops the process (SIGTERM or SIGINT), and then stops gracefully: watches
    /// end after a complete frame, running requests are answered, and the store is closed. Port 0 chooses a free port.
    /// SIGHUP makes the server read its tokens again at once. A second signal ends the process without waiting.
    ///
    /// Prints `listening on https://HOST:PORT` as the first line of standard output, then sample commands. For another
    /// listener or another way to stop, use [`Builder::build`] and [`App::run`].
    ///
    /// # Errors
    /// [`Error`] if the server cannot start.
    pub async fn serve(self, address: &str) -> Result<()> {
        self.serve_until(address, future::pending()).await
    }

    /// Serves as [`Builder::serve`] does, and also stops gracefully when a future ends.
    ///
    /// # Errors
    /// [`Error`] if the server cannot start.
    pub async fn serve_until(mut self, address: &str, shutdown: impl Future<Output = ()>) -> Result<()> {
        let mut shutdown = pin!(shutdown);
        let mut signals = stop::signals();
        let address = listen::resolve(address).await?;
        self.entrance.check(address)?;
        // Standard output may be closed, which is no reason to stop.
        self.entrance.on_ready.insert(0, Box::new(|ready| drop(io::stdout().write_all(ready.greeting().as_bytes()))));
        let nothing_to_read = watch::Sender::new(());
        let app = tokio::select! {
            built = Box::pin(self.build()) => match built {
                Err(Error::Exported) => return Ok(()),
                built => built?,
            },
            // No request was answered yet.
            () = signals.stop(&nothing_to_read) => return Ok(()),
            () = &mut shutdown => return Ok(()),
        };
        let (read_now, first) = (app.read_now.clone(), Notify::new());
        let signalled = async {
            tokio::select! {
                () = signals.stop(&read_now) => {}
                () = shutdown => {}
            }
            first.notify_one();
            // A second signal means that the user does not want to wait.
            signals.stop(&read_now).await;
        };
        tokio::select! {
            ended = app.run(listen::bind(address)?, first.notified()) => ended,
            () = signalled => {
                tracing::warn!("stopped without waiting for requests in flight");
                Ok(())
            }
        }
    }
}
