//! Calls conversion webhooks: builds and checks the reviews, and keeps connections. Conversions that are needed together are
//! one call.
mod connection;
mod review;
#[cfg(test)]
mod tests;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

use self::{connection::Client, review::Batch};
use crate::{
    kind::convert::{Answers, Question, Webhook, WebhookService},
    meta::{GroupVersion, uid::uid},
    metrics::{self, Histogram, Totals, milliseconds},
    schema::Document,
};

/// How long a call may take, as in kube-apiserver.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The maximum number of attempts of code that converts. Each needs what the one before it made, as an apply needs the merged
/// object.
const MOST_ATTEMPTS: usize = 32;
/// The maximum number of objects that a call converts.
const MOST_OBJECTS: usize = 500;
/// The maximum size of them in bytes; the last one may exceed it.
const MOST_BYTES: usize = 4 << 20;
/// The maximum number of webhooks whose connections are kept.
const MOST_CLIENTS: usize = 1_024;

/// Buckets, as kube-apiserver has them.
const BOUNDS: [u64; 15] = milliseconds([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024, 2_048, 4_096, 8_192, 16_384]);

/// Finds the address of a service: a host and a port, such as `10.0.0.7:9443`; `None` to resolve `name.namespace.svc` by DNS.
pub(crate) type Resolver = Arc<dyn Fn(&WebhookService) -> Option<String> + Send + Sync>;

/// What calls are counted by: the definition, both versions, and whether they succeeded.
type Labels = (Arc<str>, String, String, bool);

/// A webhook, and the address that the resolver gave.
type Target = (Arc<Webhook>, Option<String>);

/// The conversion webhooks.
pub struct Webhooks {
    resolver: Option<Resolver>,
    timeout: Duration,
    clients: Mutex<HashMap<Target, Arc<Client>>>,
    durations: Mutex<HashMap<Labels, Arc<Histogram>>>,
}

impl Default for Webhooks {
    fn default() -> Self {
        Self { resolver: None, timeout: TIMEOUT, clients: Mutex::default(), durations: Mutex::default() }
    }
}

impl Webhooks {
    /// Webhooks whose services a function finds.
    pub fn with_resolver(resolver: Option<Resolver>) -> Self {
        Self { resolver, ..Self::default() }
    }

    /// Webhooks that must answer in this time.
    #[cfg(test)]
    pub(crate) fn within(timeout: Duration) -> Self {
        Self { timeout, ..Self::default() }
    }

    /// Runs code that converts, until all of its conversions are answered. The code must be a pure function.
    pub async fn resolve<T>(&self, mut work: impl FnMut() -> T) -> T {
        let mut answers = Answers::default();
        for attempt in 0.. {
            match answers.attempt(&mut work) {
                Ok(done) => return done,
                Err(open) => self.answer(open, &mut answers, attempt).await,
            }
        }
        unreachable!("what is asked is answered")
    }

    /// The same for code that may block its thread.
    pub fn resolve_blocking<T>(&self, mut work: impl FnMut() -> T) -> T {
        let mut answers = Answers::default();
        for attempt in 0.. {
            match answers.attempt(&mut work) {
                Ok(done) => return done,
                Err(open) => self.answer_blocking(open, &mut answers, attempt),
            }
        }
        unreachable!("what is asked is answered")
    }

