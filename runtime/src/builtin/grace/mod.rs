//! Graceful deletion: ends deleted objects when the time they were given is over, as if whoever ends them had said so. Whoever
//! needs longer holds the object with a finalizer: at the deadline the object then has no grace left, and goes when its last
//! finalizer is removed.
//!
//! Everything it needs to know is in the store: the deadline is `metadata.deletionTimestamp`, so that deadlines outlive a
//! restart. Every deletion names the object's uid and the revision that it was decided on: an object that was changed is
//! looked at again, one that was made anew is left alone.
//!
//! One task follows the kinds whose objects end gracefully and keeps their deadlines in order. It looks at the clock when the
//! first of them is due, and every second, so that a clock that was set is noticed; it never looks at all objects again.

#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
    time::Duration,
};

use serde::Deserialize;
use tokio::{
    sync::watch as signal,
    task::{Id, JoinError, JoinSet, yield_now},
    time::sleep,
};

use super::followed::{Followed, Next};
use crate::{
    auth::User,
    cache::{Event, Object, Subscription},
    meta::{
        Time,
        options::{DeleteOptions, Preconditions},
    },
    verbs::{Api, Error, Request},
};

/// Deletions under way at once: they share the store's fsync.
const AT_ONCE: usize = 64;
/// Objects that are looked at before others have a turn.
const BATCH: usize = 512;
/// The longest wait: then it is looked whether kinds have come, and what the clock says.
const LONGEST_WAIT: Duration = Duration::from_secs(1);
/// The wait before following begins anew after it broke off.
const BEGIN_ANEW: Duration = Duration::from_millis(100);
/// Seconds until a deletion that failed is tried again.
const TRY_AGAIN_SECONDS: i64 = 5;

/// Says what time it is.
pub(super) type Clock = Arc<dyn Fn() -> Time + Send + Sync>;

/// Runs until the signal says so or the cache is closed.
pub(super) async fn run(api: Arc<Api>, clock: Clock, mut stop: signal::Receiver<bool>) {
    loop {
        let mut finisher = Finisher::new(api.clone(), clock.clone());
        tokio::select! {
            biased;
            _ = stop.wait_for(|stopping| *stopping) => return,
            closed = finisher.follow() => if closed { return },
        }
        // A watch was cut off; what it would have told is in the next look at the state.
        sleep(BEGIN_ANEW).await;
    }
}

/// Where an object is: the position of its kind, and its key.
type Place = (usize, Box<str>);

/// What is to be done about an object at its deadline.
struct Due {
    at: Time,
    preconditions: Preconditions,
}

/// What one life of the controller keeps.
struct Finisher {
    api: Arc<Api>,
    clock: Clock,
    user: Arc<User>,
    kinds: Followed,
    due: HashMap<Place, Due>,
    /// The places of `due`, by their deadlines.
    order: BTreeSet<(Time, Place)>,
    tasks: JoinSet<Result<(), Error>>,
    /// About which object each task is.
    about: HashMap<Id, Place>,
}

impl Finisher {
    fn new(api: Arc<Api>, clock: Clock) -> Self {
        Self {
            kinds: Followed::new(api.clone()),
            api,
            clock,
            user: Arc::new(User::system()),
            due: HashMap::new(),
            order: BTreeSet::new(),
            tasks: JoinSet::new(),
            about: HashMap::new(),
        }
    }

