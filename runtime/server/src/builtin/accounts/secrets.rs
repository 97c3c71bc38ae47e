//! Secrets of the type `kubernetes.io/service-account-token`: filled with a token that does not expire, the server's authority and
//! the namespace, and deleted with the account. Kubernetes calls these tokens legacy tokens.
use std::{collections::BTreeMap, sync::Arc, time::Duration};

use serde_json::{Value, json};
use tokio::time::{Instant, sleep, sleep_until};

use super::{Accounts, ObjectIdentity};
use crate::{
    auth::{Unauthenticated, User, authenticate::Identity},
    builtin::Secret,
    cache::{EventType, Object, Subscription},
    kind::client::Client,
    meta::{ByteString, Preconditions, options::DeleteOptions, refusal::Result},
    registry::ResourceEntry,
    verbs::Verbs,
};

/// The type of these Secrets.
const TYPE: &str = "kubernetes.io/service-account-token";
/// The annotations with the name and the uid of the account.
const NAME: &str = "kubernetes.io/service-account.name";
const UID: &str = "kubernetes.io/service-account.uid";
/// The label of a Secret whose token is not accepted any longer.
const INVALID_SINCE: &str = "kubernetes.io/legacy-token-invalid-since";
/// The issuer of their tokens.
pub(super) const ISSUER: &str = "kubernetes/serviceaccount";
/// How long to wait for further deletions after one.
const GATHER: Duration = Duration::from_millis(10);
/// The first and the longest time until a Secret that could not be written is tried again. Each is twice as long as the one before.
const WAITS: (Duration, Duration) = (Duration::from_secs(1), Duration::from_mins(1));

/// The certificate authority of the server in PEM, if it has one.
pub(crate) type Authority = Arc<dyn Fn() -> Option<String> + Send + Sync>;

/// The claims of a token in a Secret.
struct Claims {
    namespace: String,
    secret: String,
    account: String,
    uid: String,
}

impl Claims {
    const NAMESPACE: &str = "kubernetes.io/serviceaccount/namespace";
    const SECRET: &str = "kubernetes.io/serviceaccount/secret.name";
    const ACCOUNT: &str = "kubernetes.io/serviceaccount/service-account.name";
    const UID: &str = "kubernetes.io/serviceaccount/service-account.uid";

    fn to_json(&self) -> Value {
        json!({
            "iss": ISSUER,
            "sub": User::service_account_name(&self.namespace, &self.account),
            Self::NAMESPACE: self.namespace,
            Self::SECRET: self.secret,
            Self::ACCOUNT: self.account,
            Self::UID: self.uid,
        })
    }

    /// The claims of a token that says all that ours say.
    fn from_json(claims: &Value) -> Option<Self> {
        let text = |name: &str| claims[name].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
        let (namespace, secret, account) = (text(Self::NAMESPACE)?, text(Self::SECRET)?, text(Self::ACCOUNT)?);
        let claimed = Self { uid: text(Self::UID)?, namespace, secret, account };
        let subject = User::service_account_name(&claimed.namespace, &claimed.account);
        (claims["sub"].as_str() == Some(&subject)).then_some(claimed)
    }

    fn user(&self) -> User {
        let groups = vec![
            "system:serviceaccounts".to_owned(),
            format!("system:serviceaccounts:{}", self.namespace),
            User::AUTHENTICATED.to_owned(),
        ];
        let name = User::service_account_name(&self.namespace, &self.account);
        User { name, uid: self.uid.clone(), groups, extra: BTreeMap::new() }
    }
}

