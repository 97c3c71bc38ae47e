//! A panic of a handler is answered with 500; the connection, or the stream, continues.

use std::{
    any::Any,
    future::{Future, poll_fn},
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    task::Poll,
};

use super::status::StatusError;
use crate::meta::Status;

/// Runs a handler; its panic becomes an error.
pub(super) async fn caught<T>(
    mut handler: Pin<&mut impl Future<Output = Result<T, StatusError>>>,
) -> Result<T, StatusError> {
    let poll = poll_fn(|cx| {
        catch_unwind(AssertUnwindSafe(|| handler.as_mut().poll(cx))).unwrap_or_else(|panic| {
            tracing::error!(message = panic_message(&*panic), "a handler panicked");
            Poll::Ready(Err(failed().into()))
        })
    });
    poll.await
}

/// The Status of a panic. Its message is only logged: it may contain data that the client may not see.
pub(super) fn failed() -> Status {
    Status::internal("the server failed while it answered; its log says why")
}

/// Runs code that writes an answer, and may call the user's code; `None` if it panicked.
pub(super) fn attempt<T>(run: impl FnOnce() -> T) -> Option<T> {
    let result = catch_unwind(AssertUnwindSafe(run));
    result.inspect_err(|panic| tracing::error!(message = panic_message(&**panic), "an answer met a panic")).ok()
}

fn panic_message(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("(no message)")
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use super::*;

    async fn panics() -> Result<(), StatusError> {
        tokio::task::yield_now().await;
        panic!("secret {}", 1)
    }

    #[tokio::test]
    async fn a_panic_is_a_500() {
        let StatusError(status) = caught(pin!(panics())).await.expect_err("a panic");
        assert_eq!((status.code, status.reason.as_str()), (500, "InternalError"));
        assert!(!status.message.contains("secret"), "{}", status.message);
    }
}
