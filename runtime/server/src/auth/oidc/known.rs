//! Tokens that were good a moment ago, so that a client's next request need not be checked again. As in kube-apiserver, for ten seconds;
//! other than there, never longer than the token itself is valid.
use std::{
    collections::HashMap,
    sync::{Arc, PoisonError, RwLock},
    time::{Duration, Instant},
};

use ring::{hmac, rand::SystemRandom};

use super::issuer::now;
use crate::auth::User;

/// How long a token is remembered.
const REMEMBERED_FOR: Duration = Duration::from_secs(10);
/// The most tokens that are remembered.
const MOST: usize = 10_000;

/// Users by keyed digests of their tokens. The tokens themselves are not kept.
pub(super) struct KnownTokens {
    key: hmac::Key,
    users: RwLock<HashMap<[u8; 32], KnownToken>>,
}

struct KnownToken {
    user: Arc<User>,
    since: Instant,
    /// In seconds since 1970.
    expires: f64,
}

impl KnownToken {
    fn is_good(&self) -> bool {
        self.since.elapsed() < REMEMBERED_FOR && now() <= self.expires
    }
}

impl Default for KnownTokens {
    fn default() -> Self {
        let key = hmac::Key::generate(hmac::HMAC_SHA256, &SystemRandom::new());
        Self { key: key.expect("the operating system has random bytes"), users: RwLock::default() }
    }
}

impl KnownTokens {
    fn digest(&self, token: &str) -> [u8; 32] {
        let tag = hmac::sign(&self.key, token.as_bytes());
        tag.as_ref().try_into().expect("SHA-256 has 32 bytes")
    }

    /// The user of a token that was good a moment ago.
    pub(super) fn find(&self, token: &str) -> Option<Arc<User>> {
        let users = self.users.read().unwrap_or_else(PoisonError::into_inner);
        users.get(&self.digest(token)).filter(|known| known.is_good()).map(|known| Arc::clone(&known.user))
    }

    /// Remembers a token that expires at a time in seconds since 1970.
    pub(super) fn add(&self, token: &str, user: &Arc<User>, expires: f64) {
        let mut users = self.users.write().unwrap_or_else(PoisonError::into_inner);
        if users.len() >= MOST {
            users.retain(|_, known| known.is_good());
        }
        if users.len() >= MOST {
            users.clear();
        }
        users.insert(self.digest(token), KnownToken { user: Arc::clone(user), since: Instant::now(), expires });
    }
}
