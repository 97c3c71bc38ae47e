//! Requests above the limits of concurrency, and unread bodies.

use std::{
    collections::VecDeque,
    sync::atomic::{AtomicUsize, Ordering},
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use http::HeaderValue;
use http_body::Frame;

use super::*;

async fn rig(limits: Limits) -> Rig {
    Rig::limited(vec![Namespace::kind(), ConfigMap::kind()], default_roles(), limits).await
}

/// The status and the reason of an answer.
async fn refusal(answer: Response) -> (u16, String) {
    let code = answer.status().as_u16();
    let status: Value = serde_json::from_slice(&collect(answer).await).unwrap();
    (code, status["reason"].as_str().unwrap_or_default().to_owned())
}

#[tokio::test]
async fn short_requests_past_the_limit_are_refused_until_a_long_answer_has_been_sent() {
    let rig = rig(Limits { reads_in_flight: 1, ..Limits::default() }).await;
    let whole = rig.answer("GET", CONFIG_MAPS, &[], "").await;
    assert_eq!(rig.get(CONFIG_MAPS).await.0, 200, "a short answer keeps no slot");
    drop(whole);
    let long = json!({"metadata": {"name": "long"}, "data": {"text": "x".repeat(100_000)}});
    assert_eq!(rig.post(CONFIG_MAPS, &long).await.0, 201);
    let unsent = rig.answer("GET", CONFIG_MAPS, &[], "").await;
    assert_eq!(unsent.status(), 200);
    let refused = rig.answer("GET", CONFIG_MAPS, &[], "").await;
    assert_eq!(refused.headers()[header::RETRY_AFTER], "1");
    let status: Value = serde_json::from_slice(&collect(refused).await).unwrap();
    assert_eq!((&status["code"], &status["reason"]), (&json!(429), &json!("TooManyRequests")));
    assert_eq!(status["message"], "Too many requests, please try again later.");
    assert_eq!(rig.answer("GET", "/readyz", &[], "").await.status(), 200, "health is exempt");
    rig.config_map("a").await;
    let watch = rig.answer("GET", &format!("{CONFIG_MAPS}?watch=1"), &[], "").await;
    assert_eq!(watch.status(), 200, "watches have a limit of their own");
    collect(unsent).await;
    assert_eq!(rig.get(CONFIG_MAPS).await.0, 200, "the long answer has been sent");
    assert_eq!(rig.get(CONFIG_MAPS).await.0, 200, "a slot comes back");
}

#[tokio::test]
async fn a_request_for_an_unsupported_upgrade_keeps_its_slot() {
    let rig = rig(Limits { reads_in_flight: 1, ..Limits::default() }).await;
    let long = json!({"metadata": {"name": "long"}, "data": {"text": "x".repeat(100_000)}});
    assert_eq!(rig.post(CONFIG_MAPS, &long).await.0, 201);
    let upgrade = [("connection", "upgrade"), ("upgrade", "websocket")];
    let unsent = rig.answer("GET", CONFIG_MAPS, &upgrade, "").await;
    assert_eq!(unsent.status(), 200);
    assert_eq!(refusal(rig.answer("GET", CONFIG_MAPS, &[], "").await).await, (429, "TooManyRequests".to_owned()));
    drop(unsent);
    assert_eq!(rig.get(CONFIG_MAPS).await.0, 200);
}

#[tokio::test]
async fn watches_past_the_limit_are_refused_until_one_ends() {
    let rig = rig(Limits { long_running: 1, ..Limits::default() }).await;
    let path = format!("{CONFIG_MAPS}?watch=1");
    let watch = rig.answer("GET", &path, &[], "").await;
    assert_eq!(watch.status(), 200);
    assert_eq!(refusal(rig.answer("GET", &path, &[], "").await).await, (429, "TooManyRequests".to_owned()));
    assert_eq!(rig.get(CONFIG_MAPS).await.0, 200, "a list is short");
    drop(watch);
    assert_eq!(rig.answer("GET", &path, &[], "").await.status(), 200);
}

/// A body in pieces, which counts the pieces that were read. With `hangs` it never ends.
struct Pieces {
    left: VecDeque<Bytes>,
    hangs: bool,
    read: Arc<AtomicUsize>,
}

fn pieces(count: usize, hangs: bool) -> (Body, Arc<AtomicUsize>) {
    let read = Arc::new(AtomicUsize::new(0));
    let left = std::iter::repeat_n(Bytes::from_static(&[b'x'; 1000]), count).collect();
    (Body::new(Pieces { left, hangs, read: read.clone() }), read)
}

impl http_body::Body for Pieces {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        match self.left.pop_front() {
            Some(piece) => {
                self.read.fetch_add(1, Ordering::Relaxed);
                Poll::Ready(Some(Ok(Frame::data(piece))))
            }
            None if self.hangs => Poll::Pending,
            None => Poll::Ready(None),
        }
    }
}

