//! Runs slow work off the threads that serve connections: in pieces, a few at a time, first come, first served.
//! Expensive requests do not delay cheap ones, and the memory for running pieces is limited, however many clients there
//! are.

use std::{
    sync::{Arc, LazyLock},
    task::{Context, Poll, Wake, Waker},
    thread,
};

use tokio::sync::{Notify, Semaphore};

use crate::{
    registry::ResourceEntry,
    storage::budget::{self, Budget, Share},
    tasks::{self, BoxFuture, BoxResult, blocking_or_panic, boxed, downcast, join},
    verbs::Slot,
};

/// The size in bytes above which a request is heavy. Smaller ones usually take less than a millisecond.
pub(super) const LARGE: usize = 64 << 10;

/// Work on answers: as many pieces at a time as there are cores.
static ANSWERS: LazyLock<Arc<Semaphore>> = LazyLock::new(|| Arc::new(Semaphore::new(cores())));

/// Heavy writes: on half of the cores, to leave the others to everything else.
static WRITES: LazyLock<Arc<Semaphore>> = LazyLock::new(|| Arc::new(Semaphore::new(cores().div_ceil(2))));

/// Runs a write of an object of this size and propagates its panic. A write that has started continues if this is dropped:
/// like any other write, it may have happened. While the user's code waits in it, it holds neither a thread nor its slot,
/// but still its share of the budget. `None` if that was not free in time.
pub(super) async fn write<T: Send + 'static, F: Future<Output = T> + Send + 'static>(
    stored: usize,
    objects: Objects,
    work: impl FnOnce(Arc<Slot>) -> F + Send + 'static,
) -> Option<T> {
    let room = STORED[objects as usize].wait(stored).await?;
    let slot = Slot::take(&WRITES).await;
    let work = boxed(async {
        let done = work(slot).await;
        drop(room);
        Box::new(done) as BoxResult
    });
    Some(downcast(join(tasks::spawn(polled_off_thread(work))).await))
}

/// Polls a future on the threads for slow work. No thread is held while it waits.
async fn polled_off_thread(mut work: BoxFuture<BoxResult>) -> BoxResult {
    let signal = Arc::new(WakeSignal::default());
    loop {
        let waker = Waker::from(signal.clone());
        let poll = blocking_or_panic(move || {
            let polled = work.as_mut().poll(&mut Context::from_waker(&waker));
            (work, polled)
        });
        match poll.await {
            (_, Poll::Ready(done)) => return done,
            (pending, Poll::Pending) => work = pending,
        }
        signal.0.notified().await;
    }
}

/// Remembers that a future was woken.
#[derive(Default)]
struct WakeSignal(Notify);

impl Wake for WakeSignal {
    fn wake(self: Arc<Self>) {
        self.0.notify_one();
    }
}

/// The objects of a request.
#[derive(Clone, Copy, Debug)]
pub(super) enum Objects {
    Own,
    /// A webhook converts them, which may hold up requests. So they have budgets of their own.
    Converted,
}

impl Objects {
    /// The objects of a resource.
    pub(super) fn of(served: &ResourceEntry) -> Self {
        if served.webhooks.is_some() { Self::Converted } else { Self::Own }
    }
}

/// The budget for large bodies in memory: those being received, waiting, or processed.
static ROOM: LazyLock<[Budget; 2]> = LazyLock::new(budgets);

/// The budget for the stored objects that heavy writes read, from before a write has its slot until it is done.
static STORED: LazyLock<[Budget; 2]> = LazyLock::new(budgets);

/// One for each of [`Objects`].
fn budgets() -> [Budget; 2] {
    [Budget::new(budget::BYTES), Budget::new(budget::BYTES / 4)]
}

/// Waits for a share of the budget for a large body. `None` on timeout.
pub(super) async fn room(bytes: usize, objects: Objects) -> Option<Share> {
    ROOM[objects as usize].wait(bytes).await
}

/// Runs a piece of work on an answer and propagates its panic.
pub(super) async fn answer<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let turn = ANSWERS.clone().acquire_owned().await.expect("the semaphore is never closed");
    let work = move || {
        let done = work();
        drop(turn);
        done
    };
    blocking_or_panic(work).await
}

fn cores() -> usize {
    thread::available_parallelism().map_or(2, Into::into)
}

#[cfg(test)]
mod tests {
    use super::{Objects::*, *};

    /// Held by tests that take a whole budget, and by those that take a part of it.
    static ALONE: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

    #[tokio::test(start_paused = true)]
    async fn large_bodies_wait_for_the_budget_and_release_it() {
        let _alone = ALONE.lock().await;
        let all = room(usize::MAX, Own).await.expect("no other test reads a large body");
        assert!(room(100_000, Own).await.is_none(), "none came in time");
        let all_converted = room(usize::MAX, Converted).await.expect("what a webhook converts has a budget of its own");
        assert!(room(1, Converted).await.is_none() && write(usize::MAX, Converted, |_| async {}).await.is_some());
        let waiting = tokio::spawn(async { room(100_000, Own).await.is_some() });
        tokio::task::yield_now().await;
        drop(all);
        assert!(waiting.await.unwrap(), "whatever others wait for a webhook");
        drop(all_converted);
    }

    #[tokio::test(start_paused = true)]
    async fn large_objects_of_writes_whose_code_waits_stay_within_the_budget() {
        let _alone = ALONE.lock().await;
        let (go, wait) = tokio::sync::oneshot::channel::<()>();
        let waiting = tokio::spawn(write(usize::MAX, Own, |_| wait));
        tokio::task::yield_now().await;
        assert!(write(100_000, Own, |_| async {}).await.is_none(), "none was free in time");
        assert!(room(100_000, Own).await.is_some(), "bodies have a budget of their own");
        go.send(()).unwrap();
        assert_eq!(waiting.await.unwrap(), Some(Ok(())));
        assert!(write(100_000, Own, |_| async {}).await.is_some());
    }

    #[tokio::test]
    async fn a_waiting_write_blocks_nothing_and_continues_when_it_is_cancelled() {
        let _alone = ALONE.lock().await;
        let (go, wait) = tokio::sync::oneshot::channel::<()>();
        let (begun, begins) = tokio::sync::oneshot::channel();
        let (done, ends) = tokio::sync::oneshot::channel();
        let given_up = tokio::spawn(write(1, Own, |_| async move {
            begun.send(()).unwrap();
            // This thread continues to serve others, such as the one that ends the wait.
            wait.await.unwrap();
            done.send(()).unwrap();
        }));
        begins.await.unwrap();
        given_up.abort();
        assert!(given_up.await.is_err_and(|error| error.is_cancelled()));
        go.send(()).unwrap();
        ends.await.expect("what has begun is not given up");
        for number in 0..100 {
            assert_eq!(write(1, Own, move |_| async move { number }).await, Some(number), "its turn was given back");
        }
    }

    #[tokio::test]
    async fn a_panic_releases_its_slot() {
        let _alone = ALONE.lock().await;
        for _ in 0..100 {
            let failed = tokio::spawn(answer(|| panic!("a column of the user"))).await;
            assert!(failed.is_err_and(|error| error.is_panic()));
            let failed = tokio::spawn(write(1, Own, |_| async { panic!("a hook of the user") })).await;
            assert!(failed.is_err_and(|error| error.is_panic()));
        }
        assert_eq!((answer(|| 1).await, write(1, Own, |_| async { 2 }).await), (1, Some(2)));
    }
}
