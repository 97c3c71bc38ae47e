//! Authentication: the trait, tokens, anonymous users, and a chain of authenticators.
use std::{fmt, sync::Arc};

use super::{
    Soon, User,
    anonymous::{Anonymous, CurrentAnonymousAccess},
};

/// The audience of tokens that are meant for this server, under the name that kube-apiserver uses by default. It is also the issuer of
/// the tokens of service accounts.
pub(crate) const AUDIENCE: &str = "https://kubernetes.default.svc";

/// The parts of a request that may identify its sender.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Credentials<'a> {
    /// The bearer token of the `Authorization` header.
    pub token: Option<&'a str>,
    /// The client's certificate chain in DER, verified against the authorities of
    /// [`Builder::client_ca`](crate::server::Builder::client_ca) or
    /// [`Builder::front_proxy`](crate::server::Builder::front_proxy); empty if absent.
    pub certificates: &'a [Vec<u8>],
    /// The headers.
    pub headers: &'a dyn Headers,
    /// Whom a token must be meant for: one of these; empty for this server.
    pub audiences: &'a [&'a str],
    /// The path of the request, without escapes and query; empty if there is no request.
    pub path: &'a str,
}

/// Headers of a request.
pub trait Headers: Sync {
    /// The first value of a header, by its lower-case name, if it is text.
    fn header(&self, name: &str) -> Option<&str>;

    /// Visits every header with every value, by lower-case names, in the order in which they were sent. Without an implementation of
    /// its own, no header is visited.
    fn each(&self, _visit: &mut dyn FnMut(&str, &[u8])) {}
}

/// No headers.
impl Headers for () {
    fn header(&self, _name: &str) -> Option<&str> {
        None
    }
}

impl Credentials<'_> {
    /// No credentials.
    pub const NONE: Credentials<'static> =
        Credentials { token: None, certificates: &[], headers: &(), audiences: &[], path: "" };

    /// True if they may be meant for this server, and need not be for others alone.
    fn are_for_this_server(&self) -> bool {
        self.audiences.is_empty() || self.audiences.contains(&AUDIENCE)
    }

    /// Credentials with only a bearer token.
    pub fn token(token: &str) -> Credentials<'_> {
        Credentials { token: Some(token), ..Credentials::NONE }
    }
}

/// The token in the value of an `Authorization` header, if it is a bearer token.
pub(crate) fn bearer(header: &str) -> Option<&str> {
    let (scheme, token) = header.trim().split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

/// The credentials are present but invalid (401). The text is for logs; the client only gets `Unauthorized`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unauthenticated(pub String);

impl fmt::Display for Unauthenticated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unauthenticated {}

/// The result of an authenticator: a user, or `None` if it has no opinion.
pub type Identity = Result<Option<Arc<User>>, Unauthenticated>;

impl<T: Authenticate + ?Sized> Authenticate for Arc<T> {
    fn authenticate<'a>(&'a self, credentials: &'a Credentials<'a>) -> Soon<'a, Identity> {
        T::authenticate(self, credentials)
    }

    fn knows_audiences(&self) -> bool {
        T::knows_audiences(self)
    }
}

/// Identifies the sender of a request. Called on every request.
pub trait Authenticate: Send + Sync + 'static {
    /// Returns the user, `None` if it does not handle this kind of credentials, or an error if they are invalid.
    fn authenticate<'a>(&'a self, credentials: &'a Credentials<'a>) -> Soon<'a, Identity>;

    /// True if it looks at [`Credentials::audiences`]. Others are not asked about tokens that are meant for other servers alone.
    fn knows_audiences(&self) -> bool {
        false
    }
}

/// Several authenticators. The first that identifies the user wins; an error counts only if none does. Users that they
/// identify are in `system:authenticated`.
#[derive(Default)]
pub struct Chain {
    authenticators: Vec<Box<dyn Authenticate>>,
    anonymous: Option<Anonymous>,
}

impl Chain {
    /// A chain that calls the authenticators in this order.
    pub fn new(authenticators: Vec<Box<dyn Authenticate>>) -> Self {
        Self { authenticators, anonymous: None }
    }

    /// Adds an authenticator at the end.
    pub fn push(&mut self, authenticator: impl Authenticate) {
        self.authenticators.push(Box::new(authenticator));
    }

    /// Identifies requests without credentials as `system:anonymous`. Credentials that an authenticator refused stay an
    /// error, as in kube-apiserver.
    #[must_use]
    pub fn or_anonymous(self) -> Self {
        self.or_anonymous_if(Arc::default())
    }

    /// The same for requests that may be anonymous at that time.
    #[must_use]
    pub(crate) fn or_anonymous_if(self, access: Arc<CurrentAnonymousAccess>) -> Self {
        Self { anonymous: Some(Anonymous::new(access)), ..self }
    }

    /// The answer if no authenticator identifies the user.
    fn end<'a>(&'a self, refused: Option<Unauthenticated>, credentials: &'a Credentials<'a>) -> Soon<'a, Identity> {
        match (refused, &self.anonymous) {
            (Some(why), _) => Soon::now(Err(why)),
            (None, Some(anonymous)) => anonymous.authenticate(credentials),
            (None, None) => Soon::now(Ok(None)),
        }
    }
}

impl Authenticate for Chain {
    fn authenticate<'a>(&'a self, credentials: &'a Credentials<'a>) -> Soon<'a, Identity> {
        let mut refused = None;
        for (at, authenticator) in self.authenticators.iter().enumerate() {
            match ask(&**authenticator, credentials) {
                Soon::Now(Some(Ok(Some(user)))) => return Soon::now(Ok(Some(authenticated(user)))),
                Soon::Now(Some(Err(why))) => refused = refused.or(Some(why)),
                Soon::Now(_) => {}
                Soon::Later(first) => {
                    let rest = &self.authenticators[at + 1..];
                    return Soon::later(async move {
                        let mut answer = first.await;
                        for authenticator in rest {
                            match answer {
                                Ok(Some(user)) => return Ok(Some(authenticated(user))),
                                Ok(None) => {}
                                Err(why) => refused = refused.or(Some(why)),
                            }
                            answer = ask(&**authenticator, credentials).await;
                        }
                        match answer {
                            Ok(Some(user)) => Ok(Some(authenticated(user))),
                            Ok(None) => self.end(refused, credentials).await,
                            Err(why) => self.end(refused.or(Some(why)), credentials).await,
                        }
                    });
                }
            }
        }
        self.end(refused, credentials)
    }

    fn knows_audiences(&self) -> bool {
        true
    }
}

/// Asks an authenticator, unless the credentials are meant for others, and it cannot tell.
fn ask<'a>(authenticator: &'a dyn Authenticate, credentials: &'a Credentials<'a>) -> Soon<'a, Identity> {
    if authenticator.knows_audiences() || credentials.are_for_this_server() {
        authenticator.authenticate(credentials)
    } else {
        Soon::now(Ok(None))
    }
}

/// The user, in the group of everyone who is authenticated. A proxy in front may name an anonymous user, who is not.
pub(crate) fn authenticated(mut user: Arc<User>) -> Arc<User> {
    let is_anonymous = user.name == User::ANONYMOUS || user.is_in(User::UNAUTHENTICATED);
    if !is_anonymous && !user.is_in(User::AUTHENTICATED) {
        Arc::make_mut(&mut user).groups.push(User::AUTHENTICATED.to_owned());
    }
    user
}
