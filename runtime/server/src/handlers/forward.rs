//! Port forwarding for `kubectl port-forward` and browsers: a stream in both directions for each port.
use std::{io, pin::Pin, sync::Arc};

use serde::{Deserialize, Serialize};
use tokio::io::DuplexStream;

use crate::ApiType;

/// Options of `portforward`.
#[derive(ApiType, Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct ForwardOptions {
    /// The ports to forward.
    pub ports: Option<Vec<i32>>,
}

/// The result of a `portforward`-like handler: the code that serves one port's stream.
///
/// ```
/// # use kindsmith::handlers::Forward;
/// let echo = Forward::new(|port, mut stream| async move {
///     let (mut from, mut to) = tokio::io::split(stream);
///     tokio::io::copy(&mut from, &mut to).await.map(drop)
/// });
/// ```
pub struct Forward(Serve);

/// Code that serves a port.
pub(crate) type Serve = Arc<dyn Fn(u16, DuplexStream) -> ServeFuture + Send + Sync>;
type ServeFuture = Pin<Box<dyn Future<Output = io::Result<()>> + Send>>;

impl Forward {
    /// Serves each port with this code, which reads the client's data and writes the answer. An error is sent to the
    /// client on the port's error channel.
    pub fn new<F, Fut>(serve: F) -> Self
    where
        F: Fn(u16, DuplexStream) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = io::Result<()>> + Send + 'static,
    {
        Self(Arc::new(move |port, stream| Box::pin(serve(port, stream))))
    }

    pub(crate) fn into_serve(self) -> Serve {
        self.0
    }
}
