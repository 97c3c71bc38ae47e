//! Fuzz tests of the language. Whatever an expression is, nothing panics, and where it can be evaluated:
//! - the evaluator and a [slow, obvious one](slow) have the same result, or the same error, and the same cost;
//! - a limit of cost ends it exactly where it costs more, and its real work is in proportion to its cost;
//! - the estimated cost is not below it, for documents of the sizes that the estimate knows.
//!
//! `KINDSMITH_FUZZ_SECONDS=3600 cargo test --release -p kindsmith-cel --test fuzz` runs for an hour, as the fuzz tests of the server do
//! (`tests/fuzz`), whose engine this is.

#![allow(clippy::unwrap_used, reason = "all of it is a test; only functions marked as tests are exempt by themselves")]

// The engine takes random numbers from the package of the tests, which has the whole server. One file of it is enough.
extern crate self as kindsmith_tests;

#[path = "../../../../tests/fuzz/engine.rs"]
mod engine;
mod estimate;
mod evaluation;
mod expression;
mod literal;
#[path = "../../../../tests/fuzz/mutate.rs"]
mod mutate;
#[path = "../../../../tests/support/random.rs"]
mod random;
mod schema;
mod setup;
mod slow;
mod texts;

use std::sync::atomic::Ordering::Relaxed;

pub use random::Random;

/// Evaluation in debug builds takes more of the stack than test threads have.
fn fuzz<T: engine::Target + Send + 'static>(name: &'static str, target: T) {
    let run = move || engine::fuzz(name, &target);
    let run = std::thread::Builder::new().stack_size(64 << 20).spawn(run).expect("a thread");
    run.join().expect("no mistake is found");
}

#[test]
fn expressions() {
    fuzz("expressions", evaluation::Expressions);
    // Inputs that end early test little.
    let (evaluated, estimated) = (evaluation::EVALUATED.load(Relaxed), estimate::CHECKED.load(Relaxed));
    println!("{evaluated} had values, {estimated} of them within their estimates");
    assert!(evaluated > 10 && estimated > 0, "{evaluated}, {estimated}");
}

#[test]
fn texts() {
    fuzz("texts", texts::Texts::new());
}
