//! Time to ready and memory with many objects: `cargo bench -p kindsmith --bench start [-- <objects> [<directory>]]`.
//!
//! Writes ConfigMaps of 2 KB (by default 1,000,000) into a store, as the server stores them, and then starts a server on
//! the directory in a process of its own, three times. Each lists everything. Then 40,000 updates follow, and watchers of
//! 10,000 objects resume before them, on a server that was started after them. The last start is after a kill. A
//! directory that has a store is used as it is. Files are in the system's cache if there is room for them.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
    time::{Duration, Instant},
};

use axum::body::Body;
use http_body_util::BodyExt;
use hyper::Request;
use kindsmith::{App, Server};
use kindsmith_storage::{Embedded, Expect, Op, Options, Store};
use tower::ServiceExt;

mod list;
mod resume;

type Error = Box<dyn std::error::Error>;

const OBJECTS: usize = 1_000_000;
const OBJECTS_PER_COMMIT: usize = 1_000;
const STARTS: usize = 3;
/// The size of an object on the wire.
const OBJECT_BYTES: usize = 2_048;

const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";
const KEYS: &str = "/registry/configmaps/default/";
/// The object that all others are made from; names have the same length.
const SAMPLE: &str = "cm-0000000";

#[tokio::main]
async fn main() -> ExitCode {
    // `cargo bench` passes `--bench`.
    let arguments: Vec<String> = env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let done = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["measure", dir] => measure(Path::new(dir)).await,
        ["resume", dir, revision] => resume::measure(Path::new(dir), revision).await,
        ["kill", dir] => resume::kill(Path::new(dir)).await,
        [] => run(OBJECTS, None).await,
        [objects] => run(objects.parse().unwrap_or(OBJECTS), None).await,
        [objects, dir, ..] => run(objects.parse().unwrap_or(OBJECTS), Some(dir.into())).await,
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn run(objects: usize, dir: Option<PathBuf>) -> Result<(), Error> {
    let is_temporary = dir.is_none();
    let dir = dir.unwrap_or_else(|| env::temp_dir().join("kindsmith-bench-start"));
    if !dir.join("store.redb").exists() {
        make(&dir, objects).await?;
    }
    let file = fs::metadata(dir.join("store.redb"))?.len();
    println!("{objects} objects, a file of {} MB", file >> 20);
    println!("{:>10} {:>10} {:>12} {:>12} {:>12}", "ready in", "CPU time", "resident", "peak", "of the wire");
    let child = |command: &str, revision: &str| {
        Command::new(env::current_exe()?)
            .arg(command)
            .arg(&dir)
            .args(Some(revision).filter(|text| !text.is_empty()))
            .status()
    };
    for _ in 0..STARTS {
        child("measure", "")?;
    }
    let before = resume::update(&dir, objects).await?;
    child("resume", &before.to_string())?;
    println!("after a kill:");
    child("kill", "")?;
    child("measure", "")?;
    if is_temporary {
        fs::remove_dir_all(&dir)?;
    }
    Ok(())
}

/// Creates one object through the server, and stores copies of it under other names.
async fn make(dir: &Path, objects: usize) -> Result<(), Error> {
    let app = Server::builder().data_dir(dir).build().await?;
    let unfilled = send(&app, "POST", CONFIG_MAPS, &sample(0)).await?.len();
    send(&app, "DELETE", &format!("{CONFIG_MAPS}/{SAMPLE}"), "").await?;
    send(&app, "POST", CONFIG_MAPS, &sample(OBJECT_BYTES.saturating_sub(unfilled))).await?;
    app.stop().await;
    let store = Embedded::open(dir, Options::default())?;
    let stored = store.get(&format!("{KEYS}{SAMPLE}"))?.ok_or("the object is not stored")?;
    let stored = stored.value.map_err(|damage| damage.to_string())?;
    let places: Vec<usize> =
        (0..=stored.len() - SAMPLE.len()).filter(|at| stored[*at..].starts_with(SAMPLE.as_bytes())).collect();
    let named = |name: &str| {
        let mut value = stored.to_vec();
        for at in &places {
            value[*at..*at + name.len()].copy_from_slice(name.as_bytes());
        }
        value
    };
    // A multiple of a prime: keys come in another order than revisions.
    let names: Vec<String> = (1..objects).map(|number| format!("cm-{:07}", number * 7_919 % objects)).collect();
    for names in names.chunks(OBJECTS_PER_COMMIT) {
        let op = |name: &String| Op {
            key: format!("{KEYS}{name}").into(),
            value: Some(named(name).into()),
            expect: Expect::Any,
            lifetime: None,
        };
        store.commit(names.iter().map(op).collect::<Vec<_>>().into()).await?;
    }
    Ok(())
}

fn sample(fill: usize) -> String {
    let fill = "x".repeat(fill);
    format!(r#"{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"{SAMPLE}"}},"data":{{"key":"{fill}"}}}}"#)
}

/// Starts a server on the directory, and prints what that took.
async fn measure(dir: &Path) -> Result<(), Error> {
    let start = Instant::now();
    let app = Server::builder().data_dir(dir).build().await?;
    let (ready, cpu) = (start.elapsed(), cpu()?);
    let (resident, peak) = (status("VmRSS:")?, status("VmHWM:")?);
    let one = send(&app, "GET", &format!("{CONFIG_MAPS}/{SAMPLE}"), "").await?.len();
    let metrics = send(&app, "GET", "/metrics", "").await?;
    let metrics = String::from_utf8_lossy(&metrics);
    let count =
        metrics.lines().find(|line| line.starts_with("apiserver_storage_objects{") && line.contains("configmaps"));
    let count: f64 = count.and_then(|line| line.rsplit(' ').next()?.parse().ok()).ok_or("no count of objects")?;
    let mb = |bytes: u64| format!("{} MB", bytes >> 20);
    #[allow(clippy::cast_precision_loss, reason = "a ratio is read to two digits")]
    let ratio = resident as f64 / (count * one as f64);
    println!("{ready:>10.2?} {cpu:>10.2?} {:>12} {:>12} {ratio:>12.2}", mb(resident), mb(peak));
    list::measure(&app).await?;
    app.stop().await;
    Ok(())
}

async fn send(app: &App, method: &str, path: &str, body: &str) -> Result<bytes::Bytes, Error> {
    let token = app.admin_token().ok_or("the server has no admin token")?;
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("authorization", format!("Bearer {token}"))
        .header("content-type", "application/json")
        .body(Body::from(body.to_owned()))?;
    let answer = app.service().oneshot(request).await?;
    let status = answer.status();
    let body = answer.into_body().collect().await.map_err(|error| error.to_string())?.to_bytes();
    if status.is_success() {
        Ok(body)
    } else {
        Err(format!("{method} {path}: {}", String::from_utf8_lossy(&body)).into())
    }
}

/// CPU time of all threads of this process, ended ones too, to a hundredth of a second.
fn cpu() -> Result<Duration, Error> {
    let text = fs::read_to_string("/proc/self/stat")?;
    let after_name = text.rsplit(')').next().unwrap_or_default();
    let ticks = after_name.split_whitespace().skip(11).take(2).map(str::parse::<u64>).sum::<Result<u64, _>>()?;
    Ok(Duration::from_millis(ticks * 10))
}

/// A number of bytes from `/proc/self/status`.
fn status(name: &str) -> Result<u64, Error> {
    let text = fs::read_to_string("/proc/self/status")?;
    let line = text.lines().find(|line| line.starts_with(name)).ok_or("no such line")?;
    Ok(line.split_whitespace().nth(1).unwrap_or_default().parse::<u64>()? << 10)
}
