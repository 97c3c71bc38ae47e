//! Definitions that others publish, and kube-apiserver's recorded answers to good and bad ones: what our reader makes of
//! them. They lie beside the project, and are not there for everyone; a test that misses them says that it did not run.
use std::{io::Write as _, path::PathBuf};

mod applied;
mod converter;
mod corpus;
mod declared;
mod described;
mod every_kind;
mod guide;
mod kubernetes;
mod openapi;
mod random;
mod recorded;
mod removed;
mod ruled;
mod rules;
mod served;
mod webhook;
mod webhook_lists;
mod webhook_storage;

/// A file beside the project. Where it is missing, `None`, which standard error says even if the test passes, or in CI a failure.
fn shared(path: &str) -> Option<PathBuf> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared").join(path);
    if path.exists() {
        return Some(path);
    }
    assert!(std::env::var_os("CI").is_none_or(|ci| ci != "true"), "{} is missing", path.display());
    // Not `eprintln!`, whose output is shown only of tests that fail.
    writeln!(std::io::stderr(), "NOT RUN: {} is missing", path.display()).expect("standard error");
    None
}

/// The text of a file beside the project.
fn shared_text(path: &str) -> Option<String> {
    shared(path).map(|path| std::fs::read_to_string(path).expect("a file that can be read"))
}