impl Accounts {
    /// The user of a token that a Secret holds. The claims are verified.
    pub(super) fn user_by_secret(&self, token: &str, claims: &Value, now: i64) -> Identity {
        let refused = |why: &str| Unauthenticated(format!("the service account's token is invalid: {why}"));
        let claims = Claims::from_json(claims).ok_or_else(|| refused("it lacks claims"))?;
        let account = self.accounts.snapshot().get(&format!("{}/{}", claims.namespace, claims.account));
        let account = account.map(|account| ObjectIdentity::of(&account));
        if account.is_none_or(|account| account.uid != claims.uid || account.is_gone(now)) {
            return Err(refused("its account is gone"));
        }
        let api = self.api.upgrade().ok_or_else(|| refused("the server is stopping"))?;
        let secret = secrets(&api)
            .and_then(|secrets| secrets.objects.snapshot().get(&format!("{}/{}", claims.namespace, claims.secret)));
        let secret = secret.and_then(|object| read::<Secret>(&object));
        let secret = secret.filter(|secret| secret.metadata.deletion_timestamp.is_none());
        let secret = secret.ok_or_else(|| refused("its Secret is gone"))?;
        let held = secret.data.get("token").map(|held| held.0.as_slice()).unwrap_or_default();
        if !same(held, token.as_bytes()) {
            return Err(refused("its Secret holds another one"));
        }
        if secret.metadata.labels.get(INVALID_SINCE).is_some_and(|since| !since.is_empty()) {
            return Err(refused("its Secret is marked as invalid"));
        }
        Ok(Some(Arc::new(claims.user())))
    }

    /// Fills Secrets, and deletes those of accounts that are gone, until the cache is closed.
    pub(crate) async fn fill_secrets(&self, client: &Client, authority: &Authority) {
        let Some(api) = self.api.upgrade() else { return };
        let Some(secrets) = secrets(&api) else { return };
        let cache = api.cache.clone();
        drop(api);
        let mut wait = WAITS.0;
        while !cache.is_closed() {
            if self.follow(&secrets, client, authority, wait).await.is_some() {
                wait = WAITS.0;
            } else {
                sleep(WAITS.0).await;
                wait = (2 * wait).min(WAITS.1);
            }
        }
    }

    /// Looks at all Secrets, and then at each that changes. Ends when an account is deleted, so that all are looked at again; `None` when
    /// events were missed, and a while after a Secret could not be written. Others are filled meanwhile.
    async fn follow(
        &self,
        secrets: &ResourceEntry,
        client: &Client,
        authority: &Authority,
        wait: Duration,
    ) -> Option<()> {
        let (snapshot, accounts) = (secrets.objects.snapshot(), self.accounts.snapshot());
        let mut changes = secrets.objects.watch(snapshot.revision(), Subscription::All, None).await.ok()?;
        let mut of_accounts = self.accounts.watch(accounts.revision(), Subscription::All, None).await.ok()?;
        let mut failed = false;
        for object in snapshot.range("", None) {
            failed |= self.look_at(object, client, authority).await.is_err();
        }
        let mut again = failed.then(|| Instant::now() + wait);
        loop {
            tokio::select! {
                event = changes.next() => {
                    let event = event?.ok()?;
                    if event.event_type != EventType::Deleted {
                        let done = self.look_at(&event.object, client, authority).await;
                        again = again.or_else(|| done.is_err().then(|| Instant::now() + wait));
                    }
                }
                () = sleep_until(again.unwrap_or_else(Instant::now)), if again.is_some() => return None,
                event = of_accounts.next() => {
                    if event?.ok()?.event_type == EventType::Deleted {
                        // Further ones are often deleted at the same time.
                        sleep(GATHER).await;
                        return Some(());
                    }
                }
            }
        }
    }

