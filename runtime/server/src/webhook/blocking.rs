//! Calls by code that blocks its thread, such as the pass over past changes: on a runtime that lives as long as the webhooks, so
//! that connections stay open between the calls.
use std::{
    pin::pin,
    sync::{Arc, OnceLock},
    task::{Context, Poll, Wake, Waker},
    thread::{self, Thread},
};

use tokio::runtime;

/// The runtime of such calls, which begins with the first of them.
#[derive(Default)]
pub(super) struct Runtime(OnceLock<runtime::Runtime>);

impl Runtime {
    /// Awaits a call. The thread may belong to another runtime.
    ///
    /// # Panics
    /// If the system has no thread left for the runtime.
    pub(super) fn block_on<T>(&self, call: impl Future<Output = T>) -> T {
        let runtime = self.0.get_or_init(|| {
            let runtime =
                runtime::Builder::new_multi_thread().worker_threads(1).thread_name("webhooks").enable_all().build();
            runtime.expect("the system has a thread left")
        });
        let _entered = runtime.enter();
        // A thread of a runtime has a budget, which only that runtime renews.
        let mut call = pin!(tokio::task::unconstrained(call));
        let waker = Waker::from(Arc::new(ThreadWaker(thread::current())));
        loop {
            match call.as_mut().poll(&mut Context::from_waker(&waker)) {
                Poll::Ready(done) => return done,
                Poll::Pending => thread::park(),
            }
        }
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        // The thread may belong to another runtime, which must not wait for this one.
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// Unparks a thread.
struct ThreadWaker(Thread);

impl Wake for ThreadWaker {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}
