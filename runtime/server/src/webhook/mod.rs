//! Calls conversion webhooks: builds and checks the reviews, and keeps connections. Conversions that are needed together are
//! one call. Calls run in [slots] of their own, and a [breaker] decides whether a webhook that does not answer is called.
mod any_server;
mod blocking;
mod breaker;
mod certificate;
mod clients;
mod connection;
mod pool;
mod review;
mod slots;
#[cfg(test)]
mod tests;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use tokio::{
    sync::watch,
    time::{sleep, timeout},
};

pub(crate) use self::{
    any_server::any_server,
    certificate::authorities,
    connection::{Whole, connect, read, verifier},
    pool::Pool,
};
use self::{
    blocking::Runtime,
    clients::Clients,
    connection::{Answer, Client},
    review::Batch,
    slots::Slots,
};
use crate::{
    kind::convert::{Answers, Question, Webhook, WebhookService},
    meta::{GroupVersion, uid::uid},
    metrics::{self, Histogram, Totals, milliseconds},
    schema::Document,
    tasks,
};
use bytes::Bytes;

/// How long a call may take, as in kube-apiserver.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The maximum number of attempts of code that converts. Each needs what the one before it made, as an apply needs the merged
/// object.
const MOST_ATTEMPTS: usize = 32;
/// The maximum number of objects that a call converts.
const MOST_OBJECTS: usize = 500;
/// The maximum size of them in bytes; the last one may exceed it.
const MOST_BYTES: usize = 4 << 20;
/// The size of a response in bytes above which it is decoded on another thread.
const LARGE: usize = 64 << 10;
/// How long a call may take when the server stops.
const STOP_WITHIN: Duration = Duration::from_secs(1);

/// The maximum number of descriptors that calls take.
pub(crate) const DESCRIPTORS: usize = slots::MOST_RUNNING + pool::MOST_IDLE;

/// Buckets, as kube-apiserver has them.
const BOUNDS: [u64; 15] = milliseconds([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024, 2_048, 4_096, 8_192, 16_384]);

/// Finds the address of a service: a host and a port, such as `10.0.0.7:9443`; `None` to resolve `name.namespace.svc` by DNS.
pub(crate) type Resolver = Arc<dyn Fn(&WebhookService) -> Option<String> + Send + Sync>;

/// The labels by which calls are counted: the definition, both versions, and success.
type Labels = (Arc<str>, String, String, bool);

/// The conversion webhooks.
pub struct Webhooks {
    timeout: Duration,
    clients: Clients,
    slots: Slots,
    runtime: Runtime,
    durations: Mutex<HashMap<Labels, Arc<Histogram>>>,
    /// True while the server stops.
    stopping: watch::Sender<bool>,
}

impl Default for Webhooks {
    fn default() -> Self {
        Self::with(None, TIMEOUT)
    }
}

impl Webhooks {
    /// Webhooks whose services a function finds.
    pub fn with_resolver(resolver: Option<Resolver>) -> Self {
        Self::with(resolver, TIMEOUT)
    }

    /// Webhooks that must answer in this time.
    #[cfg(test)]
    pub(crate) fn within(timeout: Duration) -> Self {
        Self::with(None, timeout)
    }

    fn with(resolver: Option<Resolver>, timeout: Duration) -> Self {
        Self {
            timeout,
            clients: Clients::new(resolver, timeout),
            slots: Slots::default(),
            runtime: Runtime::default(),
            durations: Mutex::default(),
            stopping: watch::Sender::new(false),
        }
    }

