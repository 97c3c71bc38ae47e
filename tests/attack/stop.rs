//! A graceful stop does not wait for clients that do not read.

use std::time::Duration;

use tokio::io::AsyncWriteExt;

use super::{Setup, Target, wire};

const PATH: &str = "/api/v1/namespaces/default/configmaps";

/// Watches and lists over HTTP/1 and HTTP/2 that are never read.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stop_waits_for_nobody_who_does_not_read() {
    let target = Target::start(Setup::default());
    target.fill(300, 4_000).await;
    let mut open = Vec::new();
    for path in [format!("{PATH}?watch=1"), PATH.to_owned()] {
        for _ in 0..20 {
            open.push(wire::send(&target, wire::head("GET", &path, "").as_bytes()).await.unwrap());
            let mut stream = wire::send(&target, &wire::http2_start()).await.unwrap();
            for number in 0..10 {
                stream.write_all(&wire::http2_get(2 * number + 1, &path)).await.unwrap();
            }
            open.push(stream);
        }
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    let took = target.terminate(Duration::from_secs(10));
    eprintln!("a stop beside {} unread connections took {took:.1?}", open.len());
}
