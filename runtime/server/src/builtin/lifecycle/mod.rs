//! The lifecycle of namespaces: empties terminating namespaces, reports the remaining content in their status, and
//! removes them.
//!
//! All input is in the store: a namespace with a deletion time and the finalizer `kubernetes` in its spec is work to
//! do. The controller can therefore be stopped and restarted at any moment, and several may run concurrently.
//!
//! One task watches the namespaces, and one task per terminating namespace empties it. While objects with finalizers
//! remain, that task watches the namespace instead of polling. A growing time limit covers what no watch reports, such
//! as new kinds.

mod conditions;
mod content;
#[cfg(test)]
mod tests;

use std::{future::poll_fn, sync::Arc, task::Poll, time::Duration};

use serde_json::Value;
use tokio::{
    sync::watch as signal,
    task::JoinError,
    time::{Instant, sleep, timeout},
};

use super::{namespace::FINALIZER, task_set::Tasks};
use crate::{
    auth::User,
    cache::{Subscription, Watch},
    meta::options::WriteOptions,
    registry::ResourceEntry,
    schema::Document,
    verbs::{Error, Request, Verbs},
};

/// The wait after the first failure or incomplete pass. Each further wait is twice as long.
const FIRST_WAIT: Duration = Duration::from_millis(100);
/// The longest wait.
const LONGEST_WAIT: Duration = Duration::from_secs(30);
/// How long to collect further changes after a change in a namespace.
const GATHER: Duration = Duration::from_millis(20);

/// Runs until the stop signal, or until the cache is closed.
pub(super) async fn run(api: Arc<Verbs>, mut stop: signal::Receiver<bool>) {
    let user = Arc::new(User::system());
    let mut tasks = DeletionTasks::default();
    while let Some(namespaces) = api.registry.namespaces() {
        let controller = Controller { api: api.clone(), namespaces, user: user.clone() };
        tokio::select! {
            biased;
            _ = stop.wait_for(|stopping| *stopping) => break,
            ended = controller.follow(&mut tasks) => if ended { break },
        }
        // The watch ended early. Reading the state again includes the missed changes.
        sleep(FIRST_WAIT).await;
    }
    // A write in progress has its own task in the store and completes; the rest can be resumed.
    tasks.shutdown().await;
}

/// The field manager of the controller's writes.
const MANAGER: &str = "namespace-controller";

/// Shared between the tasks.
#[derive(Clone)]
struct Controller {
    api: Arc<Verbs>,
    namespaces: Arc<ResourceEntry>,
    user: Arc<User>,
}

/// The tasks that empty namespaces.
type DeletionTasks = Tasks<String, ()>;

impl Controller {
    /// Processes all namespaces, then each change of them. Returns true when the cache is closed.
    async fn follow(&self, tasks: &mut DeletionTasks) -> bool {
        let snapshot = self.namespaces.objects.snapshot();
        for namespace in snapshot.range("", None) {
            self.consider(tasks, namespace.key(), namespace.json_bytes());
        }
        let Ok(mut watch) = self.namespaces.objects.watch(snapshot.revision(), Subscription::All, None).await else {
            return false;
        };
        loop {
            tokio::select! {
                event = watch.next() => match event {
                    None => return self.api.cache.is_closed(),
                    Some(Err(_)) => return false,
                    Some(Ok(event)) => self.consider(tasks, event.object.key(), event.object.json_bytes()),
                },
                Some((name, ended)) = tasks.next() => self.end(tasks, &name, ended),
            }
        }
    }

    /// Starts a task for a namespace that has work to do, unless one is running.
    fn consider(&self, tasks: &mut DeletionTasks, name: &str, json: &[u8]) {
        let due = serde_json::from_slice(json).is_ok_and(|namespace: Document| is_due(&namespace));
        if due && !tasks.has(name) {
            let (controller, owned) = (self.clone(), name.to_owned());
            tasks.spawn(name.to_owned(), async move { controller.empty(&owned).await });
        }
    }

    /// Handles the end of a task. Its namespace may have been created again and may be terminating again by now.
    fn end(&self, tasks: &mut DeletionTasks, name: &str, ended: Result<(), JoinError>) {
        if let Err(failed) = ended {
            // No immediate retry, or a bug would cause an endless loop; the next change retries.
            tracing::error!(namespace = name, %failed, "the task that empties a namespace failed");
        } else if let Some(namespace) = self.namespaces.objects.snapshot().get(name) {
            self.consider(tasks, name, namespace.json_bytes());
        }
    }

