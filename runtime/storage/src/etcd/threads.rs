//! The threads that talk to etcd, and run the sink.

use std::{future::Future, sync::mpsc};

use tokio::runtime::{self, Runtime};

use super::EtcdError;

/// The number of threads. Two would wake each other, and take half as much CPU again for each commit.
const THREADS: usize = 1;

/// The threads. They stop, and their tasks with them, when this is dropped.
pub(super) struct Threads(Option<Runtime>);

impl Threads {
    pub(super) fn start() -> Result<Self, EtcdError> {
        let mut builder = runtime::Builder::new_multi_thread();
        let runtime = builder.worker_threads(THREADS).thread_name("etcd").enable_all().build();
        let runtime = runtime.map_err(|error| EtcdError::Failed(format!("no threads: {error}")))?;
        Ok(Self(Some(runtime)))
    }

    /// Starts a task, and returns where its result will be.
    pub(super) fn spawn<T: Send + 'static>(&self, task: impl Future<Output = T> + Send + 'static) -> mpsc::Receiver<T> {
        let (done, result) = mpsc::sync_channel(1);
        if let Some(runtime) = &self.0 {
            runtime.spawn(async move {
                let result = task.await;
                // The caller may have stopped waiting.
                let _ = done.send(result);
            });
        }
        result
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            // It must not block: this may be dropped on a thread of another runtime.
            runtime.shutdown_background();
        }
    }
}
