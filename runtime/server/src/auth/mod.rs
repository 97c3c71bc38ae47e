//! Authentication and authorization: the traits called on every request, and the included implementations. Knows no
//! HTTP: the http layer passes the relevant parts of a request.

mod anonymous;
pub(crate) mod authenticate;
pub(crate) mod authorize;
pub(crate) mod cache;
pub(crate) mod certificates;
pub(crate) mod front_proxy;
pub(crate) mod impersonate;
pub(crate) mod jwt;
pub(crate) mod oidc;
mod reason;
pub(crate) mod roles;
mod rules;
mod soon;
#[cfg(test)]
mod tests;
pub(crate) mod tokens;

pub use anonymous::AnonymousAccess;
pub(crate) use anonymous::CurrentAnonymousAccess;
pub use authenticate::{Authenticate, Chain, Credentials, Headers, Identity, Unauthenticated};
pub use authorize::{AllowAll, Attributes, Authorize, Decision, Masters, Union};
pub use certificates::Certificates;
pub use reason::Reason;
pub use rules::{PathRule, ResourceRule, Rules};
pub use soon::Soon;
pub use tokens::{CurrentTokens, TokenFileError, Tokens};

pub use crate::meta::user::User;
