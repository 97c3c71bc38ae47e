//! Clients that start a request and never finish it.

use std::time::Duration;

use super::{Bounds, Observation, Setup, Target, size, wire};

/// A thousand clients (200 in an ordinary run) send half of a head. The server disconnects them, and serves others
/// meanwhile.
#[tokio::test]
async fn half_heads_hold_nobody_up() {
    let target = Target::start(Setup::default());
    let observation = Observation::begin("half heads", &target).await;
    let mut open = Vec::new();
    for _ in 0..size(1_000, 200) {
        open.push(wire::send(&target, b"GET /readyz HTTP/1.1\r\nhost: ser").await.unwrap());
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    drop(open);
    observation.end(&target, Bounds::default()).await;
}

/// A request whose body never arrives does not delay other clients either.
#[tokio::test]
async fn missing_bodies_hold_nobody_up() {
    let target = Target::start(Setup::default());
    let observation = Observation::begin("missing bodies", &target).await;
    let path = "/api/v1/namespaces/default/configmaps";
    let headers = "content-type: application/json\r\ncontent-length: 1000000\r\n";
    let mut open = Vec::new();
    for _ in 0..size(1_000, 200) {
        open.push(wire::send(&target, wire::head("POST", path, headers).as_bytes()).await.unwrap());
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    drop(open);
    observation.end(&target, Bounds::default()).await;
}
