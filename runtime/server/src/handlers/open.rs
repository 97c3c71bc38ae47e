//! The open streams and connections of handlers, which may last indefinitely. Stopping the server ends them, and waits
//! for upgraded connections.
use tokio::sync::watch;

/// The open streams and connections.
pub(crate) struct Open {
    stopping: watch::Sender<bool>,
    connections: watch::Sender<usize>,
}

/// An open connection, counted until it is dropped.
pub(crate) struct ConnectionGuard {
    connections: watch::Sender<usize>,
}

impl Default for Open {
    fn default() -> Self {
        Self { stopping: watch::Sender::new(false), connections: watch::Sender::new(0) }
    }
}

impl Open {
    /// Ends all of them.
    pub(crate) fn stop(&self) {
        self.stopping.send_replace(true);
    }

    /// Completes when they must end.
    pub(crate) fn stopping(&self) -> impl Future<Output = ()> + Send + 'static {
        let mut stopping = self.stopping.subscribe();
        async move {
            // A dropped sender also ends them.
            let _ = stopping.wait_for(|stopping| *stopping).await;
        }
    }

    /// Counts a connection.
    pub(crate) fn connect(&self) -> ConnectionGuard {
        self.connections.send_modify(|open| *open += 1);
        ConnectionGuard { connections: self.connections.clone() }
    }

    /// Completes when no connection is left.
    pub(crate) async fn ended(&self) {
        // The sender is in `self`, so it still exists.
        let _ = self.connections.subscribe().wait_for(|open| *open == 0).await;
    }
}

impl Drop for ConnectionGuard {
    fn drop(&mut self) {
        self.connections.send_modify(|open| *open -= 1);
    }
}
