//! Who may use the server: the user's own authenticator and authorizer, or tokens and `system:masters`.

use std::{fs, sync::Arc};

use self::stand_in::{MastersOnly, Tokens};
use super::{Error, Result, builder::Builder, state::StateDir};
use crate::auth::{Authenticate, Authorize, User};

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
        let tokens = Tokens::parse(&text).map_err(|e| failed(e.to_string()))?;
        return Ok(Access { authenticator: Arc::new(tokens), authorizer, admin_token: None });
    }
    let token = state.admin_token()?;
    let admin = User { name: "admin".into(), uid: String::new(), groups: vec![User::MASTERS.into()] };
    let authenticator = Arc::new(Tokens::one(&token, admin));
    Ok(Access { authenticator, authorizer, admin_token: Some(token) })
}

/// Until `auth` brings its own.
mod stand_in {
    use std::{collections::HashMap, sync::Arc};

    use crate::auth::{
        Attributes, Authenticate, Authorize, Credentials, Decision, Soon, Unauthenticated, User, authenticate::Identity,
    };

    pub struct Tokens(HashMap<String, Arc<User>>);

    impl Tokens {
        pub fn parse(text: &str) -> Result<Self, String> {
            let mut users = HashMap::new();
            for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
                let mut parts = line.splitn(4, ',');
                let (Some(token), Some(name)) = (parts.next(), parts.next()) else {
                    return Err(format!("line {} has no user", at + 1));
                };
                let uid = parts.next().unwrap_or_default().to_owned();
                let groups = parts.next().unwrap_or_default().trim_matches('"');
                let mut groups: Vec<String> = groups.split(',').filter(|g| !g.is_empty()).map(str::to_owned).collect();
                groups.push(User::AUTHENTICATED.to_owned());
                users.insert(token.to_owned(), Arc::new(User { name: name.to_owned(), uid, groups }));
            }
            Ok(Self(users))
        }

        pub fn one(token: &str, user: User) -> Self {
            Self(HashMap::from([(token.to_owned(), Arc::new(user))]))
        }
    }

    impl Authenticate for Tokens {
        fn authenticate<'a>(&'a self, credentials: &'a Credentials<'a>) -> Soon<'a, Identity> {
            Soon::now(match credentials.token.map(|token| self.0.get(token)) {
                None => Ok(None),
                Some(Some(user)) => Ok(Some(user.clone())),
                Some(None) => Err(Unauthenticated("Unauthorized".into())),
            })
        }
    }

    pub struct MastersOnly;

    impl Authorize for MastersOnly {
        fn authorize<'a>(&'a self, attributes: &'a Attributes<'a>) -> Soon<'a, Decision> {
            Soon::now(if attributes.user.is_in(User::MASTERS) {
                Decision::Allow
            } else {
                Decision::NoOpinion(String::new())
            })
        }
    }
}
