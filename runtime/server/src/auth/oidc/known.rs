//! Tokens that were good a moment ago, so that a client's next request need not be checked again. As in kube-apiserver, for ten seconds;
//! other than there, never longer than the token itself is valid.
use std::{sync::Arc, time::Duration};

use ring::{hmac, rand::SystemRandom};

use super::issuer::now;
use crate::auth::{
    User,
    cache::{Cache, Digest},
};

/// How long a token is remembered.
const REMEMBERED_FOR: Duration = Duration::from_secs(10);
/// The most tokens that are remembered.
const MOST: usize = 10_000;

/// Users by keyed digests of their tokens. The tokens themselves are not kept.
pub(super) struct KnownTokens {
    key: hmac::Key,
    users: Cache<Arc<User>>,
}

impl Default for KnownTokens {
    fn default() -> Self {
        let key = hmac::Key::generate(hmac::HMAC_SHA256, &SystemRandom::new());
        Self { key: key.expect("the operating system has random bytes"), users: Cache::new(MOST) }
    }
}

impl KnownTokens {
    fn digest(&self, token: &str) -> Digest {
        let tag = hmac::sign(&self.key, token.as_bytes());
        tag.as_ref().try_into().expect("SHA-256 has 32 bytes")
    }

    /// The user of a token that was good a moment ago.
    pub(super) fn find(&self, token: &str) -> Option<Arc<User>> {
        self.users.get(&self.digest(token))
    }

    /// Remembers a token that expires at a time in seconds since 1970.
    pub(super) fn add(&self, token: &str, user: &Arc<User>, expires: f64) {
        let left = Duration::try_from_secs_f64(expires - now()).unwrap_or_default();
        self.users.put(self.digest(token), Arc::clone(user), left.min(REMEMBERED_FOR));
    }
}
