//! What is known of a controller: whether it runs, how often it was restarted, which objects it fails to reconcile, and its last
//! error. Owns the delay after which an object that failed is tried again. Knows neither what runs a controller nor what its
//! objects are.

use std::{
    collections::HashMap,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use super::Counter;
use crate::meta::Time;

/// The delay after an object's first failure. Each further delay is twice as long.
pub(crate) const FIRST_DELAY: Duration = Duration::from_millis(200);
/// The longest delay.
pub(crate) const LONGEST_DELAY: Duration = Duration::from_mins(5);
/// How long after its delay an object that was not reported again counts as failing: it may wait for its turn.
const GRACE: Duration = Duration::from_mins(1);
/// How long after its delay an object's next failure is still a further one.
const REMEMBERED: Duration = Duration::from_mins(10);
/// The most failing objects whose delays are kept, which bounds their memory to a few megabytes. Further ones wait for the
/// longest delay.
const MOST_OBJECTS: usize = 10_000;
/// The most bytes of an error that are kept.
const ERROR_BYTES: usize = 512;

/// What is known of a controller.
#[derive(Default)]
pub(crate) struct ControllerState {
    name: String,
    running: AtomicUsize,
    restarts: Counter,
    failures: Counter,
    failing: Mutex<HashMap<String, FailingObject>>,
    last_error: Mutex<Option<LastError>>,
}

/// The last error of a controller, or of one of its objects.
#[derive(Clone, Debug)]
pub(crate) struct LastError {
    /// When it happened.
    pub time: Time,
    /// The same for measuring how long ago that is.
    pub at: Instant,
    /// What it says, on one line.
    pub text: String,
}

/// The last failure of an object.
struct FailingObject {
    at: Instant,
    delay: Duration,
}

impl FailingObject {
    fn is_older_than(&self, limit: Duration, now: Instant) -> bool {
        now.saturating_duration_since(self.at) > self.delay + limit
    }
}

/// A run of a controller, until this is dropped.
pub(crate) struct Running<'s>(&'s ControllerState);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::Relaxed);
    }
}

impl ControllerState {
    /// The state of a controller that does not run yet.
    pub(crate) fn new(name: String) -> Self {
        Self { name, ..Self::default() }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Notes that it runs.
    pub(crate) fn begin(&self) -> Running<'_> {
        self.running.fetch_add(1, Ordering::Relaxed);
        Running(self)
    }

    pub(crate) fn running(&self) -> usize {
        self.running.load(Ordering::Relaxed)
    }

    /// Notes that a run ended with an error, and is followed by another one.
    pub(crate) fn restart(&self, error: &str) {
        self.restarts.count();
        self.note(error, Instant::now());
    }

    pub(crate) fn restarts(&self) -> u64 {
        self.restarts.total()
    }

    /// Notes that an object was not reconciled. Returns after what delay it should be tried again.
    pub(crate) fn failed(&self, object: String, error: &str, now: Instant) -> Duration {
        self.failures.count();
        self.note(&format!("{object}: {error}"), now);
        let mut failing = locked(&self.failing);
        if failing.len() >= MOST_OBJECTS && !failing.contains_key(&object) {
            failing.retain(|_, object| !object.is_older_than(GRACE, now));
            if failing.len() >= MOST_OBJECTS {
                return LONGEST_DELAY;
            }
        }
        let last = failing.get(&object).filter(|last| !last.is_older_than(REMEMBERED, now));
        let delay = last.map_or(FIRST_DELAY, |last| LONGEST_DELAY.min(last.delay * 2));
        failing.insert(object, FailingObject { at: now, delay });
        delay
    }

    /// Notes that an object was reconciled.
    pub(crate) fn succeeded(&self, object: &str) {
        locked(&self.failing).remove(object);
    }

    /// Failures of single objects.
    pub(crate) fn failures(&self) -> u64 {
        self.failures.total()
    }

    /// The number of objects whose last try failed.
    pub(crate) fn failing(&self, now: Instant) -> usize {
        locked(&self.failing).values().filter(|object| !object.is_older_than(GRACE, now)).count()
    }

    pub(crate) fn last_error(&self) -> Option<LastError> {
        locked(&self.last_error).clone()
    }

    fn note(&self, error: &str, at: Instant) {
        let mut text = error.replace(['\n', '\r'], " ");
        if text.len() > ERROR_BYTES {
            text.truncate(text.floor_char_boundary(ERROR_BYTES));
            text.push('…');
        }
        *locked(&self.last_error) = Some(LastError { time: Time::now(), at, text });
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state() -> (ControllerState, Instant) {
        (ControllerState::new("c".to_owned()), Instant::now())
    }

    #[test]
    fn delays_double_for_each_object_until_it_succeeds() {
        let (state, now) = state();
        let delays = |object: &str, count: usize| -> Vec<u64> {
            let delay = |_| u64::try_from(state.failed(object.to_owned(), "no", now).as_millis()).unwrap();
            (0..count).map(delay).collect()
        };
        assert_eq!(delays("a", 4), [200, 400, 800, 1_600]);
        assert_eq!(delays("b", 1), [200], "each object has a delay of its own");
        assert_eq!(*delays("a", 20).last().unwrap(), 300_000);
        state.succeeded("a");
        assert_eq!((delays("a", 1), delays("b", 1)), (vec![200], vec![400]));
        assert_eq!((state.failures(), state.failing(now)), (27, 2));
    }

    #[test]
    fn an_object_that_is_not_tried_again_is_forgotten() {
        let (state, now) = state();
        state.failed("gone".to_owned(), "no", now);
        let soon = now + FIRST_DELAY + GRACE;
        assert_eq!([soon, soon + FIRST_DELAY].map(|now| state.failing(now)), [1, 0]);
        assert_eq!(state.failed("gone".to_owned(), "no", soon), FIRST_DELAY * 2);
        assert_eq!(state.failed("gone".to_owned(), "no", soon + REMEMBERED * 2), FIRST_DELAY);
    }

    #[test]
    fn memory_is_bounded_for_objects_and_for_the_error() {
        let (state, now) = state();
        for number in 0..MOST_OBJECTS {
            assert_eq!(state.failed(number.to_string(), "no", now), FIRST_DELAY);
        }
        assert_eq!(state.failed("more".to_owned(), &"é\n".repeat(10_000), now), LONGEST_DELAY);
        assert_eq!(state.failed("0".to_owned(), "no", now), FIRST_DELAY * 2, "known ones keep their delays");
        state.failed("more".to_owned(), &"é\n".repeat(10_000), now);
        let error = state.last_error().unwrap().text;
        assert!(error.starts_with("more: é é ") && error.len() < ERROR_BYTES + 4 && !error.contains('\n'), "{error}");
        assert_eq!(state.failing(now), MOST_OBJECTS);
        let later = now + FIRST_DELAY * 2 + GRACE * 2;
        assert_eq!(state.failed("more".to_owned(), "no", later), FIRST_DELAY, "there is room again");
        assert_eq!(state.failing(later), 1);
    }

    #[test]
    fn a_run_counts_until_it_ends() {
        let (state, _) = state();
        let run = state.begin();
        assert_eq!(state.running(), 1);
        drop(run);
        state.restart("it broke");
        assert_eq!(
            (state.running(), state.restarts(), state.last_error().unwrap().text),
            (0, 1, "it broke".to_owned())
        );
    }
}
