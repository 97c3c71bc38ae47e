//! When operations begin: at once in a closed loop, at fixed times in an open one.
//!
//! In an open loop the operation of number n is due at n intervals after the start, whether or not earlier ones are
//! answered, and latencies are counted from that time. A server that stalls therefore shows in the latencies of all
//! operations that were due meanwhile, not only in the one that the server was answering.
use std::{
    sync::{
        OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use tokio::sync::Semaphore;

use crate::measure::number;

/// The shortest sleep of the thread that releases operations.
const SHORTEST: Duration = Duration::from_micros(50);

/// The times of one round.
pub(crate) struct Schedule {
    duration: Duration,
    /// The time between two operations of an open loop.
    interval: Option<Duration>,
    start: OnceLock<Instant>,
    /// The number of the next operation.
    next: AtomicU64,
    /// One permit for each operation that is due. Timers of the runtime are a millisecond coarse, which would add to each
    /// latency, so a thread adds the permits.
    due: Semaphore,
}

/// An operation to begin.
pub(crate) struct Turn {
    /// Unique in the round.
    pub(crate) number: u64,
    /// The time from which its latency counts.
    pub(crate) due: Instant,
}

impl Schedule {
    /// A schedule; the rate is in operations a second.
    pub(crate) fn new(duration: Duration, rate: Option<f64>) -> Self {
        let interval = rate.map(|rate| Duration::from_secs_f64(1.0 / rate));
        Self { duration, interval, start: OnceLock::new(), next: AtomicU64::new(0), due: Semaphore::new(0) }
    }

    /// The start, which is the time of the first call.
    pub(crate) fn start(&self) -> Instant {
        *self.start.get_or_init(Instant::now)
    }

    /// The time after which no operation begins.
    pub(crate) fn end(&self) -> Instant {
        self.start() + self.duration
    }

    /// The next operation; none after the end.
    pub(crate) async fn next(&self) -> Option<Turn> {
        let Some(interval) = self.interval else {
            let due = Instant::now();
            return (due < self.end()).then(|| Turn { number: self.next.fetch_add(1, Ordering::Relaxed), due });
        };
        // Closed at the end, even if operations are due.
        self.due.acquire().await.ok()?.forget();
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        Some(Turn { number, due: self.start() + times(interval, number) })
    }

    /// Releases the operations of an open loop as they become due. Returns at the end.
    pub(crate) fn release(&self) {
        let Some(interval) = self.interval else { return };
        let mut released = 0;
        while self.start().elapsed() < self.duration {
            let all = self.due_after(self.start().elapsed());
            self.due.add_permits(usize::try_from(all - released).unwrap_or(0));
            released = all;
            let next = self.start() + times(interval, released);
            thread::sleep(next.min(self.end()).saturating_duration_since(Instant::now()).max(SHORTEST));
        }
        self.due.close();
    }

    /// The operations that were due by the end and did not begin.
    pub(crate) fn unsent(&self) -> u64 {
        self.due_after(self.duration).saturating_sub(self.next.load(Ordering::Relaxed))
    }

    /// How many operations are due after a time. Zero in a closed loop.
    fn due_after(&self, time: Duration) -> u64 {
        let Some(interval) = self.interval else { return 0 };
        u64::try_from(time.as_nanos().div_ceil(interval.as_nanos().max(1))).unwrap_or(u64::MAX)
    }
}

fn times(interval: Duration, number_of: u64) -> Duration {
    interval.mul_f64(number(number_of))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn an_open_loop_counts_from_the_time_that_was_due_and_counts_what_it_did_not_send() {
        let schedule = Schedule::new(Duration::from_millis(200), Some(100.0));
        let begun = thread::scope(|scope| {
            scope.spawn(|| schedule.release());
            // The only client takes 60 ms for each operation, at a rate of one in 10 ms.
            let client = async {
                let mut begun = Vec::new();
                while let Some(turn) = schedule.next().await {
                    begun.push((turn.number, turn.due - schedule.start()));
                    tokio::time::sleep(Duration::from_millis(60)).await;
                }
                begun
            };
            tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(client))
        });
        for (number, due) in &begun {
            assert_eq!(*due, Duration::from_millis(10) * u32::try_from(*number).unwrap());
        }
        assert!((1..=4).contains(&begun.len()), "{begun:?}");
        assert_eq!(schedule.unsent(), 20 - begun.len() as u64);
    }
}
