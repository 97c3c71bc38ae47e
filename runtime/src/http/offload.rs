//! Work that takes long, off the threads that serve connections: a piece at a time, few at a time, in the order in which
//! it came. So a request that takes much does not hold up those that take little, and what is worked on at once takes
//! memory for a few pieces, however many clients ask.

use std::{
    sync::{Arc, LazyLock},
    thread,
};

use tokio::sync::Semaphore;

/// Work on answers. As many pieces at a time as there are cores: more would not be faster.
static ANSWERS: LazyLock<Arc<Semaphore>> = LazyLock::new(|| Arc::new(Semaphore::new(cores())));

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
