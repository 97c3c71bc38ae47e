//! The place of a store.

use std::{
    fmt, fs,
    path::{Path, PathBuf},
};

use crate::storage::maintenance::Error;

/// The place of a store: the source or the target of a copy.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Place {
    /// A data directory, of a stopped or a running server.
    Directory(PathBuf),
    /// A backup.
    Backup(PathBuf),
}

impl Place {
    /// Reads a place as a user gives it. A path that does not exist is a backup if it ends in `.backup`, and a data
    /// directory otherwise.
    ///
    /// # Errors
    /// [`Error::Place`] for a URL that is not of etcd.
    pub fn parse(text: &str) -> Result<Self, Error> {
        if text.contains("://") {
            let message = "it is not a place of a store; give a data directory or a backup".to_owned();
            return Err(Error::Place { place: text.to_owned(), message });
        }
        let path = Path::new(text);
        let is_file = match fs::metadata(path) {
            Ok(metadata) => !metadata.is_dir(),
            Err(_) => path.extension().is_some_and(|ending| ending == "backup"),
        };
        Ok(if is_file { Self::Backup(path.to_owned()) } else { Self::Directory(path.to_owned()) })
    }

    /// What a copy notes of its source: the same for each run.
    pub(super) fn identity(&self) -> String {
        match self {
            Self::Directory(path) | Self::Backup(path) => {
                let path = fs::canonicalize(path).unwrap_or_else(|_| path.clone());
                path.display().to_string()
            }
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Directory(path) | Self::Backup(path) => path.display().fmt(f),
        }
    }
}
