//! Access to the server: the token file or the admin token, and the builder's authenticators and authorizers.

use std::{
    path::PathBuf,
    sync::{Arc, OnceLock},
};

use super::{
    Result,
    files::Followed,
    first_run::Kubeconfig,
    state::{ADMIN_TOKEN, StateDir},
    token_file::{self, Source},
};
use crate::auth::{Authenticate, Authorize, Chain, MastersOnly, Union};

/// The builder's settings for access.
#[derive(Default)]
pub(super) struct Users {
    pub token_file: Option<PathBuf>,
    pub authenticators: Vec<Box<dyn Authenticate>>,
    pub authorizers: Vec<Box<dyn Authorize>>,
}

/// The authentication and authorization of the server.
pub(super) struct Access {
    pub authenticator: Arc<dyn Authenticate>,
    pub authorizer: Arc<dyn Authorize>,
    /// The admin, if the server created the token.
    pub admin: Option<Admin>,
    /// The source of the tokens.
    pub token_file: Followed,
}

/// The admin whose token the server created.
pub(super) struct Admin {
    /// The token at startup.
    pub token: String,
    kubeconfig: Arc<OnceLock<Kubeconfig>>,
}

impl Admin {
    /// Writes the kubeconfig, now and whenever the token changes.
    pub fn write_kubeconfig(&self, state: &StateDir, kubeconfig: Kubeconfig) -> Result<()> {
        self.kubeconfig.get_or_init(|| kubeconfig).write(state.files(), &self.token)
    }
}

impl Users {
    /// Tokens are checked first: those of the token file, or the server's own admin token. Then the builder's
    /// authenticators run. The builder's authorizers decide about requests that are not allowed by `system:masters` and
    /// open paths.
    pub fn access(mut self, state: &StateDir) -> Result<Access> {
        let (source, admin) = if let Some(path) = self.token_file {
            (Source::Users(path), None)
        } else {
            let admin = Admin { token: state.admin_token()?, kubeconfig: Arc::default() };
            let (files, kubeconfig) = (state.files().clone(), admin.kubeconfig.clone());
            (Source::Admin { files, name: ADMIN_TOKEN, kubeconfig }, Some(admin))
        };
        let (tokens, token_file) = token_file::open(source)?;
        self.authenticators.insert(0, Box::new(tokens));
        self.authorizers.insert(0, Box::new(MastersOnly));
        // Requests without credentials are anonymous; the authorizers decide what that allows.
        let authenticator = Arc::new(Chain::new(self.authenticators).or_anonymous());
        Ok(Access { authenticator, authorizer: Arc::new(Union::new(self.authorizers)), admin, token_file })
    }
}
