//! A directory that only the server writes: creates, replaces, opens and checks it and its files.
//!
//! Guarantees that files are created with mode 0600, that a reader sees the old content or the new one and never a
//! mixture, that symbolic links are not followed to the server's files, and that files that other users could have
//! written are not used ([`trust`] has the rule). Never changes the mode of a directory that it did not create.
//!
//! | file | holds |
//! |---|---|
//!  | `LOCK` | nothing; the process that uses the directory locks it |
//!  | `FORMAT` | the format's number as text; `FORMAT.new` while a store is being created |
//! | `store.redb` | the engine's file |
//! | `HEAD` | the newest durable revision, as a witness beside the engine's file |
//! | `store.redb.format-1` | the engine's file as it was before an upgrade |
//!  | `store.redb.damaged-1`, … | the engine's file as it was when damage was found, before its readable part was copied |
//!  | `store.sock` | nothing; the socket through which a running server provides backups |
//!  | `admin.token`, `ca.crt`, `ca.key`, `client-ca.crt`, `client-ca.key`, `front-proxy-ca.crt`, `front-proxy-ca.key`, `service-account.key`, `kubeconfig` | the server's credentials |
//!  | `NAME.new` | the next content of one of these, until it is complete |

mod error;
#[cfg(test)]
mod tests;
mod trust;

use std::{
    fs::{self, DirBuilder, File, OpenOptions, Permissions},
    io::{self, Read, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
};

use rustix::fs::OFlags;

use self::trust::{Identity, Trust};

pub use error::FileError;
pub use error::quoted;
pub use trust::Access;

/// The names that a directory may have before it has a store. Any other name makes it a foreign directory.
const OWN: [&str; 15] = [
    "LOCK",
    "FORMAT",
    "HEAD",
    "RESERVE",
    "store.redb",
    "store.sock",
    "admin.token",
    "ca.crt",
    "ca.key",
    "client-ca.crt",
    "client-ca.key",
    "front-proxy-ca.crt",
    "front-proxy-ca.key",
    "service-account.key",
    "kubeconfig",
];
/// Files that `mkfs` leaves in an empty volume.
const IGNORED: [&str; 1] = ["lost+found"];

/// A directory that this process may trust.
#[derive(Clone)]
pub struct PrivateDir {
    path: PathBuf,
    trust: Trust,
}

impl PrivateDir {
    /// Creates a directory with mode 0700, or checks an existing one.
    ///
    /// # Errors
    /// If it cannot be created or read, or if others may use it.
    pub fn open(path: &Path) -> Result<Self, FileError> {
        let failed = |source| FileError::Io { path: path.to_owned(), source };
        DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(failed)?;
        let path = path.canonicalize().map_err(failed)?;
        // This check comes first, because the other errors advise changing modes, which is wrong for a foreign
        // directory.
        refuse_foreign(&path)?;
        let metadata = fs::metadata(&path).map_err(failed)?;
        let trust = Identity::current().trust_directory(&path, &metadata)?;
        Ok(Self { path, trust })
    }

    /// The absolute path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The absolute path of a file.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Opens a file after checking it; `None` if it does not exist.
    pub(crate) fn open_file(&self, name: &str, access: Access, write: bool) -> Result<Option<File>, FileError> {
        let path = self.file(name);
        let failed = |source| FileError::Io { path: path.clone(), source };
        // Without NONBLOCK, opening a named pipe blocks until its other end is opened.
        let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
        let file = match OpenOptions::new().read(true).write(write).custom_flags(flags).open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(_) if path.is_symlink() => return Err(FileError::symlink(path)),
            Err(source) => return Err(failed(source)),
        };
        let metadata = file.metadata().map_err(failed)?;
        if self.trust.check_file(&path, &metadata, access)? {
            file.set_permissions(Permissions::from_mode(0o600)).map_err(failed)?;
            tracing::warn!(file = %path.display(), "other users could read this file; its mode is now 0600");
        }
        Ok(Some(file))
    }

    /// True if a file exists. It may be opened only if it is not a symbolic link.
    pub(crate) fn has(&self, name: &str) -> Result<bool, FileError> {
        let path = self.file(name);
        match fs::symlink_metadata(&path) {
            Ok(metadata) if metadata.is_symlink() => Err(FileError::symlink(path)),
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(source) => Err(FileError::Io { path, source }),
        }
    }

    /// Reads a whole file after checking it; `None` if it does not exist.
    ///
    /// # Errors
    /// If it cannot be read, or if others may use it.
    pub fn read(&self, name: &str, access: Access) -> Result<Option<String>, FileError> {
        let Some(mut file) = self.open_file(name, access, false)? else { return Ok(None) };
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(|source| FileError::Io { path: self.file(name), source })?;
        Ok(Some(text))
    }

    /// Creates an empty file, replacing an existing one.
    pub(crate) fn create(&self, name: &str) -> Result<File, FileError> {
        let path = self.file(name);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            // `create_new` neither follows a link nor opens a file that another process created meanwhile.
            _ => OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&path),
        }
        .map_err(|source| FileError::Io { path, source })
    }

    /// Replaces a file's content, or creates the file. It is durable when this returns.
    ///
    /// # Errors
    /// If it cannot be written, or if others may use the file that it replaces.
    pub fn write(&self, name: &str, access: Access, text: &str) -> Result<(), FileError> {
        // Checks the replaced file, too: if others could read the secret, its owner should learn that it leaked.
        self.open_file(name, access, false)?;
        let new = format!("{name}.new");
        self.write_new(&new, text)?;
        self.rename(&new, name)
    }

    /// Creates a file with this content, durably.
    pub(crate) fn write_new(&self, name: &str, text: &str) -> Result<(), FileError> {
        let mut file = self.create(name)?;
        let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
        written.map_err(|source| FileError::Io { path: self.file(name), source })?;
        self.sync()
    }

    /// Renames a file over another one, durably.
    pub(crate) fn rename(&self, from: &str, to: &str) -> Result<(), FileError> {
        let renamed = fs::rename(self.file(from), self.file(to));
        renamed.map_err(|source| FileError::Io { path: self.file(to), source })?;
        self.sync()
    }

    /// Makes the directory's entries durable.
    fn sync(&self) -> Result<(), FileError> {
        let synced = File::open(&self.path).and_then(|directory| directory.sync_all());
        synced.map_err(|source| FileError::Io { path: self.path.clone(), source })
    }
}

/// Refuses a directory that has no store but has files that the server does not create.
fn refuse_foreign(path: &Path) -> Result<(), FileError> {
    let failed = |source| FileError::Io { path: path.to_owned(), source };
    let mut found = Vec::new();
    for entry in fs::read_dir(path).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name().to_string_lossy().into_owned();
        let own = name.strip_suffix(".new").unwrap_or(&name);
        if own == name && ["FORMAT", "store.redb"].contains(&own) {
            return Ok(());
        }
        // A kept old file may remain after a store was moved away to begin with an empty one.
        if !OWN.contains(&own) && !own.starts_with("store.redb.") && !IGNORED.contains(&own) {
            found.push(name);
        }
    }
    if found.is_empty() {
        return Ok(());
    }
    found.sort_unstable();
    Err(FileError::Foreign { path: path.to_owned(), found })
}
