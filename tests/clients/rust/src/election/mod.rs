//! Leader election with a Lease: two processes contend for it. When the leader is killed, the other process takes over
//! after the lease has expired. There are never two leaders.

mod contender;

use std::{
    path::{Path, PathBuf},
    process::Stdio,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use k8s_openapi::api::coordination::v1::Lease;
use kube::{Api, Client};
use tokio::{
    io::{AsyncBufReadExt, BufReader, Lines},
    process::{Child, ChildStdout, Command},
    time::timeout,
};

pub use self::contender::{Way, contend};
use crate::Failure;

/// The duration of a lease without renewal.
const DURATION: Duration = Duration::from_secs(4);
/// The maximum time to elect a leader.
const PATIENCE: Duration = Duration::from_secs(40);
/// How often the leader is killed.
const KILLS: i32 = 2;

/// Microseconds since 1970, as a lease counts them.
fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}

/// A contender, killed on drop, and the time since when it leads.
struct Process {
    identity: String,
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Process {
    fn start(kubeconfig: &Path, way: Way, lease: &str, identity: &str) -> Result<Self, Failure> {
        let mut child = Command::new(std::env::current_exe()?)
            .arg("--contend")
            .arg(kubeconfig)
            .args([way.name(), lease, identity])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let lines = BufReader::new(child.stdout.take().ok_or("its output is not piped")?).lines();
        Ok(Self { identity: identity.to_owned(), child, lines })
    }

    /// Waits until it leads; returns since when.
    async fn leads(&mut self) -> Result<u64, Failure> {
        loop {
            let line = self.lines.next_line().await?.ok_or("a contender ended by itself")?;
            if let Some(at) = line.strip_prefix("leads ") {
                return Ok(at.parse()?);
            }
        }
    }

    /// Kills it; it must have led until then.
    async fn kill(&mut self) -> Result<u64, Failure> {
        let at = now();
        self.child.kill().await?;
        while let Some(line) = self.lines.next_line().await? {
            if line.starts_with("lost ") {
                return Err(format!("{} had lost the lease: {line}", self.identity).into());
            }
        }
        Ok(at)
    }
}

/// The leader is killed repeatedly, and each time the other contender takes over.
pub async fn holds(client: Client, kubeconfig: PathBuf, way: Way) -> Result<(), Failure> {
    let name = format!("leader-by-{}", way.name());
    let leases: Api<Lease> = Api::namespaced(client, "default");
    let start = |number: i32| Process::start(&kubeconfig, way, &name, &format!("contender-{number}"));
    let mut leader = start(0)?;
    timeout(PATIENCE, leader.leads()).await.map_err(|_| "the only one does not lead")??;
    let mut held = spec(&leases, &name).await?;
    let first = held.lease_transitions.unwrap_or(0);
    for number in 1..=KILLS {
        let mut next = start(number)?;
        // While the leader renews its lease, the other one never leads.
        if let Ok(since) = timeout(DURATION + Duration::from_secs(1), next.leads()).await {
            return Err(format!("two lead: {} also, since {}", next.identity, since?).into());
        }
        let renewed = spec(&leases, &name).await?;
        assert_eq!(renewed.holder_identity.as_deref(), Some(leader.identity.as_str()));
        assert_eq!((renewed.lease_transitions, &renewed.acquire_time), (held.lease_transitions, &held.acquire_time));
        assert!(renewed.renew_time > held.renew_time, "{renewed:?}");

        let killed = leader.kill().await?;
        let last = spec(&leases, &name).await?.renew_time.ok_or("it was renewed")?;
        let since = timeout(PATIENCE, next.leads()).await.map_err(|_| "no contender took over")??;
        let free = u64::try_from(last.0.as_microsecond())? + u64::try_from(DURATION.as_micros())?;
        assert!(since > killed && since >= free, "it leads since {since}, but the lease held until {free}");
        let taken = spec(&leases, &name).await?;
        assert_eq!(taken.holder_identity.as_deref(), Some(next.identity.as_str()));
        assert_eq!(taken.lease_transitions, Some(first + number));
        assert!(taken.acquire_time > held.acquire_time, "{taken:?}");
        (leader, held) = (next, taken);
    }
    Ok(())
}

async fn spec(leases: &Api<Lease>, name: &str) -> Result<k8s_openapi::api::coordination::v1::LeaseSpec, Failure> {
    Ok(leases.get(name).await?.spec.ok_or("a lease has a spec")?)
}
