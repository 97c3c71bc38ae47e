//! Tasks, and work on threads that may block.
//!
//! Tokio's code for a task, some hundred functions, is compiled for each type of future or closure that is started. So what
//! is started here is boxed first, and all of it shares that code. What is started by a future with a clock has that clock, too.

use std::{any::Any, future::pending, panic::resume_unwind, pin::Pin};

use tokio::task::{JoinError, JoinHandle, spawn_blocking};

use crate::meta::time::clock::Clock;

/// A boxed future.
pub(crate) type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// A boxed result of work.
pub(crate) type BoxResult = Box<dyn Any + Send>;

/// Boxes a future, for a set of tasks.
pub(crate) fn boxed<T: 'static>(work: impl Future<Output = T> + Send + 'static) -> BoxFuture<T> {
    let work: BoxFuture<T> = Box::pin(work);
    match Clock::current() {
        Some(clock) => Box::pin(clock.scope(work)),
        None => work,
    }
}

/// Starts a task.
pub(crate) fn spawn<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> JoinHandle<T> {
    tokio::spawn(boxed(work))
}

/// Starts work that blocks or takes long on a thread for it.
///
/// # Errors
/// If it panicked, or if the runtime is shutting down.
pub(crate) fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> impl Future<Output = Result<T, JoinError>> + Send {
    let clock = Clock::current();
    let work: Box<dyn FnOnce() -> BoxResult + Send> = Box::new(move || {
        let _guard = clock.as_ref().map(Clock::enter);
        Box::new(work())
    });
    let task = spawn_blocking(work);
    async move { task.await.map(downcast) }
}

/// Like [`blocking`], and propagates the work's panic.
pub(crate) fn blocking_or_panic<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> impl Future<Output = T> + Send {
    let work = blocking(work);
    async move { or_panic(work.await).await }
}

/// The result of a task; propagates its panic.
pub(crate) async fn join<T>(task: JoinHandle<T>) -> T {
    or_panic(task.await).await
}

async fn or_panic<T>(result: Result<T, JoinError>) -> T {
    match result {
        Ok(done) => done,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => resume_unwind(panic),
            // The runtime is shutting down, so the result is no longer needed.
            Err(_) => pending().await,
        },
    }
}

/// A boxed result, by the type that its caller knows.
pub(crate) fn downcast<T: 'static>(result: BoxResult) -> T {
    *result.downcast().expect("the result has the type of the work")
}
