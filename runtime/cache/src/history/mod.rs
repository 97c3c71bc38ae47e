//! Fills the windows of past changes from the store's log: one pass for all resources that have not been filled yet.

mod pass;
mod target;

use std::sync::{
    Arc, Mutex, Weak,
    atomic::{AtomicBool, Ordering},
};

use tokio::sync::Semaphore;

use crate::{feeder::Feeder, lock::lock, replica::Replica, state::SharedState, storage::ReadError};
use pass::Pass;

/// The maximum number of passes at a time for resources whose readers wait for other servers.
const MOST_WAITING: usize = 4;

/// The passes over the store's log.
pub(super) struct History {
    shared: Arc<SharedState>,
    feeder: Weak<Mutex<Feeder>>,
    /// Locked during a pass for local resources.
    passing: Arc<tokio::sync::Mutex<()>>,
    /// The turns of passes for resources whose readers wait for other servers. Each has a pass of its own, with the memory of one.
    turns: Arc<Semaphore>,
    closed: AtomicBool,
}

impl History {
    pub(super) fn new(shared: Arc<SharedState>, feeder: &Arc<Mutex<Feeder>>) -> Self {
        let (feeder, turns) = (Arc::downgrade(feeder), Arc::new(Semaphore::new(MOST_WAITING)));
        Self { shared, feeder, passing: Arc::default(), turns, closed: AtomicBool::new(false) }
    }

    /// Ends a pass that is under way.
    pub(super) fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
    }

    /// Fills the windows of all served resources that have not been filled yet.
    pub(super) async fn fill_all(self: &Arc<Self>) -> Result<(), ReadError> {
        self.fill(None).await?;
        for replica in self.unfilled() {
            self.fill(Some(&replica)).await?;
        }
        Ok(())
    }

    /// Fills the window of a resource, unless it is filled, and those of others: of all local ones, or of none if the reader of
    /// the wanted one waits for other servers. Waits for a pass that is under way.
    pub(super) async fn fill(self: &Arc<Self>, wanted: Option<&Arc<Replica>>) -> Result<(), ReadError> {
        let alone = wanted.filter(|wanted| !wanted.keyspace.reader.is_local());
        let passing = Arc::clone(alone.map_or(&self.passing, |alone| &alone.filling)).lock_owned().await;
        if wanted.is_some_and(|wanted| lock(&wanted.feed).is_filled()) {
            return Ok(());
        }
        let mut turn = None;
        if alone.is_some() {
            turn = Some(Arc::clone(&self.turns).acquire_owned().await.expect("the semaphore is never closed"));
        }
        let mut replicas: Vec<_> = wanted.cloned().into_iter().collect();
        if alone.is_none() {
            let is_part = |other: &Arc<Replica>| {
                other.keyspace.reader.is_local() && wanted.is_none_or(|wanted| !Arc::ptr_eq(wanted, other))
            };
            replicas.extend(self.unfilled().into_iter().filter(is_part));
        }
        let history = Arc::clone(self);
        // The pass holds the lock, because it goes on if the caller is dropped.
        blocking(move || {
            let _held = (passing, turn);
            Pass::of(&history.shared, &history.closed, &replicas)?.finish()
        })
        .await
    }

    fn unfilled(&self) -> Vec<Arc<Replica>> {
        let Some(feeder) = self.feeder.upgrade() else { return Vec::new() };
        let feeder = lock(&feeder);
        feeder.served().filter(|replica| !lock(&replica.feed).is_filled()).cloned().collect()
    }
}

/// Runs a function that blocks on a blocking thread.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ReadError> + Send + 'static,
) -> Result<T, ReadError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => Err(ReadError::Engine(format!("reading history was broken off: {error}"))),
    }
}
