//! A value that is usually available at once and then needs no allocation, and otherwise a future.
use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

/// A value that is available now or later.
pub enum Soon<'a, T> {
    /// The value; `None` once it has been taken.
    Now(Option<T>),
    /// A future of the value.
    Later(Pin<Box<dyn Future<Output = T> + Send + 'a>>),
}

impl<'a, T> Soon<'a, T> {
    /// A value that is available now.
    pub fn now(value: T) -> Self {
        Self::Now(Some(value))
    }

    /// A value that a future returns later.
    pub fn later(future: impl Future<Output = T> + Send + 'a) -> Self {
        Self::Later(Box::pin(future))
    }
}

impl<T: Unpin> Future for Soon<'_, T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        match self.get_mut() {
            Self::Now(value) => Poll::Ready(value.take().expect("a future is not polled after it has finished")),
            Self::Later(future) => future.as_mut().poll(cx),
        }
    }
}
