//! Definitions are read, and written by the server, apart from the threads that serve connections, a few at a time: a large one takes
//! long. So a writer of a definition always waits, and gives up its turn and its slot meanwhile.
use std::{
    sync::{Arc, LazyLock},
    thread,
};

use tokio::{
    runtime::Handle,
    sync::{OwnedSemaphorePermit, Semaphore},
};

use crate::{
    crd::{self, Defined, Findings},
    schema::Document,
    tasks,
};

/// Half of the cores, to leave the others to everything else.
static READERS: LazyLock<Arc<Semaphore>> = LazyLock::new(|| {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    Arc::new(Semaphore::new(cores.div_ceil(2)))
});

/// Reads a definition in a request, which may take the place of an old one.
pub(super) async fn read(definition: &Document, old: Option<&Document>) -> Result<Defined, Findings> {
    let turn = turn().await;
    // Copied in the turn, so that copies take memory for only a few.
    let (definition, old) = (definition.clone(), old.cloned());
    let read = move || match old {
        Some(old) => crd::define_change(&definition, &old),
        None => crd::define(&definition),
    };
    run(turn, read).await
}

async fn turn() -> OwnedSemaphorePermit {
    READERS.clone().acquire_owned().await.expect("the semaphore is never closed")
}

/// Reads a definition, and propagates a panic. A reading that has started holds its turn to its end, also where the request is
/// cancelled.
pub(super) async fn apart<T: Send + 'static>(read: impl FnOnce() -> T + Send + 'static) -> T {
    run(turn().await, read).await
}

async fn run<T: Send + 'static>(turn: OwnedSemaphorePermit, read: impl FnOnce() -> T + Send + 'static) -> T {
    let reading = tasks::blocking_or_panic(move || {
        let read = read();
        drop(turn);
        read
    });
    reading.await
}

/// Makes a write of the server to a definition apart from the threads that serve connections: what a large one takes is not
/// measured as it is for requests.
pub(super) async fn written<T: Send + 'static>(write: impl Future<Output = T> + Send + 'static) -> T {
    let runtime = Handle::current();
    tasks::blocking_or_panic(move || runtime.block_on(write)).await
}
