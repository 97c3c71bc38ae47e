//! The keys of an issuer, which its discovery document leads to. A task fetches them at once, again from time to time, and when a token has
//! a signature that none of them has made, though never more often than [`Pace`] says. If that fails, the keys from before stay.
use std::{sync::Arc, time::Duration};

use serde_json::Value;
use tokio::{
    sync::{Notify, Semaphore, watch},
    task::AbortHandle,
    time::{Instant, sleep_until, timeout},
};

use super::issuer::KeySource;
use crate::{auth::jwt::PublicKey, tasks};

/// The most keys of an issuer that are kept.
const MOST_KEYS: usize = 256;
/// The most requests that wait for the keys of an issuer. Others are refused at once.
const MOST_WAITING: usize = 128;

/// When keys are fetched.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    /// The time between the end of one attempt and the beginning of the next, at least.
    pub at_least: Duration,
    /// The time until they are fetched again, if no token needs others.
    pub period: Duration,
    /// The time until the next attempt after one that failed.
    pub retry: Duration,
    /// How long a token waits for keys.
    pub wait: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self { at_least: seconds(1), period: seconds(600), retry: seconds(10), wait: seconds(5) }
    }
}

/// The keys after some attempts to fetch them.
#[derive(Clone, Default)]
pub(super) struct KeySet {
    pub keys: Arc<[PublicKey]>,
    /// How many attempts were made.
    attempts: u64,
    /// An attempt has succeeded.
    is_ready: bool,
}

/// The keys of an issuer.
pub(super) struct RemoteKeys {
    current: watch::Receiver<KeySet>,
    /// Asks for another attempt.
    wanted: Arc<Notify>,
    waiting: Semaphore,
    wait: Duration,
    task: AbortHandle,
}

impl Drop for RemoteKeys {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl RemoteKeys {
    /// Begins to fetch keys.
    pub(super) fn fetch(source: KeySource, pace: Pace) -> Self {
        let (sender, current) = watch::channel(KeySet::default());
        let wanted = Arc::new(Notify::new());
        let fetcher = Fetcher { source, pace, sender, wanted: Arc::clone(&wanted), key_set: None };
        let task = tasks::spawn(fetcher.run()).abort_handle();
        Self { current, wanted, waiting: Semaphore::new(MOST_WAITING), wait: pace.wait, task }
    }

    /// The keys. Waits for the first attempt to end.
    ///
    /// # Errors
    /// There are none yet.
    pub(super) async fn first(&self) -> Result<KeySet, String> {
        let current = self.current.borrow().clone();
        let keys = if current.attempts == 0 { self.after(0).await.unwrap_or_default() } else { current };
        if keys.is_ready {
            Ok(keys)
        } else {
            Err("authenticator not initialized: the keys of the issuer are missing".to_owned())
        }
    }

    /// Keys that were fetched after these; `None` if there are no others in time.
    pub(super) async fn newer(&self, before: &KeySet) -> Option<KeySet> {
        let current = self.current.borrow().clone();
        if current.attempts > before.attempts {
            return Some(current);
        }
        self.wanted.notify_one();
        self.after(before.attempts).await
    }

    async fn after(&self, attempts: u64) -> Option<KeySet> {
        let _turn = self.waiting.try_acquire().ok()?;
        let mut current = self.current.clone();
        let later = timeout(self.wait, current.wait_for(|keys| keys.attempts > attempts)).await;
        later.ok()?.ok().map(|keys| keys.clone())
    }
}

/// Fetches the keys of an issuer.
struct Fetcher {
    source: KeySource,
    pace: Pace,
    sender: watch::Sender<KeySet>,
    wanted: Arc<Notify>,
    /// The URL of the keys, once the discovery document was read.
    key_set: Option<String>,
}

impl Fetcher {
    async fn run(mut self) {
        let mut has_failed = false;
        loop {
            let attempt = self.attempt().await;
            let next = Instant::now() + if attempt.is_ok() { self.pace.period } else { self.pace.retry };
            let earliest = Instant::now() + self.pace.at_least;
            match &attempt {
                Err(why) => {
                    self.key_set = None;
                    tracing::error!(
                        issuer = self.source.issuer,
                        error = why,
                        "the keys of an OpenID Connect issuer were not fetched"
                    );
                }
                Ok(_) if has_failed => {
                    tracing::info!(issuer = self.source.issuer, "the keys of an OpenID Connect issuer were fetched");
                }
                Ok(_) => {}
            }
            has_failed = attempt.is_err();
            self.sender.send_modify(|current| {
                current.attempts += 1;
                if let Ok(keys) = attempt {
                    (current.keys, current.is_ready) = (keys, true);
                }
            });
            tokio::select! {
                () = sleep_until(next) => {}
                () = self.wanted.notified() => sleep_until(earliest).await,
            }
        }
    }

    async fn attempt(&mut self) -> Result<Arc<[PublicKey]>, String> {
        let url = match &self.key_set {
            Some(url) => url.clone(),
            None => self.key_set.insert(self.discover().await?).clone(),
        };
        let document = self.document(&url).await?;
        let keys = document["keys"].as_array().ok_or_else(|| format!("{url}: it has no list of keys"))?;
        Ok(keys.iter().filter_map(PublicKey::from_jwk).take(MOST_KEYS).collect())
    }

    /// The URL of the keys.
    async fn discover(&self) -> Result<String, String> {
        let url = self.source.document();
        let document = self.document(&url).await?;
        let (expected, issuer) = (&self.source.issuer, document["issuer"].as_str().unwrap_or_default());
        if issuer != expected {
            return Err(format!(
                "{url}: issuer did not match the issuer returned by provider, expected {expected:?} got {issuer:?}"
            ));
        }
        let keys = document["jwks_uri"].as_str().filter(|url| !url.is_empty());
        keys.map(str::to_owned).ok_or_else(|| format!("{url}: it has no jwks_uri"))
    }

    async fn document(&self, url: &str) -> Result<Value, String> {
        let body = self.source.client.get(url).await.map_err(|why| format!("Get {url:?}: {why}"))?;
        serde_json::from_slice(&body).map_err(|error| format!("{url}: {error}"))
    }
}
