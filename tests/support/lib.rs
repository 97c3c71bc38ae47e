//! Shared by the tests over the wire: an HTTP client, server processes, and seeded random numbers.

pub mod client;
pub mod definitions;
#[cfg(doctest)]
mod documents;
pub mod process;
pub mod random;

pub use client::{Answer, Client, Events};
pub use definitions::Definitions;
pub use process::{Folder, ServerProcess};
pub use random::Random;
