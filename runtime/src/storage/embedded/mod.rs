//! The durable engine: one directory on this machine, no server to run.

use std::{
    fmt, io,
    path::{Path, PathBuf},
    time::Duration,
};

use super::{Change, CommitFuture, Entry, Op, ReadError, Sink, Store};
use crate::meta::Revision;

/// How much the engine keeps and how it works.
#[derive(Clone, Debug)]
pub struct Options {
    /// For how long changes can be read back.
    pub history_age: Duration,
    /// How many bytes of changes are kept at most; the older ones go first.
    pub history_bytes: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self { history_age: Duration::from_secs(300), history_bytes: 256 << 20 }
    }
}

/// Why a store could not be opened.
#[derive(Debug)]
pub enum OpenError {
    /// The directory could not be made, read or written.
    Directory {
        /// The data directory.
        dir: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Another process has the directory open.
    InUse {
        /// The data directory.
        dir: PathBuf,
    },
    /// The directory was written by a newer version.
    NewerFormat {
        /// The data directory.
        dir: PathBuf,
        /// The format found.
        found: u64,
        /// The newest format this version reads.
        known: u64,
    },
    /// The files are damaged.
    Damaged {
        /// The data directory.
        dir: PathBuf,
        /// What is wrong.
        message: String,
    },
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Directory { dir, source } => {
                write!(f, "the data directory {} cannot be used: {source}", dir.display())
            }
            Self::InUse { dir } => write!(
                f,
                "the data directory {} is in use by another process; stop it, or choose another directory",
                dir.display()
            ),
            Self::NewerFormat { dir, found, known } => write!(
                f,
                "the data directory {} has format {found}, this version reads up to {known}; run the newer version \
                 again, or choose another directory",
                dir.display()
            ),
            Self::Damaged { dir, message } => write!(
                f,
                "the data in {} is damaged: {message}; restore the directory from a backup, or move it away",
                dir.display()
            ),
        }
    }
}

impl std::error::Error for OpenError {}

/// The durable store.
pub struct Embedded {
    _todo: (),
}

impl Embedded {
    /// Opens the store in a directory, which is made if it is missing.
    ///
    /// # Errors
    /// [`OpenError`].
    pub fn open(_dir: impl AsRef<Path>, _options: Options) -> Result<Self, OpenError> {
        todo!()
    }
}

impl Store for Embedded {
    fn attach(&self, _sink: Sink) {
        todo!()
    }
    fn commit(&self, _ops: Vec<Op>) -> CommitFuture<'_> {
        todo!()
    }
    fn get(&self, _key: &str) -> Result<Option<Entry>, ReadError> {
        todo!()
    }
    fn range(&self, _prefix: &str, _at: Option<Revision>) -> Result<(Vec<Entry>, Revision), ReadError> {
        todo!()
    }
    fn head(&self) -> Revision {
        todo!()
    }
    fn compacted(&self) -> Revision {
        todo!()
    }
    fn changes(&self, _after: Revision, _limit: usize) -> Result<Vec<Change>, ReadError> {
        todo!()
    }
    fn compact(&self, _upto: Revision) -> Result<(), ReadError> {
        todo!()
    }
    fn close(&self) {
        todo!()
    }
}
