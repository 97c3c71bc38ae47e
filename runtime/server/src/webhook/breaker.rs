//! Whether a webhook is called: after repeated timeouts it is not for a while, and then one call at a time finds out whether it
//! answers again. Failures that are noticed at once, such as refused connections, cost nothing, and do not count.
use std::{
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::time::Instant;

/// After this many timeouts in a row, a webhook is not called for a while.
const TIMEOUTS: u32 = 3;
/// The part of the time of a call after which a failure counts as a timeout, and for which the webhook is not called first. Each
/// further pause is twice as long, at most the time of a call.
const PART: u32 = 30;

/// The breaker of one webhook.
pub(super) struct Breaker {
    /// How long a call may take.
    timeout: Duration,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// True if the webhook has answered a call, and none has timed out since.
    answers: bool,
    /// Timeouts in a row.
    timeouts: u32,
    /// If it is not called.
    pause: Option<Pause>,
}

struct Pause {
    until: Instant,
    length: Duration,
    /// The last failure.
    why: String,
    /// A call finds out whether the webhook answers again.
    probed: bool,
}

impl Breaker {
    pub(super) fn new(timeout: Duration) -> Self {
        Self { timeout, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// True if the webhook has answered a call, and none has timed out since.
    pub(super) fn answers(&self) -> bool {
        self.state().answers
    }

    /// Fails with the reason if the webhook is not called now.
    pub(super) fn check(&self) -> Result<(), String> {
        self.state().check()
    }

    /// Begins a call. Fails like [`Breaker::check`].
    pub(super) fn begin(&self) -> Result<Call<'_>, String> {
        let mut state = self.state();
        state.check()?;
        let probes = state.pause.as_mut().map(|pause| pause.probed = true).is_some();
        Ok(Call { breaker: self, begun: Instant::now(), probes, has_ended: false, waits: AtomicBool::new(false) })
    }
}

impl State {
    fn check(&self) -> Result<(), String> {
        let Some(pause) = &self.pause else { return Ok(()) };
        let (left, timeouts, why) = (pause.until - Instant::now(), self.timeouts, &pause.why);
        if !left.is_zero() {
            let seconds = left.as_millis().div_ceil(1_000);
            return Err(format!("it is not called for {seconds} s after {timeouts} timeouts in a row: {why}"));
        }
        if pause.probed {
            return Err(format!(
                "it is not called until one call has ended, after {timeouts} timeouts in a row: {why}"
            ));
        }
        Ok(())
    }
}

/// A running call.
pub(super) struct Call<'b> {
    breaker: &'b Breaker,
    begun: Instant,
    /// It finds out whether the webhook answers again.
    probes: bool,
    has_ended: bool,
    /// It waits for the answers of other webhooks, which is not this one's fault.
    waits: AtomicBool,
}

impl Call<'_> {
    /// Awaits what other webhooks hold up. If the call ends meanwhile, that is no timeout of this one.
    pub(super) async fn excused<T>(&self, wait: impl Future<Output = T>) -> T {
        self.waits.store(true, Ordering::Relaxed);
        let done = wait.await;
        self.waits.store(false, Ordering::Relaxed);
        done
    }

    /// The webhook has answered, whatever it said.
    pub(super) fn answered(mut self) {
        self.has_ended = true;
        *self.breaker.state() = State { answers: true, ..State::default() };
    }

    /// The webhook has not answered.
    pub(super) fn failed(mut self, why: &str) {
        self.end(why);
    }

    fn end(&mut self, why: &str) {
        self.has_ended = true;
        let mut state = self.breaker.state();
        // Others of the calls that ran together have failed for the same reason.
        let is_known = state.pause.is_some() && !self.probes;
        let is_excused = self.waits.load(Ordering::Relaxed);
        if is_known || is_excused || self.begun.elapsed() < self.breaker.timeout / PART {
            return;
        }
        state.answers = false;
        state.timeouts = state.timeouts.saturating_add(1);
        if state.timeouts >= TIMEOUTS {
            let first = self.breaker.timeout / PART;
            let length = state.pause.as_ref().map_or(first, |pause| self.breaker.timeout.min(pause.length * 2));
            let until = Instant::now() + length;
            state.pause = Some(Pause { until, length, why: why.to_owned(), probed: false });
        }
    }
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        // A call that was cancelled early says nothing. One that had waited for long is a timeout: otherwise callers that wait less
        // long than a call may take would call a webhook for ever that does not answer.
        if !self.has_ended {
            self.end("context canceled");
        }
        // The next call may find out what this one did not.
        if self.probes
            && let Some(pause) = &mut self.breaker.state().pause
        {
            pause.probed = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use tokio::time::{advance, timeout};

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    async fn time_out(breaker: &Breaker) {
        let call = breaker.begin().unwrap();
        advance(30 * SECOND).await;
        call.failed("no answer");
    }

    #[tokio::test(start_paused = true)]
    async fn after_three_timeouts_the_webhook_is_not_called_and_one_call_at_a_time_tries_again() {
        let breaker = Breaker::new(30 * SECOND);
        for _ in 0..3 {
            time_out(&breaker).await;
        }
        let why = breaker.check().unwrap_err();
        assert_eq!(why, "it is not called for 1 s after 3 timeouts in a row: no answer");
        for length in [2, 4, 8, 16, 30, 30] {
            advance(length / 2 * SECOND).await;
            advance(SECOND).await;
            if length == 30 {
                advance(14 * SECOND).await;
            }
            let probe = breaker.begin().expect("one call tries");
            assert!(breaker.check().unwrap_err().contains("until one call has ended"));
            drop(probe);
            time_out(&breaker).await;
            assert!(breaker.check().unwrap_err().contains(&format!("for {length} s after")), "{length}");
        }
        advance(30 * SECOND).await;
        breaker.begin().unwrap().answered();
        assert!(breaker.answers() && breaker.check().is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn calls_that_are_cancelled_count_if_they_have_waited_for_long() {
        let breaker = Breaker::new(30 * SECOND);
        breaker.begin().unwrap().answered();
        for _ in 0..10 {
            drop(breaker.begin().unwrap());
            breaker.begin().unwrap().failed("connection refused");
        }
        assert!(breaker.answers() && breaker.check().is_ok());
        for _ in 0..3 {
            let call = breaker.begin().unwrap();
            advance(SECOND).await;
            drop(call);
        }
        assert!(!breaker.answers());
        assert!(breaker.check().unwrap_err().ends_with("for 1 s after 3 timeouts in a row: context canceled"));
        advance(SECOND).await;
        let probe = breaker.begin().unwrap();
        advance(SECOND).await;
        drop(probe);
        assert!(breaker.check().unwrap_err().contains("for 2 s after"), "the pause is longer");
    }

    #[tokio::test(start_paused = true)]
    async fn calls_that_wait_for_other_webhooks_do_not_count() {
        let breaker = Breaker::new(30 * SECOND);
        for _ in 0..10 {
            let call = breaker.begin().unwrap();
            assert!(timeout(30 * SECOND, call.excused(pending::<()>())).await.is_err());
            call.failed("context deadline exceeded");
        }
        assert!(breaker.check().is_ok());
        for _ in 0..3 {
            let call = breaker.begin().unwrap();
            call.excused(ready(())).await;
            advance(30 * SECOND).await;
            call.failed("context deadline exceeded");
        }
        assert!(breaker.check().is_err(), "it waits no more");
    }

    #[tokio::test(start_paused = true)]
    async fn calls_that_fail_together_count_once_and_refused_connections_do_not() {
        let breaker = Breaker::new(30 * SECOND);
        for _ in 0..10 {
            breaker.begin().unwrap().failed("connection refused");
        }
        assert!(breaker.check().is_ok() && !breaker.answers());
        let together: Vec<_> = (0..16).map(|_| breaker.begin().unwrap()).collect();
        advance(30 * SECOND).await;
        for call in together {
            call.failed("no answer");
        }
        assert!(breaker.check().unwrap_err().contains("for 1 s after 3 timeouts"));
        advance(SECOND).await;
        breaker.begin().unwrap().failed("connection refused");
        assert!(breaker.begin().is_ok(), "the next call tries again");
    }
}
