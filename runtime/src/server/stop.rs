//! When to stop: the signals that tell a process so.

use tokio::signal::unix::{Signal, SignalKind, signal};

/// The signals that stop a server: SIGTERM from supervisors, SIGINT from a terminal.
pub(super) struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

/// Begins to listen for them; from here on they no longer end the process by themselves.
pub(super) fn signals() -> Signals {
    let listen = |kind| signal(kind).expect("the runtime has I/O enabled, and the signal may be handled");
    Signals { terminate: listen(SignalKind::terminate()), interrupt: listen(SignalKind::interrupt()) }
}

impl Signals {
    /// Waits for the next one.
    pub async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}
