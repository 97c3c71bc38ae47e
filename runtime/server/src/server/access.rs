//! Access to the server: the token file or the admin token, and the builder's authenticators and authorizers.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use super::{
    Result, authentication_file,
    files::FileWatcher,
    first_run::Kubeconfig,
    state::{ADMIN_TOKEN, StateDir},
    token_file::{self, TokenFile},
};
use crate::{
    auth::{
        AnonymousAccess, Authenticate, Authorize, Certificates, Chain, CurrentAnonymousAccess, Masters, Union,
        roles::Roles,
    },
    builtin::accounts::Accounts,
};

/// The builder's settings for access.
#[derive(Default)]
pub(super) struct Users {
    pub token_file: Option<PathBuf>,
    /// The file with the issuers of ID tokens.
    pub authentication_config: Option<PathBuf>,
    /// Who may be anonymous, if the program says so.
    pub anonymous: Option<AnonymousAccess>,
    /// The file with the keys of service accounts, if it is not in the data directory.
    pub account_keys: Option<PathBuf>,
    pub authenticators: Vec<Box<dyn Authenticate>>,
    pub authorizers: Vec<Box<dyn Authorize>>,
}

/// The authentication and authorization of the server.
pub(super) struct Access {
    pub authenticator: Arc<dyn Authenticate>,
    pub authorizer: Arc<dyn Authorize>,
    /// The admin, if the server created the token.
    pub admin: Option<Admin>,
    /// The watcher of the file with the tokens.
    pub token_file: FileWatcher,
    /// The watcher of the authentication configuration.
    pub authentication_config: Option<FileWatcher>,
}

/// The admin whose token the server created.
pub(super) struct Admin {
    /// The token at startup.
    pub token: String,
    kubeconfig: Arc<Mutex<Option<Kubeconfig>>>,
}

impl Admin {
    /// Writes the kubeconfig, now and whenever the token changes.
    pub(super) fn write_kubeconfig(&self, state: &StateDir, kubeconfig: Kubeconfig) -> Result<()> {
        let mut current = self.kubeconfig.lock().unwrap_or_else(PoisonError::into_inner);
        // The token may have changed since the start.
        current.insert(kubeconfig).write(&state.files, &state.admin_token()?)
    }
}

impl Users {
    /// Client certificates are checked first, then tokens: those of the token file, or the server's own admin token, and those of service
    /// accounts and OpenID Connect. Then the builder's authenticators run. The builder's authorizers decide about requests that neither `system:masters` nor roles allow.
    pub(super) fn access(
        mut self,
        state: &StateDir,
        accounts: Option<Arc<Accounts>>,
        roles: Arc<Roles>,
    ) -> Result<Access> {
        let (file, admin) = if let Some(path) = self.token_file {
            (TokenFile::Users(path), None)
        } else {
            let admin = Admin { token: state.admin_token()?, kubeconfig: Arc::default() };
            let (files, kubeconfig) = (state.files.clone(), admin.kubeconfig.clone());
            (TokenFile::Admin { files, name: ADMIN_TOKEN, kubeconfig }, Some(admin))
        };
        let (tokens, token_file) = token_file::open(file)?;
        let anonymous = Arc::new(CurrentAnonymousAccess::default());
        anonymous.replace(self.anonymous.clone().unwrap_or_default());
        let mut authentication_config = None;
        if let Some(path) = self.authentication_config {
            let (id_tokens, watcher) = authentication_file::open(path, self.anonymous, &anonymous)?;
            self.authenticators.insert(0, Box::new(id_tokens));
            authentication_config = Some(watcher);
        }
        if let Some(accounts) = accounts {
            self.authenticators.insert(0, Box::new(accounts));
        }
        self.authenticators.insert(0, Box::new(tokens));
        self.authenticators.insert(0, Box::new(Certificates));
        self.authorizers.splice(0..0, [Box::new(Masters) as Box<dyn Authorize>, Box::new(roles)]);
        // The authorizers decide what requests without credentials may do.
        let authenticator = Arc::new(Chain::new(self.authenticators).or_anonymous_if(anonymous));
        let authorizer = Arc::new(Union::new(self.authorizers));
        Ok(Access { authenticator, authorizer, admin, token_file, authentication_config })
    }
}