fn refused() -> http::request::Builder {
    Request::builder().method("PUT").uri(CONFIG_MAPS).header("authorization", "Bearer admintoken")
}

fn closes(answer: &Response) -> bool {
    answer.headers().get(header::CONNECTION) == Some(&HeaderValue::from_static("close"))
}

#[tokio::test(start_paused = true)]
async fn the_rest_of_a_refused_body_is_read_before_the_answer() {
    let rig = rig(Limits::default()).await;
    let (body, read) = pieces(2_500, false);
    let answer = rig.send(refused(), body).await;
    assert_eq!((answer.status().as_u16(), read.load(Ordering::Relaxed), closes(&answer)), (405, 2_500, false));

    let (body, read) = pieces(4_000, false);
    let answer = rig.send(refused().uri(format!("{CONFIG_MAPS}/a")), body).await;
    let read = read.load(Ordering::Relaxed);
    assert_eq!((answer.status().as_u16(), read, closes(&answer)), (413, 4_000, false), "too large, and not by much");

    let (body, read) = pieces(9_000, false);
    let answer = rig.send(refused(), body).await;
    assert!(read.load(Ordering::Relaxed) < 9_000);
    assert_eq!((answer.status().as_u16(), closes(&answer)), (405, true), "past the bound the connection is closed");

    let (body, read) = pieces(2, true);
    let began = tokio::time::Instant::now();
    let answer = rig.send(refused(), body).await;
    assert_eq!((answer.status().as_u16(), read.load(Ordering::Relaxed), closes(&answer)), (405, 2, true));
    assert_eq!(
        began.elapsed().as_secs(),
        DrainLimits::default().silence.as_secs(),
        "silence is waited for, and no more"
    );
}

#[tokio::test(start_paused = true)]
async fn a_client_that_waits_for_100_continue_is_answered_at_once() {
    let rig = rig(Limits::default()).await;
    let (body, read) = pieces(5, true);
    let began = tokio::time::Instant::now();
    let answer = rig.send(refused().header("expect", "100-continue"), body).await;
    assert_eq!((answer.status().as_u16(), read.load(Ordering::Relaxed), closes(&answer)), (405, 0, true));
    assert_eq!(began.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_slow_refused_body_does_not_occupy_a_slot() {
    let draining = DrainLimits { at_once: 1, ..DrainLimits::default() };
    let rig = rig(Limits { writes_in_flight: 1, draining, ..Limits::default() }).await;
    let (slow, _) = pieces(1, true);
    let mut slow = Box::pin(rig.send(refused(), slow));
    let pending = poll_fn(|cx| Poll::Ready(slow.as_mut().poll(cx).is_pending())).await;
    assert!(pending, "its body is waited for");
    rig.config_map("a").await;
    let (next, read) = pieces(3, false);
    let answer = rig.send(refused(), next).await;
    let read = read.load(Ordering::Relaxed);
    assert_eq!((answer.status().as_u16(), read, closes(&answer)), (405, 0, true), "one body is read at a time");
    assert_eq!(slow.await.status(), 405);
}
