//! Leases: etcd deletes the keys of one when it ends. Operations whose ends are close share one, as in kube-apiserver,
//! because each costs etcd as much as a write.

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::sync::Mutex;

use super::{
    fault::Fault,
    members::{Again, Members},
    proto::{LeaseGrantRequest, LeaseGrantResponse, TxnRequest, path},
};
use crate::storage::Commit;

/// How much longer than asked a key may live, so that leases can be shared: a twentieth, and at most this.
const MOST_SECONDS_MORE: u64 = 60;
/// The longest lease that etcd grants. A value with a longer lifetime stays.
const MOST_SECONDS: u64 = 9_000_000_000;
/// The number of keys of one lease: etcd deletes them in one step.
const MOST_KEYS: usize = 1_000;

/// The leases that further operations can use, by the lifetime in seconds.
#[derive(Default)]
pub(super) struct Leases {
    shared: Mutex<HashMap<u64, Lease>>,
}

struct Lease {
    id: i64,
    ends: Instant,
    keys: usize,
}

impl Leases {
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

    /// A lease for one of many keys with different lifetimes, which may live a little longer so that they can share leases.
    /// Returns it with its lifetime in seconds, for [`Leases::forget`], or `None` for a value that stays.
    pub(super) async fn lend_for(
        &self,
        members: &Arc<Members>,
        lifetime: Duration,
    ) -> Result<Option<(i64, u64)>, Fault> {
        let seconds = lifetime.as_secs().saturating_add(1);
        if seconds > MOST_SECONDS - 2 * MOST_SECONDS_MORE {
            return Ok(None);
        }
        let seconds = seconds.next_multiple_of((seconds / 20).clamp(1, MOST_SECONDS_MORE));
        Ok(Some((self.lease(members, seconds).await?, seconds)))
    }

    /// Drops leases that etcd does not know.
    pub(super) async fn forget(&self, lifetimes: &[u64]) {
        let mut shared = self.shared.lock().await;
        for seconds in lifetimes {
            shared.remove(seconds);
        }
    }

    async fn lease(&self, members: &Arc<Members>, seconds: u64) -> Result<i64, Fault> {
        let mut shared = self.shared.lock().await;
        let now = Instant::now();
        let needed = now + Duration::from_secs(seconds);
        if let Some(lease) = shared.get_mut(&seconds).filter(|lease| lease.ends >= needed && lease.keys < MOST_KEYS) {
            lease.keys += 1;
            return Ok(lease.id);
        }
        shared.retain(|seconds, lease| lease.ends > now + Duration::from_secs(*seconds));
        let lives = seconds + (seconds / 20).min(MOST_SECONDS_MORE);
        let request = LeaseGrantRequest { ttl: i64::try_from(lives).unwrap_or(i64::MAX) };
        let granted: LeaseGrantResponse = members.call(path::LEASE_GRANT, &request, Again::Always).await?;
        if granted.id == 0 {
            return Err(Fault::Unsent(format!("no lease was granted: {}", granted.error)));
        }
        shared.insert(seconds, Lease { id: granted.id, ends: now + Duration::from_secs(lives), keys: 1 });
        Ok(granted.id)
    }
}
