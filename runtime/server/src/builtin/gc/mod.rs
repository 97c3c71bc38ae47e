//! Garbage collection: deletes objects whose owners are gone, and does the work that foreground and orphaning deletions
//! wait for.
//!
//! All its input is in the store: owner references, deletion times and two finalizers. The dependency graph is rebuilt
//! from the state at every start, so the collector can be stopped at any moment. Every write names the revision that it
//! was decided on, so several collectors may run concurrently.
//!
//! One task watches all kinds, maintains the graph and decides. Other tasks carry out the decisions concurrently. The
//! graph lags behind the state by moments. Owners are therefore looked up in the state. Only the graph knows the
//! dependents of a deleted object, so for that decision the collector waits until the graph has caught up.

mod act;
mod decide;
mod facts;
mod graph;
mod kinds;
mod queue;
#[cfg(test)]
mod tests;
mod warn;

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::Duration,
};

use tokio::{
    sync::watch as signal,
    task::{JoinError, yield_now},
    time::{Instant, sleep, sleep_until},
};

use self::{
    act::{Target, Writer},
    decide::{Action, decide},
    facts::{Facts, Uid, is_telling},
    graph::{Graph, ObjectRef},
    kinds::Kinds,
    queue::Queue,
};
use super::{task_set::Tasks, watched_resources::Next};
use crate::{
    auth::User,
    cache::{Event, EventType, Object, Subscription, WatchError},
    meta::Revision,
    tasks,
    verbs::{Error, Verbs},
};

/// The maximum number of concurrent writes, which share the store's fsync.
const AT_ONCE: usize = 128;
/// The maximum number of changes per kind read before other work continues, and of decisions made in a row.
const BATCH: usize = 512;
/// How often to check for new kinds.
const LOOK_FOR_KINDS: Duration = Duration::from_secs(1);
/// How soon to check again whether the graph has caught up.
const CATCH_UP: Duration = Duration::from_millis(2);
/// The wait before watching starts again after a failure.
const BEGIN_ANEW: Duration = Duration::from_millis(100);

/// Runs until the stop signal, or until the cache is closed.
pub(super) async fn run(api: Arc<Verbs>, mut stop: signal::Receiver<bool>) {
    loop {
        let mut collector = Collector::new(api.clone());
        tokio::select! {
            biased;
            _ = stop.wait_for(|stopping| *stopping) => return,
            ended = collector.follow() => match ended {
                WatchEnd::Closed => return,
                WatchEnd::Broken(error) => tracing::debug!(%error, "garbage collection restarts"),
            },
        }
        sleep(BEGIN_ANEW).await;
    }
}

/// Why watching ended.
enum WatchEnd {
    /// The cache is closed.
    Closed,
    /// Changes were missed. Reading the state again includes them.
    Broken(WatchError),
}

/// The state of the collector between two restarts.
struct Collector {
    writer: Writer,
    kinds: Kinds,
    graph: Graph,
    queue: Queue,
    tasks: Tasks<Uid, Result<(), Error>>,
    /// Objects with owners of kinds that are not served.
    await_kinds: HashSet<Uid>,
    /// The revision that the graph must reach before the collector decides about an object that waits for its
    /// dependents.
    catch_up: HashMap<Uid, Revision>,
    /// The impossible owners of an object that were already reported.
    reported: HashMap<Uid, HashSet<String>>,
}

impl Collector {
    fn new(api: Arc<Verbs>) -> Self {
        Self {
            kinds: Kinds::new(api.clone()),
            writer: Writer { api, user: Arc::new(User::system()) },
            graph: Graph::default(),
            queue: Queue::default(),
            tasks: Tasks::default(),
            await_kinds: HashSet::new(),
            catch_up: HashMap::new(),
            reported: HashMap::new(),
        }
    }

    /// Reads the state, then processes changes until watching ends.
    async fn follow(&mut self) -> WatchEnd {
        let mut look_for_kinds = Instant::now();
        let mut events = Vec::new();
        loop {
            if Instant::now() >= look_for_kinds {
                if let Err(error) = self.follow_new_kinds().await {
                    return WatchEnd::Broken(error);
                }
                look_for_kinds = Instant::now() + LOOK_FOR_KINDS;
            }
            self.work();
            let wake = if self.queue.running() < AT_ONCE { self.queue.next_due() } else { None };
            let wake = wake.map_or(look_for_kinds, |due| due.min(look_for_kinds));
            tokio::select! {
                biased;
                next = self.kinds.watched.next(BATCH, &mut events) => {
                    self.take_in(&mut events);
                    match next {
                        Next::Events => {}
                        Next::ResourcesChanged => look_for_kinds = Instant::now(),
                        Next::Broken(error) => return WatchEnd::Broken(error),
                        Next::Closed => return WatchEnd::Closed,
                    }
                }
                Some((uid, done)) = self.tasks.next() => self.end(uid, done),
                () = sleep_until(wake) => {}
            }
        }
    }