    /// Runs code that converts, until all of its conversions are answered. The code must be a pure function of the answers.
    pub async fn resolve<T>(&self, mut work: impl FnMut(&Answers) -> T) -> T {
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
    pub fn resolve_blocking<T>(&self, mut work: impl FnMut(&Answers) -> T) -> T {
        let mut answers = Answers::default();
        for attempt in 0.. {
            match answers.attempt(&mut work) {
                Ok(done) => return done,
                Err(open) => self.runtime.block_on(self.answer(open, &mut answers, attempt)),
            }
        }
        unreachable!("what is asked is answered")
    }

    /// Forgets the connections of a definition to other webhooks than the one that it has now, and the durations if it has none.
    pub fn forget_others(&self, definition: &str, now: Option<&Arc<Webhook>>) {
        self.clients.forget_others(definition, now);
        if now.is_some() {
            return;
        }
        self.durations.lock().unwrap_or_else(PoisonError::into_inner).retain(|labels, _| &*labels.0 != definition);
    }

    /// Cancels calls, also later ones, that are not answered within a second, because the server stops.
    pub fn stop(&self) {
        self.stopping.send_replace(true);
    }

    /// Answers what an attempt has asked.
    pub(crate) async fn answer(&self, open: Vec<Question>, answers: &mut Answers, attempt: usize) {
        // All batches together wait only once for a webhook that does not answer.
        let mut silent: Option<(Arc<Webhook>, String)> = None;
        for batch in batches(open) {
            let webhook = batch.of().webhook.clone();
            let called = match silent.as_ref().filter(|(known, _)| *known == webhook) {
                Some((_, why)) => Err(why.clone()),
                None if attempt < MOST_ATTEMPTS => self.call(&batch).await,
                None => Ok(Err(batch.failed("too many conversions depend on each other"))),
            };
            match called {
                Ok(results) => batch.answer(results, answers),
                Err(why) => {
                    batch.leave_open(&why, answers);
                    silent = Some((webhook, why));
                }
            }
        }
    }

    /// Converts a batch. Fails if the webhook does not answer.
    async fn call(&self, batch: &Batch) -> Result<Result<Vec<Document>, String>, String> {
        let begun = Instant::now();
        let called = async {
            let (uid, request) = match uid().and_then(|uid| batch.request(&uid).map(|request| (uid, request))) {
                Ok(ready) => ready,
                Err(why) => return Ok(Err(why)),
            };
            let client = self.clients.of(batch.of());
            let answer = self.post(&client, request).await.map_err(|why| client.failed(&why))?;
            let review = match answer {
                Ok(answer) => decode(answer).await,
                Err(why) => Err(why),
            };
            Ok(batch.converted(review, &uid))
        };
        let converted = called.await;
        self.observe(batch.of(), matches!(converted, Ok(Ok(_))), begun.elapsed());
        converted
    }

    /// Sends a request in the slots of a call.
    async fn post(&self, client: &Client, request: Bytes) -> Result<Result<Answer, String>, String> {
        let mut slot = None;
        let calling = async {
            let slot = slot.insert(client.queue.enter(&self.slots).await?);
            client.post(request, &slot.call).await
        };
        let called = tokio::select! {
            called = timeout(self.timeout, calling) => called,
            () = self.stopping() => return Err("the server is stopping".to_owned()),
        };
        let (why, slot) = match (called, slot) {
            (Ok(Ok(answer)), Some(slot)) => {
                slot.call.answered();
                return Ok(answer);
            }
            (Ok(Err(why)), None) => return Err(why),
            (Err(_), None) => return Err("the calls before this one took too long".to_owned()),
            (Ok(Ok(_)), None) => unreachable!("a request is sent in a slot"),
            (Ok(Err(why)), Some(slot)) => (why, slot),
            (Err(_), Some(slot)) => ("context deadline exceeded".to_owned(), slot),
        };
        slot.call.failed(&why);
        Err(why)
    }

    /// Waits until the server stops, and calls have had their time.
    async fn stopping(&self) {
        // The sender is part of this.
        drop(self.stopping.subscribe().wait_for(|stopping| *stopping).await);
        sleep(STOP_WITHIN).await;
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

/// The document of a response.
async fn decode(answer: Answer) -> Result<Document, String> {
    if answer.body.len() <= LARGE {
        return review::decode(&answer.body);
    }
    let decoding = tasks::blocking(move || review::decode(&answer.body)).await;
    decoding.unwrap_or_else(|error| Err(format!("decoding the response broke off: {error}")))
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
