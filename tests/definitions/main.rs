//! Definitions that others publish, and kube-apiserver's recorded answers to good and bad ones: what our reader makes of
//! them. They lie beside the project, and are not there for everyone; a test that misses them says that it did not run.
use std::path::PathBuf;

mod applied;
mod converter;
mod corpus;
mod declared;
mod described;
mod openapi;
mod recorded;
mod removed;
mod served;
mod webhook;
mod webhook_storage;

/// A file beside the project; `None`, with a word about it, where it is missing.
fn shared(path: &str) -> Option<PathBuf> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared").join(path);
    if path.exists() {
        return Some(path);
    }
    eprintln!("did not run: {} is missing", path.display());
    None
}

/// The text of a file beside the project.
fn shared_text(path: &str) -> Option<String> {
    shared(path).map(|path| std::fs::read_to_string(path).expect("a file that can be read"))
}
