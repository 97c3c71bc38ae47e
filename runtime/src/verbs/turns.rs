//! Turns: writers of one object who get in each other's way go one after the other.
//!
//! A write that loses to another one is made again to the newer state. Where many write one object at once, all but one
//! would lose each time: their work would grow with the square of their number, and some would lose for ever. So whoever
//! has lost waits for its turn, and who comes while others wait queues up behind them. Where nobody loses, nobody waits.
//!
//! Turns are for speed and fairness alone. That no write is lost is the store's work, which takes a write only against the
//! revision it was made to.
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

use tokio::sync::{Mutex, MutexGuard};

/// How many queues there are. Objects that share one wait for each other only while one of them is fought over.
const QUEUES: usize = 256;

/// The queues, shared among objects by hash.
pub(super) struct Turns(Vec<Mutex<()>>);

impl Default for Turns {
    fn default() -> Self {
        Self((0..QUEUES).map(|_| Mutex::default()).collect())
    }
}

impl Turns {
    /// The turns at an object, by its resource and key.
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
    /// Before the first try: queues up if others wait.
    pub async fn begin(&mut self) {
        // Taken and let go at once where nobody waits.
        if self.queue.try_lock().is_err() {
            self.wait().await;
        }
    }

    /// After a try that was lost: waits for the turn, and keeps it.
    pub async fn wait(&mut self) {
        if self.held.is_none() {
            self.held = Some(self.queue.lock().await);
        }
    }
}
