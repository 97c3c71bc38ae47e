//! The folder that holds a server's state: the store, the certificate authority, the admin token, the kubeconfig.
//! Guarantees that the folder and the secrets in it are its owner's alone (0700, 0600) and that files appear whole.

use std::{
    fs,
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};

use super::{Error, Result};

/// The folder of a running server; a server without a data directory has a temporary one, gone when dropped.
pub(super) struct StateDir {
    path: PathBuf,
    temporary: bool,
}

impl StateDir {
    /// Makes the folder if need be, and takes it from others' eyes.
    pub fn open(path: &Path) -> Result<Self> {
        let failed = |source| Error::File(path.to_owned(), source);
        fs::DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(failed)?;
        fs::set_permissions(path, fs::Permissions::from_mode(0o700)).map_err(failed)?;
        Ok(Self { path: path.canonicalize().map_err(failed)?, temporary: false })
    }

    /// A folder of its own for a server that keeps nothing.
    pub fn temporary() -> Result<Self> {
        let path = std::env::temp_dir().join(format!("kindsmith-{}", random_text(12)));
        fs::DirBuilder::new().mode(0o700).create(&path).map_err(|source| Error::File(path.clone(), source))?;
        Ok(Self { path, temporary: true })
    }

    /// The absolute path of a file in the folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// The folder's absolute path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads a file, or `None` where there is none.
    pub fn read(&self, name: &str) -> Result<Option<String>> {
        match fs::read_to_string(self.file(name)) {
            Ok(text) => Ok(Some(text)),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(Error::File(self.file(name), e)),
        }
    }

    /// Writes a file for its owner only; a reader sees the old file or the new one, whole.
    pub fn write(&self, name: &str, text: &str) -> Result<()> {
        let path = self.file(name);
        let fresh = self.file(&format!(".{name}.{}", random_text(6)));
        let written = (|| {
            let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&fresh)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            fs::rename(&fresh, &path)
        })();
        written.map_err(|source| Error::File(path, source))
    }

    /// The admin's token: the one kept here, or a new random one.
    pub fn admin_token(&self) -> Result<String> {
        if let Some(kept) = self.read("admin.token")? {
            let kept = kept.trim();
            if !kept.is_empty() {
                return Ok(kept.to_owned());
            }
        }
        let token = random_text(32);
        self.write("admin.token", &token)?;
        Ok(token)
    }
}

impl Drop for StateDir {
    fn drop(&mut self) {
        if self.temporary {
            // What is left in a temporary folder is no one's loss, so a failure here is not worth a word.
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

/// Random text made of this many random bytes, safe in paths and headers.
pub(super) fn random_text(bytes: usize) -> String {
    let mut buffer = vec![0; bytes];
    getrandom::fill(&mut buffer).expect("the operating system has random bytes");
    URL_SAFE_NO_PAD.encode(buffer)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn the_folder_and_its_files_are_the_owners_alone() {
        let outer = StateDir::temporary().unwrap();
        let open = outer.file("open");
        fs::create_dir(&open).unwrap();
        fs::set_permissions(&open, fs::Permissions::from_mode(0o755)).unwrap();
        let state = StateDir::open(&open).unwrap();
        assert_eq!(mode(&open), 0o700, "a folder that others could read is closed to them");
        let token = state.admin_token().unwrap();
        assert_eq!(mode(&state.file("admin.token")), 0o600);
        assert!(token.len() >= 40, "{token}");
        assert_eq!(state.admin_token().unwrap(), token, "the token stays the same at the next start");
        assert_eq!(fs::read_dir(&open).unwrap().count(), 1, "no file in the making is left");
    }

    #[test]
    fn a_temporary_folder_goes_with_its_server() {
        let state = StateDir::temporary().unwrap();
        let path = state.path().to_owned();
        state.write("x", "y").unwrap();
        drop(state);
        assert!(!path.exists());
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_named() {
        let error = StateDir::open(Path::new("/proc/no/such")).err().unwrap().to_string();
        assert!(error.contains("/proc/no/such"), "{error}");
    }
}
