//! Leases: etcd deletes the keys of one when it ends. Operations whose ends are close share one, as in kube-apiserver,
//! because each costs etcd as much as a write.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use tokio::time::timeout;

use super::{
    fault::Fault,
    members::{Again, ENDED_WITHIN, Members},
    proto::{LeaseGrantRequest, LeaseGrantResponse, TxnRequest, path},
    turns::Turns,
};
use crate::Commit;

/// How much longer than asked a key may live, so that leases can be shared: a twentieth, and at most this.
pub(super) const MOST_SECONDS_MORE: u64 = 60;
/// The longest lease that etcd grants. A value with a longer lifetime stays.
pub(super) const MOST_SECONDS: u64 = 9_000_000_000;
/// The number of keys of one lease: etcd deletes them in one step.
const MOST_KEYS: usize = 1_000;

/// The leases that further operations can use.
pub(super) struct Leases {
    /// By the lifetime in seconds.
    shared: Mutex<HashMap<u64, Lease>>,
    /// A lease is granted in a turn, for all who can share it.
    grants: Turns<(), Fault>,
}

struct Lease {
    id: i64,
    ends: Instant,
    keys: usize,
}

/// How long a lease lives that keys with a lifetime share.
fn lives(seconds: u64) -> u64 {
    seconds + (seconds / 20).min(MOST_SECONDS_MORE)
}

impl Default for Leases {
    fn default() -> Self {
        Self { shared: Mutex::default(), grants: Turns::new(()) }
    }
}

impl Leases {
    fn shared(&self) -> MutexGuard<'_, HashMap<u64, Lease>> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds leases to the puts of a commit whose operations have a lifetime. Returns the lifetimes in seconds.
    pub(super) async fn lend(
        &self,
        members: &Arc<Members>,
        commit: &Commit,
        request: &mut TxnRequest,
    ) -> Result<Vec<u64>, Fault> {
        let mut lent = Vec::new();
        for (op, of_etcd) in commit.ops.iter().zip(&mut request.success) {
            let (Some(lifetime), Some(put)) = (op.lifetime, &mut of_etcd.put) else { continue };
            let seconds = lifetime.as_secs().saturating_add(u64::from(lifetime.subsec_nanos() > 0)).max(1);
            if seconds > MOST_SECONDS - MOST_SECONDS_MORE {
                continue;
            }
            put.lease = self.lease(members, seconds).await?;
            lent.push(seconds);
        }
        Ok(lent)
    }

    /// Drops leases that etcd does not know.
    pub(super) fn forget(&self, lifetimes: &[u64]) {
        let mut shared = self.shared();
        for seconds in lifetimes {
            shared.remove(seconds);
        }
    }

    /// A lease of so many seconds, which others share. Waits for grants of others [`ENDED_WITHIN`] at most, and as long for one of its own.
    pub(super) async fn lease(&self, members: &Arc<Members>, seconds: u64) -> Result<i64, Fault> {
        if let Some(id) = self.granted(seconds) {
            return Ok(id);
        }
        // A lease that lives no longer than its key cannot be shared.
        if lives(seconds) == seconds {
            return grant(members, seconds).await;
        }
        let turn = timeout(ENDED_WITHIN, self.grants.wait()).await;
        let turn = turn.map_err(|_| Fault::Unsent(format!("no lease was granted within {ENDED_WITHIN:?}")))??;
        if let Some(id) = self.granted(seconds) {
            return Ok(id);
        }
        let now = Instant::now();
        let id = match grant(members, lives(seconds)).await {
            Ok(id) => id,
            Err(fault) => return Err(turn.fail(fault)),
        };
        let mut shared = self.shared();
        shared.retain(|seconds, lease| lease.ends > now + Duration::from_secs(*seconds));
        shared.insert(seconds, Lease { id, ends: now + Duration::from_secs(lives(seconds)), keys: 1 });
        Ok(id)
    }

    /// A lease that one more key can use.
    fn granted(&self, seconds: u64) -> Option<i64> {
        let (mut shared, needed) = (self.shared(), Instant::now() + Duration::from_secs(seconds));
        let lease = shared.get_mut(&seconds).filter(|lease| lease.ends >= needed && lease.keys < MOST_KEYS)?;
        lease.keys += 1;
        Some(lease.id)
    }
}

async fn grant(members: &Arc<Members>, seconds: u64) -> Result<i64, Fault> {
    let request = LeaseGrantRequest { ttl: i64::try_from(seconds).unwrap_or(i64::MAX) };
    let granted: Result<LeaseGrantResponse, Fault> = members.call(path::LEASE_GRANT, &request, Again::Always).await;
    let granted = granted.map_err(Fault::before_request)?;
    if granted.id == 0 {
        return Err(Fault::Unsent(format!("no lease was granted: {}", granted.error)));
    }
    Ok(granted.id)
}
