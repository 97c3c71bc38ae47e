//! More connections than the server has descriptors: idle connections give way to active ones.

use std::time::Duration;

use tokio::io::AsyncReadExt;

use super::{Bounds, Observation, Setup, Target, wire};

/// 600 connections at 256 descriptors: a third sends nothing, a third half of a head, a third stays open after one
/// request.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn idle_connections_give_way_when_descriptors_run_short() {
    let target = Target::start(Setup { descriptors: Some(256), ..Setup::default() });
    let observation = Observation::begin("600 at 256 descriptors", &target).await;
    let whole = wire::head("GET", "/readyz", "");
    let mut open = Vec::new();
    for number in 0..600 {
        let bytes = [&b""[..], b"GET /readyz HT", whole.as_bytes()][number % 3];
        // The server may have closed the previous connections, which does not matter here.
        let Ok(mut stream) = wire::send(&target, bytes).await else { continue };
        if number % 3 == 2 {
            let _ = tokio::time::timeout(Duration::from_millis(500), stream.read(&mut [0; 512])).await;
        }
        open.push(stream);
    }
    tokio::time::sleep(Duration::from_secs(2)).await;
    // All of them are still open here. A new client must be served nevertheless.
    let recovery = target.recovers().await;
    eprintln!("a new client comes in beside {} connections after {recovery:.1?}", open.len());
    observation.end(&target, Bounds { latency: Duration::from_secs(5), ..Bounds::default() }).await;
    drop(open);
}
