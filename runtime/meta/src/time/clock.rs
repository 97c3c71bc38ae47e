//! The clock behind [`Time::now`](super::Time::now): the system's, or one that a test moves.
//!
//! A clock is that of threads and futures, not of the program, so that each of many servers in one process has its own. Where no
//! clock was entered, the time is the system's, and asking for it costs one load more than asking the system.
use std::{
    cell::RefCell,
    fmt,
    pin::Pin,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    task::{Context, Poll},
    time::{Duration, Instant},
};

use jiff::{SignedDuration, Timestamp};

thread_local! {
    /// The clock of this thread.
    static CURRENT: RefCell<Option<Clock>> = const { RefCell::new(None) };
}

/// True once there is a clock.
static HAS_CLOCKS: AtomicBool = AtomicBool::new(false);

/// What is called when the clock was moved.
type Listener = Box<dyn Fn() + Send + Sync>;

/// A clock that runs like the system's, ahead of it by as much as it was advanced. Clones are the same clock.
#[derive(Clone)]
pub struct Clock(Arc<State>);

struct State {
    ahead_nanos: AtomicU64,
    listeners: Mutex<Vec<Listener>>,
}

impl Default for Clock {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Clock({:?} ahead)", self.ahead())
    }
}

impl Clock {
    /// A clock with the system's time.
    pub fn new() -> Self {
        HAS_CLOCKS.store(true, Ordering::Relaxed);
        Self(Arc::new(State { ahead_nanos: AtomicU64::new(0), listeners: Mutex::default() }))
    }

    /// The clock of this thread, or of the future that runs on it; `None` for the system's.
    pub fn current() -> Option<Self> {
        if !HAS_CLOCKS.load(Ordering::Relaxed) {
            return None;
        }
        CURRENT.with_borrow(Clone::clone)
    }

    /// How far this clock is ahead of the system's.
    pub fn ahead(&self) -> Duration {
        Duration::from_nanos(self.0.ahead_nanos.load(Ordering::Acquire))
    }

    /// Moves the clock forward, by at most 500 years in total, and calls the listeners.
    pub fn advance(&self, by: Duration) {
        let by = u64::try_from(by.as_nanos()).unwrap_or(u64::MAX);
        let add = |ahead: u64| Some(ahead.saturating_add(by).min(MOST_NANOS));
        let _ = self.0.ahead_nanos.fetch_update(Ordering::AcqRel, Ordering::Acquire, add);
        let listeners = self.0.listeners.lock().unwrap_or_else(PoisonError::into_inner);
        listeners.iter().for_each(|listener| listener());
    }

    /// Adds a listener, which is called each time that the clock was moved.
    pub fn on_advance(&self, listener: impl Fn() + Send + Sync + 'static) {
        self.0.listeners.lock().unwrap_or_else(PoisonError::into_inner).push(Box::new(listener));
    }

    /// The time on this clock.
    pub fn timestamp(&self) -> Timestamp {
        let ahead = SignedDuration::try_from(self.ahead()).unwrap_or(SignedDuration::MAX);
        Timestamp::now().saturating_add(ahead).unwrap_or(Timestamp::MAX)
    }

    /// The time on this clock, for what measures durations.
    pub fn instant(&self) -> Instant {
        Instant::now() + self.ahead()
    }

    /// Makes this the clock of the current thread, until the guard is dropped.
    pub fn enter(&self) -> ClockGuard {
        ClockGuard(CURRENT.replace(Some(self.clone())))
    }

    /// Makes this the clock of the current thread until it ends.
    pub fn enter_thread(&self) {
        CURRENT.set(Some(self.clone()));
    }

    /// Makes this the clock of a future, on whichever thread it runs.
    pub fn scope<F: Future>(&self, future: F) -> Scope<F> {
        Scope { clock: self.clone(), future: Box::pin(future) }
    }
}

/// About 500 years.
const MOST_NANOS: u64 = 500 * 365 * 24 * 3600 * 1_000_000_000;

/// Keeps a clock as that of the thread until it is dropped. The clock before it is the thread's again then.
pub struct ClockGuard(Option<Clock>);

impl Drop for ClockGuard {
    fn drop(&mut self) {
        CURRENT.set(self.0.take());
    }
}

/// A future with a clock.
pub struct Scope<F> {
    clock: Clock,
    future: Pin<Box<F>>,
}

impl<F: Future> Future for Scope<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let _guard = self.clock.enter();
        self.future.as_mut().poll(cx)
    }
}

/// The time on the current clock.
pub(super) fn now() -> Timestamp {
    Clock::current().map_or_else(Timestamp::now, |clock| clock.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Time;

    /// A clock that is an hour ahead.
    fn hour_ahead() -> Clock {
        let clock = Clock::new();
        clock.advance(Duration::from_hours(1));
        clock
    }

    fn is_ahead(from: Time) -> bool {
        Time::now() >= from.plus_seconds(3600)
    }

    #[test]
    fn a_clock_is_that_of_its_guard_and_of_no_other_thread() {
        let (start, clock) = (Time::now(), hour_ahead());
        assert!(!is_ahead(start), "nothing has entered it");
        let guard = clock.enter();
        assert!(is_ahead(start));
        std::thread::spawn(move || assert!(!is_ahead(start))).join().unwrap();
        let other = Clock::new().enter();
        assert!(!is_ahead(start));
        drop(other);
        assert!(is_ahead(start), "the clock before is that of the thread again");
        drop(guard);
        assert!(!is_ahead(start));
    }

    #[test]
    fn a_future_has_its_clock_while_it_is_polled() {
        let (start, clock) = (Time::now(), hour_ahead());
        let mut future = Box::pin(clock.scope(async { is_ahead(start) }));
        assert!(!is_ahead(start));
        let polled = future.as_mut().poll(&mut Context::from_waker(std::task::Waker::noop()));
        assert_eq!(polled, Poll::Ready(true));
        assert!(!is_ahead(start));
    }

    #[test]
    fn listeners_hear_of_each_move_and_the_clock_never_overflows() {
        let (clock, count) = (Clock::new(), Arc::new(AtomicU64::new(0)));
        let counted = count.clone();
        clock.on_advance(move || {
            counted.fetch_add(1, Ordering::Relaxed);
        });
        clock.advance(Duration::from_secs(1));
        clock.advance(Duration::MAX);
        assert_eq!(count.load(Ordering::Relaxed), 2);
        assert_eq!(clock.ahead(), Duration::from_nanos(MOST_NANOS));
        assert!(clock.timestamp() > Timestamp::now() && clock.instant() > Instant::now());
    }
}
