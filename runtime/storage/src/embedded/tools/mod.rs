//! What the command `kindsmith` does with a data directory: check, salvage, backup, restore and storage migration; and
//! what copies need of it.
//!
//! Never changes a directory that it reads. Backup and restore hold one row in memory, whatever the size of the store; a
//! check keeps a few bytes for each row, and a salvage its key.

mod archive;
mod aside;
mod backup;
mod backup_file;
mod build;
mod check;
mod client;
mod data_dir;
mod error;
mod feed;
mod locked_dir;
mod migrate;
mod objects;
mod readable_store;
mod restore;
mod salvage;
mod scan;
mod staged_store;

pub use backup::{Backup, backup};
pub(crate) use backup_file::BackupFile;
pub use check::{Check, check};
pub(crate) use data_dir::DataDir;
pub use error::Error;
pub use migrate::migrate;
pub(crate) use objects::{ChangesError, Edit, Objects, State, Take};
pub use restore::restore;
pub use salvage::{Salvage, salvage};
pub(crate) use staged_store::{RevisionScheme, StagedStore};

#[cfg(any(feature = "etcd", test))]
pub(crate) use super::clock::now_ms;
pub(crate) use super::snapshot::Object;

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
    /// The number of bytes moved; zero if they are not counted.
    pub bytes: u64,
}

impl<'a> Progress<'a> {
    /// So much of the total is done of a step.
    pub fn new(doing: &'a str, done: u64, total: u64) -> Self {
        Self { doing, done, total, bytes: 0 }
    }
}

/// A callback that receives the progress regularly.
pub type OnProgress<'a> = &'a mut dyn FnMut(Progress<'_>);
