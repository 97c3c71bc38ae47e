//! When the keys of leases expire, in milliseconds of Unix time.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{SystemTime, UNIX_EPOCH},
};

use tokio::task::JoinSet;

use super::{
    engine::Engine,
    fault::Fault,
    members::Again,
    proto::{LeaseTimeToLiveRequest, LeaseTimeToLiveResponse, path},
};

/// The number of leases that etcd is asked for at once.
const AT_ONCE: usize = 64;

/// The leases that etcd was asked for. Many keys share one.
#[derive(Default)]
pub(super) struct Deadlines {
    of_leases: Mutex<HashMap<i64, u64>>,
}

impl Deadlines {
    fn known_leases(&self) -> MutexGuard<'_, HashMap<i64, u64>> {
        self.of_leases.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The deadline of a lease that is learned, or `None` for a key without a lease.
    pub(super) fn known(&self, lease: i64) -> Option<u64> {
        self.known_leases().get(&lease).copied()
    }

    /// Asks etcd for the leases that are not known.
    pub(super) async fn learn(&self, engine: &Arc<Engine>, leases: impl Iterator<Item = i64>) -> Result<(), Fault> {
        let unknown: BTreeSet<_> = {
            let known = self.known_leases();
            leases.filter(|lease| *lease != 0 && !known.contains_key(lease)).collect()
        };
        let (mut unknown, mut asked) = (unknown.into_iter(), JoinSet::new());
        loop {
            while asked.len() < AT_ONCE
                && let Some(lease) = unknown.next()
            {
                asked.spawn(ask(Arc::clone(engine), lease));
            }
            match asked.join_next().await {
                None => return Ok(()),
                Some(Ok(answer)) => {
                    let (lease, deadline_ms) = answer?;
                    self.known_leases().insert(lease, deadline_ms);
                }
                Some(Err(error)) => return Err(Fault::Unsent(error.to_string())),
            }
        }
    }
}

async fn ask(engine: Arc<Engine>, lease: i64) -> Result<(i64, u64), Fault> {
    let request = LeaseTimeToLiveRequest { id: lease };
    let answer: LeaseTimeToLiveResponse =
        engine.members.call(path::LEASE_TIME_TO_LIVE, &request, Again::Always).await?;
    // A lease that has ended is negative: its keys are about to go.
    let seconds = u64::try_from(answer.ttl).unwrap_or_default();
    Ok((lease, now_ms() + seconds * 1_000))
}

/// The system's time.
pub(super) fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
