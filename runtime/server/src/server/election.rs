//! Leader election: of several processes that could do the same work, one at a time does it. The leader holds a Lease and renews
//! it, as client-go's leader election does, so that both understand each other's leases.
//!
//! The clocks of the processes are never compared. A candidate measures the time since it saw the lease change, and takes the
//! lease over when that was longer ago than the lease lasts. The leader measures from before it sent its last renewal, which
//! is earlier, and ends its work before that time is over.

use std::{future::Future, path::Path, pin::pin, time::Duration};

use tokio::{
    sync::watch,
    time::{Instant, sleep, timeout_at},
};

use super::{Shutdown, state::random_text};
use crate::{
    builtin::{Lease, LeaseSpec},
    handlers::{self, Client},
    meta::{MicroTime, ObjectMeta},
};

/// How long a candidate waits for a leader that does not renew its lease.
const LEASE: Duration = Duration::from_secs(15);
/// The leader's work ends if its lease could not be renewed for this time.
const RENEW_WITHIN: Duration = Duration::from_secs(10);
/// The wait between two tries to acquire or renew the lease.
const RETRY: Duration = Duration::from_secs(2);
/// The holder of a lease that is free.
const NO_HOLDER: &str = "";

/// The election of a leader by a Lease.
///
/// On a store that several servers share, the server runs the builder's controllers and its own only while it leads, by a lease
/// of its own. With this, a controller can elect a leader for other work: for work in other programs, or for parts of it.
///
#[doc = include_str!("docs/election.md")]
pub struct Election {
    client: Client,
    namespace: String,
    name: String,
    identity: String,
    lease: Duration,
    renew_within: Duration,
    retry: Duration,
}

/// The lease as a candidate last observed it.
#[derive(Default)]
struct ObservedLease {
    spec: LeaseSpec,
    /// When it was first observed like this.
    since: Option<Instant>,
}

/// The result of a try to acquire or renew the lease.
enum AttemptResult {
    Held,
    HeldByOther,
    /// Something else wrote the lease at the same time.
    Raced,
}

/// Why leading ended.
enum LeadershipEnd<T> {
    /// The work is done.
    Done(T),
    /// The process stops.
    Stopped,
    /// The lease was not renewed in time. It lasts until then.
    Expiring(Instant),
    /// Another process holds the lease.
    Taken,
}

impl Election {
    /// An election by the lease with a name in the namespace `kube-system`. This process is known by its host's name and a random
    /// text.
    #[must_use]
    pub fn new(client: &Client, name: impl Into<String>) -> Self {
        Self {
            client: client.clone(),
            namespace: "kube-system".to_owned(),
            name: name.into(),
            identity: format!("{}_{}", host_name(), random_text(12)),
            lease: LEASE,
            renew_within: RENEW_WITHIN,
            retry: RETRY,
        }
    }