    /// Empties a namespace and removes it, however long that takes.
    async fn empty(&self, name: &str) {
        let mut wait = FIRST_WAIT;
        loop {
            let Some(namespace) = self.find(name) else { return };
            // Watch from before the pass: a change during the pass ends the wait at once.
            let watches = self.watch(name).await;
            let begun = Instant::now();
            match self.pass(name, namespace).await {
                Ok(Progress::Done) => return,
                Ok(Progress::Remaining) => {
                    tracing::debug!(namespace = name, "waiting for what is left in the namespace");
                }
                Err(error) => tracing::warn!(namespace = name, ?error, "the namespace could not be emptied"),
            }
            let took = begun.elapsed();
            match timeout(wait, any_change(watches)).await {
                Ok(()) => {
                    // If a pass takes long because much remains, leave most of the time to other tasks.
                    sleep(GATHER.max(took * 4)).await;
                    wait = FIRST_WAIT;
                }
                Err(_) => wait = LONGEST_WAIT.min(wait * 2),
            }
        }
    }

    /// The namespace, if it has work to do.
    fn find(&self, name: &str) -> Option<Document> {
        let object = self.namespaces.objects.snapshot().get(name)?;
        serde_json::from_slice(object.json_bytes()).ok().filter(is_due)
    }

    /// One pass: deletes what can be deleted, reports what remains, and removes the namespace if it is empty.
    async fn pass(&self, name: &str, mut namespace: Document) -> Result<Progress, Error> {
        let remaining = content::delete_all(&self.api, &self.user, name).await;
        let changed = conditions::update(&mut namespace, &remaining);
        if changed && let Some(progress) = self.update(name, "status", namespace).await? {
            return Ok(progress);
        }
        if !remaining.is_empty() {
            return Ok(Progress::Remaining);
        }
        let Some(mut namespace) = self.find(name) else { return Ok(Progress::Done) };
        if let Some(finalizers) = namespace["spec"]["finalizers"].as_array_mut() {
            finalizers.retain(|finalizer| finalizer != FINALIZER);
        }
        Ok(self.update(name, "finalize", namespace).await?.unwrap_or(Progress::Done))
    }

    /// Writes a subresource of the namespace. Returns what is left to do if that was not possible any more.
    async fn update(&self, name: &str, subresource: &str, namespace: Document) -> Result<Option<Progress>, Error> {
        let request = Request::for_all(&self.user, &self.namespaces).at(name);
        let request = Request { subresource: subresource.into(), ..request };
        match self.api.update(&request, namespace, &WriteOptions::of_server(MANAGER)).await {
            Ok(_) => Ok(None),
            Err(Error::NotFound(..)) => Ok(Some(Progress::Done)),
            // Another client wrote the namespace; the next pass uses the new state.
            Err(Error::Conflict(..)) => Ok(Some(Progress::Remaining)),
            Err(error) => Err(error),
        }
    }

    /// Watches the current content of the namespace.
    async fn watch(&self, name: &str) -> Vec<Watch> {
        let prefix = format!("{name}/");
        let mut watches = Vec::new();
        for resource in content::kinds(&self.api) {
            let snapshot = resource.objects.snapshot();
            if snapshot.range(&prefix, None).next().is_none() {
                continue;
            }
            let subscription = Subscription::Namespace(name.into());
            watches.extend(resource.objects.watch(snapshot.revision(), subscription, None).await);
        }
        watches
    }
}

/// The result of a pass.
enum Progress {
    /// The work is done.
    Done,
    /// Some content remains.
    Remaining,
}

/// True if a namespace waits for this controller.
fn is_due(namespace: &Document) -> bool {
    let finalizers = namespace["spec"]["finalizers"].as_array();
    let ours = finalizers.is_some_and(|all| all.iter().any(|finalizer| finalizer == FINALIZER));
    ours && namespace["metadata"].get("deletionTimestamp").is_some_and(Value::is_string)
}

/// Waits until one of the watches reports a change: an object may have been removed, or may be removable now. The
/// pass's own changes come before its end. Without watches it waits for ever.
async fn any_change(mut watches: Vec<Watch>) {
    poll_fn(|cx| {
        let mut changed = false;
        for watch in &mut watches {
            while let Poll::Ready(event) = watch.poll_next(cx) {
                changed = true;
                if !matches!(event, Some(Ok(_))) {
                    break;
                }
            }
        }
        if changed { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}
