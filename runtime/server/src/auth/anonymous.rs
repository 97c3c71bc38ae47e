//! Anonymous users: requests without credentials, as far as they are let in.
use std::{collections::BTreeSet, sync::Arc};

use arc_swap::ArcSwap;

use super::{
    Soon, User,
    authenticate::{Authenticate, Credentials, Identity, Unauthenticated},
};

/// Which requests without credentials are let in as `system:anonymous`. What they may do is up to the authorizers. Others are answered
/// with 401.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum AnonymousAccess {
    /// All.
    #[default]
    Allowed,
    /// None.
    Refused,
    /// Those for these paths, such as `/livez`. A path stands for itself alone, not for paths below it.
    Paths(BTreeSet<String>),
}

impl AnonymousAccess {
    fn allows(&self, path: &str) -> bool {
        match self {
            Self::Allowed => true,
            Self::Refused => false,
            Self::Paths(paths) => paths.contains(path),
        }
    }
}

/// The settings for anonymous requests. They can change while requests are served.
#[derive(Default)]
pub(crate) struct CurrentAnonymousAccess(ArcSwap<AnonymousAccess>);

impl CurrentAnonymousAccess {
    pub(crate) fn replace(&self, access: AnonymousAccess) {
        self.0.store(Arc::new(access));
    }
}

/// Identifies requests without credentials as `system:anonymous`; see [`Chain::or_anonymous`](super::Chain::or_anonymous).
pub(super) struct Anonymous {
    user: Arc<User>,
    access: Arc<CurrentAnonymousAccess>,
}

impl Anonymous {
    pub(super) fn new(access: Arc<CurrentAnonymousAccess>) -> Self {
        let user = User {
            name: User::ANONYMOUS.to_owned(),
            groups: vec![User::UNAUTHENTICATED.to_owned()],
            ..User::default()
        };
        Self { user: Arc::new(user), access }
    }
}

impl Authenticate for Anonymous {
    fn authenticate<'a>(&'a self, credentials: &'a Credentials<'a>) -> Soon<'a, Identity> {
        // No authenticator knew the token, so it is invalid. Its sender does not mean to be anonymous.
        Soon::now(match credentials.token {
            Some(_) => Err(Unauthenticated("the bearer token is not known".to_owned())),
            None => Ok(self.access.0.load().allows(credentials.path).then(|| Arc::clone(&self.user))),
        })
    }
}
