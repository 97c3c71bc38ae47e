//! What is open: streams and connections that handlers keep up for as long as they like. A stop ends them, and waits for
//! those that are no longer connections of HTTP.
use tokio::sync::watch;

/// The streams and connections that are open.
pub(crate) struct Open {
    stopping: watch::Sender<bool>,
    connections: watch::Sender<usize>,
}

/// One of them, counted until it is dropped.
pub(crate) struct Connected {
    connections: watch::Sender<usize>,
}

impl Default for Open {
    fn default() -> Self {
        Self { stopping: watch::Sender::new(false), connections: watch::Sender::new(0) }
    }
}

impl Open {
    /// Ends them.
    pub fn stop(&self) {
        self.stopping.send_replace(true);
    }

    /// Comes when they are to end.
    pub fn stopping(&self) -> impl Future<Output = ()> + Send + 'static {
        let mut stopping = self.stopping.subscribe();
        async move {
            // A sender that has gone stops them, too.
            let _ = stopping.wait_for(|stopping| *stopping).await;
        }
    }

    /// Counts a connection.
    pub fn connect(&self) -> Connected {
        self.connections.send_modify(|open| *open += 1);
        Connected { connections: self.connections.clone() }
    }

    /// Comes when no connection is left.
    pub async fn ended(&self) {
        // The sender is here: it cannot be gone.
        let _ = self.connections.subscribe().wait_for(|open| *open == 0).await;
    }
}

impl Drop for Connected {
    fn drop(&mut self) {
        self.connections.send_modify(|open| *open -= 1);
    }
}
