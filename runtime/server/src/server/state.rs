//! The directory with the server's files besides its store: the certificate authority, the admin token, the kubeconfig.
//! A server without a data directory leaves nothing behind.

use std::{
    fs::{self, DirBuilder},
    os::unix::fs::DirBuilderExt,
    path::Path,
};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};

use super::{Error, Result};
use crate::storage::{
    FileError,
    private::{Access, PrivateDir},
};

/// The admin token. Replacing the file rotates it.
pub(super) const ADMIN_TOKEN: &str = "admin.token";

/// The directory of a running server. Without a data directory it is temporary, and removed on drop.
pub(super) struct StateDir {
    /// The files, by name.
    pub files: PrivateDir,
    temporary: bool,
}

impl StateDir {
    /// The data directory, created if it is missing.
    pub(super) fn open(path: &Path) -> Result<Self> {
        Ok(Self { files: PrivateDir::open(path)?, temporary: false })
    }

    /// A temporary directory for a server without a data directory.
    pub(super) fn temporary() -> Result<Self> {
        let path = std::env::temp_dir().join(format!("kindsmith-{}", random_text(12)));
        let made = DirBuilder::new().mode(0o700).create(&path);
        made.map_err(|source| Error::File(FileError::Io { path: path.clone(), source }))?;
        Ok(Self { files: PrivateDir::open(&path)?, temporary: true })
    }

    /// True if it goes with the server.
    pub(super) fn is_temporary(&self) -> bool {
        self.temporary
    }

    /// The admin token: the stored one, or a new random one.
    pub(super) fn admin_token(&self) -> Result<String> {
        if let Some(kept) = self.files.read(ADMIN_TOKEN, Access::Secret)? {
            let kept = kept.trim();
            if !kept.is_empty() {
                return Ok(kept.to_owned());
            }
        }
        let token = random_text(32);
        self.files.write(ADMIN_TOKEN, Access::Secret, &token)?;
        Ok(token)
    }
}

impl Drop for StateDir {
    fn drop(&mut self) {
        if self.temporary {
            // Failing to remove a temporary directory does no harm.
            let _ = fs::remove_dir_all(self.files.path());
        }
    }
}

/// Random text from this many random bytes, safe in paths and headers.
pub(super) fn random_text(bytes: usize) -> String {
    let mut buffer = vec![0; bytes];
    getrandom::fill(&mut buffer).expect("the operating system has random bytes");
    URL_SAFE_NO_PAD.encode(buffer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_admins_token_stays_the_same() {
        let state = StateDir::temporary().unwrap();
        let token = state.admin_token().unwrap();
        assert!(token.len() >= 40, "{token}");
        assert_eq!(state.admin_token().unwrap(), token, "the token stays the same at the next start");
        assert_eq!(fs::read_dir(state.files.path()).unwrap().count(), 1, "no file in the making is left");
    }

    #[test]
    fn a_temporary_directory_goes_with_its_server() {
        let state = StateDir::temporary().unwrap();
        let path = state.files.path().to_owned();
        state.files.write("x", Access::Public, "y").unwrap();
        drop(state);
        assert!(!path.exists());
    }

    #[test]
    fn a_directory_that_cannot_be_made_is_named() {
        let error = StateDir::open(Path::new("/proc/no/such")).err().unwrap().to_string();
        assert!(error.contains("/proc/no/such"), "{error}");
    }
}
