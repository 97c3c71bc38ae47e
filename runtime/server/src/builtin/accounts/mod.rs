//! Tokens of service accounts: signed by the server, bound to an account, and for a time.
use std::{
    collections::HashMap,
    hash::{BuildHasher, Hasher, RandomState},
    sync::{Arc, PoisonError, RwLock, Weak},
};

use arc_swap::ArcSwap;
use serde_json::{Value, json};

use crate::{
    Resource as _,
    auth::{
        Authenticate, Credentials, Soon, Unauthenticated, User,
        authenticate::{AUDIENCE as ISSUER, Identity},
        jwt::{PublicKey, SigningKey, UnverifiedToken},
    },
    builtin::ServiceAccount,
    cache::{self, Object},
    meta::Time,
    registry::ResourceEntry,
    verbs::Verbs,
};

mod claims;
mod request;
mod secrets;

use claims::Claims;
pub use request::{BoundObjectReference, TokenRequest, TokenRequestSpec, TokenRequestStatus};
pub(crate) use request::{Issuer, subresource};
pub(crate) use secrets::Authority;

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

/// Issues tokens of service accounts, and identifies accounts by them.
pub(crate) struct Accounts {
    state: ArcSwap<State>,
    api: Weak<Verbs>,
    accounts: Arc<cache::Resource>,
}

/// The keys, and the tokens that they have verified: replaced together, so that no token outlives its key.
struct State {
    keys: AccountKeys,
    verified: VerifiedTokens,
}

impl State {
    fn of(keys: AccountKeys) -> Self {
        Self { keys, verified: VerifiedTokens::default() }
    }
}

impl Accounts {
    /// Tokens of the accounts of a server; `None` if it serves none.
    pub(crate) fn new(api: &Arc<Verbs>, keys: AccountKeys) -> Option<Self> {
        let accounts = api.registry.resource(&ServiceAccount::kind().group_resource())?.objects.clone();
        Some(Self { state: ArcSwap::from_pointee(State::of(keys)), api: Arc::downgrade(api), accounts })
    }

    /// Replaces the keys. Tokens that none of them has signed are refused from now on.
    pub(crate) fn replace_keys(&self, keys: AccountKeys) {
        self.state.store(Arc::new(State::of(keys)));
    }

    /// The public keys, for others that check tokens themselves (RFC 7517).
    pub(crate) fn key_set(&self) -> Value {
        let keys: Vec<Value> = self.state.load().keys.public().map(PublicKey::to_jwk).collect();
        json!({"keys": keys})
    }

    /// A signed token.
    fn sign(&self, claims: &Claims) -> String {
        self.state.load().keys.signing.sign(&claims.to_json())
    }

    /// The user of a token of ours that is meant for one of these audiences; `None` if it is not ours.
    fn user(&self, token: &str, audiences: &[&str]) -> Identity {
        let (state, now) = (self.state.load(), Time::now().parts().0);
        let known = state.verified.find(token, audiences, now, &self.accounts);
        if let Some(known) = known.filter(|known| self.check_bound(&known.claims, now).is_ok()) {
            return Ok(Some(known.user.clone()));
        }
        let refused = |why: &str| Unauthenticated(format!("the service account's token is invalid: {why}"));
        let is_ours = |token: &UnverifiedToken<'_>| matches!(token.issuer(), ISSUER | secrets::ISSUER);
        let Some(unverified) = UnverifiedToken::read(token).filter(is_ours) else {
            return Ok(None);
        };
        let is_of_secret = unverified.issuer() == secrets::ISSUER;
        let claims = unverified.verify(state.keys.public()).map_err(|why| refused(&why.0))?;
        if is_of_secret {
            // It is meant for this server, as it names no audience.
            return if audiences.contains(&ISSUER) {
                self.user_by_secret(token, &claims, now)
            } else {
                Err(refused("it is meant for others"))
            };
        }
        let claims = Claims::from_json(&claims).ok_or_else(|| refused("it lacks claims"))?;
        claims.check_time(now).map_err(refused)?;
        if !claims.audiences.iter().any(|audience| audiences.contains(&audience.as_str())) {
            return Err(refused("it is meant for others"));
        }
        let key = format!("{}/{}", claims.namespace, claims.account.name);
        let account = self.accounts.snapshot().get(&key).ok_or_else(|| refused("its account is gone"))?;
        let identity = ObjectIdentity::of(&account);
        if identity.uid != claims.account.uid || identity.is_gone(now) {
            return Err(refused("its account is gone"));
        }
        self.check_bound(&claims, now).map_err(refused)?;
        let user = Arc::new(claims.user());
        // An account that is being deleted does not change any more when its time is over.
        if identity.deleted.is_none() {
            state.verified.add(token, VerifiedToken { user: user.clone(), account, claims });
        }
        Ok(Some(user))
    }

