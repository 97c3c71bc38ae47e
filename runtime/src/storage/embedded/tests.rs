//! The durable engine by itself: the suite, and what only a store on disk can do.

use std::path::PathBuf;

use super::*;
use crate::storage::suite;

/// A directory of a test's own, removed with it.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let dir = std::env::temp_dir().join(format!("kindsmith-store-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&dir);
        Self(dir)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn embedded_keeps_the_promises_of_a_store() {
    let scratch = Scratch::new("suite");
    let mut number = 0;
    suite::run(|| {
        number += 1;
        Embedded::open(scratch.0.join(number.to_string()), Options::default()).unwrap()
    });
}
