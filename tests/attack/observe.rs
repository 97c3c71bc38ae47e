//! Measures the effect of an attack on the server: samples of resident memory, the latency of `/readyz` on new
//! connections and on an open one, and that of a get of a kind that is not attacked.

use std::{
    fs,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use kindsmith_tests::Client;
use serde_json::json;

use super::Target;

/// The interval between two memory samples, and between two probes.
const EVERY: Duration = Duration::from_millis(50);
/// The name of the object that is read during an attack, and its path.
const BYSTANDER: &str = "bystander";
const BYSTANDER_PATH: &str = "/api/v1/namespaces/default/configmaps/bystander";
/// How much longer debug builds may take. Other load on the machine counts as well.
const SLOWNESS: u32 = if cfg!(debug_assertions) { 5 } else { 1 };

/// The bounds of an attack.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Resident memory above the initial one, at its peak and after recovery, in MiB.
    pub peak_mib: u64,
    /// The longest latency of `/readyz`, and of a get of a kind that is not attacked, in release builds.
    pub latency: Duration,
}

impl Bounds {
    /// The bounds of what a stranger's definition, object, document or webhook may cost.
    pub const STRANGER: Self = Self { peak_mib: 256, latency: Duration::from_millis(500) };
}

impl Default for Bounds {
    fn default() -> Self {
        Self { peak_mib: 64, latency: Duration::from_secs(1) }
    }
}

/// A server that is observed during an attack.
pub struct Observation {
    name: &'static str,
    process: u32,
    base_kib: u64,
    ended: Arc<AtomicBool>,
    memory: JoinHandle<u64>,
    fresh: JoinHandle<Duration>,
    kept: JoinHandle<Duration>,
    other: JoinHandle<Duration>,
    start: Instant,
    processor: Duration,
}

impl Observation {
    /// Warms up the server, then starts observing it. The object that is read meanwhile is a ConfigMap.
    pub async fn begin(name: &'static str, target: &Target) -> Self {
        let mut client = target.client();
        for _ in 0..20 {
            assert_eq!(client.get("/readyz").await.unwrap().status, 200);
            assert_eq!(client.get("/api/v1/namespaces/default/configmaps?limit=1").await.unwrap().status, 200);
        }
        let bystander = json!({"metadata": {"name": BYSTANDER}});
        client.json("POST", "/api/v1/namespaces/default/configmaps", &bystander).await.unwrap();
        let (process, ended) = (target.process_id(), Arc::new(AtomicBool::new(false)));
        let base_kib = resident_kib(process);
        let end = ended.clone();
        let memory = thread::spawn(move || {
            let mut peak = 0;
            while !end.load(Ordering::Relaxed) {
                peak = peak.max(resident_kib(process));
                thread::sleep(EVERY);
            }
            peak.max(resident_kib(process))
        });
        let again = target.is_short_of_descriptors();
        let probes = |path: &'static str, anew: bool| {
            let (end, client) = (ended.clone(), target.client());
            thread::spawn(move || probe(client, path, (anew, again), &end))
        };
        let (fresh, kept) = (probes("/readyz", true), probes("/readyz", false));
        let other = probes(BYSTANDER_PATH, false);
        let processor = target.processor_time();
        Self { name, process, base_kib, ended, memory, fresh, kept, other, start: Instant::now(), processor }
    }

    /// The CPU time of the server since the attack began.
    pub fn processor_time(&self, target: &Target) -> Duration {
        target.processor_time().saturating_sub(self.processor)
    }

    /// Ends the measurement and lets the server recover. Prints the measurements.
    ///
    /// # Panics
    /// If the attack exceeded its bounds.
    pub async fn end(self, target: &Target, bounds: Bounds) {
        let (took, processor) = (self.start.elapsed(), self.processor_time(target));
        self.ended.store(true, Ordering::Relaxed);
        let peak = self.memory.join().unwrap().saturating_sub(self.base_kib);
        let [fresh, kept, other] = [self.fresh, self.kept, self.other].map(|probe| probe.join().unwrap());
        let (recovery, bound_kib) = (target.recovers().await, bounds.peak_mib << 10);
        let left = settle(self.process, self.base_kib + bound_kib).await.saturating_sub(self.base_kib);
        let row = format!(
            "{:<28} {took:>7.1?}: base {:>4} MiB, peak +{:>4} MiB, left +{:>3} MiB; readyz new {fresh:>7.1?}, kept \
             {kept:>7.1?}, get {other:>7.1?}; recovered in {recovery:.1?}; processor {processor:.1?}",
            self.name,
            self.base_kib >> 10,
            peak >> 10,
            left >> 10,
        );
        eprintln!("{row}");
        let latency = bounds.latency * SLOWNESS;
        assert!(peak >> 10 <= bounds.peak_mib, "more than {} MiB above the base: {row}", bounds.peak_mib);
        assert!(fresh.max(kept) < latency, "health took longer than {latency:?}: {row}");
        assert!(other < latency, "a get of another kind took longer than {latency:?}: {row}");
        assert!(left <= bound_kib, "memory is not given back: {row}");
    }
}

/// Waits up to five seconds until resident memory is below a bound.
async fn settle(process: u32, bound_kib: u64) -> u64 {
    let start = Instant::now();
    loop {
        let now = resident_kib(process);
        if now <= bound_kib || start.elapsed() > Duration::from_secs(5) {
            return now;
        }
        tokio::time::sleep(EVERY).await;
    }
}

/// Requests a path repeatedly and returns the longest latency. A missing answer or refused connection counts as ten
/// seconds. With `again`, a lost connection is replaced by another, and the latency includes both: a server that is
/// short of descriptors closes idle connections, also that of a client that has not sent its request yet.
fn probe(mut client: Client, path: &str, (anew, again): (bool, bool), ended: &AtomicBool) -> Duration {
    const LOST: Duration = Duration::from_secs(10);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut longest = Duration::ZERO;
        while !ended.load(Ordering::Relaxed) {
            if anew {
                client = client.another();
            }
            let start = Instant::now();
            let request = async {
                loop {
                    match client.get(path).await {
                        Err(_) if again => tokio::time::sleep(Duration::from_millis(10)).await,
                        answer => break answer,
                    }
                }
            };
            let answer = tokio::time::timeout(LOST, request).await;
            let well = matches!(answer, Ok(Ok(answer)) if answer.status == 200);
            longest = longest.max(if well { start.elapsed() } else { LOST });
            tokio::time::sleep(EVERY).await;
        }
        longest
    })
}

/// Resident memory of a process.
pub(crate) fn resident_kib(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|rest| rest.trim().trim_end_matches(" kB").parse().ok()).expect("the server's process is running")
}
