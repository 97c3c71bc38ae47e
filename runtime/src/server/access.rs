//! Who may use the server: the user's own authenticator and authorizer, or tokens and `system:masters`.

use std::sync::Arc;

use super::{
    Result,
    builder::Builder,
    state::{ADMIN_TOKEN, StateDir},
    token_file::{Source, TokenFile},
};
use crate::auth::{Anonymous, Authenticate, Authorize, Chain, MastersOnly};

/// Who may use the server.
pub(super) struct Access {
    pub authenticator: Arc<dyn Authenticate>,
    pub authorizer: Arc<dyn Authorize>,
    /// The token of the admin, where the server made one.
    pub admin_token: Option<String>,
    /// Where the tokens come from, if the users have tokens.
    pub token_file: Option<TokenFile>,
}

/// What the builder asked for; without that an admin with a token of the server's making.
pub(super) fn of(builder: &mut Builder, state: &StateDir) -> Result<Access> {
    let authorizer = builder.authorizer.take().unwrap_or_else(|| Arc::new(MastersOnly));
    if let Some(authenticator) = builder.authenticator.take() {
        return Ok(Access { authenticator, authorizer, admin_token: None, token_file: None });
    }
    let (source, admin_token) = if let Some(path) = &builder.token_file {
        (Source::Users(path.clone()), None)
    } else {
        let token = state.admin_token()?;
        (Source::Admin { files: state.files().clone(), name: ADMIN_TOKEN, kubeconfig: None }, Some(token))
    };
    let file = TokenFile::open(source)?;
    // Requests without a token are anonymous; the authorizer decides what that allows.
    let chain = Chain::new(vec![Box::new(file.tokens()), Box::new(Anonymous::default())]);
    Ok(Access { authenticator: Arc::new(chain), authorizer, admin_token, token_file: Some(file) })
}
