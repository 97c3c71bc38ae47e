//! A panic of a handler is answered with 500; the connection, or the stream, continues.

use std::{
    any::Any,
    future::Future,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    task::{Context, Poll},
};

use super::{negotiate::ResponseFormat, response};
use crate::meta::Status;
use axum_core::response::Response;

/// Polls a handler; converts its panic to an answer.
pub(super) fn poll(handler: Pin<&mut impl Future<Output = Response>>, cx: &mut Context<'_>) -> Poll<Response> {
    catch_unwind(AssertUnwindSafe(|| handler.poll(cx))).unwrap_or_else(|panic| {
        tracing::error!(message = panic_message(&*panic), "a handler panicked");
        // The panic message is only logged: it may contain data that the client may not see.
        let status = Status::internal("the server failed while it answered; its log says why");
        Poll::Ready(response::status(&status, ResponseFormat::default()))
    })
}

/// Runs code in a stream that may call the user's code; `None` if it panicked.
pub(super) fn attempt<T>(run: impl FnOnce() -> T) -> Option<T> {
    let result = catch_unwind(AssertUnwindSafe(run));
    result.inspect_err(|panic| tracing::error!(message = panic_message(&**panic), "a stream met a panic")).ok()
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
    use std::{future::poll_fn, pin::pin};

    use super::*;

    #[tokio::test]
    async fn a_panic_is_a_500() {
        let mut handler = pin!(async {
            tokio::task::yield_now().await;
            panic!("secret {}", 1)
        });
        let answer = poll_fn(|cx| poll(handler.as_mut(), cx)).await;
        assert_eq!(answer.status(), 500);
        let body = crate::http::local::whole(answer.into_body()).await.unwrap();
        let text = String::from_utf8(body.to_vec()).unwrap();
        assert!(text.contains("InternalError") && !text.contains("secret"), "{text}");
    }
}
