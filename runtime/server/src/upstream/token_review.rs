//! An authenticator that sends bearer tokens to another server in a TokenReview (`authentication.k8s.io/v1`). Answers are kept for a
//! while, by a keyed digest of the token; requests with the same token wait for one review.
use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use ring::hmac;
use serde::Deserialize;
use serde_json::json;
use tokio::sync::watch;

use super::client::{Client, Deadlines};
use crate::{
    auth::{
        Authenticate, Credentials, Identity, Soon, Unauthenticated, User,
        authenticate::{AUDIENCE, authenticated},
        cache::{Cache, Digest},
    },
    schema::Document,
    tasks,
};

/// The maximum number of kept answers.
const MOST_KEPT: usize = 8_192;
/// The maximum number of reviews at a time.
const MOST_RUNNING: usize = 1_024;
/// The maximum size of a user that is kept, in bytes.
const LARGEST_KEPT: usize = 16 << 10;

/// How tokens are reviewed.
#[derive(Clone, Copy)]
pub(crate) struct Settings {
    /// The path below the server's URL; empty for the URL itself.
    pub path: &'static str,
    /// How long a user is kept.
    pub known_for: Duration,
    /// How long it is kept that a token has no user.
    pub unknown_for: Duration,
    /// How long a review may take.
    pub deadlines: Deadlines,
    /// True if the review is always about audiences: those of this server if the request is about no others.
    pub names_audiences: bool,
}

/// Identifies users by reviews of their tokens.
pub(crate) struct TokenReviews(Arc<Reviews>);

struct Reviews {
    client: Arc<Client>,
    settings: Settings,
    key: hmac::Key,
    kept: Cache<Option<Arc<User>>>,
    running: Mutex<HashMap<Digest, watch::Receiver<Option<Identity>>>>,
}

#[derive(Deserialize)]
struct Review {
    #[serde(default)]
    status: Status,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Status {
    authenticated: bool,
    user: ReviewedUser,
    audiences: Option<Vec<String>>,
    error: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ReviewedUser {
    username: String,
    uid: String,
    groups: Option<Vec<String>>,
    extra: Option<BTreeMap<String, Vec<String>>>,
}

impl TokenReviews {
    /// Reviews by a server.
    ///
    /// # Errors
    /// If the system has no randomness.
    pub(crate) fn new(client: Arc<Client>, settings: Settings) -> Result<Self, String> {
        let mut key = [0; 32];
        getrandom::fill(&mut key).map_err(|error| format!("no randomness: {error}"))?;
        let key = hmac::Key::new(hmac::HMAC_SHA256, &key);
        Ok(Self(Arc::new(Reviews { client, settings, key, kept: Cache::new(MOST_KEPT), running: Mutex::default() })))
    }
}

impl Authenticate for TokenReviews {
    fn authenticate<'a>(&'a self, credentials: &'a Credentials<'a>) -> Soon<'a, Identity> {
        let Some(token) = credentials.token else { return Soon::now(Ok(None)) };
        let audiences: &[&str] = match credentials.audiences {
            [] if self.0.settings.names_audiences => &[AUDIENCE],
            audiences => audiences,
        };
        let digest = self.0.digest(token, audiences);
        if let Some(user) = self.0.kept.get(&digest) {
            return Soon::now(Ok(user));
        }
        Soon::later(self.0.clone().review(digest, token, audiences))
    }

    fn knows_audiences(&self) -> bool {
        true
    }
}

impl Reviews {
    /// The digest of a question. The lengths keep different questions apart.
    fn digest(&self, token: &str, audiences: &[&str]) -> Digest {
        let mut context = hmac::Context::with_key(&self.key);
        for part in std::iter::once(&token).chain(audiences) {
            context.update(&part.len().to_be_bytes());
            context.update(part.as_bytes());
        }
        context.sign().as_ref().try_into().expect("SHA-256 has 32 bytes")
    }

