//! Tokens of service accounts: signed by the server, bound to an account, and for a time.
use std::{
    collections::HashMap,
    hash::{BuildHasher, RandomState},
    sync::{Arc, PoisonError, RwLock, Weak},
};

use arc_swap::ArcSwap;
use serde_json::{Value, json};

use crate::{
    Resource as _,
    auth::{
        Authenticate, Credentials, Soon, Unauthenticated, User,
        authenticate::{AUDIENCE as ISSUER, Identity},
        jwt::{PublicKey, SigningKey, Unverified},
    },
    builtin::{Secret, ServiceAccount},
    cache::{self, Object},
    meta::Time,
    registry::ResourceEntry,
    verbs::Verbs,
};

mod claims;
mod request;

use claims::Claims;
pub use request::{BoundObjectReference, TokenRequest, TokenRequestSpec, TokenRequestStatus};
pub(crate) use request::{Issuer, subresource};

/// The most tokens that are known as verified.
const MOST_KNOWN: usize = 10_000;

/// The keys that sign tokens, and those that check them.
pub(crate) struct AccountKeys {
    signing: SigningKey,
    /// Keys that have signed before.
    older: Vec<PublicKey>,
}

impl AccountKeys {
    /// The first key signs; tokens of the others are valid, too. `None` without a key.
    pub(crate) fn new(keys: Vec<SigningKey>) -> Option<Self> {
        let mut keys = keys.into_iter();
        let signing = keys.next()?;
        Some(Self { signing, older: keys.map(|key| key.public).collect() })
    }

    /// The keys that check tokens.
    pub(crate) fn public(&self) -> impl Iterator<Item = &PublicKey> {
        std::iter::once(&self.signing.public).chain(&self.older)
    }
}

/// Issues tokens of service accounts, and knows whose they are.
pub(crate) struct Accounts {
    keys: ArcSwap<AccountKeys>,
    api: Weak<Verbs>,
    accounts: Arc<cache::Resource>,
    known: Known,
}

impl Accounts {
    /// Tokens of the accounts of a server; `None` if it serves none.
    pub(crate) fn new(api: &Arc<Verbs>, keys: AccountKeys) -> Option<Self> {
        let accounts = api.registry.resource(&ServiceAccount::kind().group_resource())?.objects.clone();
        let (keys, api, known) = (ArcSwap::from_pointee(keys), Arc::downgrade(api), Known::default());
        Some(Self { keys, api, accounts, known })
    }

    /// Replaces the keys. Tokens that none of them has signed are refused from now on.
    pub(crate) fn replace_keys(&self, keys: AccountKeys) {
        self.keys.store(Arc::new(keys));
        self.known.forget();
    }

    /// The public keys, for others that check tokens themselves (RFC 7517).
    pub(crate) fn key_set(&self) -> Value {
        let keys: Vec<Value> = self.keys.load().public().map(PublicKey::to_jwk).collect();
        json!({"keys": keys})
    }

    /// A signed token.
    fn sign(&self, claims: &Claims) -> String {
        self.keys.load().signing.sign(&claims.to_json())
    }

    /// The user of a token of ours that is meant for one of these audiences; `None` if it is not ours.
    fn user(&self, token: &str, audiences: &[&str]) -> Identity {
        let now = Time::now().parts().0;
        if let Some(user) = self.known.find(token, audiences, now, &self.accounts) {
            return Ok(Some(user));
        }
        let refused = |why: &str| Unauthenticated(format!("the service account's token is invalid: {why}"));
        let Some(unverified) = Unverified::read(token).filter(|token| token.issuer() == ISSUER) else {
            return Ok(None);
        };
        let keys = self.keys.load_full();
        let claims = unverified.verify(keys.public()).map_err(|why| refused(&why.0))?;
        let claims = Claims::from_json(&claims).ok_or_else(|| refused("it lacks claims"))?;
        claims.check_time(now).map_err(refused)?;
        if !claims.audiences.iter().any(|audience| audiences.contains(&audience.as_str())) {
            return Err(refused("it is meant for others"));
        }
        let account = self.account(&claims).ok_or_else(|| refused("its account is gone"))?;
        self.check_bound(&claims).map_err(refused)?;
        let user = Arc::new(claims.user());
        if claims.bound.is_none() {
            self.known.add(token, Verified { user: user.clone(), account, claims });
        }
        Ok(Some(user))
    }

