//! A contender for leadership, in a separate process that can be killed at any moment. It prints `leads` and `lost`,
//! each with the time.

use std::{
    io::Write,
    path::Path,
    time::{Duration, Instant},
};

use k8s_pb::{
    api::coordination::v1::{Lease, LeaseSpec},
    apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta},
};
use kube::{
    Client, Config,
    config::{KubeConfigOptions, Kubeconfig},
};
use kube_lease_manager::LeaseManagerBuilder;
use tokio::time::{sleep, timeout};

use super::{DURATION, now};
use crate::{
    Failure,
    protobuf::{Kind, body, send},
};

/// How long a leader tries to renew before it gives up leadership; shorter than the lease.
const RENEW_WITHIN: Duration = Duration::from_secs(3);
/// The interval between two tries.
const RETRY: Duration = Duration::from_millis(300);
/// How long before the end of a lease the lease manager renews it.
const GRACE_SECONDS: u64 = 2;

/// How a contender writes the lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Like client-go: updates the lease that it has read, in Protobuf; a conflict means that another contender was
    /// faster.
    Update,
    /// Like `kube-lease-manager`: by server-side apply and by strategic merge patches, in JSON.
    Apply,
}

impl Way {
    /// The name of this way on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Update => "update",
            Self::Apply => "apply",
        }
    }
}

/// Contends for a lease until it is killed.
pub async fn contend(kubeconfig: &Path, way: &str, lease: &str, identity: &str) -> Result<(), Failure> {
    let kubeconfig = Kubeconfig::read_from(kubeconfig)?;
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
    let client = Client::try_from(config)?;
    if way == Way::Update.name() {
        let name = lease.to_owned();
        return Contender { client, name, identity: identity.to_owned(), seen: None }.run().await;
    }
    let manager = LeaseManagerBuilder::new(client, lease).with_namespace("default").with_identity(identity);
    let manager = manager.with_duration(DURATION.as_secs()).with_grace(GRACE_SECONDS).build().await?;
    let (mut leads, _task) = manager.watch().await;
    loop {
        say(if *leads.borrow_and_update() { "leads" } else { "lost" })?;
        leads.changed().await?;
    }
}

fn say(what: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{what} {}", now())?;
    Ok(out.flush()?)
}

/// Leads by updates. A lease has the time of its holder's clock, so others measure from when they saw it change.
struct Contender {
    client: Client,
    name: String,
    identity: String,
    seen: Option<(LeaseSpec, Instant)>,
}

impl Contender {
    async fn run(mut self) -> Result<(), Failure> {
        loop {
            while !matches!(self.try_to_hold().await, Ok(true)) {
                sleep(RETRY).await;
            }
            say("leads")?;
            let mut renewed = Instant::now();
            // The time before the try counts, because the lease may have been written at any later time.
            while renewed.elapsed() < RENEW_WITHIN {
                sleep(RETRY).await;
                let began = Instant::now();
                let left = RENEW_WITHIN.saturating_sub(renewed.elapsed());
                match timeout(left, self.try_to_hold()).await {
                    Ok(Ok(true)) => renewed = began,
                    Ok(Ok(false)) => break,
                    Ok(Err(_)) | Err(_) => {}
                }
            }
            say("lost")?;
        }
    }

    /// Creates, takes over or renews the lease; false if another contender holds it.
    async fn try_to_hold(&mut self) -> Result<bool, Failure> {
        let path = format!("{}/{}", Lease::COLLECTION, self.name);
        let found = send(&self.client, "GET", &path, None).await?;
        if found.code == 404 {
            let metadata = ObjectMeta { name: Some(self.name.clone()), ..ObjectMeta::default() };
            let lease = Lease { metadata: Some(metadata), spec: Some(self.claim(&LeaseSpec::default())?) };
            return Ok(send(&self.client, "POST", Lease::COLLECTION, body(&lease)).await?.code == 201);
        }
        let mut lease: Lease = found.message("coordination.k8s.io/v1", "Lease")?;
        let spec = lease.spec.clone().unwrap_or_default();
        if self.seen.as_ref().is_none_or(|(known, _)| *known != spec) {
            self.seen = Some((spec.clone(), Instant::now()));
        }
        let age = self.seen.as_ref().map_or(Duration::ZERO, |(_, at)| at.elapsed());
        let holds = Duration::from_secs(spec.lease_duration_seconds().try_into()?);
        if spec.holder_identity() != self.identity && !spec.holder_identity().is_empty() && age <= holds {
            return Ok(false);
        }
        lease.spec = Some(self.claim(&spec)?);
        let written = send(&self.client, "PUT", &path, body(&lease)).await?;
        if written.code == 409 {
            return Ok(false);
        }
        let written: Lease = written.message("coordination.k8s.io/v1", "Lease")?;
        self.seen = Some((written.spec.unwrap_or_default(), Instant::now()));
        Ok(true)
    }

    /// The updated lease.
    fn claim(&self, old: &LeaseSpec) -> Result<LeaseSpec, Failure> {
        let micros = now();
        let nanos = i32::try_from(micros % 1_000_000)? * 1_000;
        let at = MicroTime { seconds: Some(i64::try_from(micros / 1_000_000)?), nanos: Some(nanos) };
        let ours = old.holder_identity() == self.identity;
        Ok(LeaseSpec {
            holder_identity: Some(self.identity.clone()),
            lease_duration_seconds: Some(i32::try_from(DURATION.as_secs())?),
            acquire_time: if ours { old.acquire_time } else { Some(at) },
            renew_time: Some(at),
            lease_transitions: Some(old.lease_transitions() + i32::from(!ours && old.holder_identity.is_some())),
            ..old.clone()
        })
    }
}
