//! Endless HTTP/2 streams of clients that ignore the server's limit.

use std::time::Duration;

use tokio::io::AsyncWriteExt;

use super::{Bounds, Observation, Setup, Target, size, wire};

const WATCH: &str = "/api/v1/namespaces/default/configmaps?watch=1";

/// One connection opens 20,000 streams and reads nothing. The server refuses most, or disconnects.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn twenty_thousand_streams_of_one_connection_are_refused() {
    let target = Target::start(Setup::default());
    let observation = Observation::begin("streams, one connection", &target).await;
    let mut stream = wire::send(&target, &wire::http2_start()).await.unwrap();
    let open = async {
        for number in 0..20_000 {
            if stream.write_all(&wire::http2_get(2 * number + 1, WATCH)).await.is_err() {
                return;
            }
        }
    };
    // A server that reads no more is as good as one that disconnects.
    let _ = tokio::time::timeout(Duration::from_secs(5), open).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    drop(stream);
    observation.end(&target, Bounds::default()).await;
}

/// Connections with the maximum number of watches: 20,000 in all (3,000 in an ordinary run).
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_streams_of_many_connections_take_little_memory() {
    let target = Target::start(Setup::default());
    let observation = Observation::begin("streams, many connections", &target).await;
    let mut open = Vec::new();
    for _ in 0..size(80, 12) {
        let mut stream = wire::send(&target, &wire::http2_start()).await.unwrap();
        for number in 0..250 {
            stream.write_all(&wire::http2_get(2 * number + 1, WATCH)).await.unwrap();
        }
        open.push(stream);
    }
    for stream in &mut open {
        assert_eq!(wire::http2_answers(stream, 250).await, 250, "they watch");
    }
    drop(open);
    observation.end(&target, Bounds::default()).await;
}
