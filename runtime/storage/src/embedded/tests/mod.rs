//! Tests of the durable engine: the suite for all engines, and what only a store on disk does.

mod damage;
mod disk;
mod flips;
mod full;
mod history;
mod lifetimes;
mod opening;
mod pages;
mod queue;
mod upgrade;

use std::{fs, path::PathBuf, sync::atomic::AtomicUsize, time::Duration};

use bytes::Bytes;

use super::*;
use crate::{
    Expect, Op, Previous,
    suite::{self, commit, property},
};

/// A temporary directory, removed on drop.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let dir = std::env::temp_dir().join(format!("kindsmith-store-{}-{number}", std::process::id()));
        let _ = fs::remove_dir_all(&dir);
        Self(dir)
    }

    fn open(&self, options: Options) -> Embedded {
        Embedded::open(&self.0, options).unwrap()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A store and its directory; the store is dropped first.
struct Opened {
    store: Option<Embedded>,
    options: Options,
    scratch: Scratch,
}

impl Opened {
    fn new(options: Options) -> Self {
        let scratch = Scratch::new();
        Self { store: Some(scratch.open(options)), options, scratch }
    }
}

impl property::Subject for Opened {
    fn store(&self) -> &dyn Store {
        self.store.as_ref().unwrap()
    }

    fn reopen(&mut self) {
        self.store = None;
        self.store = Some(self.scratch.open(self.options));
    }

    fn keeps_history(&self) -> bool {
        self.options.history_bytes == Options::default().history_bytes
    }
}

fn put(store: &Embedded, key: &str, value: impl Into<Bytes>) -> Revision {
    let op = Op { key: key.into(), value: Some(value.into()), expect: Expect::Any, lifetime: None };
    commit(store, vec![op]).unwrap()[0]
}

#[test]
fn embedded_passes_the_suite() {
    let scratch = Scratch::new();
    let mut number = 0;
    suite::run(suite::Revisions::Dense, || {
        number += 1;
        Embedded::open(scratch.0.join(number.to_string()), Options::default()).unwrap()
    });
}

#[test]
fn embedded_keeps_within_the_limits() {
    let scratch = Scratch::new();
    let mut number = 0;
    suite::limits::run(|options| {
        number += 1;
        Embedded::open(scratch.0.join(number.to_string()), options).unwrap()
    });
}

#[test]
fn embedded_agrees_with_the_model() {
    property::agrees_with_the_model(48, || Opened::new(Options::default()));
}

#[test]
fn embedded_agrees_with_the_model_while_history_is_cut() {
    property::agrees_with_the_model(48, || Opened::new(Options { history_bytes: 2_000, ..Options::default() }));
}
