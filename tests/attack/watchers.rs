//! Watchers that never read: their buffers are bounded, and their timeouts apply.

use std::time::{Duration, Instant};

use serde_json::json;

use super::{Bounds, Observation, Setup, Target, size, wire};

const PATH: &str = "/api/v1/namespaces/default/configmaps";

/// 2,000 watchers (500 in an ordinary run) read nothing while one object of 4 KB changes 120 times.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn watchers_who_never_read_take_little_memory() {
    let target = Target::start(Setup::default());
    target.fill(1, 100).await;
    let observation = Observation::begin("watchers", &target).await;
    let head = wire::head("GET", &format!("{PATH}?watch=1"), "");
    let mut open = Vec::new();
    for _ in 0..size(2_000, 500) {
        open.push(wire::send(&target, head.as_bytes()).await.unwrap());
    }
    let mut writer = target.client();
    for number in 0..120 {
        let value = format!("{number}{}", "x".repeat(4_000));
        let answer = writer.json("PATCH", &format!("{PATH}/attack-0"), &json!({"data": {"value": value}})).await;
        assert_eq!(answer.unwrap().status, 200);
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    drop(open);
    observation.end(&target, Bounds::default()).await;
}

/// A watch with `timeoutSeconds=3` releases its connection, even if it is never read.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_time_of_a_watch_ends_though_nobody_reads() {
    let target = Target::start(Setup::default());
    target.fill(400, 4_000).await;
    // The previous clients disconnect.
    tokio::time::sleep(Duration::from_millis(500)).await;
    let before = target.descriptors();
    let head = wire::head("GET", &format!("{PATH}?watch=1&timeoutSeconds=3"), "");
    let mut open = Vec::new();
    for _ in 0..50 {
        open.push(wire::send(&target, head.as_bytes()).await.unwrap());
    }
    let start = Instant::now();
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(target.descriptors() >= before + 50, "they watch");
    while target.descriptors() > before + 5 {
        assert!(start.elapsed() < Duration::from_secs(15), "watches of three seconds are open after fifteen");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    eprintln!("unread watches of 3 s: gone after {:.1?}", start.elapsed());
}
