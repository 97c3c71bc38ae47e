//! Fuzz tests of what reads definitions and documents, and of what is made of them. Whatever a stranger calls things: nothing panics,
//! generated code parses and has the items of the kinds alone, each text stays a text, and no file lies outside of the folder.
//!
//! `KINDSMITH_FUZZ_SECONDS=3600 cargo test --release -p kindsmith-codegen --test fuzz` runs for an hour, as the fuzz tests of the
//! server do (`tests/fuzz`), whose engine this is. Samples of `kindsmith add kind --from` are fuzzed with the command
//! (`codegen/src/scaffold/sample/tests/fuzz.rs`).

#![allow(clippy::unwrap_used, reason = "all of it is a test; only functions marked as tests are exempt by themselves")]

mod documents;
#[path = "../../../tests/fuzz/engine.rs"]
mod engine;
mod inputs;
#[path = "../../../tests/fuzz/mutate.rs"]
mod mutate;
mod oracle;

#[test]
fn documents() {
    engine::fuzz("documents", &documents::Documents::new());
}