    /// Waits for the review of a token, which is started if none is running. It continues if this request is cancelled, for others.
    async fn review(self: Arc<Self>, digest: Digest, token: &str, audiences: &[&str]) -> Identity {
        let mut answer = {
            let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
            match running.get(&digest) {
                Some(answer) => answer.clone(),
                None if running.len() >= MOST_RUNNING => {
                    tracing::error!(
                        server = self.client.url(),
                        "too many token reviews are running; a token is refused"
                    );
                    return Err(Unauthenticated("too many token reviews are running".to_owned()));
                }
                None => {
                    let (done, answer) = watch::channel(None);
                    running.insert(digest, answer.clone());
                    let token = token.to_owned();
                    let audiences = audiences.iter().map(|&audience| audience.to_owned()).collect();
                    let flight = Flight { reviews: self.clone(), digest };
                    tasks::spawn(async move {
                        let identity = flight.reviews.ask(digest, &token, audiences).await;
                        drop(flight);
                        done.send_replace(Some(identity));
                    });
                    answer
                }
            }
        };
        let broken = || Err(Unauthenticated("the token review broke off".to_owned()));
        match answer.wait_for(Option::is_some).await {
            Ok(identity) => identity.clone().unwrap_or_else(broken),
            // The task panicked, or the runtime is stopping.
            Err(_) => broken(),
        }
    }

    /// Sends a review, and keeps its answer. Errors are not kept.
    async fn ask(&self, digest: Digest, token: &str, audiences: Vec<String>) -> Identity {
        let mut spec = json!({"token": token});
        if !audiences.is_empty() {
            spec["audiences"] = json!(audiences);
        }
        let document = json!({
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenReview",
            "metadata": {"creationTimestamp": null},
            "spec": spec,
        });
        let answer = self.client.post(self.settings.path, &document, self.settings.deadlines).await;
        let read = answer.map_err(|error| error.to_string()).and_then(read);
        let user = match read {
            // A server may repeat what it was sent.
            Err(why) => {
                let why = hidden(why, token);
                tracing::error!(why, "a token could not be reviewed, and is refused");
                return Err(Unauthenticated(why));
            }
            Ok(status) => match user(status, &audiences) {
                Ok(user) => user,
                Err(why) => return Err(Unauthenticated(hidden(why, token))),
            },
        };
        let time = if user.is_some() { self.settings.known_for } else { self.settings.unknown_for };
        if user.as_ref().is_none_or(|user| size(user) <= LARGEST_KEPT) {
            self.kept.put(digest, user.clone(), time);
        }
        Ok(user)
    }
}

/// A text up to where it repeats a token, of which it may have a part alone.
fn hidden(text: String, token: &str) -> String {
    let beginning = token.get(..16).unwrap_or(token);
    match text.split_once(beginning) {
        Some((before, _)) => format!("{before}(the token)"),
        None => text,
    }
}

/// Takes a review off the running ones when it ends, even by a panic.
struct Flight {
    reviews: Arc<Reviews>,
    digest: Digest,
}

impl Drop for Flight {
    fn drop(&mut self) {
        self.reviews.running.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.digest);
    }
}

fn read(document: Document) -> Result<Status, String> {
    let (kind, version) = (document["kind"].as_str(), document["apiVersion"].as_str());
    if (kind, version) != (Some("TokenReview"), Some("authentication.k8s.io/v1")) {
        return Err("the answer is no TokenReview of authentication.k8s.io/v1".to_owned());
    }
    let review: Review = serde_json::from_value(document).map_err(|error| format!("the answer is invalid: {error}"))?;
    Ok(review.status)
}

/// The user of a token; `None` if it has none, or is for other audiences. A server that does not name audiences means its own, which
/// count as those of this server.
fn user(status: Status, requested: &[String]) -> Result<Option<Arc<User>>, String> {
    if !requested.is_empty() {
        let named = status.audiences.unwrap_or_default();
        let fits = |audience: &String| if named.is_empty() { audience == AUDIENCE } else { named.contains(audience) };
        if !requested.iter().any(fits) {
            return Ok(None);
        }
    }
    if !status.authenticated {
        return if status.error.is_empty() { Ok(None) } else { Err(status.error) };
    }
    let ReviewedUser { username, uid, groups, extra } = status.user;
    if username.is_empty() {
        return Err("the review names no user".to_owned());
    }
    let (groups, extra) = (groups.unwrap_or_default(), extra.unwrap_or_default());
    Ok(Some(authenticated(Arc::new(User { name: username, uid, groups, extra }))))
}

/// The approximate size of a user in bytes.
fn size(user: &User) -> usize {
    let texts = |texts: &[String]| texts.iter().map(|text| text.len() + 24).sum::<usize>();
    let extra = user.extra.iter().map(|(key, values)| key.len() + 48 + texts(values));
    user.name.len() + user.uid.len() + texts(&user.groups) + extra.sum::<usize>()
}
