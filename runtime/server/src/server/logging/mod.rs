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

use std::{fs::File, io, os::fd::AsFd};

pub use queue::{Flush, Writer};

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

/// Logs to standard error according to `RUST_LOG`, such as `kindsmith=debug`; if it is missing or invalid, according to
/// `default`. Panics are logged, too, instead of printed. Keep the result until the program ends: dropping it waits a
/// moment for buffered lines.
///
/// A program that already has a subscriber keeps it.
///
/// # Panics
/// If the system cannot start a thread, or if `default` is not a filter.
#[cfg(feature = "logging")]
pub fn init(default: &str) -> Flush {
    use tracing_subscriber::EnvFilter;

    let parse = |text: &str| EnvFilter::builder().parse(text);
    let variable = std::env::var("RUST_LOG").ok().map(|text| parse(&text));
    let (filter, error) = match variable {
        Some(Ok(filter)) => (filter, None),
        Some(Err(error)) => (parse(default).expect("the default is a filter"), Some(error)),
        None => (parse(default).expect("the default is a filter"), None),
    };
    let (writer, flush) = stderr();
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(move || writer.clone());
    // Internal errors would be printed with `eprintln`, which blocks.
    if log.log_internal_errors(false).try_init().is_ok() {
        log_panics();
    }
    if let Some(error) = error {
        tracing::warn!(%error, default, "RUST_LOG cannot be read; the default is used");
    }
    flush
}

/// Logs panics: printing them would block the thread that panics while standard error is not read.
#[cfg(feature = "logging")]
fn log_panics() {
    use std::backtrace::{Backtrace, BacktraceStatus};

    std::panic::set_hook(Box::new(|panic| {
        let message = panic.payload_as_str().unwrap_or("(no message)");
        let location = panic.location().map(ToString::to_string).unwrap_or_default();
        let thread = std::thread::current();
        let thread = thread.name().unwrap_or("(unnamed)");
        let backtrace = Backtrace::capture();
        if backtrace.status() == BacktraceStatus::Captured {
            tracing::error!(thread, location, %backtrace, "panic: {message}");
        } else {
            tracing::error!(thread, location, "panic: {message}");
        }
    }));
}
