//! Who asks, and may they: the traits called on every request, and the authenticators and authorizers that come along.
//! Knows no HTTP: the http layer gives it what a request carries.

pub mod authenticate;
pub mod authorize;
pub mod impersonate;
mod soon;
#[cfg(test)]
mod tests;
pub mod tokens;

pub use authenticate::{Anonymous, Authenticate, Chain, Credentials, Headers, Identity, Unauthenticated, bearer};
pub use authorize::{AllowAll, Attributes, Authorize, Decision, MastersOnly};
pub use soon::Soon;
pub use tokens::{CurrentTokens, TokenFileError, Tokens};

/// An authenticated user.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct User {
    /// The name, such as `admin` or `system:anonymous`.
    pub name: String,
    /// A unique id; may be empty.
    pub uid: String,
    /// The groups, such as `system:masters`.
    pub groups: Vec<String>,
}

impl User {
    /// The group of those who may do everything.
    pub const MASTERS: &'static str = "system:masters";
    /// The group of everyone who said who they are.
    pub const AUTHENTICATED: &'static str = "system:authenticated";
    /// The group of everyone who did not.
    pub const UNAUTHENTICATED: &'static str = "system:unauthenticated";

    /// A user of a name and of these groups, and of the group of everyone who is authenticated.
    pub fn new(name: impl Into<String>, groups: &[&str]) -> Self {
        let groups = groups.iter().chain([&Self::AUTHENTICATED]).map(|group| (*group).to_owned()).collect();
        Self { name: name.into(), uid: String::new(), groups }
    }

    /// Whether the user is in a group.
    pub fn is_in(&self, group: &str) -> bool {
        self.groups.iter().any(|g| g == group)
    }

    /// The server itself, which its controllers act as.
    pub fn system() -> Self {
        Self {
            name: "system:apiserver".to_owned(),
            uid: String::new(),
            groups: vec![Self::MASTERS.to_owned(), Self::AUTHENTICATED.to_owned()],
        }
    }
}
