//! The log of a program: what is logged, in which format, and how that changes while the program runs.
#![cfg_attr(not(feature = "settings"), allow(dead_code, reason = "only settings change the format and the filter"))]

use std::{
    backtrace::{Backtrace, BacktraceStatus},
    sync::{Arc, OnceLock},
};

use tracing_subscriber::{
    EnvFilter, Layer as _, Registry, fmt, layer::SubscriberExt as _, reload, util::SubscriberInitExt as _,
};

use super::{Flush, Writer, stderr};

/// Logs to standard error according to `RUST_LOG`, such as `kindsmith=debug`; if it is missing or invalid, according to
/// `default`. Panics are logged, too, instead of printed. Keep the result until the program ends: dropping it waits a
/// moment for buffered lines.
///
/// A program that already has a subscriber keeps it.
///
/// # Panics
/// If the system cannot start a thread, or if `default` is not a filter.
pub fn init(default: &str) -> Flush {
    assert!(EnvFilter::builder().parse(default).is_ok(), "{default:?} is not a filter");
    let filter = std::env::var("RUST_LOG").unwrap_or_else(|_| default.to_owned());
    start(&Log { filter, format: Format::Text, otherwise: default.to_owned() }, &LogControl::default())
}

/// How lines of a log look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::server) enum Format {
    /// For people.
    #[default]
    Text,
    /// A JSON object a line.
    Json,
}

/// What is logged, and how.
#[derive(Clone, Debug, Default)]
pub(in crate::server) struct Log {
    /// The filter, such as `kindsmith=debug`.
    pub filter: String,
    pub format: Format,
    /// The filter if that one is invalid; `info` if it is empty.
    pub otherwise: String,
}

/// Changes what is logged, once a log was started.
#[derive(Clone, Default)]
pub(in crate::server) struct LogControl(Arc<OnceLock<Started>>);

struct Started {
    filter: reload::Handle<EnvFilter, Registry>,
    writer: Writer,
}

impl LogControl {
    /// Logs what this filter says from now on. An invalid filter is reported.
    pub(in crate::server) fn set_filter(&self, filter: &str) {
        let Some(started) = self.0.get() else { return };
        match EnvFilter::builder().parse(filter) {
            // It fails only if the subscriber is gone.
            Ok(filter) => drop(started.filter.reload(filter)),
            Err(error) => tracing::warn!(%error, filter, "the filter of the log is invalid"),
        }
    }

    /// Waits at most a second until everything logged so far is written.
    pub(in crate::server) fn wait(&self) {
        if let Some(started) = self.0.get() {
            started.writer.wait();
        }
    }
}

/// Starts a log, which the control then changes. See [`init`].
pub(in crate::server) fn start(log: &Log, control: &LogControl) -> Flush {
    let parse = |text: &str| EnvFilter::builder().parse(text);
    let (filter, error) = match parse(&log.filter) {
        Ok(filter) => (filter, None),
        Err(error) => {
            let otherwise = if log.otherwise.is_empty() { "info" } else { &log.otherwise };
            (parse(otherwise).expect("the default is a filter"), Some(error))
        }
    };
    let (filter, handle) = reload::Layer::new(filter);
    let (writer, flush) = stderr();
    let started = Started { filter: handle, writer: writer.clone() };
    // Internal errors would be printed with `eprintln`, which blocks.
    let lines = fmt::layer().with_writer(move || writer.clone()).log_internal_errors(false);
    let lines = match log.format {
        Format::Text => lines.boxed(),
        Format::Json => lines.json().flatten_event(true).boxed(),
    };
    if tracing_subscriber::registry().with(filter).with(lines).try_init().is_ok() {
        log_panics();
        // A control starts one log.
        drop(control.0.set(started));
    }
    if let Some(error) = error {
        tracing::warn!(%error, filter = log.filter, "the filter of the log is invalid; the default is used");
    }
    flush
}

/// Logs panics: printing them would block the thread that panics while standard error is not read.
fn log_panics() {
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