    /// Drops removed kinds and starts to watch new ones.
    async fn follow_new_kinds(&mut self) -> Result<(), WatchError> {
        let Some(changes) = self.kinds.renew() else { return Ok(()) };
        for position in changes.removed {
            let (due, gone) = self.graph.forget_kind(position);
            for uid in gone {
                self.reported.remove(&uid);
                self.await_kinds.remove(&uid);
            }
            self.queue.push_all(due);
        }
        for position in changes.added {
            let objects = self.kinds.watched.at(position).objects.clone();
            let snapshot = objects.snapshot();
            for (count, object) in snapshot.range("", None).enumerate() {
                self.take_in_object(position, object);
                if count % BATCH == BATCH - 1 {
                    yield_now().await;
                }
            }
            let watch = objects.watch(snapshot.revision(), Subscription::All, None).await?;
            self.kinds.watched.watch(position, watch);
        }
        self.queue.push_all(self.await_kinds.drain());
        Ok(())
    }

    fn take_in(&mut self, events: &mut Vec<(usize, Event)>) {
        for (kind, event) in events.drain(..) {
            let object = &event.object;
            if event.event_type != EventType::Deleted {
                self.take_in_object(kind, object);
            } else if !self.graph.is_empty() {
                let object_ref = ObjectRef { kind, key: object.key().into() };
                let uid = Facts::of(object).uid;
                self.reported.remove(&uid);
                self.await_kinds.remove(&uid);
                let due = self.graph.forget(&object_ref, &uid);
                self.queue.push_all(due);
            }
        }
    }

    fn take_in_object(&mut self, kind: usize, object: &Object) {
        let is_known = || !self.graph.is_empty() && self.graph.has_at(kind, object.key());
        if object.unreadable().is_some() || !(is_telling(object) || is_known()) {
            return;
        }
        let due = self.graph.update(ObjectRef { kind, key: object.key().into() }, Facts::of(object));
        self.queue.push_all(due);
    }

    /// Decides about the objects that are due and starts the work, up to the limit of concurrent tasks.
    fn work(&mut self) {
        let mut caught_up = None;
        let mut left = BATCH;
        while left > 0
            && self.queue.running() < AT_ONCE
            && let Some(uid) = self.queue.pop()
        {
            left -= 1;
            if self.graph.node(&uid).is_none() {
                self.catch_up.remove(&uid);
                self.queue.settle(&uid);
                continue;
            }
            let waits = self.graph.node(&uid).is_some_and(|node| node.waits_for.is_some());
            if waits && !self.has_caught_up(&uid, &mut caught_up) {
                self.queue.push_after(uid, CATCH_UP);
                continue;
            }
            if let Some(decision) = decide(&self.graph, &self.kinds, &uid) {
                self.carry_out(uid, decision);
            } else {
                self.queue.settle(&uid);
            }
        }
    }

    /// True if the graph has reached the revision recorded at the first check of this object.
    fn has_caught_up(&mut self, uid: &Uid, caught_up: &mut Option<Revision>) -> bool {
        let cache = &self.writer.api.cache;
        let needed = *self.catch_up.entry(uid.clone()).or_insert_with(|| cache.revision());
        let upto = *caught_up.get_or_insert_with(|| self.kinds.watched.position().unwrap_or(needed));
        if upto >= needed {
            self.catch_up.remove(uid);
        }
        upto >= needed
    }

    fn carry_out(&mut self, uid: Uid, decision: decide::Decision) {
        let Some(target) = self.graph.node(&uid).map(|node| self.target(&uid, &node.object_ref)) else { return };
        for owner in decision.misplaced {
            if self.reported.entry(uid.clone()).or_default().insert(owner.uid.clone()) {
                let (writer, target) = (self.writer.clone(), target.clone());
                tasks::spawn(async move { writer.warn(target, owner).await });
            }
        }
        let orphans = match &decision.action {
            Action::Leave => {
                self.queue.settle(&uid);
                return;
            }
            Action::AwaitKinds => {
                self.await_kinds.insert(uid);
                return;
            }
            Action::Orphan(dependents) => {
                dependents.iter().map(|(uid, object_ref)| self.target(uid, object_ref)).collect()
            }
            _ => Vec::new(),
        };
        tracing::debug!(key = %target.key, action = ?decision.action, "collecting");
        // After the last dependent is orphaned, nothing else would trigger another look at the owner.
        let again = !orphans.is_empty();
        let writer = self.writer.clone();
        let work = async move { writer.act(&target, decision.action, decision.at, orphans).await };
        self.tasks.spawn(uid.clone(), work);
        self.queue.begin(uid.clone());
        if again {
            self.queue.push(uid);
        }
    }

    fn target(&self, uid: &Uid, object_ref: &ObjectRef) -> Target {
        Target {
            resource: self.kinds.watched.at(object_ref.kind).clone(),
            key: object_ref.key.clone(),
            uid: uid.clone(),
        }
    }

    /// Handles the end of a task.
    fn end(&mut self, uid: Uid, ended: Result<Result<(), Error>, JoinError>) {
        let done = ended.unwrap_or_else(|broken| Err(Error::Internal(broken.to_string())));
        match &done {
            Ok(()) => {}
            // Another write came first; its event triggers another look.
            Err(Error::Conflict(..)) => tracing::debug!(%uid, "decided on an older state"),
            Err(error) => tracing::warn!(%uid, ?error, "an object could not be collected"),
        }
        self.queue.end(uid, done.is_ok());
    }
}
