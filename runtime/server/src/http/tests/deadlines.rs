//! Time limits of requests.
use std::time::Duration;

use super::*;

/// A body of which only the beginning arrives.
fn unfinished() -> Body {
    struct Unfinished(bool);

    impl http_body::Body for Unfinished {
        type Data = bytes::Bytes;
        type Error = std::convert::Infallible;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            _: &mut std::task::Context<'_>,
        ) -> std::task::Poll<Option<Result<http_body::Frame<Self::Data>, Self::Error>>> {
            if std::mem::replace(&mut self.0, true) {
                return std::task::Poll::Pending;
            }
            std::task::Poll::Ready(Some(Ok(http_body::Frame::data("{".into()))))
        }
    }

    Body::new(Unfinished(false))
}

async fn post_unfinished(rig: &Rig, query: &str) -> (Response, f64) {
    let started = tokio::time::Instant::now();
    let request = Request::builder().method("POST").uri(format!("{CONFIG_MAPS}{query}"));
    let answer = rig.send(request.header("authorization", "Bearer admintoken"), unfinished()).await;
    (answer, started.elapsed().as_secs_f64())
}

#[tokio::test(start_paused = true)]
async fn a_request_that_takes_too_long_is_answered_504() {
    let rig = Rig::new().await;
    for (query, seconds) in [("?timeout=5s", 5.0), ("?timeout=1m5s", 60.0), ("?timeout=0s", 60.0), ("", 60.0)] {
        let (answer, elapsed) = post_unfinished(&rig, query).await;
        assert_eq!(answer.status(), 504, "{query}");
        assert!((seconds..seconds + 1.0).contains(&elapsed), "{query}: {elapsed}");
        assert_eq!(header(answer.headers(), "retry-after"), "", "the outcome of a write is not known");
        let status: Value = serde_json::from_slice(&collect(answer).await).unwrap();
        let message = "Timeout: request did not complete within the allotted timeout";
        assert_eq!((&status["reason"], &status["message"]), (&json!("Timeout"), &json!(message)));
    }
    // The server waits for a future revision.
    let (code, status) = rig.get(&format!("{CONFIG_MAPS}?resourceVersion=9999&timeout=10ms")).await;
    assert_eq!((code, status["details"]["causes"].is_null()), (504, true));
    assert_eq!(rig.get(&format!("{CONFIG_MAPS}?timeout=1ms")).await.0, 200, "what is answered at once has its answer");
}

#[tokio::test(start_paused = true)]
async fn an_invalid_timeout_is_refused() {
    let rig = Rig::new().await;
    let start = "invalid timeout specified in the request URL - ";
    for (given, why) in [("5", "time: missing unit in duration \"5\""), ("x", "time: invalid duration \"x\"")] {
        for path in [CONFIG_MAPS, "/api", "/healthz"] {
            let (code, status) = rig.get(&format!("{path}?timeout={given}")).await;
            assert_eq!((code, &status["message"]), (400, &json!(format!("{start}{why}"))), "{path}");
        }
    }
    assert_eq!(rig.get("/api?timeout=1s&timeout=2s").await.0, 400);
    assert_eq!(rig.get("/api?timeout=").await.0, 200);
}

#[tokio::test(start_paused = true)]
async fn a_watch_outlasts_the_timeout_of_other_requests() {
    let rig = Rig::new().await;
    let answer = rig.answer("GET", &format!("{CONFIG_MAPS}?watch=1&timeout=1s"), &[], "").await;
    assert_eq!(answer.status(), 200);
    tokio::time::sleep(Duration::from_secs(100)).await;
    rig.config_map("late").await;
    let mut body = answer.into_body();
    assert_eq!(frame(&mut body).await.unwrap()[0]["object"]["metadata"]["name"], "late");
}
