//! Writes over a cache that may be behind the store, because other servers write to it, too.
//!
//! A write begins with what the cache has. If that leads to an error, the newest revision is asked for, and the write is made
//! again if the cache did not have it: kube-apiserver does the same with its cache. What succeeds needs no question, because
//! the commit's preconditions name the revisions that it is based on; only a write that changes nothing has no commit, so that
//! it is confirmed, too. If no other server writes to the store, nothing here costs anything.
use std::sync::Arc;

use super::{Error, Request, Verbs, retry::WriteFailure};
use crate::{cache::Object, meta::Revision};

/// What the cache had for a write: the revisions of the object and of its namespace.
#[derive(PartialEq, Eq)]
struct Basis {
    object: Option<Revision>,
    namespace: Option<Revision>,
}

impl Basis {
    fn of(api: &Verbs, request: &Request, name: &str) -> Self {
        let namespaces = api.registry.namespaces().filter(|_| !request.namespace.is_empty());
        let namespace = namespaces.and_then(|namespaces| namespaces.objects.snapshot().get(&request.namespace));
        let object = request.resource.objects.snapshot().get(&request.key_of(name));
        let revision = |object: Option<Arc<Object>>| object.map(|object| object.revision());
        Self { object: revision(object), namespace: revision(namespace) }
    }
}

impl Verbs {
    /// Makes a write of the object with a name, and makes it again if it failed over an outdated cache. A dry run has no
    /// commit that would notice that, so it begins with the newest state.
    pub(super) async fn again_if_stale<B, T, F>(
        &self,
        (request, name): (&Request, &str),
        dry_run: bool,
        mut body: B,
        attempt: impl Fn(B) -> F + Send + Sync,
    ) -> Result<T, Error>
    where
        B: Clone + Send + Sync,
        F: Future<Output = Result<T, Error>> + Send,
    {
        if dry_run {
            self.confirm().await?;
        }
        let mut spare = (self.store.is_shared() && !dry_run).then(|| (Basis::of(self, request, name), body.clone()));
        loop {
            let error = match attempt(body).await {
                Err(error) => error,
                done => return done,
            };
            let Some((before, again)) = spare.take().filter(|_| may_be_stale(&error)) else { return Err(error) };
            self.confirm().await?;
            if before == Basis::of(self, request, name) {
                return Err(error);
            }
            body = again;
        }
    }

    /// An object that a write leaves as it is, if that is still its newest state.
    pub(super) async fn unchanged(&self, request: &Request, object: Arc<Object>) -> Result<Arc<Object>, WriteFailure> {
        if self.store.is_shared() {
            self.confirm().await?;
            let newest = request.resource.objects.snapshot().get(object.key());
            if newest.is_none_or(|newest| newest.revision() != object.revision()) {
                return Err(WriteFailure::Lost);
            }
        }
        Ok(object)
    }
}

/// True if an error may come from an outdated object or namespace. After the others, the write must not be made again, or
/// would fail again.
fn may_be_stale(error: &Error) -> bool {
    match error {
        Error::NotFound(..)
        | Error::Conflict(..)
        | Error::Conflicts(..)
        | Error::Invalid(..)
        | Error::InapplicablePatch(_)
        | Error::BadRequest(_)
        | Error::Forbidden { .. }
        | Error::TooLarge(_)
        | Error::StoreRead { .. }
        | Error::Unknown(_)
        | Error::Refused(_) => true,
        // The store itself has said so.
        Error::AlreadyExists(..)
        | Error::GeneratedNameTaken(..)
        | Error::NotServed
        | Error::MethodNotAllowed
        | Error::Expired { .. }
        | Error::TooLargeRevision { .. }
        | Error::Timeout(_)
        | Error::Unknowable(_)
        | Error::UnsupportedMediaType(_)
        | Error::Internal(_)
        | Error::TooManyRequests
        | Error::Unavailable(_)
        | Error::Exceeded(_)
        | Error::InsufficientStorage(_) => false,
    }
}
