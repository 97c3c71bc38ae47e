//! Work that takes long, off the threads that serve connections: a piece at a time, few at a time, in the order in which
//! it came. So a request that takes much does not hold up those that take little, and what is worked on at once takes
//! memory for a few pieces, however many clients ask.

use std::{
    sync::{Arc, LazyLock},
    thread,
    time::Duration,
};

use tokio::{
    runtime::Handle,
    sync::{OwnedSemaphorePermit, Semaphore},
};

/// Work on answers. As many pieces at a time as there are cores: more would not be faster.
static ANSWERS: LazyLock<Arc<Semaphore>> = LazyLock::new(|| Arc::new(Semaphore::new(cores())));

/// Writes that are about much: half of the cores, so that as many are left to everything else.
static WRITES: LazyLock<Arc<Semaphore>> = LazyLock::new(|| Arc::new(Semaphore::new(cores().div_ceil(2))));

/// Runs a write. It panics where the write does. One that has begun is not given up when this is dropped: like any other
/// write, it may have happened.
pub async fn write<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> T {
    let runtime = Handle::current();
    run(WRITES.clone(), move || runtime.block_on(work)).await
}

/// Bytes of large bodies that are in memory at a time, in kilobytes: those that are being read, those that wait for their
/// turn, and those that are worked on. Twenty of the largest that are taken by default.
const ROOM_KB: u32 = 64 << 10;
static ROOM: LazyLock<Arc<Semaphore>> = LazyLock::new(|| Arc::new(Semaphore::new(ROOM_KB as usize)));

/// How long a body waits for room. Who sends slowly holds room no longer than a body may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// Waits for room for a large body; it is given back when this is dropped. None where there is no room in time.
pub async fn room(bytes: usize) -> Option<OwnedSemaphorePermit> {
    let wanted = u32::try_from(bytes.div_ceil(1 << 10)).unwrap_or(ROOM_KB).min(ROOM_KB);
    tokio::time::timeout(PATIENCE, ROOM.clone().acquire_many_owned(wanted)).await.ok()?.ok()
}

/// Runs a piece of work on an answer. It panics where the work does.
pub async fn answer<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    run(ANSWERS.clone(), work).await
}

async fn run<T: Send + 'static>(turns: Arc<Semaphore>, work: impl FnOnce() -> T + Send + 'static) -> T {
    let turn = turns.acquire_owned().await.expect("the semaphore is never closed");
    let work = move || {
        let done = work();
        drop(turn);
        done
    };
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // The server is going down, and nobody waits for this any more.
            Err(_) => std::future::pending().await,
        },
    }
}

fn cores() -> usize {
    thread::available_parallelism().map_or(2, Into::into)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn large_bodies_wait_for_room_and_give_it_back() {
        let all = room(usize::MAX).await.expect("no other test reads a large body");
        assert!(room(100_000).await.is_none(), "none came in time");
        let waiting = tokio::spawn(async { room(100_000).await.is_some() });
        tokio::task::yield_now().await;
        drop(all);
        assert!(waiting.await.unwrap());
    }

    #[tokio::test]
    async fn a_write_that_waits_holds_up_nobody_and_goes_on_when_it_is_given_up() {
        let (go, wait) = tokio::sync::oneshot::channel::<()>();
        let (begun, begins) = tokio::sync::oneshot::channel();
        let (done, ends) = tokio::sync::oneshot::channel();
        let given_up = tokio::spawn(write(async move {
            begun.send(()).unwrap();
            // This thread goes on to serve others, such as the one who ends the wait.
            wait.await.unwrap();
            done.send(()).unwrap();
        }));
        begins.await.unwrap();
        given_up.abort();
        assert!(given_up.await.is_err_and(|error| error.is_cancelled()));
        go.send(()).unwrap();
        ends.await.expect("what has begun is not given up");
        for number in 0..100 {
            assert_eq!(write(async move { number }).await, number, "its turn was given back");
        }
    }

    #[tokio::test]
    async fn what_panics_gives_its_turn_back() {
        for _ in 0..100 {
            let failed = tokio::spawn(answer(|| panic!("a column of the user"))).await;
            assert!(failed.is_err_and(|error| error.is_panic()));
            let failed = tokio::spawn(write(async { panic!("a hook of the user") })).await;
            assert!(failed.is_err_and(|error| error.is_panic()));
        }
        assert_eq!(answer(|| 1).await + write(async { 2 }).await, 3);
    }
}
