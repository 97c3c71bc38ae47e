//! A file of tokens, read at the start and again when it changes: the one that a user names, or the admin's token in the
//! data directory.
//!
//! Guarantees that a file which cannot be used changes nothing: the tokens read before stay valid, and one error is
//! logged. Never blocks an async worker on the file.

use std::{
    fs, io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
    time::Duration,
};

use tokio::{sync::Notify, task::spawn_blocking, time::sleep};

use super::{Error, Result, first_run::Kubeconfig};
use crate::{
    auth::{CurrentTokens, Tokens},
    storage::private::{Access, PrivateDir},
};

/// How often the file is looked at.
const PERIOD: Duration = Duration::from_secs(2);

/// Whose tokens a file has.
pub(super) enum Source {
    /// Users', in a file that a person named. It may be a symbolic link, as the files of a mounted Secret are.
    Users(PathBuf),
    /// The admin's, in a file of the data directory.
    Admin {
        /// The data directory.
        files: PrivateDir,
        /// The file in it.
        name: &'static str,
        /// Written again when the token changes, once there is one.
        kubeconfig: Arc<OnceLock<Kubeconfig>>,
    },
}

/// A file of tokens.
pub(super) struct TokenFile {
    source: Source,
    tokens: Arc<CurrentTokens>,
    /// The file as it was when it was last read, with success or without.
    read: Stamp,
    /// The file as it was at the last look, if it has changed since it was read.
    changing: Option<Stamp>,
}

/// What tells one content of a file from the next: device, inode, size and time of the last change; or why there is none.
type Stamp = std::result::Result<(u64, u64, u64, i64, i64), io::ErrorKind>;

impl TokenFile {
    /// Reads a file.
    pub fn open(source: Source) -> Result<Self> {
        let read = stamp(&source.path());
        let tokens = source.tokens()?;
        Ok(Self { source, tokens: Arc::new(CurrentTokens::new(tokens)), read, changing: None })
    }

    /// The tokens, which change with the file.
    pub fn tokens(&self) -> Arc<CurrentTokens> {
        Arc::clone(&self.tokens)
    }

    /// Looks at the file every few seconds, and reads it at once when notified. Never ends by itself.
    pub async fn follow(mut self, read_now: Arc<Notify>) {
        loop {
            let now = tokio::select! {
                () = sleep(PERIOD) => false,
                () = read_now.notified() => true,
            };
            let looked = spawn_blocking(move || {
                self.report(now);
                self
            });
            self = match looked.await {
                Ok(looked) => looked,
                // The runtime is stopping.
                Err(_) => return,
            };
        }
    }

    fn report(&mut self, now: bool) {
        let path = self.source.path();
        match self.look(now) {
            None => {}
            Some(Ok(())) => tracing::info!(file = %path.display(), "tokens were read again"),
            Some(Err(error)) => {
                tracing::error!(%error, "tokens were not read again; the tokens read before stay valid");
            }
        }
    }

    /// Reads the file if it has changed, or in any case where `now`; `None` where it was not read.
    fn look(&mut self, now: bool) -> Option<Result<()>> {
        let found = stamp(&self.source.path());
        let settled = self.changing.replace(found) == Some(found);
        // A file that changed since the last look may be half written. At the next look it is not.
        if !now && (found == self.read || !settled) {
            return None;
        }
        self.read = found;
        Some(self.source.tokens().map(|tokens| self.tokens.replace(tokens)))
    }
}

impl Source {
    fn path(&self) -> PathBuf {
        match self {
            Self::Users(path) => path.clone(),
            Self::Admin { files, name, .. } => files.file(name),
        }
    }

    fn tokens(&self) -> Result<Tokens> {
        match self {
            Self::Users(path) => users(path).map_err(|message| Error::TokenFile(path.clone(), message)),
            Self::Admin { files, name, kubeconfig } => {
                let token = files.read(name, Access::Secret).map_err(Error::File)?.unwrap_or_default();
                let token = token.trim();
                if token.is_empty() {
                    return Err(Error::TokenFile(files.file(name), "it has no token".to_owned()));
                }
                kubeconfig.get().map_or(Ok(()), |kubeconfig| kubeconfig.write(files, token))?;
                Ok(Tokens::admin(token))
            }
        }
    }
}

