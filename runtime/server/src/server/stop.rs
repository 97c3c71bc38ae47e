//! Signals: SIGTERM and SIGINT stop a server, SIGHUP makes it read files again.

use std::time::Duration;

use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    sync::watch,
};

/// How long a stop takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StopTimes {
    /// How long it waits for controllers and running requests.
    pub within: Duration,
    /// How long connections are accepted before that.
    pub delay: Duration,
}

impl Default for StopTimes {
    fn default() -> Self {
        Self { within: Duration::from_secs(30), delay: Duration::ZERO }
    }
}

/// SIGTERM from supervisors and SIGINT from a terminal stop a server. SIGHUP makes it read its token and certificate files again.
pub(super) struct Signals {
    terminate: Signal,
    interrupt: Signal,
    hangup: Signal,
}

/// Starts to listen for them; they no longer end the process by themselves.
pub(super) fn signals() -> Signals {
    let listen = |kind| signal(kind).expect("the runtime has I/O enabled, and the signal may be handled");
    Signals {
        terminate: listen(SignalKind::terminate()),
        interrupt: listen(SignalKind::interrupt()),
        hangup: listen(SignalKind::hangup()),
    }
}

impl Signals {
    /// Waits for a signal that stops the server; notifies about each SIGHUP.
    pub(super) async fn stop(&mut self, read_now: &watch::Sender<()>) {
        loop {
            tokio::select! {
                _ = self.terminate.recv() => return,
                _ = self.interrupt.recv() => return,
                _ = self.hangup.recv() => read_now.send_replace(()),
            }
        }
    }
}
