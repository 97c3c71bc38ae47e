//! More concurrent requests than the server serves: the rest get 429, and other requests are served.

use std::time::{Duration, Instant};

use serde_json::json;

use super::{Bounds, Observation, Setup, Target, wire};

const PATH: &str = "/api/v1/namespaces/default/configmaps";

/// 300 writes whose bodies never arrive; 200 are served concurrently.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writes_past_the_limit_are_answered_with_429() {
    let target = Target::start(Setup::default());
    let observation = Observation::begin("writes in flight", &target).await;
    let head = wire::head("POST", PATH, "content-type: application/json\r\ncontent-length: 1000000\r\n");
    let mut open = Vec::new();
    for _ in 0..300 {
        open.push(wire::send(&target, head.as_bytes()).await.unwrap());
    }
    let (mut client, start) = (target.client(), Instant::now());
    let refused = loop {
        let body = json!({"metadata": {"generateName": "late-"}});
        let answer = client.json("POST", PATH, &body).await.unwrap();
        if answer.status == 429 {
            break answer;
        }
        assert!(start.elapsed() < Duration::from_secs(5), "no write is refused: {}", answer.status);
    };
    assert_eq!(refused.headers["retry-after"], "1");
    assert_eq!(refused.json()["reason"], "TooManyRequests");
    assert_eq!(client.get(&format!("{PATH}?limit=1")).await.unwrap().status, 200, "reads have room of their own");
    drop(open);
    observation.end(&target, Bounds::default()).await;
}
