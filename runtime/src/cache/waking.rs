//! Waking watchers: off the store's thread, for which writers wait, and in rounds.
//!
//! A change that many watch would otherwise cost each of them a wake-up and a write of its own. After a round that woke
//! many, the next one waits about twice as long as they need to write, so that fan-out leaves half of the machine's time to
//! others, and what has happened meanwhile goes out as one piece.
//! The first change after a quiet moment is never held back.

use std::{
    mem,
    sync::{Arc, Mutex},
    task::Waker,
    time::Duration,
};

use tokio::{runtime::Handle, sync::Notify, task::JoinHandle};

use super::state::lock;

/// How long the next round waits for each watcher that this one woke: twice what a watcher takes, roughly.
const MICROSECONDS_EACH: u64 = 20;
/// The longest wait between two rounds.
const LONGEST_MS: u64 = 20;

/// Wakes watchers. Where there is no async runtime to do it on, it wakes them at once.
pub(super) struct Waking {
    waiting: Arc<Waiting>,
    task: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Waiting {
    wakers: Mutex<Vec<Waker>>,
    some: Notify,
}

impl Waking {
    pub(super) fn new() -> Self {
        let waiting = Arc::<Waiting>::default();
        let rounds = rounds(Arc::clone(&waiting));
        Self { waiting, task: Handle::try_current().ok().map(|runtime| runtime.spawn(rounds)) }
    }

    /// Wakes them, soon.
    pub(super) fn wake(&self, wakers: Vec<Waker>) {
        if wakers.is_empty() {
            return;
        }
        lock(&self.waiting.wakers).extend(wakers);
        if self.task.as_ref().is_some_and(|task| !task.is_finished()) {
            self.waiting.some.notify_one();
        } else {
            self.waiting.wake_all();
        }
    }
}

impl Drop for Waking {
    fn drop(&mut self) {
        if let Some(task) = &self.task {
            task.abort();
        }
        self.waiting.wake_all();
    }
}

impl Waiting {
    /// Wakes all; says how many.
    fn wake_all(&self) -> u64 {
        // Nobody is woken under the lock.
        let wakers = mem::take(&mut *lock(&self.wakers));
        let count = wakers.len();
        wakers.into_iter().for_each(Waker::wake);
        u64::try_from(count).unwrap_or(u64::MAX)
    }
}

async fn rounds(waiting: Arc<Waiting>) {
    loop {
        waiting.some.notified().await;
        let pause_ms = (waiting.wake_all() * MICROSECONDS_EACH / 1_000).min(LONGEST_MS);
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
        Waking::new().wake(wakers(&count, 3));
        assert_eq!(count.0.load(Ordering::SeqCst), 3);
    }

    #[tokio::test(start_paused = true)]
    async fn a_round_that_woke_many_holds_the_next_one_back() {
        let (count, waking) = (Arc::<Count>::default(), Waking::new());
        let woken = || count.0.load(Ordering::SeqCst);
        waking.wake(wakers(&count, 500));
        tokio::time::sleep(Duration::from_millis(1)).await;
        assert_eq!(woken(), 500, "the first round goes at once");
        waking.wake(wakers(&count, 300));
        waking.wake(wakers(&count, 200));
        tokio::time::sleep(Duration::from_millis(1)).await;
        assert_eq!(woken(), 500);
        tokio::time::sleep(Duration::from_millis(10)).await;
        assert_eq!(woken(), 1_000, "the second takes all that came meanwhile");
        tokio::time::sleep(Duration::from_millis(50)).await;
        waking.wake(wakers(&count, 5));
        waking.wake(wakers(&count, 5));
        tokio::time::sleep(Duration::from_millis(1)).await;
        assert_eq!(woken(), 1_010, "few hold nobody back");
        waking.wake(wakers(&count, 1));
        drop(waking);
        assert_eq!(woken(), 1_011, "nobody is forgotten at the end");
    }
}
