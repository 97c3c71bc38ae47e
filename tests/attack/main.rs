//! Misbehaving clients: they do not read, do not finish requests, or request more than a server can provide at once.
//! Each attack runs against a server in a separate process. During the attack the server must stay within its bounds on
//! resident memory and answer `/readyz` in time, on a new connection and on an open one. Five seconds after it, the
//! server must answer normally, with the memory of the attack released or bounded.
//!
//! Attacks run one at a time, so that measurements belong to one attack. Memory bounds are the same in debug builds;
//! time bounds are looser there. `KINDSMITH_ATTACK=full` runs the full sizes, in release builds, which are too slow for
//! an ordinary run on two cores. Otherwise each attack is scaled down as its file says.
//!
//! `cargo test --release -p kindsmith-tests --test attack -- --nocapture` prints the measurements.

#![allow(clippy::unwrap_used, reason = "all of it is a test; only functions marked as tests are exempt by themselves")]

mod bodies;
mod definitions;
mod descriptors;
mod documents;
mod heads;
mod inflight;
mod lists;
mod objects;
mod observe;
mod prefaces;
mod queries;
mod refusals;
mod rules;
mod stop;
mod streams;
mod target;
mod watchers;
mod webhooks;
mod wire;

pub use observe::{Bounds, Observation};
pub use target::{Setup, Target};

/// The full size with `KINDSMITH_ATTACK=full`, otherwise the reduced one.
pub fn size(full: usize, ordinary: usize) -> usize {
    if std::env::var("KINDSMITH_ATTACK").is_ok_and(|value| value == "full") { full } else { ordinary }
}
