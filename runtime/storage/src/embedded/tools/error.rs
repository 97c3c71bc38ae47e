//! Errors of the tools. Each message names the file and what the administrator can do.

use std::{
    fmt, io,
    path::{Path, PathBuf},
};

use crate::embedded::{OpenError, directory::MakeError};

/// Why a store could not be checked, salvaged, backed up, restored or migrated.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The data directory cannot be used: it is in use, of a newer format, damaged, or unreadable.
    Open(OpenError),
    /// The directory holds no store.
    NoStore {
        /// The directory.
        dir: PathBuf,
    },
    /// The store has an older format, without checksums.
    OldFormat {
        /// The directory.
        dir: PathBuf,
    },
    /// A file could not be created, read or written.
    File {
        /// The file or directory.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The target already exists.
    Exists {
        /// Its path.
        path: PathBuf,
    },
    /// A backup is damaged. Nothing was restored.
    BadBackup {
        /// The backup.
        file: PathBuf,
        /// What is wrong, and where.
        message: String,
    },
    /// The server that uses the directory could not provide a backup.
    Server {
        /// The data directory.
        dir: PathBuf,
        /// What went wrong.
        message: String,
    },
    /// The server that uses the directory could not send its objects or changes.
    Feed {
        /// The data directory.
        dir: PathBuf,
        /// What went wrong.
        message: String,
    },
    /// etcd failed while it was read or written.
    Etcd {
        /// The address of the objects.
        place: String,
        /// What went wrong.
        message: String,
    },
    /// A place of a copy cannot be used.
    Place {
        /// The place, as given.
        place: String,
        /// What is wrong, and the remedy.
        message: String,
    },
    /// The target holds an unfinished copy of another source.
    OtherCopy {
        /// The target.
        target: String,
        /// The unfinished copy.
        place: String,
        /// Its source.
        source: String,
    },
    /// The copy was interrupted, and the target can be completed.
    Interrupted,
    /// A place compacts its history faster than it can be read.
    Outrun {
        /// The source.
        place: String,
    },
    /// The target differs from the source.
    Differs {
        /// The target.
        target: String,
        /// The number of keys that differ.
        count: u64,
        /// The first of them.
        keys: Vec<String>,
    },
    /// No server has the directory open, and a migration needs one.
    NoServer {
        /// The data directory.
        dir: PathBuf,
    },
    /// The server that has the directory open did not migrate, or did not finish.
    Migration {
        /// The data directory.
        dir: PathBuf,
        /// What went wrong.
        message: String,
    },
}

impl Error {
    /// True if a store or a backup is damaged.
    pub fn is_damage(&self) -> bool {
        matches!(self, Self::BadBackup { .. } | Self::Open(OpenError::Damaged { .. }) | Self::Differs { .. })
    }

    /// The files of a data directory are damaged.
    pub(super) fn damaged(dir: &Path, message: impl fmt::Display) -> Self {
        Self::Open(OpenError::Damaged { dir: dir.to_owned(), message: message.to_string() })
    }

    /// The engine failed while it read or wrote a file.
    pub(super) fn engine(path: &Path, error: redb::Error) -> Self {
        Self::file(path)(match error {
            redb::Error::Io(source) => source,
            other => io::Error::other(other),
        })
    }

    /// The engine's file of a new store could not be made.
    pub(super) fn make(target: &Path, error: MakeError) -> Self {
        match error {
            MakeError::File(error) => Self::Open(error.into()),
            MakeError::Fill(error) => Self::engine(target, error),
        }
    }

    /// Wraps an I/O error about a file.
    pub(super) fn file(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::File { path, source }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open(error) => error.fmt(f),
            Self::NoStore { dir } => write!(
                f,
                "there is no store in {}; name the data directory of a server, the one with the file store.redb",
                dir.display()
            ),
            Self::OldFormat { dir } => write!(
                f,
                "the store in {} has format 1, which has no checksums; start the server once, which upgrades it and keeps \
                 the old file",
                dir.display()
            ),
            Self::File { path, source } => write!(f, "{}: {source}", path.display()),
            Self::Exists { path } => write!(
                f,
                "{} already exists and is not overwritten; choose another name, or move it away",
                path.display()
            ),
            Self::BadBackup { file, message } => write!(
                f,
                "the backup {} is damaged: {message}; nothing was restored, use another backup",
                file.display()
            ),
            Self::Server { dir, message } => write!(
                f,
                "the server that uses {} could not provide a backup: {message}; try again, or stop the server first",
                dir.display()
            ),
            Self::Feed { dir, message } => write!(
                f,
                "the server that uses {} could not be read: {message}; run the same command again, which goes on where \
                 this one ended",
                dir.display()
            ),
            Self::Etcd { place, message } => {
                write!(f, "{place}: {message}; run the same command again: a copy goes on where it ended")
            }
            Self::Place { place, message } => write!(f, "{place}: {message}"),
            Self::OtherCopy { target, place, source } => write!(
                f,
                "{target} is the target of an unfinished copy of {source}, in {place}; finish that copy, or remove {place} \
                 to begin again"
            ),
            Self::Interrupted => f.write_str("the copy was interrupted; the same command goes on where it ended"),
            Self::Outrun { place } => write!(
                f,
                "{place} compacts its history faster than it can be read; try again while fewer objects are written, or with a \
                 longer history"
            ),
            Self::Differs { target, count, keys } => write!(
                f,
                "{target} differs from its source in {count} keys, such as {}; the target is not complete: run the same \
                 command again, which compares all objects and writes the differing ones",
                keys.join(", ")
            ),
            Self::NoServer { dir } => write!(
                f,
                "no server uses {}: only the program that declares the kinds can migrate their objects; start it with \
                 this data directory, and run the command again while it serves",
                dir.display()
            ),
            Self::Migration { dir, message } => {
                write!(f, "the server that uses {} did not finish the migration: {message}", dir.display())
            }
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Open(error) => Some(error),
            Self::File { source, .. } => Some(source),
            _ => None,
        }
    }
}

impl From<OpenError> for Error {
    fn from(error: OpenError) -> Self {
        Self::Open(error)
    }
}
