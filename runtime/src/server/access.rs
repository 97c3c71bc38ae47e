//! Who may use the server: the token file or the admin's token, and the authenticators and authorizers of the builder.

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

/// What the builder was given about users.
#[derive(Default)]
pub(super) struct Users {
    pub token_file: Option<PathBuf>,
    pub authenticators: Vec<Box<dyn Authenticate>>,
    pub authorizers: Vec<Box<dyn Authorize>>,
}

/// Who may use the server.
pub(super) struct Access {
    pub authenticator: Arc<dyn Authenticate>,
    pub authorizer: Arc<dyn Authorize>,
    /// The admin, where the server made one.
    pub admin: Option<Admin>,
    /// The file that the tokens come from.
    pub token_file: Followed,
}

/// The admin of the server's making.
pub(super) struct Admin {
    /// The token at the start.
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
    /// Tokens are asked for first, those of the token file or an admin's of the server's making, then the authenticators
    /// of the builder; the authorizers of the builder decide on what `system:masters` and open paths leave open.
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
