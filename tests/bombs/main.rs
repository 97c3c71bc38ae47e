//! Requests that are small to send and could be large or slow to answer: deep nesting, false lengths, exponential
//! growth, quadratic comparisons. Each is refused within 100 ms and 50 MB. Requests that are accepted, because they
//! contain a valid object of any size, may take a second and 150 MB.
//!
//! Each bomb meets a separate server process, so that its costs can be measured: the CPU time from the request to the
//! complete answer (the minimum of several tries, which other load affects less than wall time), and the peak of
//! resident memory above the initial one in the first try. Debug builds get forty times the time, and no more memory: what grows
//! with the square of a size takes a thousand times.
//!
//! `cargo test --release -p kindsmith-tests --test bombs -- --nocapture` prints the table; `KINDSMITH_BOMB=yaml` picks bombs
//! by a part of their names.

#![expect(clippy::format_collect, clippy::format_push_string, reason = "texts are made once, and read more easily so")]

mod child;
mod encodings;
mod objects;
mod patches;
mod texts;

#[path = "../fuzz/sample.rs"]
mod sample;

use std::time::{Duration, Instant};

use bytes::Bytes;
use hyper::Request;
use kindsmith_tests::Client;
use serde_json::{Value, json};

use child::Child;

const PATIENCE: Duration = Duration::from_millis(if cfg!(debug_assertions) { 4_000 } else { 100 });
const MEMORY_KIB: u64 = 50 << 10;
/// The additional allowance for accepted requests, which create or change an object of up to 3 MB.
const ANSWERED: u32 = 10;
const ANSWERED_KIB: u64 = 150 << 10;
const TRIES: usize = 5;
/// In wall time: waiting takes no CPU time.
const LONGEST_WAIT: Duration = Duration::from_secs(20);

const SAMPLES: &str = "/apis/fuzz.example.com/v1/namespaces/default/samples";
const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";

/// A request, and its preconditions.
struct Bomb {
    name: String,
    method: &'static str,
    path: String,
    headers: Vec<(&'static str, String)>,
    body: Bytes,
    /// Objects to create first.
    live: Option<Value>,
    /// The expected status.
    status: u16,
}

impl Bomb {
    /// A POST with a body of a media type.
    fn post(name: impl Into<String>, media_type: &str, body: impl Into<Bytes>, status: u16) -> Self {
        let headers = vec![("content-type", media_type.to_owned())];
        Self {
            name: name.into(),
            method: "POST",
            path: SAMPLES.to_owned(),
            headers,
            body: body.into(),
            live: None,
            status,
        }
    }

    /// A patch of an existing object.
    fn patch(name: &str, media_type: &str, live: Value, body: impl Into<Bytes>, status: u16) -> Self {
        let post = Self::post(name, media_type, body, status);
        Self { method: "PATCH", path: format!("{SAMPLES}/a?fieldManager=bomb"), live: Some(live), ..post }
    }

    /// A request without a body.
    fn get(name: &str, path: String, status: u16) -> Self {
        Self { method: "GET", path, headers: Vec::new(), ..Self::post(name, "", "", status) }
    }

    fn request(&self, token: &str) -> Request<http_body_util::Full<Bytes>> {
        let request = Request::builder().method(self.method).uri(&self.path).header("host", "server");
        let request = request.header("authorization", format!("Bearer {token}"));
        let request = self.headers.iter().fold(request, |request, (name, value)| request.header(*name, value));
        request.body(self.body.clone().into()).expect("a request")
    }
}

/// The result of a bomb.
struct Outcome {
    status: u16,
    took: Duration,
    kib: u64,
    said: String,
}

impl Outcome {
    /// The permitted time and memory.
    fn bounds(&self) -> (Duration, u64) {
        if self.status < 300 { (ANSWERED * PATIENCE, ANSWERED_KIB) } else { (PATIENCE, MEMORY_KIB) }
    }
}

async fn blow(bomb: &Bomb) -> Outcome {
    let child = Child::start();
    let mut client = Client::new(&child.url, &child.token);
    // Triggers everything that is initialized once.
    let ready =
        client.json("POST", SAMPLES, &json!({"metadata": {"name": "ready"}, "spec": {}})).await.expect("an answer");
    assert_eq!(ready.status, 201, "{:?}", ready.body);
    if let Some(live) = &bomb.live {
        let created = client.json("POST", SAMPLES, live).await.expect("an answer");
        assert_eq!(created.status, 201, "{}: {:?}", bomb.name, created.body);
    }
    let before = child.forget_peak();
    let mut outcome = Outcome { status: 0, took: Duration::MAX, kib: 0, said: String::new() };
    for number in 0..TRIES {
        let request = bomb.request(&child.token);
        let (start, busy) = (Instant::now(), child.processor_time());
        let answer = client.send(request).await.unwrap_or_else(|error| panic!("{}: {error}", bomb.name));
        assert!(start.elapsed() < LONGEST_WAIT, "{}: an answer after {:?}", bomb.name, start.elapsed());
        outcome.took = outcome.took.min(child.processor_time().saturating_sub(busy));
        if number == 0 {
            outcome.kib = child.peak_kib().saturating_sub(before);
            outcome.status = answer.status;
            outcome.said = String::from_utf8_lossy(&answer.body).chars().take(300).collect();
        }
        if outcome.took <= outcome.bounds().0 {
            break;
        }
    }
    outcome
}

fn all_hold(bombs: &[Bomb]) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let picked = std::env::var("KINDSMITH_BOMB").unwrap_or_default();
    let mut over = Vec::new();
    for bomb in bombs.iter().filter(|bomb| bomb.name.contains(&picked)) {
        let outcome = runtime.block_on(blow(bomb));
        let (time, memory) = outcome.bounds();
        let Outcome { status, took, kib, said } = outcome;
        let row = format!(
            "{:<44} {:>5} KB → {status} in {took:>8.1?}, {:>5.1} MB",
            bomb.name,
            bomb.body.len() >> 10,
            f64::from(u32::try_from(kib).unwrap_or(u32::MAX)) / 1024.0
        );
        eprintln!("{row}");
        if took > time || kib > memory || status != bomb.status {
            over.push(format!("{row}, wanted {}: {said}", bomb.status));
        }
    }
    assert!(over.is_empty(), "{} bombs of {} hit:\n{}", over.len(), bombs.len(), over.join("\n"));
}

#[test]
fn encodings_hold() {
    all_hold(&encodings::all());
}

#[test]
fn objects_hold() {
    all_hold(&objects::all());
}

#[test]
fn patches_hold() {
    all_hold(&patches::all());
}

#[test]
fn texts_hold() {
    all_hold(&texts::all());
}
