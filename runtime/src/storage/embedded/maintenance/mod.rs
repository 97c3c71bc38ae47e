//! Maintenance of a whole store: check, salvage, backup, restore and storage migration.
//!
//! This is the library behind the command `kindsmith store`. It never changes a directory that it reads, overwrites
//! nothing, and publishes a result under its name only once it is complete and durable. Backup and restore hold one row
//! in memory, whatever the size of the store; a check keeps a few bytes for each row, and a salvage its key. The
//! functions block; call them from a blocking thread.

mod archive;
mod backup;
mod build;
mod check;
mod error;
mod gather;
mod migrate;
mod restore;
mod salvage;
mod scan;
pub(super) mod socket;
mod stopped;
mod target;

pub use backup::{Backup, backup};
pub use check::{Check, check};
pub use error::Error;
pub use migrate::{Migration, migrate};
pub(crate) use migrate::{Report, Reports};
pub use restore::restore;
pub use salvage::{Salvage, salvage};

/// The progress of a long operation.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Progress<'a> {
    /// The current step, such as `reading rows`.
    pub doing: &'a str,
    /// The amount of work done.
    pub done: u64,
    /// The total amount of work; zero if unknown.
    pub total: u64,
}

impl<'a> Progress<'a> {
    /// So much of the total is done of a step.
    pub fn new(doing: &'a str, done: u64, total: u64) -> Self {
        Self { doing, done, total }
    }
}

/// A callback that receives the progress regularly.
pub type OnProgress<'a> = &'a mut dyn FnMut(Progress<'_>);
