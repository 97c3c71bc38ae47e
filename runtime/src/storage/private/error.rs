//! Why a directory or a file in it is not used, with the command that mends it.

use std::{
    fmt, io,
    path::{Path, PathBuf},
};

/// How many names of a foreign directory a message lists.
const NAMES: usize = 3;

/// Why the data directory, or a file in it, is not used.
#[derive(Debug)]
pub enum FileError {
    /// It cannot be made, read or written.
    Io {
        /// The directory or file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Somebody else could have written it, or could read the secret in it.
    Untrusted {
        /// The directory or file.
        path: PathBuf,
        /// Who could, such as `other users can write it`.
        reason: String,
        /// What mends it, such as ``run `chmod 600 /data/ca.key` ``.
        remedy: String,
    },
    /// The directory has no store, but has files that the server does not make.
    Foreign {
        /// The directory.
        path: PathBuf,
        /// The names of those files, sorted.
        found: Vec<String>,
    },
}

impl FileError {
    /// A symbolic link in place of a file of the server's own.
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
                    "the directory {} holds files that are not the server's: {names}{more}; name an empty directory, or \
                     one that does not exist",
                    path.display()
                )
            }
        }
    }
}

/// What a person can do about an I/O error, where that is plain.
fn way_out(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::PermissionDenied => "; make it belong to the user that runs the server",
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

/// A path as a shell takes it.
pub(crate) fn quoted(path: &Path) -> String {
    let text = path.to_string_lossy();
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:@%,".contains(c);
    if text.chars().all(plain) { text.into_owned() } else { format!("'{}'", text.replace('\'', r"'\''")) }
}
