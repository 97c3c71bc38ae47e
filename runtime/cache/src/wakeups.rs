//! Wakes watchers in rounds, off the store's thread, on which writers wait.
//!
//! Without rounds, a change with many watchers would cost each of them a separate wake-up and write. After a round that
//! woke many watchers, the next round waits about twice as long as they need to write. Fan-out then leaves half of the
//! machine's time to other work, and the changes made meanwhile are sent in one piece. The first change after a quiet
//! moment is never delayed.

use std::{
    mem,
    sync::{Arc, Mutex},
    task::Waker,
    time::Duration,
};

use tokio::{runtime::Handle, sync::Notify, task::JoinHandle};

use super::lock::lock;

/// The delay of the next round per woken watcher: about twice the time that a watcher needs.
const MICROSECONDS_EACH: u64 = 20;
/// The longest delay between two rounds.
const LONGEST_MS: u64 = 20;

/// Wakes watchers. Without an async runtime it wakes them at once.
pub(super) struct WakeUps {
    pending: Arc<PendingWakers>,
    task: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct PendingWakers {
    wakers: Mutex<Vec<Waker>>,
    some: Notify,
}

impl WakeUps {
    pub(super) fn new() -> Self {
        let pending = Arc::<PendingWakers>::default();
        let rounds = rounds(Arc::clone(&pending));
        Self { pending, task: Handle::try_current().ok().map(|runtime| runtime.spawn(rounds)) }
    }

    /// Wakes the watchers soon.
    pub(super) fn wake(&self, wakers: Vec<Waker>) {
        if wakers.is_empty() {
            return;
        }
        lock(&self.pending.wakers).extend(wakers);
        if self.task.as_ref().is_some_and(|task| !task.is_finished()) {
            self.pending.some.notify_one();
        } else {
            self.pending.wake_all();
        }
    }
}

impl Drop for WakeUps {
    fn drop(&mut self) {
        if let Some(task) = &self.task {
            task.abort();
        }
        self.pending.wake_all();
    }
}

impl PendingWakers {
    /// Wakes all watchers and returns their number.
    fn wake_all(&self) -> u64 {
        // Wakers are called after the lock is released.
        let wakers = mem::take(&mut *lock(&self.wakers));
        let count = wakers.len();
        wakers.into_iter().for_each(Waker::wake);
        u64::try_from(count).unwrap_or(u64::MAX)
    }
}

async fn rounds(pending: Arc<PendingWakers>) {
    loop {
        pending.some.notified().await;
        let pause_ms = (pending.wake_all() * MICROSECONDS_EACH / 1_000).min(LONGEST_MS);
        if pause_ms > 0 {
            tokio::time::sleep(Duration::from_millis(pause_ms)).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::atomic::{AtomicUsize, Ordering},
        task::Wake,
    };

    use super::*;

    #[derive(Default)]
    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    fn wakers(count: &Arc<Count>, number: usize) -> Vec<Waker> {
        (0..number).map(|_| Waker::from(Arc::clone(count))).collect()
    }

    #[test]
    fn without_a_runtime_it_wakes_at_once() {
        let count = Arc::<Count>::default();
        WakeUps::new().wake(wakers(&count, 3));
        assert_eq!(count.0.load(Ordering::SeqCst), 3);
    }

    #[tokio::test(start_paused = true)]
    async fn a_round_that_woke_many_delays_the_next_one() {
        let (count, wakeups) = (Arc::<Count>::default(), WakeUps::new());
        let woken = || count.0.load(Ordering::SeqCst);
        wakeups.wake(wakers(&count, 500));
        tokio::time::sleep(Duration::from_millis(1)).await;
        assert_eq!(woken(), 500, "the first round is not delayed");
        wakeups.wake(wakers(&count, 300));
        wakeups.wake(wakers(&count, 200));
        tokio::time::sleep(Duration::from_millis(1)).await;
        assert_eq!(woken(), 500);
        tokio::time::sleep(Duration::from_millis(10)).await;
        assert_eq!(woken(), 1_000, "the second round wakes all that came meanwhile");
        tokio::time::sleep(Duration::from_millis(50)).await;
        wakeups.wake(wakers(&count, 5));
        wakeups.wake(wakers(&count, 5));
        tokio::time::sleep(Duration::from_millis(1)).await;
        assert_eq!(woken(), 1_010, "a small round delays nothing");
        wakeups.wake(wakers(&count, 1));
        drop(wakeups);
        assert_eq!(woken(), 1_011, "every watcher is woken in the end");
    }
}
