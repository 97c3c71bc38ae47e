//! Logging that never blocks the server and never ends it.
//!
//! With the feature `logging`, [`init`] sets up a program's log:
//!
//! ```
//! # #[cfg(feature = "logging")] {
//! let _log = kindsmith::logging::init("info");
//! # }
//! ```
//!
//! Without the feature, [`stderr`] is a writer for a subscriber of the program's own.
//!
//! A thread of its own writes the log to standard error. Lines that wait for it have a bound in bytes: while standard
//! error is not read, further lines are dropped, and their number is logged when it is read again. A closed standard
//! error is ignored.

mod queue;

use std::{fs::File, io, os::fd::AsFd};

pub use queue::{Flush, Writer};

/// A writer of log lines that never blocks, and what waits for them at the end of the program.
///
/// `tracing_subscriber::fmt().with_writer(move || writer.clone())` takes it.
///
/// # Panics
/// Where the system has no thread left.
pub fn stderr() -> (Writer, Flush) {
    // Not through `io::stderr`: its lock would be held for as long as a write waits, and a panic wants it, too.
    match io::stderr().as_fd().try_clone_to_owned() {
        Ok(descriptor) => queue::start(File::from(descriptor)),
        Err(_) => queue::start(io::sink()),
    }
}

/// Logs to standard error what `RUST_LOG` asks for, such as `kindsmith=debug`; without it, or where it cannot be read,
/// what `default` does. Panics are logged, too, instead of being printed. Keep what this returns until the program ends:
/// dropping it waits a moment for lines not yet written.
///
/// A program that already has a subscriber keeps it.
///
/// # Panics
/// Where the system has no thread left, or `default` is not a filter.
#[cfg(feature = "logging")]
pub fn init(default: &str) -> Flush {
    use tracing_subscriber::EnvFilter;

    let parse = |text: &str| EnvFilter::builder().parse(text);
    let asked = std::env::var("RUST_LOG").ok().map(|text| parse(&text));
    let (filter, refused) = match asked {
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
    if let Some(error) = refused {
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
