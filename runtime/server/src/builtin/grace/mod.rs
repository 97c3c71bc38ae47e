//! Graceful deletion: removes deleted objects when their grace period is over. A controller that needs more time holds
//! the object with a finalizer. At the deadline the object's grace period then becomes zero, and the object is removed
//! together with its last finalizer.
//!
//! All input is in the store: the deadline is `metadata.deletionTimestamp`, so deadlines survive a restart. Every
//! deletion names the object's uid and the revision that it was decided on. An object that was changed is examined
//! again; one that was created anew is left alone.
//!
//! One task watches the kinds with grace periods and keeps the deadlines in order. It checks the clock when the first
//! deadline is due and every second, so that clock changes are noticed, and at once when a test moves its clock. It never scans all objects again.

#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
    time::Duration,
};

use serde::Deserialize;
use tokio::{
    sync::{Notify, watch as signal},
    task::{JoinError, yield_now},
    time::sleep,
};

use super::{
    task_set::Tasks,
    watched_resources::{Next, WatchedResources},
};
use crate::{
    auth::User,
    cache::{Event, EventType, Object, Subscription},
    meta::{
        Time,
        options::{DeleteOptions, Preconditions},
        time,
    },
    verbs::{Error, Request, Verbs},
};

/// The maximum number of concurrent deletions, which share the store's fsync.
const AT_ONCE: usize = 64;
/// The number of objects processed before yielding to other tasks.
const BATCH: usize = 512;
/// The longest wait before checking for new kinds and reading the clock.
const LONGEST_WAIT: Duration = Duration::from_secs(1);
/// The wait before watching starts again after a failure.
const BEGIN_ANEW: Duration = Duration::from_millis(100);
/// Seconds before a failed deletion is retried.
const TRY_AGAIN_SECONDS: i64 = 5;

/// Returns the current time.
pub(super) type Clock = Arc<dyn Fn() -> Time + Send + Sync>;

/// Runs until the stop signal, or until the cache is closed.
pub(super) async fn run(api: Arc<Verbs>, clock: Clock, mut stop: signal::Receiver<bool>) {
    let moved = Arc::new(Notify::new());
    if let Some(current) = time::clock::Clock::current() {
        let moved = moved.clone();
        current.on_advance(move || moved.notify_one());
    }
    loop {
        let mut finisher = Finisher::new(api.clone(), clock.clone(), moved.clone());
        tokio::select! {
            biased;
            _ = stop.wait_for(|stopping| *stopping) => return,
            closed = finisher.follow() => if closed { return },
        }
        // A watch ended early. Reading the state again includes the missed changes.
        sleep(BEGIN_ANEW).await;
    }
}

/// A reference to an object: the position of its kind, and its key.
type ObjectRef = (usize, Box<str>);

/// A deletion that is due at its deadline.
struct Due {
    at: Time,
    preconditions: Preconditions,
}

/// The state of the controller between two restarts.
struct Finisher {
    api: Arc<Verbs>,
    clock: Clock,
    /// Notified when the clock was moved.
    moved: Arc<Notify>,
    user: Arc<User>,
    kinds: WatchedResources,
    due: HashMap<ObjectRef, Due>,
    /// The objects of `due`, sorted by deadline.
    order: BTreeSet<(Time, ObjectRef)>,
    tasks: Tasks<ObjectRef, Result<(), Error>>,
}

impl Finisher {
    fn new(api: Arc<Verbs>, clock: Clock, moved: Arc<Notify>) -> Self {
        Self {
            kinds: WatchedResources::new(api.clone()),
            api,
            clock,
            moved,
            user: Arc::new(User::system()),
            due: HashMap::new(),
            order: BTreeSet::new(),
            tasks: Tasks::default(),
        }
    }

    /// Reads the state, then processes changes and due deletions. Returns true when the cache is closed.
    async fn follow(&mut self) -> bool {
        let mut events = Vec::new();
        loop {
            if !self.follow_new_kinds().await {
                return false;
            }
            self.end_what_is_due();
            let wait = self.wait();
            tokio::select! {
                biased;
                next = self.kinds.next(BATCH, &mut events) => {
                    events.drain(..).for_each(|(kind, event)| self.take_in(kind, &event));
                    match next {
                        Next::Events | Next::ResourcesChanged => {}
                        Next::Broken(_) => return false,
                        Next::Closed => return true,
                    }
                }
                Some((object_ref, done)) = self.tasks.next() => self.end(object_ref, done),
                () = sleep(wait) => {}
                () = self.moved.notified() => {}
            }
        }
    }

