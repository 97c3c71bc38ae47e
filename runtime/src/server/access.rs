//! Who may use the server: the user's own authenticator and authorizer, or tokens and `system:masters`.

use std::sync::{Arc, OnceLock};

use super::{
    Result,
    builder::Builder,
    first_run::Kubeconfig,
    state::{ADMIN_TOKEN, StateDir},
    token_file::{Source, TokenFile},
};
use crate::auth::{Anonymous, Authenticate, Authorize, Chain, MastersOnly};

/// Who may use the server.
pub(super) struct Access {
    pub authenticator: Arc<dyn Authenticate>,
    pub authorizer: Arc<dyn Authorize>,
    /// The admin, where the server made one.
    pub admin: Option<Admin>,
    /// Where the tokens come from, if the users have tokens.
    pub token_file: Option<TokenFile>,
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

/// What the builder asked for; without that an admin with a token of the server's making.
pub(super) fn of(builder: &mut Builder, state: &StateDir) -> Result<Access> {
    let authorizer = builder.authorizer.take().unwrap_or_else(|| Arc::new(MastersOnly));
    if let Some(authenticator) = builder.authenticator.take() {
        return Ok(Access { authenticator, authorizer, admin: None, token_file: None });
    }
    let (source, admin) = if let Some(path) = &builder.token_file {
        (Source::Users(path.clone()), None)
    } else {
        let admin = Admin { token: state.admin_token()?, kubeconfig: Arc::default() };
        let (files, kubeconfig) = (state.files().clone(), admin.kubeconfig.clone());
        (Source::Admin { files, name: ADMIN_TOKEN, kubeconfig }, Some(admin))
    };
    let file = TokenFile::open(source)?;
    // Requests without a token are anonymous; the authorizer decides what that allows.
    let chain = Chain::new(vec![Box::new(file.tokens()), Box::new(Anonymous::default())]);
    Ok(Access { authenticator: Arc::new(chain), authorizer, admin, token_file: Some(file) })
}
