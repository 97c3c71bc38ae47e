//! Open connections that no call uses. There are only a few, of all webhooks together, and they are closed when no call has used
//! them for a while.
use crate::tasks;
use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use hyper::client::conn::http1::SendRequest;
use tokio::time::{Instant, sleep};

use super::connection::Whole;

/// The maximum number of idle connections.
pub(super) const MOST_IDLE: usize = 16;
/// How long a connection stays open when no call uses it.
const IDLE_FOR: Duration = Duration::from_secs(30);

/// The idle connections of all webhooks, the one that was used last at the end.
#[derive(Default)]
pub(crate) struct Pool {
    idle: Mutex<VecDeque<Idle>>,
    /// A task closes connections.
    is_swept: AtomicBool,
}

struct Idle {
    /// The number of its client.
    client: u64,
    since: Instant,
    connection: SendRequest<Whole>,
}

impl Pool {
    fn idle(&self) -> MutexGuard<'_, VecDeque<Idle>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A connection of a client.
    pub(crate) fn take(&self, client: u64) -> Option<SendRequest<Whole>> {
        let mut idle = self.idle();
        let at = idle.iter().rposition(|one| one.client == client)?;
        idle.remove(at).map(|one| one.connection)
    }

    /// Keeps a connection. The one that was not used for the longest time is closed if there are too many.
    pub(crate) fn put(self: &Arc<Self>, client: u64, connection: SendRequest<Whole>) {
        if connection.is_closed() {
            return;
        }
        let mut idle = self.idle();
        if idle.len() >= MOST_IDLE {
            idle.pop_front();
        }
        idle.push_back(Idle { client, since: Instant::now(), connection });
        // Under the lock, like the end of the sweeper, which thus leaves no connection without one.
        if !self.is_swept.swap(true, Ordering::AcqRel) {
            tasks::spawn(Sweeper { pool: self.clone(), has_ended: false }.run());
        }
    }
}

/// Closes connections that were not used for long, until no connection is left. If its runtime ends before, the next
/// connection starts another sweeper.
struct Sweeper {
    pool: Arc<Pool>,
    has_ended: bool,
}

impl Sweeper {
    async fn run(mut self) {
        loop {
            sleep(IDLE_FOR / 4).await;
            let mut idle = self.pool.idle();
            idle.retain(|one| one.since.elapsed() < IDLE_FOR && !one.connection.is_closed());
            if idle.is_empty() {
                self.has_ended = true;
                self.pool.is_swept.store(false, Ordering::Release);
                return;
            }
        }
    }
}

impl Drop for Sweeper {
    fn drop(&mut self) {
        // Another one may run already after the end of this one.
        if !self.has_ended {
            self.pool.is_swept.store(false, Ordering::Release);
        }
    }
}
