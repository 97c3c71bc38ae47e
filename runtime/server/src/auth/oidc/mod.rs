//! OpenID Connect: users by the ID tokens of issuers that a file names, kube-apiserver's `AuthenticationConfiguration`. The file also says
//! who may be anonymous.
//!
//! `configuration` is what the file says, and `shape` which fields it has; `validate` checks it by kube-apiserver's rules and compiles its
//! expressions (`expression`); `mapping` makes a user of the claims of a token; `keys` fetches and keeps an issuer's keys; `issuer` checks
//! its tokens; `known` remembers good ones for a moment. Fetches documents only through the client that it is given.
//!
//! Distributed claims, egress selectors and ES512 are not supported. EdDSA with Ed25519 is, other than in kube-apiserver.
mod configuration;
mod expression;
mod issuer;
mod keys;
mod known;
mod mapping;
mod shape;
#[cfg(test)]
mod tests;
mod validate;

use std::sync::Arc;

use arc_swap::ArcSwap;

use self::{configuration::Configuration, issuer::Issuer, known::KnownTokens};
use super::{
    AnonymousAccess, Authenticate, Credentials, Soon, Unauthenticated,
    authenticate::{Identity, authenticated},
    jwt::{LONGEST, UnverifiedToken},
};
use crate::tasks::BoxFuture;

/// Fetches documents of issuers.
pub(crate) trait Fetch: Send + Sync {
    /// The body of the document at an `https` URL.
    fn get(&self, url: &str) -> BoxFuture<Result<Vec<u8>, String>>;
}

/// Makes a client that trusts the authorities in PEM, or those of the system for an empty text. Fails with the reason why the text has none.
pub(crate) type Connect<'c> = &'c dyn Fn(&str) -> Result<Arc<dyn Fetch>, String>;

/// Identifies users by ID tokens. Must be made and changed within a Tokio runtime, on which the keys of issuers are fetched.
#[derive(Default)]
pub(crate) struct IdTokens(ArcSwap<Issuers>);

/// The issuers of one state of the file.
#[derive(Default)]
struct Issuers {
    issuers: Vec<Arc<Issuer>>,
    known: KnownTokens,
}

impl IdTokens {
    /// Uses the issuers of a file from now on. Keys of issuers that stay the same are kept. Returns who may be anonymous, if the file says
    /// so, which it may not if that is `set` already.
    ///
    /// # Errors
    /// All that is wrong with the file, by field. Nothing is changed then.
    pub(crate) fn replace(
        &self,
        text: &str,
        set: bool,
        connect: Connect<'_>,
    ) -> Result<Option<AnonymousAccess>, String> {
        let configuration = Configuration::read(text).map_err(|faults| faults.join("; "))?;
        if set && configuration.anonymous.is_some() {
            return Err(
                "anonymous: Forbidden: the program sets it with Builder::anonymous, too; leave one of them out"
                    .to_owned(),
            );
        }
        let checked = validate::check(&configuration, connect).map_err(|errors| {
            let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
            errors.join("; ")
        })?;
        let before = self.0.load();
        let issuers = checked.into_iter().map(|checked| {
            let same = before.issuers.iter().find(|issuer| issuer.has_source(&checked.source));
            Arc::new(Issuer::new(checked, same.map(|issuer| issuer.keys())))
        });
        self.0.store(Arc::new(Issuers { issuers: issuers.collect(), known: KnownTokens::default() }));
        Ok(configuration.anonymous.map(AnonymousAccess::from))
    }
}

impl Authenticate for IdTokens {
    fn authenticate<'a>(&'a self, credentials: &'a Credentials<'a>) -> Soon<'a, Identity> {
        let Some(token) = credentials.token.filter(|token| token.len() <= LONGEST) else { return Soon::now(Ok(None)) };
        let current = self.0.load();
        if current.issuers.is_empty() {
            return Soon::now(Ok(None));
        }
        if let Some(user) = current.known.find(token) {
            return Soon::now(Ok(Some(user)));
        }
        let Some(unverified) = UnverifiedToken::read(token) else { return Soon::now(Ok(None)) };
        let Some(issuer) = current.issuers.iter().find(|issuer| issuer.issues(&unverified)) else {
            return Soon::now(Ok(None));
        };
        let (issuer, current) = (Arc::clone(issuer), arc_swap::Guard::into_inner(current));
        Soon::later(async move {
            let verified = issuer.user(token).await.map_err(|why| Unauthenticated(format!("oidc: {why}")))?;
            let user = authenticated(Arc::new(verified.user));
            current.known.add(token, &user, verified.expires);
            Ok(Some(user))
        })
    }
}
