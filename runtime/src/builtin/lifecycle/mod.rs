//! The lifecycle of namespaces: empties those that are terminating, says in their status what is left, and lets them go.
//!
//! Everything it needs to know is in the store: a namespace with a deletion time whose spec still has the finalizer
//! `kubernetes` is work to do, whoever found it so and however often. So it may be cut off at any point and started
//! again, and several may run beside each other.
//!
//! One task watches the namespaces, and one task for each terminating namespace empties it. What holds a namespace up
//! (objects with finalizers) is waited for by watching that namespace, not by asking over and over; a time limit, which
//! grows, is there for what no watch tells, such as kinds that are added.

mod conditions;
mod content;
#[cfg(test)]
mod tests;

use std::{collections::HashMap, future::poll_fn, sync::Arc, task::Poll, time::Duration};

use serde_json::Value;
use tokio::{
    sync::watch as signal,
    task::{Id, JoinError, JoinSet},
    time::{Instant, sleep, timeout},
};

use super::namespace::FINALIZER;
use crate::{
    auth::User,
    cache::{Subscription, Watch},
    kind::registry::Served,
    meta::options::WriteOptions,
    schema::Document,
    verbs::{Api, Error, Request},
};

/// The first wait after something went wrong or was left over; each further one is twice as long.
const FIRST_WAIT: Duration = Duration::from_millis(100);
/// The longest wait.
const LONGEST_WAIT: Duration = Duration::from_secs(30);
/// After a change in a namespace, how long further ones are gathered.
const GATHER: Duration = Duration::from_millis(20);

/// Runs until the signal says so or the cache is closed.
pub(super) async fn run(api: Arc<Api>, mut stop: signal::Receiver<bool>) {
    let user = Arc::new(User::system());
    let mut emptying = Emptying::default();
    while let Some(namespaces) = api.registry.namespaces() {
        let controller = Controller { api: api.clone(), namespaces, user: user.clone() };
        tokio::select! {
            biased;
            _ = stop.wait_for(|stopping| *stopping) => break,
            ended = controller.follow(&mut emptying) => if ended { break },
        }
        // The watch was cut off; what it would have told is in the next look at the state.
        sleep(FIRST_WAIT).await;
    }
    // Whoever is at it finishes the write under way, which has its own task in the store; the rest can be resumed.
    emptying.tasks.shutdown().await;
}

/// Who owns what the controller changes.
const MANAGER: &str = "namespace-controller";

/// What the tasks share.
#[derive(Clone)]
struct Controller {
    api: Arc<Api>,
    namespaces: Arc<Served>,
    user: Arc<User>,
}

/// The namespaces that are being emptied.
#[derive(Default)]
struct Emptying {
    tasks: JoinSet<()>,
    /// Which namespace each task works on.
    names: HashMap<Id, String>,
}

impl Controller {
    /// Looks at all namespaces, then at each change of them. True when the cache is closed.
    async fn follow(&self, emptying: &mut Emptying) -> bool {
        let snapshot = self.namespaces.objects.snapshot();
        for namespace in snapshot.range("", None) {
            self.consider(emptying, namespace.key(), namespace.json_bytes());
        }
        let Ok(mut watch) = self.namespaces.objects.watch(snapshot.revision(), Subscription::All, None).await else {
            return false;
        };
        loop {
            tokio::select! {
                event = watch.next() => match event {
                    None => return self.api.cache.is_closed(),
                    Some(Err(_)) => return false,
                    Some(Ok(event)) => self.consider(emptying, event.object().key(), event.object().json_bytes()),
                },
                Some(ended) = emptying.tasks.join_next_with_id() => self.end(emptying, ended),
            }
        }
    }

    /// Starts on a namespace that has work to do, unless someone is at it.
    fn consider(&self, emptying: &mut Emptying, name: &str, json: &[u8]) {
        let due = serde_json::from_slice(json).is_ok_and(|namespace: Document| is_due(&namespace));
        if due && !emptying.names.values().any(|at| at == name) {
            let (controller, owned) = (self.clone(), name.to_owned());
            let task = emptying.tasks.spawn(async move { controller.empty(&owned).await });
            emptying.names.insert(task.id(), name.to_owned());
        }
    }

