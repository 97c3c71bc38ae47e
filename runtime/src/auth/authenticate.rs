//! Who asks: the trait, tokens, anonymous users, and a chain of several ways.
use std::{fmt, sync::Arc};

use super::{Soon, User};

/// What a request carries that may say who sends it.
#[derive(Clone, Copy)]
pub struct Credentials<'a> {
    /// The bearer token of the `Authorization` header.
    pub token: Option<&'a str>,
    /// The client's certificate chain in DER, verified against the server's client CAs; empty where it gave none.
    pub certificates: &'a [Vec<u8>],
    /// The headers.
    pub headers: &'a dyn Headers,
}

/// Headers of a request.
pub trait Headers: Sync {
    /// The first value of a header, by its lower-case name, if it is text.
    fn header(&self, name: &str) -> Option<&str>;
}

/// No headers.
impl Headers for () {
    fn header(&self, _name: &str) -> Option<&str> {
        None
    }
}

impl Credentials<'_> {
    /// No credentials.
    pub const NONE: Credentials<'static> = Credentials { token: None, certificates: &[], headers: &() };

    /// A bearer token and nothing else.
    pub fn token(token: &str) -> Credentials<'_> {
        Credentials { token: Some(token), certificates: &[], headers: &() }
    }
}

/// The token of an `Authorization` header's value, if it is a bearer's.
pub fn bearer(header: &str) -> Option<&str> {
    let (scheme, token) = header.trim().split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

/// The credentials are there but wrong: 401. The text is for logs; the client is told no more than `Unauthorized`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unauthenticated(pub String);

impl fmt::Display for Unauthenticated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unauthenticated {}

/// What an authenticator says: a user, or nothing to go by.
pub type Identity = Result<Option<Arc<User>>, Unauthenticated>;

/// Says who asks. Called on every request.
pub trait Authenticate: Send + Sync + 'static {
    /// The user, `None` where the credentials are not of the kind that this authenticator knows, an error where they
    /// are and are wrong.
    fn authenticate<'a>(&'a self, credentials: &'a Credentials<'a>) -> Soon<'a, Identity>;
}

/// Everyone without credentials is `system:anonymous`; last in a chain.
pub struct Anonymous {
    user: Arc<User>,
}

impl Default for Anonymous {
    fn default() -> Self {
        let user = User {
            name: "system:anonymous".to_owned(),
            uid: String::new(),
            groups: vec![User::UNAUTHENTICATED.to_owned()],
        };
        Self { user: Arc::new(user) }
    }
}

impl Authenticate for Anonymous {
    fn authenticate<'a>(&'a self, credentials: &'a Credentials<'a>) -> Soon<'a, Identity> {
        // A token that nobody before knew is wrong; who sends it does not mean to be anonymous.
        Soon::now(match credentials.token {
            Some(_) => Err(Unauthenticated("the bearer token is not known".to_owned())),
            None => Ok(Some(Arc::clone(&self.user))),
        })
    }
}

/// Several authenticators: the first that knows the user wins; an error counts only where none does.
#[derive(Default)]
pub struct Chain(Vec<Box<dyn Authenticate>>);

impl Chain {
    /// Authenticators in the order in which they are asked.
    pub fn new(authenticators: Vec<Box<dyn Authenticate>>) -> Self {
        Self(authenticators)
    }

    /// One more, asked last.
    pub fn push(&mut self, authenticator: impl Authenticate) {
        self.0.push(Box::new(authenticator));
    }
}

impl Authenticate for Chain {
    fn authenticate<'a>(&'a self, credentials: &'a Credentials<'a>) -> Soon<'a, Identity> {
        let mut wrong = None;
        for (at, authenticator) in self.0.iter().enumerate() {
            match authenticator.authenticate(credentials) {
                Soon::Now(Some(Ok(Some(user)))) => return Soon::now(Ok(Some(user))),
                Soon::Now(Some(Err(why))) => wrong = wrong.or(Some(why)),
                Soon::Now(_) => {}
                Soon::Later(first) => {
                    let rest = &self.0[at + 1..];
                    return Soon::later(async move {
                        wrong = match first.await {
                            Ok(Some(user)) => return Ok(Some(user)),
                            Ok(None) => wrong,
                            Err(why) => wrong.or(Some(why)),
                        };
                        for authenticator in rest {
                            match authenticator.authenticate(credentials).await {
                                Ok(Some(user)) => return Ok(Some(user)),
                                Ok(None) => {}
                                Err(why) => wrong = wrong.or(Some(why)),
                            }
                        }
                        wrong.map_or(Ok(None), Err)
                    });
                }
            }
        }
        Soon::now(wrong.map_or(Ok(None), Err))
    }
}