    /// Takes in the state, then each change, and ends what is due. True when the cache is closed.
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
                        Next::Events | Next::Renewed => {}
                        Next::Broken(_) => return false,
                        Next::Closed => return true,
                    }
                }
                Some(done) = self.tasks.join_next_with_id() => self.end(done),
                () = sleep(wait) => {}
            }
        }
    }

    /// Forgets resources that have gone, and begins to follow those that have come. Of a kind without grace nothing new can
    /// become due, but it may have had some when its objects were deleted. False where a watch could not begin.
    async fn follow_new_kinds(&mut self) -> bool {
        let Some(renewed) = self.kinds.renew() else { return true };
        for kind in renewed.gone {
            self.order.retain(|(_, place)| place.0 != kind);
            self.due.retain(|place, _| place.0 != kind);
        }
        for kind in renewed.come {
            let served = self.kinds.at(kind).clone();
            let snapshot = served.objects.snapshot();
            for (count, object) in snapshot.range("", None).enumerate() {
                self.consider(kind, object);
                if count % BATCH == BATCH - 1 {
                    yield_now().await;
                }
            }
            if served.kind.grace.is_some() {
                match served.objects.watch(snapshot.revision(), Subscription::All, None).await {
                    Ok(watch) => self.kinds.watch(kind, watch),
                    Err(_) => return false,
                }
            }
        }
        true
    }

    fn take_in(&mut self, kind: usize, event: &Event) {
        match event {
            Event::Deleted(object) => self.forget(&(kind, object.key().into())),
            other => self.consider(kind, other.object()),
        }
    }

    /// Notes when an object is due, if its grace runs.
    fn consider(&mut self, kind: usize, object: &Object) {
        let place = (kind, object.key().into());
        self.forget(&place);
        let Some((at, uid)) = deadline(object) else { return };
        let preconditions = Preconditions { uid: Some(uid), resource_version: Some(object.revision().to_string()) };
        self.note(place, Due { at, preconditions });
    }

    fn note(&mut self, place: Place, due: Due) {
        self.order.insert((due.at, place.clone()));
        self.due.insert(place, due);
    }

    fn forget(&mut self, place: &Place) {
        if let Some(due) = self.due.remove(place) {
            self.order.remove(&(due.at, place.clone()));
        }
    }

    /// Begins the deletions that are due, as far as there is room.
    fn end_what_is_due(&mut self) {
        let now = (self.clock)();
        while self.tasks.len() < AT_ONCE
            && let Some((at, place)) = self.order.first()
            && *at <= now
        {
            let place = place.clone();
            let Some(Due { preconditions, at }) = self.due.remove(&place) else { return };
            self.order.remove(&(at, place.clone()));
            let request = self.request(&place);
            let options = DeleteOptions { grace_period_seconds: Some(0), preconditions, ..DeleteOptions::default() };
            let api = self.api.clone();
            tracing::debug!(key = &*place.1, "the grace of a deletion is over");
            let task = self.tasks.spawn(async move { api.delete(&request, &options).await.map(drop) });
            self.about.insert(task.id(), place);
        }
    }

    /// How long nothing is due.
    fn wait(&self) -> Duration {
        // Room for another deletion is made by the end of one, which wakes by itself.
        let first = self.order.first().filter(|_| self.tasks.len() < AT_ONCE);
        let seconds = first.map(|(at, _)| at.timestamp().as_second() - (self.clock)().timestamp().as_second());
        let wait = seconds.and_then(|seconds| u64::try_from(seconds).ok()).map(Duration::from_secs);
        wait.unwrap_or(LONGEST_WAIT).min(LONGEST_WAIT)
    }

    /// A deletion has ended. What it could not end is looked at as it stands now.
    fn end(&mut self, ended: Result<(Id, Result<(), Error>), JoinError>) {
        let (id, done) = match ended {
            Ok((id, done)) => (id, done),
            Err(broken) => (broken.id(), Err(Error::Internal(broken.to_string()))),
        };
        let Some(place) = self.about.remove(&id) else { return };
        let Err(error) = done else { return };
        let Some(served) = self.kinds.find(place.0) else { return };
        let Some(object) = served.objects.snapshot().get(&place.1) else { return };
        self.consider(place.0, &object);
        if matches!(error, Error::Conflict(..) | Error::NotFound(..) | Error::NotServed) {
            return;
        }
        tracing::warn!(key = &*place.1, ?error, "a deletion could not be ended at its deadline");
        if let Some(mut due) = self.due.remove(&place) {
            self.order.remove(&(due.at, place.clone()));
            due.at = (self.clock)().plus_seconds(TRY_AGAIN_SECONDS);
            self.note(place, due);
        }
    }

    fn request(&self, place: &Place) -> Request {
        let (namespace, name) = place.1.split_once('/').unwrap_or(("", &place.1));
        Request {
            user: self.user.clone(),
            served: self.kinds.at(place.0).clone(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            subresource: "".into(),
        }
    }
}

/// When an object is to end whose grace runs, and its uid.
fn deadline(object: &Object) -> Option<(Time, String)> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Wire {
        uid: String,
        deletion_timestamp: Time,
        deletion_grace_period_seconds: i64,
    }
    let metadata = object.metadata();
    // Most objects are not being deleted, and reading them would cost more than this search.
    let told = std::str::from_utf8(&metadata).is_ok_and(|text| text.contains("\"deletionGracePeriodSeconds\":"));
    let wire: Wire = serde_json::from_slice(&metadata).ok().filter(|_| told && object.unreadable().is_none())?;
    (wire.deletion_grace_period_seconds > 0).then_some((wire.deletion_timestamp, wire.uid))
}
