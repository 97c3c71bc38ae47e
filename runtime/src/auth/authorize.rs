//! May they: the trait, what it is asked, and the authorizers that come along.
use super::{Soon, User};

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Attributes<'a> {
    /// Who asks.
    pub user: &'a User,
    /// The verb: `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`; on paths that are
    /// no resource the HTTP method in lower case.
    pub verb: &'a str,
    /// The API group; empty for the core group.
    pub group: &'a str,
    /// The version.
    pub version: &'a str,
    /// The resource; empty for a path that is no resource.
    pub resource: &'a str,
    /// The subresource; may be empty.
    pub subresource: &'a str,
    /// The namespace; may be empty.
    pub namespace: &'a str,
    /// The object's name; may be empty.
    pub name: &'a str,
    /// The path of the request.
    pub path: &'a str,
}

/// What an authorizer says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// They may.
    Allow,
    /// This authorizer does not say; who is asked last and does not say, refuses. The reason may be empty.
    NoOpinion(String),
    /// They may not, whatever others say. The reason may be empty.
    Deny(String),
}

/// Says whether a user may. Called on every request, after authentication.
pub trait Authorize: Send + Sync + 'static {
    /// The decision.
    fn authorize<'a>(&'a self, attributes: &'a Attributes<'a>) -> Soon<'a, Decision>;
}