    /// Answers what an attempt has asked, for code that may block its thread.
    pub(crate) fn answer_blocking(&self, open: Vec<Question>, answers: &mut Answers, attempt: usize) {
        // A thread of its own, because this one may belong to a runtime, which must not wait for another one.
        let call = || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.map(|runtime| runtime.block_on(self.answer(open, answers, attempt)))
        };
        let failed = match thread::scope(|scope| scope.spawn(call).join()) {
            Ok(Ok(())) => return,
            Ok(Err(error)) => format!("it cannot be called: {error}"),
            Err(_) => "the call panicked".to_owned(),
        };
        tracing::error!(failed, "conversion webhooks");
        answers.fail(&failed);
    }

    /// Forgets the connections and the durations of a definition that was removed. Connections are shared by definitions with the
    /// same webhook, so all are opened again when they are needed.
    pub fn forget(&self, definition: &str) {
        self.clients.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.durations.lock().unwrap_or_else(PoisonError::into_inner).retain(|labels, _| &*labels.0 != definition);
    }

    /// Answers what an attempt has asked.
    async fn answer(&self, open: Vec<Question>, answers: &mut Answers, attempt: usize) {
        // All batches together wait only once for a webhook that does not answer.
        let mut silent: Option<(Arc<Webhook>, String)> = None;
        for batch in batches(open) {
            let webhook = batch.of().webhook.clone();
            let called = match silent.as_ref().filter(|(known, _)| *known == webhook) {
                Some((_, why)) => Err(why.clone()),
                None if attempt < MOST_ATTEMPTS => self.call(&batch).await,
                None => Ok(Err(batch.failed("too many conversions depend on each other"))),
            };
            let results = called.unwrap_or_else(|why| {
                let failed = batch.failed(&why);
                silent = Some((webhook, why));
                Err(failed)
            });
            batch.answer(results, answers);
        }
    }

    /// Converts a batch. Fails if the webhook does not answer.
    async fn call(&self, batch: &Batch) -> Result<Result<Vec<Document>, String>, String> {
        let begun = Instant::now();
        let client = self.client(&batch.of().webhook);
        let called = async {
            let (uid, request) = match uid().and_then(|uid| batch.request(&uid).map(|request| (uid, request))) {
                Ok(ready) => ready,
                Err(why) => return Ok(Err(why)),
            };
            let called = tokio::time::timeout(self.timeout, client.post(request)).await;
            let answer = called.unwrap_or_else(|_| Err(client.failed("context deadline exceeded")))?;
            Ok(answer.map_err(|why| batch.failed(&why)).and_then(|answer| batch.converted(&answer, &uid)))
        };
        let converted = called.await;
        self.observe(batch.of(), matches!(converted, Ok(Ok(_))), begun.elapsed());
        converted
    }

    fn client(&self, webhook: &Arc<Webhook>) -> Arc<Client> {
        let address =
            webhook.service.as_ref().zip(self.resolver.as_ref()).and_then(|(service, resolver)| resolver(service));
        let key = (webhook.clone(), address);
        let clients = || self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = clients().get(&key) {
            return known.clone();
        }
        // Not under the lock, because this may read files.
        let client = Arc::new(Client::new(webhook, key.1.clone()));
        let mut clients = clients();
        if clients.len() >= MOST_CLIENTS {
            clients.clear();
        }
        clients.entry(key).or_insert(client).clone()
    }

    fn observe(&self, of: &Question, succeeded: bool, elapsed: Duration) {
        let labels = (of.definition.clone(), of.from.version.clone(), of.to.version.clone(), succeeded);
        let mut durations = self.durations.lock().unwrap_or_else(PoisonError::into_inner);
        let histogram = durations.entry(labels).or_insert_with(|| Arc::new(Histogram::new(&BOUNDS))).clone();
        drop(durations);
        histogram.observe(metrics::nanoseconds(elapsed));
    }

    /// The durations of calls in nanoseconds: the definition, both versions, and whether they succeeded.
    pub fn durations(&self) -> Vec<(Labels, Totals)> {
        let durations = self.durations.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all: Vec<_> = durations.iter().map(|(labels, of)| (labels.clone(), of.totals())).collect();
        all.sort_by(|a, b| a.0.cmp(&b.0));
        all
    }
}

/// Questions to the same webhook about the same versions.
fn batches(open: Vec<Question>) -> Vec<Batch> {
    let mut batches: Vec<Batch> = Vec::new();
    for question in open {
        match batches.iter_mut().rev().find(|batch| batch.takes(&question)) {
            Some(batch) => batch.push(question),
            None => batches.push(Batch::of_one(question)),
        }
    }
    batches
}

/// A version and a kind in kube-apiserver's messages: `example.com/v1, Kind=Gear`.
fn shown(version: &GroupVersion, kind: &str) -> String {
    format!("{version}, Kind={kind}")
}