fn users(path: &Path) -> std::result::Result<Tokens, String> {
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    let mode = fs::metadata(path).map_or(0, |metadata| metadata.mode() & 0o7777);
    if mode & 0o027 != 0 {
        let mode = format!("{mode:04o}");
        tracing::warn!(file = %path.display(), mode, "other users can read or write the token file");
    }
    Tokens::from_csv(&text).map_err(|error| error.to_string())
}

fn stamp(path: &Path) -> Stamp {
    let found = fs::metadata(path).map_err(|error| error.kind())?;
    // A pipe gives its content once.
    if !found.is_file() {
        return Err(io::ErrorKind::Unsupported);
    }
    Ok((found.dev(), found.ino(), found.size(), found.mtime(), found.mtime_nsec()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::state::{ADMIN_TOKEN, StateDir};

    fn knows(file: &TokenFile, token: &str) -> bool {
        use crate::auth::{Authenticate, Credentials, Soon};
        matches!(file.tokens().authenticate(&Credentials::token(token)), Soon::Now(Some(Ok(Some(_)))))
    }

    #[test]
    fn a_file_that_changes_is_read_once_it_has_settled() {
        let state = StateDir::temporary().unwrap();
        let path = state.file("tokens.csv");
        fs::write(&path, "t1,ada,1\n").unwrap();
        let mut file = TokenFile::open(Source::Users(path.clone())).unwrap();
        assert!(knows(&file, "t1") && file.look(false).is_none() && file.look(false).is_none());
        fs::write(&path, "t2,bob,2\nt3,").unwrap();
        assert!(file.look(false).is_none(), "it may be half written");
        fs::write(&path, "t2,bob,2\nt3,cid,3\n").unwrap();
        assert!(file.look(false).is_none(), "it was");
        assert!(matches!(file.look(false), Some(Ok(()))));
        assert!(knows(&file, "t2") && knows(&file, "t3") && !knows(&file, "t1"));
        assert!(file.look(false).is_none() && matches!(file.look(true), Some(Ok(()))));
    }

    #[test]
    fn a_file_that_cannot_be_used_is_reported_once_and_the_tokens_stay() {
        let state = StateDir::temporary().unwrap();
        let path = state.file("tokens.csv");
        fs::write(&path, "t1,ada,1\n").unwrap();
        let mut file = TokenFile::open(Source::Users(path.clone())).unwrap();
        fs::write(&path, "nobody here\n").unwrap();
        assert!(file.look(false).is_none());
        let error = file.look(false).expect("it has settled").unwrap_err().to_string();
        assert!(error.contains("tokens.csv") && error.contains("line 1"), "{error}");
        assert!(file.look(false).is_none() && file.look(false).is_none() && knows(&file, "t1"));
        fs::remove_file(&path).unwrap();
        assert!(file.look(false).is_none() && matches!(file.look(false), Some(Err(_))));
        assert!(file.look(false).is_none() && knows(&file, "t1"));
        // A link to another file, as a mounted Secret changes.
        fs::write(state.file("next.csv"), "t2,bob,2\n").unwrap();
        std::os::unix::fs::symlink("next.csv", &path).unwrap();
        assert!(file.look(false).is_none() && matches!(file.look(false), Some(Ok(()))));
        assert!(knows(&file, "t2") && !knows(&file, "t1"));
    }

    #[test]
    fn an_admins_token_that_others_could_read_is_not_taken() {
        let state = StateDir::temporary().unwrap();
        let token = state.admin_token().unwrap();
        let source = Source::Admin { files: state.files().clone(), name: ADMIN_TOKEN, kubeconfig: Arc::default() };
        let mut file = TokenFile::open(source).unwrap();
        let path = state.file(ADMIN_TOKEN);
        let open = |mode| fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
        fs::write(&path, "next").unwrap();
        open(0o644);
        let error = file.look(true).expect("it is read").unwrap_err().to_string();
        assert!(error.contains("chmod 600"), "{error}");
        assert!(knows(&file, &token));
        open(0o600);
        fs::write(&path, "\n").unwrap();
        assert!(matches!(file.look(true), Some(Err(_))));
        fs::write(&path, "next\n").unwrap();
        assert!(matches!(file.look(true), Some(Ok(()))));
        assert!(knows(&file, "next") && !knows(&file, &token));
    }
}
