//! Clients that send half of the HTTP/2 preface and wait.

use std::time::Duration;

use super::{Bounds, Observation, Setup, Target, size, wire};

/// 3,000 of them (1,200 in an ordinary run; from 1,000 on the oldest give way) take almost no CPU time.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn half_prefaces_take_no_time() {
    let target = Target::start(Setup::default());
    let observation = Observation::begin("half prefaces", &target).await;
    let mut open = Vec::new();
    for number in 0..size(3_000, 1_200) {
        let preface = &b"PRI * HTTP/2.0\r\n\r\nSM\r\n"[..=number % 22];
        if let Ok(stream) = wire::send(&target, preface).await {
            open.push(stream);
        }
    }
    tokio::time::sleep(Duration::from_secs(3)).await;
    let bound = Duration::from_secs(if cfg!(debug_assertions) { 5 } else { 1 });
    let busy = observation.processor_time(&target);
    assert!(busy < bound, "the server was busy for {busy:?}");
    drop(open);
    observation.end(&target, Bounds::default()).await;
}