    /// The account of a token, unless another one has its name by now.
    fn account(&self, claims: &Claims) -> Option<Arc<Object>> {
        let account = self.accounts.snapshot().get(&format!("{}/{}", claims.namespace, claims.account.name))?;
        (uid_of(&account) == claims.account.uid).then_some(account)
    }

    /// Checks that the object that a token is bound to is still there.
    fn check_bound(&self, claims: &Claims) -> Result<(), &'static str> {
        let Some(bound) = &claims.bound else { return Ok(()) };
        let api = self.api.upgrade().ok_or("the server is stopping")?;
        let resource =
            bound_resource(&api, &bound.kind).ok_or("objects of the kind that it is bound to are not served")?;
        let key = match &*bound.kind {
            "Node" => bound.object.name.clone(),
            _ => format!("{}/{}", claims.namespace, bound.object.name),
        };
        let object = resource.objects.snapshot().get(&key).ok_or("the object that it is bound to is gone")?;
        if uid_of(&object) == bound.object.uid {
            Ok(())
        } else {
            Err("the object that it is bound to is another one by now")
        }
    }
}

/// The resource of objects that a token may be bound to.
fn bound_resource(api: &Verbs, kind: &str) -> Option<Arc<ResourceEntry>> {
    let plural = match kind {
        "Secret" => return api.registry.resource(&Secret::kind().group_resource()),
        "Pod" => "pods",
        "Node" => "nodes",
        _ => return None,
    };
    api.registry.find("", "v1", plural)
}

fn uid_of(object: &Object) -> String {
    let document: Value = serde_json::from_slice(object.metadata_bytes()).unwrap_or_default();
    document["uid"].as_str().unwrap_or_default().to_owned()
}

impl Authenticate for Accounts {
    fn authenticate<'a>(&'a self, credentials: &'a Credentials<'a>) -> Soon<'a, Identity> {
        let audiences = if credentials.audiences.is_empty() { &[ISSUER] } else { credentials.audiences };
        Soon::now(credentials.token.map_or(Ok(None), |token| self.user(token, audiences)))
    }

    fn knows_audiences(&self) -> bool {
        true
    }
}

/// Tokens whose signatures were checked, so that the next request does not check them again.
#[derive(Default)]
struct Known {
    /// Two independent keys give a digest of 128 bits, as for tokens of a file.
    keys: (RandomState, RandomState),
    tokens: RwLock<HashMap<(u64, u64), Verified>>,
}

struct Verified {
    user: Arc<User>,
    /// The account as it was. If that has changed, the token is checked again.
    account: Arc<Object>,
    claims: Claims,
}

impl Known {
    fn digest(&self, token: &str) -> (u64, u64) {
        (self.keys.0.hash_one(token), self.keys.1.hash_one(token))
    }

    fn find(&self, token: &str, audiences: &[&str], now: i64, accounts: &cache::Resource) -> Option<Arc<User>> {
        let tokens = self.tokens.read().unwrap_or_else(PoisonError::into_inner);
        let Verified { user, account, claims } = tokens.get(&self.digest(token))?;
        let is_meant = claims.audiences.iter().any(|audience| audiences.contains(&audience.as_str()));
        let is_same = accounts.snapshot().get(account.key()).is_some_and(|found| Arc::ptr_eq(&found, account));
        (is_meant && is_same && claims.check_time(now).is_ok()).then(|| user.clone())
    }

    fn add(&self, token: &str, verified: Verified) {
        let mut tokens = self.tokens.write().unwrap_or_else(PoisonError::into_inner);
        if tokens.len() >= MOST_KNOWN {
            tokens.clear();
        }
        tokens.insert(self.digest(token), verified);
    }

    fn forget(&self) {
        self.tokens.write().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

#[cfg(test)]
mod tests;
