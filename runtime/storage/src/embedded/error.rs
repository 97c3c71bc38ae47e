//! Errors of opening a store. Each message names the directory and what the administrator can do.

use std::{fmt, io, path::PathBuf};

use crate::FileError;

/// Why a store could not be opened.
#[derive(Debug)]
#[non_exhaustive]
pub enum OpenError {
    /// The directory or a file in it could not be created, read or written.
    Directory {
        /// The data directory.
        dir: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The directory or a file in it is not trusted, because other users could have written it, or because the
    /// directory does not belong to a store.
    Refused(FileError),
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
            Self::Directory { dir, source } => write!(
                f,
                "the data directory {} cannot be used: {source}; check who owns it and that its disk has room, or choose \
                 another directory",
                dir.display()
            ),
            Self::Refused(error) => error.fmt(f),
            Self::InUse { dir } => write!(
                f,
                "the data directory {} is in use by another process; stop that process, or choose another directory",
                dir.display()
            ),
            Self::NewerFormat { dir, found, known } => write!(
                f,
                "the data directory {} has format {found}, and this version reads formats up to {known}; run the newer \
                 version again, or choose another directory",
                dir.display()
            ),
            Self::Damaged { dir, message } => write!(
                f,
                "the data in {} is damaged: {message}; copy what can be read into a new directory with `kindsmith store \
                 salvage`, restore it from a backup with `kindsmith store restore`, or move what is left of the store \
                 (store.redb, FORMAT) away to begin empty",
                dir.display()
            ),
        }
    }
}

impl std::error::Error for OpenError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Directory { source, .. } => Some(source),
            Self::Refused(error) => Some(error),
            _ => None,
        }
    }
}

impl From<FileError> for OpenError {
    fn from(error: FileError) -> Self {
        match error {
            FileError::Io { path, source } => Self::Directory { dir: path, source },
            refused => Self::Refused(refused),
        }
    }
}
