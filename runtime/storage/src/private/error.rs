//! Why a directory or a file in it is not trusted, with the command that fixes it.

use std::{
    fmt, io,
    path::{Path, PathBuf},
};

/// The maximum number of foreign file names in a message.
const NAMES: usize = 3;

/// Why the data directory, or a file in it, is not used.
#[derive(Debug)]
#[non_exhaustive]
pub enum FileError {
    /// It cannot be created, read or written.
    Io {
        /// The directory or file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// Another user could have written it, or could read the secret in it.
    Untrusted {
        /// The directory or file.
        path: PathBuf,
        /// Why it is not trusted, such as `other users can write it`.
        reason: String,
        /// The fix, such as ``run `chmod 600 /data/ca.key` ``.
        remedy: String,
    },
    /// The directory has no store, but has files that the server does not create.
    Foreign {
        /// The directory.
        path: PathBuf,
        /// The names of those files, sorted.
        found: Vec<String>,
    },
}

impl FileError {
    /// A symbolic link in place of one of the server's files.
    pub(super) fn symlink(path: PathBuf) -> Self {
        let remedy = format!("put the file that it points to in its place, or run `rm {}`", quoted(&path));
        Self::Untrusted { path, reason: "it is a symbolic link".to_owned(), remedy }
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { path, source } => write!(f, "{}: {source}{}", path.display(), way_out(source)),
            Self::Untrusted { path, reason, remedy } => {
                write!(f, "{} cannot be trusted: {reason}; {remedy}", path.display())
            }
            Self::Foreign { path, found } => {
                let more = found.len().saturating_sub(NAMES);
                let names = found[..found.len() - more].join(", ");
                let more = if more == 0 { String::new() } else { format!(" and {more} more") };
                write!(
                    f,
                    "the directory {} holds files that do not belong to the server: {names}{more}; name an empty directory, or \
                     one that does not exist",
                    path.display()
                )
            }
        }
    }
}

/// Advice for an I/O error with an obvious remedy.
fn way_out(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::PermissionDenied => "; make the user that runs the server its owner",
        io::ErrorKind::NotFound => "; check the path",
        io::ErrorKind::StorageFull => "; free some space",
        _ => "",
    }
}

impl std::error::Error for FileError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}

/// A path, quoted for a shell.
pub fn quoted(path: &Path) -> String {
    let text = path.to_string_lossy();
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:@%,".contains(c);
    if text.chars().all(plain) { text.into_owned() } else { format!("'{}'", text.replace('\'', r"'\''")) }
}
