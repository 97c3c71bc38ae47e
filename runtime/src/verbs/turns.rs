//! Turns: conflicting writers of one object are serialized.
//!
//! A write that loses a race is applied again to the newer state. With many concurrent writers of one object, all but
//! one would lose each time: their work would grow with the square of their number, and some would never succeed. So a
//! writer that has lost waits for its turn, and new writers queue up behind waiting ones. Without conflicts no writer
//! waits.
//!
//! Turns only provide speed and fairness. The store prevents lost writes: it accepts a write only for the revision on
//! which it is based.
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

use tokio::sync::{Mutex, MutexGuard};

/// The number of queues. Objects that share one wait for each other only during conflicts.
const QUEUES: usize = 256;

/// The queues, assigned to objects by hash.
pub(super) struct Turns(Vec<Mutex<()>>);

impl Default for Turns {
    fn default() -> Self {
        Self((0..QUEUES).map(|_| Mutex::default()).collect())
    }
}

impl Turns {
    /// The turn for an object, by its resource and key.
    pub fn at(&self, prefix: &str, key: &str) -> Turn<'_> {
        let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one((prefix, key));
        let queue = usize::try_from(hash % QUEUES as u64).expect("below the number of queues");
        Turn { queue: &self.0[queue], held: None }
    }
}

/// One writer's turn, which ends when this is dropped.
pub(super) struct Turn<'t> {
    queue: &'t Mutex<()>,
    held: Option<MutexGuard<'t, ()>>,
}

impl Turn<'_> {
    /// Called before the first try: queues up if others wait.
    pub async fn begin(&mut self) {
        // If the queue is free, the lock is released at once.
        if self.queue.try_lock().is_err() {
            self.wait().await;
        }
    }

    /// Called after a lost race: waits for the turn, and keeps it.
    pub async fn wait(&mut self) {
        if self.held.is_none() {
            self.held = Some(self.queue.lock().await);
        }
    }
}