    /// The same by a lease in another namespace.
    #[must_use]
    pub fn namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = namespace.into();
        self
    }

    /// The same with other times: how long candidates wait for a leader that does not renew its lease (at least a second),
    /// within which time a leader must renew it, and how often it tries. The default is 15, 10 and 2 seconds.
    #[must_use]
    pub fn times(mut self, lease: Duration, renew_within: Duration, retry: Duration) -> Self {
        self.lease = Duration::from_secs(lease.as_secs().max(1));
        self.retry = retry.min(self.lease / 4);
        self.renew_within = renew_within.min(self.lease.saturating_sub(2 * self.retry));
        self
    }

    /// Does work while this process leads. `lead` is called each time that it becomes the leader; its [`Shutdown`] is requested
    /// when the process stops, or when the lease could not be renewed. The work must then end within seconds: it is dropped
    /// before another process can become the leader. Returns the result of work that ended by itself, and `None` if `shutdown`
    /// was requested. The lease is released in both cases, so that another process leads within seconds.
    ///
    /// What was sent before the work was dropped may still arrive: writes by the leader should name the resourceVersion that
    /// they are based on.
    pub async fn run<T, W>(&self, shutdown: &Shutdown, lead: impl Fn(Shutdown) -> W) -> Option<T>
    where
        W: Future<Output = T>,
    {
        let mut observed = ObservedLease::default();
        loop {
            let mut renewed = tokio::select! {
                biased;
                () = shutdown.requested() => return None,
                begun = self.acquire(&mut observed) => begun,
            };
            tracing::info!(lease = self.name, identity = self.identity, "this process leads");
            let (stop, stopping) = watch::channel(false);
            let mut work = pin!(lead(Shutdown::by(stopping)));
            let end = tokio::select! {
                biased;
                done = &mut work => LeadershipEnd::Done(done),
                () = shutdown.requested() => LeadershipEnd::Stopped,
                end = self.hold(&mut observed, &mut renewed) => end,
            };
            stop.send_replace(true);
            match end {
                LeadershipEnd::Done(done) => {
                    self.release().await;
                    return Some(done);
                }
                LeadershipEnd::Stopped => {
                    // The lease is held until the work has ended.
                    let ended = tokio::select! {
                        biased;
                        _ = &mut work => true,
                        _ = self.hold::<T>(&mut observed, &mut renewed) => false,
                    };
                    if ended {
                        self.release().await;
                    }
                    return None;
                }
                LeadershipEnd::Expiring(at) => {
                    tracing::warn!(
                        lease = self.name,
                        "the lease could not be renewed in time, so that this process leads no longer"
                    );
                    if timeout_at(at, &mut work).await.is_err() {
                        tracing::warn!(lease = self.name, "the leader's work did not end in time, and was cut off");
                    }
                }
                LeadershipEnd::Taken => {
                    tracing::warn!(lease = self.name, holder = observed.holder(), "another process leads");
                }
            }
        }
    }

    /// Waits until this process holds the lease. Returns when the write that acquired it was begun.
    async fn acquire(&self, observed: &mut ObservedLease) -> Instant {
        let mut reported = false;
        loop {
            let begun = Instant::now();
            match self.attempt(observed).await {
                Ok(AttemptResult::Held) if begun.elapsed() < self.renew_within => return begun,
                // A write that took so long is renewed before the work begins.
                Ok(AttemptResult::Held | AttemptResult::HeldByOther | AttemptResult::Raced) => {}
                Err(error) if reported => tracing::debug!(lease = self.name, %error, "the lease was not acquired"),
                Err(error) => {
                    reported = true;
                    tracing::warn!(lease = self.name, %error, "the lease could not be acquired, and is tried again");
                }
            }
            sleep(self.retry.mul_f64(1.0 + jitter())).await;
        }
    }

    /// Renews the lease, which was last renewed at a time, until that fails for too long.
    async fn hold<T>(&self, observed: &mut ObservedLease, renewed: &mut Instant) -> LeadershipEnd<T> {
        loop {
            let deadline = *renewed + self.renew_within;
            let begun = deadline.min(Instant::now() + self.retry);
            tokio::time::sleep_until(begun).await;
            match timeout_at(deadline, self.attempt(observed)).await {
                Ok(Ok(AttemptResult::Held)) => *renewed = begun,
                Ok(Ok(AttemptResult::HeldByOther)) => return LeadershipEnd::Taken,
                Ok(Ok(AttemptResult::Raced)) => {}
                Ok(Err(error)) => tracing::warn!(lease = self.name, %error, "the lease could not be renewed"),
                Err(_) => tracing::warn!(lease = self.name, "the lease was not renewed in time"),
            }
            if Instant::now() >= *renewed + self.renew_within {
                return LeadershipEnd::Expiring(*renewed + self.lease - self.retry);
            }
        }
    }

    /// Acquires or renews the lease, if no other process holds it.
    async fn attempt(&self, observed: &mut ObservedLease) -> handlers::Result<AttemptResult> {
        let leases = self.client.of::<Lease>(&self.namespace);
        let Some(mut lease) = leases.get_opt(&self.name).await? else {
            let lease = Lease { metadata: ObjectMeta::named(&self.name), spec: self.spec(&LeaseSpec::default()) };
            let created = leases.create(&lease).await;
            return observed.record_write(created.map(|lease| lease.spec));
        };
        observed.update(&lease.spec);
        if !observed.is_free() && observed.holder() != self.identity {
            return Ok(AttemptResult::HeldByOther);
        }
        lease.spec = self.spec(&lease.spec);
        let replaced = leases.replace(&self.name, &lease).await;
        observed.record_write(replaced.map(|lease| lease.spec))
    }

    /// The lease as this process holds it from now on.
    fn spec(&self, before: &LeaseSpec) -> LeaseSpec {
        let (now, ours) = (Some(MicroTime::now()), before.holder_identity.as_ref() == Some(&self.identity));
        let transitions = before.lease_transitions.unwrap_or(0);
        LeaseSpec {
            holder_identity: Some(self.identity.clone()),
            lease_duration_seconds: i32::try_from(self.lease.as_secs()).ok(),
            acquire_time: if ours { before.acquire_time } else { now },
            renew_time: now,
            lease_transitions: Some(if ours || before == &LeaseSpec::default() {
                transitions
            } else {
                transitions + 1
            }),
            ..before.clone()
        }
    }

    /// Gives the lease up, so that another process need not wait.
    async fn release(&self) {
        let leases = self.client.of::<Lease>(&self.namespace);
        let released = async {
            let mut lease = leases.get(&self.name).await?;
            if lease.spec.holder_identity.as_ref() == Some(&self.identity) {
                lease.spec.holder_identity = Some(NO_HOLDER.to_owned());
                lease.spec.lease_duration_seconds = Some(1);
                lease.spec.renew_time = Some(MicroTime::now());
                leases.replace(&self.name, &lease).await?;
            }
            Ok::<_, handlers::Refusal>(())
        };
        if let Ok(Err(error)) = timeout_at(Instant::now() + self.retry, released).await {
            tracing::debug!(lease = self.name, %error, "the lease was not released");
        }
    }
}

