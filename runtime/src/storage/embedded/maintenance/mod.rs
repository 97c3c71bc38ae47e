//! Work on a store as a whole: check it, save what is readable of a damaged one, copy it to a file, and back.
//!
//! The library behind the command `kindsmith store`. A directory that is read is never changed, nothing is overwritten, and
//! whatever is made appears under its name only once it is whole and durable. A backup and a restore hold one row in
//! memory, whatever the size of the store; a check remembers some bytes of each row, and a salvage its key. The functions
//! block; call them from a blocking thread.

mod archive;
mod backup;
mod build;
mod check;
mod error;
mod gather;
mod restore;
mod salvage;
mod scan;
pub(super) mod socket;
mod stopped;
mod target;
mod write;

pub use backup::{Backup, backup};
pub use check::{Check, check};
pub use error::Error;
pub use restore::restore;
pub use salvage::{Salvage, salvage};

/// How far a long operation has come.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// What is being done, such as `reading rows`.
    pub doing: &'static str,
    /// How much of it is done.
    pub done: u64,
    /// How much there is; zero where that is not known.
    pub total: u64,
}

/// Is given the progress every now and then.
pub type OnProgress<'a> = &'a mut dyn FnMut(Progress);
