//! Shared by the tests over the wire: an HTTP client, server processes, and seeded random numbers.

pub mod client;
#[cfg(doctest)]
mod documents;
pub mod process;
pub mod random;

pub use client::{Answer, Client, Events};
pub use process::{Folder, ServerProcess};
pub use random::Random;
