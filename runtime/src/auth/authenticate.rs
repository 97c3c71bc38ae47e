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
    /// Looks a header up by its lower-case name.
    pub header: &'a (dyn Fn(&str) -> Option<&'a str> + Sync),
}

/// The credentials are there but wrong: 401.
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
