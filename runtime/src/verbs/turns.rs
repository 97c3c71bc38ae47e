//! Turns: conflicting writers of one object are serialized.
//!
//! A write that loses a race is applied again to the newer state. With many concurrent writers of one object, all but
//! one would lose each time: their work would grow with the square of their number, and some would never succeed. So a
//! writer that has lost waits for its turn, and new writers queue up behind waiting ones. Without conflicts no writer
//! waits.
//!
//! A turn ends while the user's code waits, so that the code may itself write the object, and others go on. A writer that
//! has lost several times keeps its turn then, for a limited time: otherwise faster writers could win each time.
//!
//! Turns only provide speed and fairness. The store prevents lost writes: it accepts a write only for the revision on
//! which it is based.
use std::{
    hash::{BuildHasher, BuildHasherDefault, DefaultHasher},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::sync::{Mutex as Queue, OwnedMutexGuard};

/// The number of queues. Objects that share one wait for each other only during conflicts.
const QUEUES: usize = 256;

/// After this many lost races, a writer keeps its turn while the user's code waits.
const LOSSES: usize = 5;

/// How long it keeps it then. The code might wait for another writer of the object, which waits for the turn.
const KEPT_FOR: Duration = Duration::from_secs(3);

/// The queues, assigned to objects by hash.
pub(super) struct Turns(Vec<Arc<Queue<()>>>);

impl Default for Turns {
    fn default() -> Self {
        Self((0..QUEUES).map(|_| Arc::default()).collect())
    }
}

impl Turns {
    /// The turn for an object, by its resource and key.
    pub(super) fn at(&self, prefix: &str, key: &str) -> Turn {
        let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one((prefix, key));
        let queue = usize::try_from(hash % QUEUES as u64).expect("below the number of queues");
        Turn { queue: self.0[queue].clone(), held: Mutex::default(), lost: AtomicUsize::new(0) }
    }
}

/// One writer's turn, which ends when this is dropped.
pub(super) struct Turn {
    queue: Arc<Queue<()>>,
    held: Mutex<Option<OwnedMutexGuard<()>>>,
    /// The number of lost races.
    lost: AtomicUsize,
}

impl Turn {
    /// Called before the first try: queues up if others wait.
    pub(super) async fn begin(&self) {
        // If the queue is free, the lock is released at once.
        if self.queue.try_lock().is_err() {
            self.wait().await;
        }
    }

    /// Called after a lost race: waits for the turn, and keeps it.
    pub(super) async fn again(&self) {
        self.lost.fetch_add(1, Ordering::Relaxed);
        self.wait().await;
    }

    /// Waits for the turn.
    pub(super) async fn wait(&self) {
        if !self.is_held() {
            let held = self.queue.clone().lock_owned().await;
            *self.held.lock().unwrap_or_else(PoisonError::into_inner) = Some(held);
        }
    }

    /// How long the turn is kept while the user's code waits.
    pub(super) fn kept_for(&self) -> Option<Duration> {
        (self.is_held() && self.lost.load(Ordering::Relaxed) >= LOSSES).then_some(KEPT_FOR)
    }

    /// Ends the turn before the write is done. The writer waits again if it loses.
    pub(super) fn release(&self) {
        drop(self.held.lock().unwrap_or_else(PoisonError::into_inner).take());
    }

    pub(super) fn is_held(&self) -> bool {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }
}
