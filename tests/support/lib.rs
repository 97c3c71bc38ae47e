//! What the tests over the wire share: an HTTP client, servers as processes, random numbers from a seed.

pub mod client;
pub mod process;
pub mod random;

pub use client::{Answer, Client, Events};
pub use process::{Folder, ServerProcess};
pub use random::Random;
