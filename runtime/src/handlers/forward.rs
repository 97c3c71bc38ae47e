//! Forwarded ports, as `kubectl port-forward` and browsers ask for them: a stream in both directions for each port.
use std::{io, pin::Pin, sync::Arc};

use serde::{Deserialize, Serialize};
use tokio::io::DuplexStream;

use crate::ApiType;

/// Options of `portforward`.
#[derive(ApiType, Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ForwardOptions {
    /// The ports to forward.
    pub ports: Option<Vec<i32>>,
}

/// What a handler of a `portforward`-like subresource gives back: the code that serves one port's stream.
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
pub(crate) type Serve = Arc<dyn Fn(u16, DuplexStream) -> Serving + Send + Sync>;
type Serving = Pin<Box<dyn Future<Output = io::Result<()>> + Send>>;

impl Forward {
    /// Serves each port with this code, which reads what the client sends and writes what it is to get. An error is told to
    /// the client on the port's own channel for errors.
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
