//! Watchers that receive every change. The time from a change to its arrival at each watcher is what is measured.
use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use hyper::Method;
use tokio::{
    runtime::{self, Runtime},
    sync::watch,
    task::JoinSet,
};

use super::{
    Position,
    objects::{WATCHED, config_maps, name},
    pages::metadata,
};
use crate::{
    Outcome,
    client::{Connection, Failed, Lines, Request},
    measure::Measure,
    target::Target,
};

/// How long events may arrive after the last change.
const GRACE: Duration = Duration::from_secs(10);
/// What precedes the time of a change in an event.
const SENT: &[u8] = br#""load/sent":""#;

/// The time from which changes count theirs.
fn epoch() -> Instant {
    static EPOCH: OnceLock<Instant> = OnceLock::new();
    *EPOCH.get_or_init(Instant::now)
}

/// Writes the time at which the change is due into an annotation of the client's own object.
pub(super) fn change(position: &Position) -> Request {
    let sent = position.due.saturating_duration_since(epoch()).as_nanos();
    let body = format!(r#"{{"metadata":{{"annotations":{{"load/sent":"{sent}-{}"}}}}}}"#, position.run);
    let path = format!("{}/{}", config_maps(WATCHED), name(position.worker));
    Request::write(Method::PATCH, path, "application/merge-patch+json", body)
}

/// Watchers, running.
pub(crate) struct Watchers {
    runtime: Runtime,
    tasks: JoinSet<Measure>,
    /// The number of changes that each watcher should have received, once no more are awaited.
    end: watch::Sender<Option<u64>>,
    received: Arc<AtomicU64>,
}

impl Watchers {
    /// Opens the watches and waits until all are answered.
    pub(crate) fn open(target: &Arc<Target>, count: usize, run: &Arc<str>) -> Outcome<Self> {
        epoch();
        let runtime = runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        let (end, received) = (watch::Sender::new(None), Arc::default());
        let tasks = runtime.block_on(async {
            let mut tasks = JoinSet::new();
            let path = watch_from_now(target).await?;
            for _ in 0..count {
                let lines = Connection::open(target, false).await?.watch(path.clone()).await;
                let lines = lines.map_err(|failed| format!("{}: GET {path}: {failed}", target.url))?;
                tasks.spawn(follow(lines, run.clone(), end.subscribe(), Arc::clone(&received)));
            }
            Outcome::Ok(tasks)
        })?;
        Ok(Self { runtime, tasks, end, received })
    }

    /// Waits until all have received this number of changes; returns the latencies of the events.
    pub(crate) fn finish(self, changes: u64) -> Measure {
        let Self { runtime, tasks, end, received } = self;
        let (wanted, limit) = (changes * tasks.len() as u64, Instant::now() + GRACE);
        runtime.block_on(async {
            while received.load(Ordering::Relaxed) < wanted && Instant::now() < limit {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            end.send_replace(Some(changes));
            let mut whole = Measure::new();
            for measure in tasks.join_all().await {
                whole.add(&measure);
            }
            whole
        })
    }
}

/// The path of a watch that sends changes, and not the objects that exist.
async fn watch_from_now(target: &Arc<Target>) -> Outcome<String> {
    let path = config_maps(WATCHED);
    let list = Connection::open(target, false).await?.send(&Request::get(path.clone() + "?limit=1")).await;
    let list = list.map_err(|failed| format!("{}: GET {path}: {failed}", target.url))?;
    let newest = metadata(&list.head, "resourceVersion");
    let newest = newest.ok_or_else(|| format!("{}: the list at {path} has no resourceVersion", target.url))?;
    Ok(format!("{path}?watch=1&resourceVersion={newest}"))
}

/// Measures the events of a round until it ends.
async fn follow(
    mut lines: Lines,
    run: Arc<str>,
    mut end: watch::Receiver<Option<u64>>,
    received: Arc<AtomicU64>,
) -> Measure {
    let mut measure = Measure::new();
    let changes = loop {
        let line = tokio::select! {
            line = lines.next() => line,
            // The sender is dropped only if the round fails, which reports the reason.
            changes = end.wait_for(Option::is_some) => break changes.ok().and_then(|changes| *changes),
        };
        match line {
            Ok(Some(line)) => {
                if let Some(sent) = sent_at(&line, &run) {
                    measure.succeeded(epoch().elapsed().saturating_sub(sent), line.len() as u64);
                    received.fetch_add(1, Ordering::Relaxed);
                }
            }
            Ok(None) => {
                measure.failed(Failed::Broken("the server ended a watch".into()));
                break None;
            }
            Err(failed) => {
                measure.failed(failed);
                break None;
            }
        }
    };
    let missing = changes.unwrap_or(0).saturating_sub(measure.count());
    if missing > 0 {
        *measure.errors.entry("an event did not arrive".into()).or_default() += missing;
    }
    measure
}

/// The time of the change that an event is about, if it is one of this round.
fn sent_at(event: &[u8], run: &str) -> Option<Duration> {
    let start = event.windows(SENT.len()).position(|window| window == SENT)? + SENT.len();
    let value = event[start..].split(|byte| *byte == b'"').next()?;
    let (sent, of) = std::str::from_utf8(value).ok()?.split_once('-')?;
    (of == run).then(|| sent.parse().ok().map(Duration::from_nanos))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_has_the_time_of_its_change() {
        let event = br#"{"type":"MODIFIED","object":{"metadata":{"annotations":{"load/sent":"1500-abc"}}}}"#;
        assert_eq!(sent_at(event, "abc"), Some(Duration::from_nanos(1500)));
        assert_eq!(sent_at(event, "other"), None);
        assert_eq!(sent_at(br#"{"type":"BOOKMARK"}"#, "abc"), None);
    }
}
