//! Lists in every encoding: their rate compared with JSON, and their memory with slow clients.
use std::{
    fs,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use crate::{Outcome, Target, client::Connection, fill};

/// The forms by name, with their headers.
const FORMS: [(&str, &str, &str); 8] = [
    ("JSON", "", "Accept: application/json\r\n"),
    ("pretty JSON", "pretty=1", "Accept: application/json\r\n"),
    ("YAML", "", "Accept: application/yaml\r\n"),
    ("CBOR", "", "Accept: application/cbor\r\n"),
    ("Protobuf", "", "Accept: application/vnd.kubernetes.protobuf\r\n"),
    ("Table", "", "Accept: application/json;as=Table;g=meta.k8s.io;v=v1\r\n"),
    ("partial metadata", "", "Accept: application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1\r\n"),
    ("gzip JSON", "", "Accept: application/json\r\nAccept-Encoding: gzip\r\n"),
];

/// The parameters of a measurement.
#[derive(Clone, Copy)]
pub(crate) struct Plan {
    /// Objects to list.
    pub count: usize,
    /// The number of concurrent clients.
    pub clients: usize,
    /// Seconds for each form.
    pub seconds: u64,
    /// The number of slow clients during the memory measurement.
    pub slow: usize,
}

/// Measures each form and prints a line for it.
pub(crate) async fn measure(target: &Target, pid: Option<u32>, plan: Plan) -> Outcome<()> {
    fill::fill(target, plan.count).await?;
    let mut json = None;
    for (name, query, headers) in FORMS {
        let path = format!("/api/v1/namespaces/load/configmaps?{query}");
        let (rate, bytes) = rate(target, &path, headers, plan).await?;
        let ratio = rate / *json.get_or_insert(rate);
        println!("{name:17} {rate:8.2} lists a second, {ratio:.3} of JSON ({bytes} bytes)");
        if let Some(pid) = pid {
            let (base, most) = memory(target, pid, &path, headers, plan).await?;
            let above = most.saturating_sub(base) / 1024;
            println!("{:17} {above:8} MB above {} MB with {} slow readers", "", base / 1024, plan.slow);
        }
    }
    Ok(())
}

/// Complete answers per second, and the size of one in bytes.
async fn rate(target: &Target, path: &str, headers: &'static str, plan: Plan) -> Outcome<(f64, u64)> {
    let (started, answers, bytes) = (Instant::now(), Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..plan.clients {
        let (target, path, answers, bytes) = (target.clone(), path.to_owned(), answers.clone(), bytes.clone());
        tasks.spawn(async move {
            let mut connection = Connection::open(&target).await?;
            while started.elapsed() < Duration::from_secs(plan.seconds) {
                bytes.store(connection.fetch(&path, headers, None).await?, Ordering::Relaxed);
                answers.fetch_add(1, Ordering::Relaxed);
            }
            Outcome::Ok(())
        });
    }
    while let Some(done) = tasks.join_next().await {
        done??;
    }
    let answers = f64::from(u32::try_from(answers.load(Ordering::Relaxed))?);
    Ok((answers / started.elapsed().as_secs_f64(), bytes.load(Ordering::Relaxed)))
}

/// The resident memory before, and its maximum while clients read slowly, in kilobytes.
async fn memory(target: &Target, pid: u32, path: &str, headers: &'static str, plan: Plan) -> Outcome<(u64, u64)> {
    let base = resident(pid)?;
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..plan.slow {
        let (target, path) = (target.clone(), path.to_owned());
        tasks.spawn(async move {
            let mut connection = Connection::open(&target).await?;
            connection.fetch(&path, headers, Some(Duration::from_millis(200))).await
        });
    }
    let (started, mut most) = (Instant::now(), base);
    while started.elapsed() < Duration::from_secs(plan.seconds * 2) {
        most = most.max(resident(pid)?);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    tasks.shutdown().await;
    Ok((base, most))
}

fn resident(pid: u32) -> Outcome<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no resident memory in /proc")?;
    Ok(line.trim().trim_end_matches(" kB").parse()?)
}
