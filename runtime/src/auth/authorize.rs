//! May they: the trait, what it is asked, and the authorizers that come along.
use std::fmt;

use super::{Soon, User};
use crate::meta::go;

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

/// What the client is told where it may not.
impl fmt::Display for Attributes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "User {} cannot {} ", go::quoted(&self.user.name), self.verb)?;
        if self.resource.is_empty() {
            return write!(f, "path {}", go::quoted(self.path));
        }
        let resource = match self.subresource {
            "" => go::quoted(self.resource),
            subresource => go::quoted(&format!("{}/{subresource}", self.resource)),
        };
        write!(f, "resource {resource} in API group {} ", go::quoted(self.group))?;
        if self.namespace.is_empty() {
            f.write_str("at the cluster scope")
        } else {
            write!(f, "in the namespace {}", go::quoted(self.namespace))
        }
    }
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

/// Members of `system:masters` may do everything; everyone may read health and version, and who is authenticated the
/// discovery documents, as kube-apiserver's default roles have it. The rest has no opinion.
#[derive(Clone, Copy, Debug, Default)]
pub struct MastersOnly;

impl MastersOnly {
    fn open(attributes: &Attributes<'_>) -> bool {
        let under = |root: &str| {
            let rest = attributes.path.strip_prefix(root);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let health = ["/healthz", "/livez", "/readyz", "/version"];
        let discovery = ["/api", "/apis", "/openapi"];
        attributes.resource.is_empty()
            && attributes.verb == "get"
            && (health.into_iter().any(under)
                || (attributes.user.is_in(User::AUTHENTICATED) && discovery.into_iter().any(under)))
    }
}

impl Authorize for MastersOnly {
    fn authorize<'a>(&'a self, attributes: &'a Attributes<'a>) -> Soon<'a, Decision> {
        Soon::now(if attributes.user.is_in(User::MASTERS) || Self::open(attributes) {
            Decision::Allow
        } else {
            Decision::NoOpinion(String::new())
        })
    }
}

/// Everyone may do everything. For tests.
#[derive(Clone, Copy, Debug, Default)]
pub struct AllowAll;

impl Authorize for AllowAll {
    fn authorize<'a>(&'a self, _attributes: &'a Attributes<'a>) -> Soon<'a, Decision> {
        Soon::now(Decision::Allow)
    }
}
