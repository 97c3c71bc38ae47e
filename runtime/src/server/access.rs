//! Who may use the server: the user's own authenticator and authorizer, or tokens and `system:masters`.

use std::{fs, sync::Arc};

use super::{Error, Result, builder::Builder, state::StateDir};
use crate::auth::{Anonymous, Authenticate, Authorize, Chain, MastersOnly, Tokens};

/// Who may use the server.
pub(super) struct Access {
    pub authenticator: Arc<dyn Authenticate>,
    pub authorizer: Arc<dyn Authorize>,
    /// The token of the admin, where the server made one.
    pub admin_token: Option<String>,
}

/// What the builder asked for; without that an admin with a token of the server's making.
pub(super) fn of(builder: &mut Builder, state: &StateDir) -> Result<Access> {
    let authorizer = builder.authorizer.take().unwrap_or_else(|| Arc::new(MastersOnly));
    if let Some(authenticator) = builder.authenticator.take() {
        return Ok(Access { authenticator, authorizer, admin_token: None });
    }
    if let Some(path) = &builder.token_file {
        let failed = |message: String| Error::TokenFile(path.clone(), message);
        let text = fs::read_to_string(path).map_err(|e| failed(e.to_string()))?;
        let tokens = Tokens::from_csv(&text).map_err(|e| failed(e.to_string()))?;
        return Ok(Access { authenticator: known_by(tokens), authorizer, admin_token: None });
    }
    let token = state.admin_token()?;
    let authenticator = known_by(Tokens::admin(&token));
    Ok(Access { authenticator, authorizer, admin_token: Some(token) })
}

/// Users by their tokens; who shows none is anonymous, and the authorizer says what that allows.
fn known_by(tokens: Tokens) -> Arc<dyn Authenticate> {
    Arc::new(Chain::new(vec![Box::new(tokens), Box::new(Anonymous::default())]))
}