    /// Fills a Secret of an account, or deletes it if the account is gone.
    async fn look_at(&self, object: &Object, client: &Client, authority: &Authority) -> Result<()> {
        let Some(secret) = of_account(object) else { return Ok(()) };
        let (namespace, name) = (&secret.metadata.namespace, &secret.metadata.name);
        let account_name = &secret.metadata.annotations[NAME];
        let account = self.accounts.snapshot().get(&format!("{namespace}/{account_name}"));
        let uid = account.map(|account| ObjectIdentity::of(&account).uid);
        let of_another = secret.metadata.annotations.get(UID).is_some_and(|of| uid.as_ref() != Some(of));
        let secrets = client.of::<Secret>(namespace);
        let done = match uid {
            Some(uid) if !of_another => {
                let (authority, claims) = (
                    authority(),
                    Claims { namespace: namespace.clone(), secret: name.clone(), account: account_name.clone(), uid },
                );
                if is_filled(&secret, authority.as_deref()) {
                    return Ok(());
                }
                let fill = |secret: &mut Secret| {
                    if of_same_account(secret, &claims.account) {
                        self.fill(secret, &claims, authority.as_deref());
                    }
                    Ok(())
                };
                secrets.change(name, fill).await.map(drop)
            }
            _ => {
                let mut options = DeleteOptions::default();
                let preconditions =
                    Preconditions { uid: Some(secret.metadata.uid.clone()), ..Preconditions::default() };
                options.preconditions = preconditions;
                secrets.delete(name, &options).await.map(drop)
            }
        };
        let Err(error) = done else { return Ok(()) };
        match error.status().code {
            // It has gone meanwhile, and another one of its name is looked at for itself.
            404 | 409 => return Ok(()),
            _ => tracing::warn!(namespace, name, %error, "the Secret of a service account could not be written"),
        }
        // One that is immutable stays as it is.
        if error.status().code == 422 { Ok(()) } else { Err(error) }
    }

    fn fill(&self, secret: &mut Secret, claims: &Claims, authority: Option<&str>) {
        secret.metadata.annotations.insert(UID.to_owned(), claims.uid.clone());
        if secret.data.get("token").is_none_or(|token| token.0.is_empty()) {
            let token = self.state.load().keys.signing.sign(&claims.to_json());
            secret.data.insert("token".to_owned(), ByteString(token.into_bytes()));
        }
        if let Some(pem) = authority {
            secret.data.insert("ca.crt".to_owned(), ByteString(pem.as_bytes().to_vec()));
        }
        secret.data.insert("namespace".to_owned(), ByteString(claims.namespace.clone().into_bytes()));
    }
}

fn secrets(api: &Verbs) -> Option<Arc<ResourceEntry>> {
    api.registry.find("", "v1", "secrets")
}

fn read<T: serde::de::DeserializeOwned>(object: &Object) -> Option<T> {
    serde_json::from_slice(object.json_bytes()).ok()
}

/// A Secret of the type, with an account, that is not being deleted.
fn of_account(object: &Object) -> Option<Secret> {
    let is_named = |secret: &Secret| secret.metadata.annotations.get(NAME).is_some_and(|name| !name.is_empty());
    // Most Secrets are others: their type is found without reading them as a whole.
    let names_type = std::str::from_utf8(object.json_bytes()).is_ok_and(|text| text.contains(TYPE));
    let secret = if names_type { read::<Secret>(object)? } else { return None };
    (secret.kind == TYPE && is_named(&secret) && secret.metadata.deletion_timestamp.is_none()).then_some(secret)
}

fn of_same_account(secret: &Secret, account: &str) -> bool {
    secret.metadata.annotations.get(NAME).is_some_and(|name| name == account)
}

/// True if a Secret has all that it should have.
fn is_filled(secret: &Secret, authority: Option<&str>) -> bool {
    let has = |key: &str, expected: &str| secret.data.get(key).is_some_and(|value| value.0 == expected.as_bytes());
    secret.metadata.annotations.contains_key(UID)
        && secret.data.get("token").is_some_and(|token| !token.0.is_empty())
        && authority.is_none_or(|pem| has("ca.crt", pem))
        && has("namespace", &secret.metadata.namespace)
}

/// Compares in a time that does not depend on where the bytes differ.
fn same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |different, (a, b)| different | (a ^ b)) == 0
}
