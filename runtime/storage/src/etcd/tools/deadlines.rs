//! When the keys of leases expire, in milliseconds of Unix time.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use prost::Message;
use tokio::task::JoinSet;

use crate::{
    embedded::tools::now_ms,
    etcd::{engine::Engine, fault::Fault, members::Again},
};

/// The call that says how long a lease lives.
const LEASE_TIME_TO_LIVE: &str = "/etcdserverpb.Lease/LeaseTimeToLive";

#[derive(Clone, PartialEq, Message)]
struct LeaseTimeToLiveRequest {
    #[prost(int64, tag = "1")]
    id: i64,
}

#[derive(Clone, PartialEq, Message)]
struct LeaseTimeToLiveResponse {
    /// In seconds; negative for a lease that has ended.
    #[prost(int64, tag = "3")]
    ttl: i64,
}

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

    /// Asks etcd for the leases that are not known, or that have ended unless they were renewed.
    pub(super) async fn learn(&self, engine: &Arc<Engine>, leases: impl Iterator<Item = i64>) -> Result<(), Fault> {
        let unknown: BTreeSet<_> = {
            let (known, now_ms) = (self.known_leases(), now_ms());
            let lasts = |lease: &i64| known.get(lease).is_some_and(|deadline_ms| *deadline_ms > now_ms);
            leases.filter(|lease| *lease != 0 && !lasts(lease)).collect()
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
    let answer: LeaseTimeToLiveResponse = engine.members.call(LEASE_TIME_TO_LIVE, &request, Again::Always).await?;
    // A lease that has ended is negative: its keys are about to go.
    let seconds = u64::try_from(answer.ttl).unwrap_or_default();
    Ok((lease, now_ms() + seconds * 1_000))
}
