//! Clients that do not cooperate: they do not read, do not finish what they begin, or ask for more than a server can give
//! at once. Each attack runs against a server in a process of its own. During it the server must keep its bounds on
//! resident memory and answer `/readyz` in time, on a new connection and on a kept one; five seconds after it the server
//! must answer well, with the memory of the attack given back or bounded.
//!
//! Attacks run one at a time, so that what is measured is the attack's own. Bounds on memory are the same in debug
//! builds; bounds on time are looser there. `KINDSMITH_ATTACK=full` takes the sizes that the bounds are meant for, in release
//! builds, which are too slow for an ordinary run on two cores; without it each attack is scaled down as its file says.
//!
//! `cargo test --release -p kindsmith-tests --test attack -- --nocapture` prints what was seen.

#![allow(clippy::unwrap_used, reason = "all of it is a test; only functions marked as tests are exempt by themselves")]

mod bodies;
mod descriptors;
mod heads;
mod inflight;
mod lists;
mod observe;
mod prefaces;
mod queries;
mod refusals;
mod stop;
mod streams;
mod target;
mod watchers;
mod wire;

pub use observe::{Bounds, Observation};
pub use target::{Setup, Target};

/// One of two sizes: the one that bounds are meant for with `KINDSMITH_ATTACK=full`, otherwise the other.
pub fn size(full: usize, ordinary: usize) -> usize {
    if std::env::var("KINDSMITH_ATTACK").is_ok_and(|value| value == "full") { full } else { ordinary }
}