impl ObservedLease {
    /// Takes in the lease. Only a change starts its time again, whatever the times in it say.
    fn update(&mut self, spec: &LeaseSpec) {
        if self.since.is_none() || self.spec != *spec {
            *self = Self { spec: spec.clone(), since: Some(Instant::now()) };
        }
    }

    /// Takes in the lease as it was written.
    fn record_write(&mut self, result: handlers::Result<LeaseSpec>) -> handlers::Result<AttemptResult> {
        match result {
            Ok(spec) => {
                self.update(&spec);
                Ok(AttemptResult::Held)
            }
            Err(refusal) if refusal.status().code == 409 => Ok(AttemptResult::Raced),
            Err(refusal) => Err(refusal),
        }
    }

    fn holder(&self) -> &str {
        self.spec.holder_identity.as_deref().unwrap_or(NO_HOLDER)
    }

    /// True if no process holds the lease, or its holder has not renewed it for as long as it lasts.
    fn is_free(&self) -> bool {
        let seconds = self.spec.lease_duration_seconds.and_then(|seconds| u64::try_from(seconds).ok());
        let lasts = seconds.map_or(LEASE, Duration::from_secs);
        self.holder() == NO_HOLDER || self.since.is_some_and(|since| since.elapsed() > lasts)
    }
}

/// Between 0 and 1.2, as in client-go, so that candidates do not try at the same moments.
fn jitter() -> f64 {
    let mut random = [0];
    // Without randomness they may.
    let _ = getrandom::fill(&mut random);
    f64::from(random[0]) / 255.0 * 1.2
}

/// The name of this machine, for people who read leases.
fn host_name() -> String {
    let name = std::fs::read_to_string(Path::new("/proc/sys/kernel/hostname")).unwrap_or_default();
    if name.trim().is_empty() { "server".to_owned() } else { name.trim().to_owned() }
}
