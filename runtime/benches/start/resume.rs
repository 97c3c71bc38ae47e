//! Watchers that resume after a restart, and a store whose server was killed.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use axum::body::Body;
use http_body_util::BodyExt;
use hyper::Request;
use kindsmith::Server;
use kindsmith_storage::{Embedded, Expect, Op, Options, Store};
use tower::ServiceExt;

use super::{CONFIG_MAPS, Error, KEYS, OBJECTS_PER_COMMIT, cpu};

const WATCHERS: usize = 10_000;
/// As many as the windows of past changes hold.
const UPDATES_PER_WATCHER: usize = 4;

/// Updates the objects that watchers will watch, and returns the revision before that.
pub(crate) async fn update(dir: &Path, objects: usize) -> Result<u64, Error> {
    let store = Embedded::open(dir, Options::default())?;
    let before = store.head().0;
    let watchers = WATCHERS.min(objects - 1);
    let numbers: Vec<usize> = (0..watchers * UPDATES_PER_WATCHER).map(|number| 1 + number % watchers).collect();
    for numbers in numbers.chunks(OBJECTS_PER_COMMIT.min(watchers)) {
        let op = |number: &usize| {
            let key = format!("{KEYS}cm-{number:07}");
            let value =
                store.get(&key)?.ok_or("the object is not stored")?.value.map_err(|damage| damage.to_string())?;
            Ok(Op { key: key.into(), value: Some(value), expect: Expect::Any, lifetime: None })
        };
        let ops = numbers.iter().map(op).collect::<Result<Vec<_>, Error>>()?;
        store.commit(ops.into()).await?;
    }
    Ok(before)
}

/// Starts a server, resumes watches of one object each, and prints what it took until all had their events.
pub(crate) async fn measure(dir: &Path, revision: &str) -> Result<(), Error> {
    let app = Server::builder().data_dir(dir).build().await?;
    let token = format!("Bearer {}", app.admin_token().ok_or("the server has no admin token")?);
    let (begun, used) = (Instant::now(), cpu()?);
    let done = Arc::new(AtomicUsize::new(0));
    let mut watches = Vec::new();
    for number in 0..WATCHERS {
        let path = format!(
            "{CONFIG_MAPS}?watch=1&resourceVersion={revision}&fieldSelector=metadata.name%3Dcm-{:07}",
            number + 1
        );
        let request = Request::builder().uri(path).header("authorization", &token).body(Body::empty())?;
        let (service, done) = (app.service(), Arc::clone(&done));
        watches.push(tokio::spawn(async move {
            let Ok(answer) = service.oneshot(request).await;
            let (mut body, mut events) = (answer.into_body(), 0);
            while let Some(Ok(frame)) = body.frame().await {
                let data = frame.into_data().unwrap_or_default();
                events += data.split(|byte| *byte == b'\n').count() - 1;
                if data.starts_with(br#"{"type":"ERROR""#) {
                    break;
                }
                if events == UPDATES_PER_WATCHER {
                    done.fetch_add(1, Ordering::Relaxed);
                    // The watch stays open.
                    std::future::pending::<()>().await;
                }
            }
        }));
    }
    while done.load(Ordering::Relaxed) < WATCHERS && begun.elapsed() < Duration::from_mins(1) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    println!(
        "{:>10} {} of {WATCHERS} watches have resumed and got {UPDATES_PER_WATCHER} events each: {:.2?}, {:.2?} of CPU",
        "",
        done.load(Ordering::Relaxed),
        begun.elapsed(),
        cpu()?.saturating_sub(used)
    );
    watches.iter().for_each(tokio::task::JoinHandle::abort);
    app.stop().await;
    Ok(())
}

/// Writes to the store, and ends this process without closing it.
pub(crate) async fn kill(dir: &Path) -> Result<(), Error> {
    let store = Embedded::open(dir, Options::default())?;
    let key = format!("{KEYS}cm-0000001");
    for _ in 0..100 {
        let value = store.get(&key)?.ok_or("the object is not stored")?.value.map_err(|damage| damage.to_string())?;
        let op = Op { key: key.as_str().into(), value: Some(value), expect: Expect::Any, lifetime: None };
        store.commit(vec![op].into()).await?;
    }
    std::process::exit(0)
}
