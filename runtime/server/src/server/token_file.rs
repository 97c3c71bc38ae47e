//! A token file that is read at startup and again when it changes: the user's file, or the admin token in the data
//! directory.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use super::{
    Error, Result,
    files::{FileWatcher, warn_if_open},
    first_run::Kubeconfig,
};
use crate::{
    auth::{CurrentTokens, Tokens},
    files::{self, Limits},
    storage::private::{Access, PrivateDir},
};

/// A token file, by the owner of its tokens.
pub(super) enum TokenFile {
    /// The users in a file that the user named. It may be a symbolic link, like the files of a mounted Secret.
    Users(PathBuf),
    /// The admin, in a file of the data directory.
    Admin {
        /// The data directory.
        files: PrivateDir,
        /// The file in it.
        name: &'static str,
        /// Writes the kubeconfig again when the token changes.
        kubeconfig: Arc<Mutex<Option<Kubeconfig>>>,
    },
}

/// Reads a file. The tokens change with it once it is watched.
pub(super) fn open(file: TokenFile) -> Result<(Arc<CurrentTokens>, FileWatcher)> {
    let current = Arc::new(CurrentTokens::new(Tokens::default()));
    let (tokens, paths) = (current.clone(), vec![file.path()]);
    let watcher = FileWatcher::open("tokens", paths, move || {
        tokens.replace(file.tokens()?);
        Ok(())
    })?;
    Ok((current, watcher))
}

impl TokenFile {
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
                let kubeconfig = kubeconfig.lock().unwrap_or_else(PoisonError::into_inner);
                let token = files.read(name, Access::Secret)?.unwrap_or_default();
                let token = token.trim();
                if token.is_empty() {
                    return Err(Error::TokenFile(files.file(name), "it has no token".to_owned()));
                }
                kubeconfig.as_ref().map_or(Ok(()), |kubeconfig| kubeconfig.write(files, token))?;
                Ok(Tokens::admin(token))
            }
        }
    }
}

fn users(path: &Path) -> std::result::Result<Tokens, String> {
    let text = files::read_text(path, &Limits::default()).map_err(|error| error.to_string())?;
    warn_if_open(path, "token file");
    Tokens::from_csv(&text).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::server::state::{ADMIN_TOKEN, StateDir};

    fn knows(tokens: &Arc<CurrentTokens>, token: &str) -> bool {
        use crate::auth::{Authenticate, Credentials, Soon};
        matches!(tokens.authenticate(&Credentials::token(token)), Soon::Now(Some(Ok(Some(_)))))
    }

    #[test]
    fn a_changed_file_is_read_once_it_no_longer_changes() {
        let state = StateDir::temporary().unwrap();
        let path = state.files.file("tokens.csv");
        fs::write(&path, "t1,ada,1\n").unwrap();
        let (tokens, mut file) = open(TokenFile::Users(path.clone())).unwrap();
        assert!(knows(&tokens, "t1") && file.look(false).is_none() && file.look(false).is_none());
        fs::write(&path, "t2,bob,2\nt3,").unwrap();
        assert!(file.look(false).is_none(), "it may be half written");
        fs::write(&path, "t2,bob,2\nt3,cid,3\n").unwrap();
        assert!(file.look(false).is_none(), "it was");
        assert!(matches!(file.look(false), Some(Ok(()))));
        assert!(knows(&tokens, "t2") && knows(&tokens, "t3") && !knows(&tokens, "t1"));
        assert!(file.look(false).is_none() && matches!(file.look(true), Some(Ok(()))));
    }

    #[test]
    fn an_invalid_file_is_reported_once_and_the_tokens_stay() {
        let state = StateDir::temporary().unwrap();
        let path = state.files.file("tokens.csv");
        fs::write(&path, "t1,ada,1\n").unwrap();
        let (tokens, mut file) = open(TokenFile::Users(path.clone())).unwrap();
        fs::write(&path, "no user here\n").unwrap();
        assert!(file.look(false).is_none());
        let error = file.look(false).expect("it has settled").unwrap_err().to_string();
        assert!(error.contains("tokens.csv") && error.contains("line 1"), "{error}");
        assert!(file.look(false).is_none() && file.look(false).is_none() && knows(&tokens, "t1"));
        fs::remove_file(&path).unwrap();
        assert!(file.look(false).is_none() && matches!(file.look(false), Some(Err(_))));
        assert!(file.look(false).is_none() && knows(&tokens, "t1"));
        // A link to another file, as a mounted Secret changes.
        fs::write(state.files.file("next.csv"), "t2,bob,2\n").unwrap();
        std::os::unix::fs::symlink("next.csv", &path).unwrap();
        assert!(file.look(false).is_none() && matches!(file.look(false), Some(Ok(()))));
        assert!(knows(&tokens, "t2") && !knows(&tokens, "t1"));
    }

    #[test]
    fn an_admins_token_that_others_could_read_is_not_taken() {
        let state = StateDir::temporary().unwrap();
        let token = state.admin_token().unwrap();
        let file = TokenFile::Admin { files: state.files.clone(), name: ADMIN_TOKEN, kubeconfig: Arc::default() };
        let (tokens, mut file) = open(file).unwrap();
        let path = state.files.file(ADMIN_TOKEN);
        let open = |mode| fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
        fs::write(&path, "next").unwrap();
        open(0o644);
        let error = file.look(true).expect("it is read").unwrap_err().to_string();
        assert!(error.contains("chmod 600"), "{error}");
        assert!(knows(&tokens, &token));
        open(0o600);
        fs::write(&path, "\n").unwrap();
        assert!(matches!(file.look(true), Some(Err(_))));
        fs::write(&path, "next\n").unwrap();
        assert!(matches!(file.look(true), Some(Ok(()))));
        assert!(knows(&tokens, "next") && !knows(&tokens, &token));
    }
}