    /// Drops removed resources and starts to watch new ones. Kinds without a grace period are watched, too: their
    /// existing objects may have been deleted with one. Returns false if a watch could not start.
    async fn follow_new_kinds(&mut self) -> bool {
        let Some(changes) = self.kinds.renew() else { return true };
        for kind in changes.removed {
            self.order.retain(|(_, object_ref)| object_ref.0 != kind);
            self.due.retain(|object_ref, _| object_ref.0 != kind);
        }
        for kind in changes.added {
            let resource = self.kinds.at(kind).clone();
            let snapshot = resource.objects.snapshot();
            for (count, object) in snapshot.range("", None).enumerate() {
                self.consider(kind, object);
                if count % BATCH == BATCH - 1 {
                    yield_now().await;
                }
            }
            if resource.kind.shared.grace.is_some() {
                match resource.objects.watch(snapshot.revision(), Subscription::All, None).await {
                    Ok(watch) => self.kinds.watch(kind, watch),
                    Err(_) => return false,
                }
            }
        }
        true
    }

    fn take_in(&mut self, kind: usize, event: &Event) {
        match event.event_type {
            EventType::Deleted => self.forget(&(kind, event.object.key().into())),
            EventType::Added | EventType::Modified => self.consider(kind, &event.object),
        }
    }

    /// Records the deadline of an object that is in its grace period.
    fn consider(&mut self, kind: usize, object: &Object) {
        let deadline = deadline(object);
        if deadline.is_none() && self.due.is_empty() {
            return;
        }
        let object_ref = (kind, object.key().into());
        self.forget(&object_ref);
        let Some((at, uid)) = deadline else { return };
        let preconditions = Preconditions { uid: Some(uid), resource_version: Some(object.revision().to_string()) };
        self.note(object_ref, Due { at, preconditions });
    }

    fn note(&mut self, object_ref: ObjectRef, due: Due) {
        self.order.insert((due.at, object_ref.clone()));
        self.due.insert(object_ref, due);
    }

    fn forget(&mut self, object_ref: &ObjectRef) {
        if let Some(due) = self.due.remove(object_ref) {
            self.order.remove(&(due.at, object_ref.clone()));
        }
    }

    /// Starts the deletions that are due, up to the limit of concurrent tasks.
    fn end_what_is_due(&mut self) {
        let now = (self.clock)();
        while self.tasks.len() < AT_ONCE
            && let Some((at, object_ref)) = self.order.first()
            && *at <= now
        {
            let object_ref = object_ref.clone();
            let Some(Due { preconditions, at }) = self.due.remove(&object_ref) else { return };
            self.order.remove(&(at, object_ref.clone()));
            let request = Request::for_all(&self.user, self.kinds.at(object_ref.0)).at(&object_ref.1);
            let options = DeleteOptions { grace_period_seconds: Some(0), preconditions, ..DeleteOptions::default() };
            let api = self.api.clone();
            tracing::debug!(key = &*object_ref.1, "the grace period of a deletion is over");
            self.tasks.spawn(object_ref, async move { api.delete(&request, &options).await.map(drop) });
        }
    }

    /// The time until the next deadline.
    fn wait(&self) -> Duration {
        // At the limit of concurrent deletions, the end of one wakes the task.
        let first = self.order.first().filter(|_| self.tasks.len() < AT_ONCE);
        let seconds = first.map(|(at, _)| at.timestamp().as_second() - (self.clock)().timestamp().as_second());
        let wait = seconds.and_then(|seconds| u64::try_from(seconds).ok()).map(Duration::from_secs);
        wait.unwrap_or(LONGEST_WAIT).min(LONGEST_WAIT)
    }

    /// Handles the end of a deletion. After a failure the object's current state is examined again.
    fn end(&mut self, object_ref: ObjectRef, ended: Result<Result<(), Error>, JoinError>) {
        let done = ended.unwrap_or_else(|broken| Err(Error::Internal(broken.to_string())));
        let Err(error) = done else { return };
        let Some(resource) = self.kinds.find(object_ref.0) else { return };
        let Some(object) = resource.objects.snapshot().get(&object_ref.1) else { return };
        self.consider(object_ref.0, &object);
        if matches!(error, Error::Conflict(..) | Error::NotFound(..) | Error::NotServed) {
            return;
        }
        tracing::warn!(key = &*object_ref.1, ?error, "an object could not be removed at its deadline");
        if let Some(mut due) = self.due.remove(&object_ref) {
            self.order.remove(&(due.at, object_ref.clone()));
            due.at = (self.clock)().plus_seconds(TRY_AGAIN_SECONDS);
            self.note(object_ref, due);
        }
    }
}

/// The deadline and uid of an object that is in its grace period.
fn deadline(object: &Object) -> Option<(Time, String)> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Wire {
        uid: String,
        deletion_timestamp: Time,
        deletion_grace_period_seconds: i64,
    }
    let metadata = object.metadata_bytes();
    // Most objects are not being deleted, and parsing them would cost more than this search.
    let has_period = std::str::from_utf8(metadata).is_ok_and(|text| text.contains("\"deletionGracePeriodSeconds\":"));
    if !has_period || object.unreadable().is_some() {
        return None;
    }
    let wire: Wire = serde_json::from_slice(metadata).ok()?;
    (wire.deletion_grace_period_seconds > 0).then_some((wire.deletion_timestamp, wire.uid))
}
