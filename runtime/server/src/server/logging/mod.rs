//! Logging that never blocks the server and never ends it.
//!
//! With the feature `logging`, `init` sets up a program's log:
//!
//! ```
//! # #[cfg(feature = "logging")] {
//! let _log = kindsmith::logging::init("info");
//! # }
//! ```
//!
//! Without the feature, [`stderr`] is a writer for the program's own subscriber.
//!
//! A separate thread writes the log to standard error. The size of buffered lines is limited: while standard error is
//! not read, further lines are dropped, and their number is logged when it is read again. A closed standard error is
//! ignored.

mod queue;
#[cfg(feature = "logging")]
mod subscriber;

use std::{fs::File, io, os::fd::AsFd};

pub use queue::{Flush, Writer};
#[cfg(feature = "logging")]
pub use subscriber::init;
#[cfg(feature = "settings")]
pub(super) use subscriber::{Format, Log, LogControl, start};

/// A writer of log lines that never blocks, and a guard that waits for buffered lines at the end of the program.
///
/// `tracing_subscriber::fmt().with_writer(move || writer.clone())` takes it.
///
/// # Panics
/// If the system cannot start a thread.
pub fn stderr() -> (Writer, Flush) {
    // Not through `io::stderr`: its lock would be held while a write blocks, and a panic needs it, too.
    match io::stderr().as_fd().try_clone_to_owned() {
        Ok(descriptor) => queue::start(File::from(descriptor)),
        Err(_) => queue::start(io::sink()),
    }
}
