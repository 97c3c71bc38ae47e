//! Tasks, and work on threads that may block.
//!
//! Tokio's code for a task, some hundred functions, is compiled for each type of future or closure that is started. So what
//! is started here is boxed first, and all of it shares that code.

use std::{any::Any, future::pending, panic::resume_unwind, pin::Pin};

use tokio::task::{JoinError, JoinHandle, spawn_blocking};

/// A boxed future.
pub(crate) type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// The result of work of any type.
pub(crate) type Done = Box<dyn Any + Send>;

/// Boxes a future, for a set of tasks.
pub(crate) fn boxed<T>(work: impl Future<Output = T> + Send + 'static) -> BoxFuture<T> {
    Box::pin(work)
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
    let work: Box<dyn FnOnce() -> Done + Send> = Box::new(|| Box::new(work()));
    let task = spawn_blocking(work);
    async move { task.await.map(taken) }
}

/// The same; propagates its panic.
pub(crate) fn apart<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> impl Future<Output = T> + Send {
    let done = blocking(work);
    async move { ended(done.await).await }
}

/// The result of work, by the type that its caller knows.
pub(crate) fn taken<T: 'static>(done: Done) -> T {
    *done.downcast().expect("work returns what its caller takes")
}

/// The result of a task that has ended. Propagates its panic.
pub(crate) async fn ended<T>(result: Result<T, JoinError>) -> T {
    match result {
        Ok(done) => done,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => resume_unwind(panic),
            // The runtime is shutting down, so the result is no longer needed.
            Err(_) => pending().await,
        },
    }
}
