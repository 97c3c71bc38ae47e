//! The rules of a server, to which tests add, and the watches that look at them.
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::Waker,
    time::Duration,
};

use super::{
    effect::Effect,
    request::FaultyRequest,
    rule::{FaultBuilder, Rule},
};
use crate::meta::Status;

/// The faults of a server in a test. Clones are the same faults.
///
/// Each method begins a fault: [`FaultBuilder::on`] says for which requests, and [`once`](FaultBuilder::once),
/// [`times`](FaultBuilder::times) or [`always`](FaultBuilder::always) adds it. The [`Fault`](super::Fault) that they return says how often it was met.
///
/// ```
/// # async fn test() {
/// # use std::time::Duration;
/// let server = kindsmith::Server::test().start().await;
/// let conflict = server.faults().conflict().on("update", "configmaps").times(2);
/// let lost = server.faults().connection_reset().carried_out().on("POST", "/api/v1/namespaces/*/configmaps").once();
/// let slow = server.faults().slow(Duration::from_millis(50)).by("my-controller").always();
/// // … run the controller …
/// assert_eq!((conflict.count(), lost.count()), (2, 1), "the controller met them");
/// # }
/// ```
#[derive(Clone, Default)]
pub struct Faults(Arc<State>);

#[derive(Default)]
struct State {
    rules: Mutex<Vec<Arc<Rule>>>,
    /// The running watches that wait for events, by number.
    watches: Mutex<HashMap<u64, Waker>>,
}

/// A lock whose data is whole even if a thread panicked with it.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Faults {
    /// Answers updates, patches and deletions of objects with 409, `Conflict`: "the object has been modified".
    pub fn conflict(&self) -> FaultBuilder {
        self.begin(Effect::Conflict)
    }

    /// Answers with 429, `TooManyRequests`, and the header `Retry-After`, in seconds and rounded up.
    pub fn too_many_requests(&self, retry_after: Duration) -> FaultBuilder {
        self.begin(Effect::TooManyRequests(retry_after))
    }

    /// Answers with 410, `Expired`: lists with a `continue` token or a past `resourceVersion`, and watches that begin at one. This is
    /// what a client meets whose history was compacted. Like kube-apiserver, a watch answers 200 and has the 410 in an `ERROR` event;
    /// [`Faults::status`] can give it as the status of the answer.
    pub fn gone(&self) -> FaultBuilder {
        self.begin(Effect::Gone)
    }

    /// Ends watches, running ones, too, with an `ERROR` event that has 410, `Expired`. Watches in JSON get the event; others end.
    pub fn expire_watches(&self) -> FaultBuilder {
        self.begin(Effect::ExpireWatch)
    }

    /// Cuts watches, running ones, too: the stream breaks off after a whole event, without an end. See
    /// [`FaultBuilder::after_events`].
    pub fn cut_watches(&self) -> FaultBuilder {
        self.begin(Effect::CutWatch)
    }

    /// Waits before the request is carried out, or after it with [`FaultBuilder::carried_out`], and then answers. The time is that of
    /// tokio's timers.
    pub fn slow(&self, duration: Duration) -> FaultBuilder {
        self.begin(Effect::Slow(duration))
    }

    /// Answers with 504, `Timeout`. With [`FaultBuilder::carried_out`], a write has happened nevertheless.
    pub fn timeout(&self) -> FaultBuilder {
        self.begin(Effect::Timeout)
    }

    /// Answers with 503, `ServiceUnavailable`, as a server does that is starting or stopping.
    pub fn unavailable(&self) -> FaultBuilder {
        self.begin(Effect::Unavailable)
    }

    /// Breaks the connection in place of an answer. With [`FaultBuilder::carried_out`], a write has happened nevertheless.
    pub fn connection_reset(&self) -> FaultBuilder {
        self.begin(Effect::Reset)
    }

    /// Answers with any other status, such as one of an admission webhook.
    pub fn status(&self, status: Status) -> FaultBuilder {
        self.begin(Effect::Status(Box::new(status)))
    }

    /// Removes all faults.
    pub fn clear(&self) {
        locked(&self.0.rules).clear();
    }

    fn begin(&self, effect: Effect) -> FaultBuilder {
        FaultBuilder::new(self.clone(), effect)
    }

    /// Adds a rule. Running watches look at it.
    pub(super) fn add(&self, rule: Arc<Rule>) {
        locked(&self.0.rules).push(rule);
        let waiting = std::mem::take(&mut *locked(&self.0.watches));
        waiting.into_values().for_each(Waker::wake);
    }

    /// Removes a rule.
    pub(super) fn remove(&self, rule: &Arc<Rule>) {
        locked(&self.0.rules).retain(|other| !Arc::ptr_eq(other, rule));
    }

    /// The rule that a request meets, once more.
    pub(super) fn meet(&self, request: &FaultyRequest) -> Option<Arc<Rule>> {
        let rules = locked(&self.0.rules);
        rules.iter().find(|rule| !rule.effect.is_of_watches() && rule.fits(request) && rule.take()).cloned()
    }

    /// The rules for the events of a watch.
    pub(super) fn of_watch(&self, request: &FaultyRequest) -> Vec<Arc<Rule>> {
        let rules = locked(&self.0.rules);
        rules
            .iter()
            .filter(|rule| rule.effect.is_of_watches() && !rule.is_spent() && rule.fits(request))
            .cloned()
            .collect()
    }

    /// Wakes a watch when a rule is added.
    pub(super) fn wake_on_change(&self, watch: u64, waker: &Waker) {
        locked(&self.0.watches).insert(watch, waker.clone());
    }

    /// Forgets a watch that has ended.
    pub(super) fn forget(&self, watch: u64) {
        locked(&self.0.watches).remove(&watch);
    }
}
