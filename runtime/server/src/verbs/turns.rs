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
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The number of queues. Objects that share one wait for each other during conflicts, and each waits for a whole commit, so
/// that few queues under load would stay full once there was a conflict.
const QUEUES: usize = 4_096;

/// After this many lost races, a writer keeps its turn while the user's code waits.
const LOSSES: usize = 5;

/// How long it keeps it then. The code might wait for another writer of the object, which waits for the turn.
const KEPT_FOR: Duration = Duration::from_secs(3);

/// A permit of a semaphore that is given up, and waited for again, while a request runs.
pub(super) struct ReleasablePermit {
    semaphore: Arc<Semaphore>,
    permit: Mutex<Option<OwnedSemaphorePermit>>,
}

impl ReleasablePermit {
    pub(super) fn of(semaphore: &Arc<Semaphore>) -> Self {
        Self { semaphore: semaphore.clone(), permit: Mutex::default() }
    }

    fn permit(&self) -> MutexGuard<'_, Option<OwnedSemaphorePermit>> {
        self.permit.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the permit, unless it is held.
    pub(super) async fn wait(&self) {
        if !self.is_held() {
            let permit = self.semaphore.clone().acquire_owned().await.expect("the semaphore is never closed");
            *self.permit() = Some(permit);
        }
    }

    /// Releases it. Returns false if it was not held.
    pub(super) fn release(&self) -> bool {
        self.permit().take().is_some()
    }

    pub(super) fn is_held(&self) -> bool {
        self.permit().is_some()
    }
}

/// The queues, assigned to objects by hash, and made with the first write of one of their objects.
pub(super) struct Turns(Vec<OnceLock<Arc<Semaphore>>>);

impl Default for Turns {
    fn default() -> Self {
        Self((0..QUEUES).map(|_| OnceLock::new()).collect())
    }
}

impl Turns {
    /// The turn for an object, by its resource and key.
    pub(super) fn at(&self, prefix: &str, key: &str) -> Turn {
        let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one((prefix, key));
        let queue = usize::try_from(hash % QUEUES as u64).expect("below the number of queues");
        let queue = self.0[queue].get_or_init(|| Arc::new(Semaphore::new(1)));
        Turn { permit: ReleasablePermit::of(queue), lost: AtomicUsize::new(0) }
    }
}

/// One writer's turn, which ends when this is dropped.
pub(super) struct Turn {
    /// The place at the head of the queue. Waiting for it is to wait for the turn.
    pub(super) permit: ReleasablePermit,
    /// The number of lost races.
    lost: AtomicUsize,
}

impl Turn {
    /// Waits for the turn if another writer has it.
    pub(super) async fn queue_up(&self) {
        if self.permit.semaphore.available_permits() == 0 {
            self.permit.wait().await;
        }
    }

    /// Called after a lost race: waits for the turn, and keeps it.
    pub(super) async fn again(&self) {
        self.lost.fetch_add(1, Ordering::Relaxed);
        self.permit.wait().await;
    }

    /// How long the turn is kept while the user's code waits.
    pub(super) fn kept_for(&self) -> Option<Duration> {
        (self.permit.is_held() && self.lost.load(Ordering::Relaxed) >= LOSSES).then_some(KEPT_FOR)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn hardly_any_other_object_waits_for_the_turn_of_one() {
        let turns = Turns::default();
        let turn = turns.at("/things/", "default/a");
        turn.permit.wait().await;
        let others = (0..10_000).map(|number| turns.at("/things/", &format!("default/{number}")));
        let waiting = others.filter(|other| other.permit.semaphore.available_permits() == 0).count();
        assert!(waiting < 10, "{waiting} of 10,000 objects wait");
        assert_eq!(turns.at("/things/", "default/a").permit.semaphore.available_permits(), 0);
    }
}