    /// A task has ended. Its namespace may have come anew and be terminating again by now, which nobody was told.
    fn end(&self, emptying: &mut Emptying, ended: Result<(Id, ()), JoinError>) {
        let (id, failed) = match ended {
            Ok((id, ())) => (id, None),
            Err(failed) => (failed.id(), Some(failed)),
        };
        let Some(name) = emptying.names.remove(&id) else { return };
        if let Some(failed) = failed {
            // Not at once again, or a fault of ours would go round for ever; the next change tries anew.
            tracing::error!(namespace = name, %failed, "emptying a namespace broke off");
        } else if let Some(namespace) = self.namespaces.objects.snapshot().get(&name) {
            self.consider(emptying, &name, namespace.json_bytes());
        }
    }

    /// Empties a namespace and lets it go, however long that takes.
    async fn empty(&self, name: &str) {
        let mut wait = FIRST_WAIT;
        loop {
            let Some(namespace) = self.find(name) else { return };
            // From before the pass: what changes during it ends the wait at once.
            let watches = self.watch(name).await;
            let begun = Instant::now();
            match self.pass(name, namespace).await {
                Ok(Progress::Done) => return,
                Ok(Progress::Left) => tracing::debug!(namespace = name, "waiting for what is left in the namespace"),
                Err(error) => tracing::warn!(namespace = name, ?error, "the namespace could not be emptied"),
            }
            let took = begun.elapsed();
            match timeout(wait, any_change(watches)).await {
                Ok(()) => {
                    // Where a pass is long because much is left, most of the time goes to others.
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

    /// One pass: deletes what can be deleted, says what is left, and if nothing is, lets the namespace go.
    async fn pass(&self, name: &str, mut namespace: Document) -> Result<Progress, Error> {
        let left = content::delete_all(&self.api, &self.user, name).await;
        let told = conditions::update(&mut namespace, &left);
        let mut request = self.request(name);
        if told {
            request.subresource = "status".into();
            match self.api.update(&request, namespace.clone(), &WriteOptions::of_server(MANAGER)).await {
                Ok(_) => {}
                // Someone else wrote: the next pass begins with what they made of it.
                Err(Error::Conflict(..)) => return Ok(Progress::Left),
                Err(Error::NotFound(..)) => return Ok(Progress::Done),
                Err(error) => return Err(error),
            }
        }
        if !left.is_nothing() {
            return Ok(Progress::Left);
        }
        let Some(mut namespace) = self.find(name) else { return Ok(Progress::Done) };
        if let Some(finalizers) = namespace["spec"]["finalizers"].as_array_mut() {
            finalizers.retain(|finalizer| finalizer != FINALIZER);
        }
        request.subresource = "finalize".into();
        match self.api.update(&request, namespace, &WriteOptions::of_server(MANAGER)).await {
            Ok(_) | Err(Error::NotFound(..)) => Ok(Progress::Done),
            Err(Error::Conflict(..)) => Ok(Progress::Left),
            Err(error) => Err(error),
        }
    }

    fn request(&self, name: &str) -> Request {
        Request {
            user: self.user.clone(),
            served: self.namespaces.clone(),
            namespace: String::new(),
            name: name.to_owned(),
            subresource: "".into(),
        }
    }

    /// Watches of what is in the namespace now.
    async fn watch(&self, name: &str) -> Vec<Watch> {
        let prefix = format!("{name}/");
        let mut watches = Vec::new();
        for served in content::kinds(&self.api) {
            let snapshot = served.objects.snapshot();
            if snapshot.range(&prefix, None).next().is_none() {
                continue;
            }
            let subscription = Subscription::Namespace(name.into());
            watches.extend(served.objects.watch(snapshot.revision(), subscription, None).await);
        }
        watches
    }
}

/// How far a pass has come.
enum Progress {
    /// There is nothing more to do.
    Done,
    /// Something is left.
    Left,
}

/// Whether a namespace waits for this controller.
fn is_due(namespace: &Document) -> bool {
    let finalizers = namespace["spec"]["finalizers"].as_array();
    let ours = finalizers.is_some_and(|all| all.iter().any(|finalizer| finalizer == FINALIZER));
    ours && namespace["metadata"].get("deletionTimestamp").is_some_and(Value::is_string)
}

/// Waits until an object goes that one of the watches looks at, or can go: any change but those of the pass itself may
/// mean that, and those come before it ends. Without watches, for ever.
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