    /// Checks that the object that a token is bound to is still there.
    fn check_bound(&self, claims: &Claims, now: i64) -> Result<(), &'static str> {
        let Some(bound) = &claims.bound else { return Ok(()) };
        let api = self.api.upgrade().ok_or("the server is stopping")?;
        let resource =
            bound_resource(&api, &bound.kind).ok_or("objects of the kind that it is bound to are not served")?;
        let key = match &*bound.kind {
            "Node" => bound.object.name.clone(),
            _ => format!("{}/{}", claims.namespace, bound.object.name),
        };
        let object = resource.objects.snapshot().get(&key).ok_or("the object that it is bound to is gone")?;
        let identity = ObjectIdentity::of(&object);
        if identity.is_gone(now) {
            return Err("the object that it is bound to is gone");
        }
        if identity.uid == bound.object.uid {
            Ok(())
        } else {
            Err("the object that it is bound to is another one by now")
        }
    }
}

/// The resource of objects that a token may be bound to.
fn bound_resource(api: &Verbs, kind: &str) -> Option<Arc<ResourceEntry>> {
    let plural = match kind {
        "Secret" => "secrets",
        "Pod" => "pods",
        "Node" => "nodes",
        _ => return None,
    };
    api.registry.find("", "v1", plural)
}

/// Which object has a name, and for how long.
struct ObjectIdentity {
    uid: String,
    /// When its deletion began, in seconds since 1970.
    deleted: Option<i64>,
}

impl ObjectIdentity {
    fn of(object: &Object) -> Self {
        let metadata: Value = serde_json::from_slice(object.metadata_bytes()).unwrap_or_default();
        let uid = metadata["uid"].as_str().unwrap_or_default().to_owned();
        let deleted = metadata["deletionTimestamp"].as_str().and_then(|text| text.parse::<Time>().ok());
        Self { uid, deleted: deleted.map(|time| time.parts().0) }
    }

    /// True from a minute after the beginning of its deletion on, as in kube-apiserver.
    fn is_gone(&self, now: i64) -> bool {
        self.deleted.is_some_and(|deleted| deleted < now.saturating_sub(claims::LEEWAY))
    }
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
struct VerifiedTokens {
    /// Two independent keys give a digest of 128 bits, as for tokens of a file.
    keys: (RandomState, RandomState),
    tokens: RwLock<HashMap<(u64, u64), Arc<VerifiedToken>>>,
}

struct VerifiedToken {
    user: Arc<User>,
    /// The account as it was. If that has changed, the token is checked again.
    account: Arc<Object>,
    claims: Claims,
}

impl VerifiedTokens {
    /// Feeds both hashers piece by piece, which a processor does at once: each step of one waits for its step before.
    fn digest(&self, token: &str) -> (u64, u64) {
        let (mut one, mut other) = (self.keys.0.build_hasher(), self.keys.1.build_hasher());
        for part in token.as_bytes().chunks(32) {
            one.write(part);
            other.write(part);
        }
        (one.finish(), other.finish())
    }

    fn find(
        &self,
        token: &str,
        audiences: &[&str],
        now: i64,
        accounts: &cache::Resource,
    ) -> Option<Arc<VerifiedToken>> {
        let tokens = self.tokens.read().unwrap_or_else(PoisonError::into_inner);
        let found = tokens.get(&self.digest(token))?.clone();
        drop(tokens);
        let VerifiedToken { account, claims, .. } = &*found;
        let is_meant = claims.audiences.iter().any(|audience| audiences.contains(&audience.as_str()));
        let is_same = accounts.snapshot().get(account.key()).is_some_and(|found| Arc::ptr_eq(&found, account));
        (is_meant && is_same && claims.check_time(now).is_ok()).then_some(found)
    }

    fn add(&self, token: &str, verified: VerifiedToken) {
        let mut tokens = self.tokens.write().unwrap_or_else(PoisonError::into_inner);
        if tokens.len() >= MOST_KNOWN {
            tokens.clear();
        }
        tokens.insert(self.digest(token), Arc::new(verified));
    }
}

#[cfg(test)]
mod tests;
