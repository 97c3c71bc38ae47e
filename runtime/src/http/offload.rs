//! Work that takes long, off the threads that serve connections: a piece at a time, few at a time, in the order in which
//! it came. So a request that takes much does not hold up those that take little, and what is worked on at once takes
//! memory for a few pieces, however many clients ask.

use std::{
    sync::{Arc, LazyLock},
    thread,
    time::Duration,
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Work on answers. As many pieces at a time as there are cores: more would not be faster.
static ANSWERS: LazyLock<Arc<Semaphore>> = LazyLock::new(|| Arc::new(Semaphore::new(cores())));

/// Decoding of bodies: half of the cores, so that as many are left to everything else.
static BODIES: LazyLock<Arc<Semaphore>> = LazyLock::new(|| Arc::new(Semaphore::new(cores().div_ceil(2))));

/// Smaller bodies are decoded where the request is served: it takes less than a millisecond.
pub const LARGE_BODY: usize = 64 << 10;

/// Runs what decodes a body of a length. It panics where the work does.
pub async fn decode<T: Send + 'static>(length: usize, work: impl FnOnce() -> T + Send + 'static) -> T {
    // Boxed, so that the state of a request with a small body stays small.
    if length > LARGE_BODY { Box::pin(run(BODIES.clone(), work)).await } else { work() }
}

/// Bytes of large bodies that are in memory at a time, in kilobytes: those that are being read and those that wait for
/// their turn. Twenty of the largest that are taken by default.
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
    async fn what_panics_gives_its_turn_back() {
        for _ in 0..100 {
            let failed = tokio::spawn(answer(|| panic!("a column of the user"))).await;
            assert!(failed.is_err_and(|error| error.is_panic()));
        }
        assert_eq!(answer(|| 1).await + decode(LARGE_BODY + 1, || 2).await + decode(1, || 3).await, 6);
    }
}
