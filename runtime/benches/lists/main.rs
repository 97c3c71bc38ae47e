//! What lists cost, over the in-process store: `cargo bench -p kindsmith --bench lists [-- <objects>]`.
//!
//! Config maps of 2 KB with three labels, of which one is unique. Requests go through the whole service except for
//! connections, and the bytes of the answers are dropped. CPU times are those of all threads of this process.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use bytes::Bytes;
use http_body_util::{BodyExt, Empty, Full};
use hyper::{Method, Request};
use kindsmith::Server;
use kindsmith_server::http::Service;
use tower::ServiceExt;

const FILL: usize = 1_500;
const MAPS: &str = "/api/v1/namespaces/default/configmaps";
/// Objects of the lists in other encodings.
const SOME: usize = 10_000;

mod measure;

use measure::{cpu, peak_above, report, resident};

struct Bench {
    service: Service,
    token: String,
}

/// The bytes of an answer, and when the first came.
struct Answer {
    bytes: usize,
    frames: usize,
    first: Duration,
}

impl Bench {
    fn request(&self, method: Method, path: &str, accept: &str) -> hyper::http::request::Builder {
        let token = format!("Bearer {}", self.token);
        Request::builder().method(method).uri(path).header("authorization", token).header("accept", accept)
    }

    async fn create(&self, name: &str, labels: &str) {
        let fill = "x".repeat(FILL);
        let body = format!(r#"{{"metadata":{{"name":"{name}","labels":{{{labels}}}}},"data":{{"k":"{fill}"}}}}"#);
        let request = self.request(Method::POST, MAPS, "application/json").header("content-type", "application/json");
        let request = request.body(Full::new(Bytes::from(body))).expect("a request");
        let answer = self.service.clone().oneshot(request).await.expect("an answer");
        assert_eq!(answer.status(), 201);
    }

    async fn get(&self, path: &str, accept: &str) -> Answer {
        let request = self.request(Method::GET, path, accept).body(Empty::<Bytes>::new()).expect("a request");
        let begun = Instant::now();
        let answer = self.service.clone().oneshot(request).await.expect("an answer");
        assert_eq!(answer.status(), 200);
        let (mut body, mut found) = (answer.into_body(), Answer { bytes: 0, frames: 0, first: Duration::ZERO });
        while let Some(frame) = body.frame().await {
            let data = frame.expect("a frame").into_data().unwrap_or_default();
            if found.frames == 0 {
                found.first = begun.elapsed();
            }
            found.bytes += black_box(&data).len();
            found.frames += 1;
        }
        found
    }
}

fn labels(number: usize) -> String {
    format!(r#""app":"a{}","tier":"t{}","id":"i{number}""#, number % 10, number % 1_000)
}

/// What it takes to copy this many bytes in pieces from memory that no cache holds.
fn copying(bytes: usize) -> Duration {
    let source = vec![7_u8; 256 << 20];
    let mut piece = Vec::with_capacity(128 << 10);
    let begun = Instant::now();
    for at in (0..bytes).step_by(128 << 10) {
        piece.clear();
        let at = at % (source.len() - (128 << 10));
        piece.extend_from_slice(&source[at..at + (128 << 10)]);
        black_box(&piece);
    }
    begun.elapsed()
}

#[tokio::main(worker_threads = 2)]
async fn main() {
    let objects = std::env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(100_000);
    let app = Server::builder().memory().build().await.expect("a server");
    let bench = Bench { service: app.service(), token: app.admin_token().unwrap_or_default().to_owned() };
    let before = resident();
    let begun = (Instant::now(), cpu());
    for number in 0..objects {
        bench.create(&format!("m{:07}", number * 7_919 % objects), &labels(number)).await;
    }
    report("create an object", objects, begun);
    println!("{:<58} {:>9} bytes", "memory of an object, in the store and the cache", (resident() - before) / objects);
    whole(&bench).await;
    encodings(&bench).await;
    selectors(&bench, objects).await;
    app.stop().await;
}

/// A list of everything beside a copy of the same bytes.
async fn whole(bench: &Bench) {
    for _ in 0..3 {
        let (begun, used) = (Instant::now(), cpu());
        let answer = bench.get(MAPS, "application/json").await;
        let (wall, used) = (begun.elapsed(), cpu().saturating_sub(used));
        let copy = copying(answer.bytes);
        println!(
            "list of everything: {} MB in {} pieces, first after {:?}, {wall:?} wall, {used:?} CPU; a copy {copy:?}; ratio {:.2}",
            answer.bytes >> 20,
            answer.frames,
            answer.first,
            used.as_secs_f64() / copy.as_secs_f64()
        );
    }
}

async fn encodings(bench: &Bench) {
    let path = format!("{MAPS}?limit={SOME}");
    for (name, accept) in [
        ("JSON", "application/json"),
        ("Table", "application/json;as=Table;v=v1;g=meta.k8s.io"),
        ("Protobuf", "application/vnd.kubernetes.protobuf"),
        ("CBOR", "application/cbor"),
    ] {
        for round in ["first", "again"] {
            let begun = (Instant::now(), cpu());
            let (answer, peak) = peak_above(bench.get(&path, accept)).await;
            report(&format!("an item of a list of {SOME} in {name}, {round}"), SOME, begun);
            println!(
                "  {} bytes in {} pieces, first after {:?}, {} KB",
                answer.bytes,
                answer.frames,
                answer.first,
                peak >> 10
            );
        }
    }
}

async fn selectors(bench: &Bench, objects: usize) {
    for selector in ["id=none", "id=i77", "tier=t7", "tier in (t7,t8)", "app=a1", "id", "id=i77,app=a7"] {
        let path = format!("{MAPS}?labelSelector={}", selector.replace(' ', "%20"));
        let begun = (Instant::now(), cpu());
        let answer = bench.get(&path, "application/json").await;
        report(&format!("list of {selector}, {} KB, by a scan", answer.bytes >> 10), 1, begun);
    }
    // Until every label has its index.
    for selector in ["id=none", "tier=none", "app=none"] {
        for _ in 0..6 {
            bench.get(&format!("{MAPS}?labelSelector={selector}"), "application/json").await;
        }
        let (before, begun) = (resident(), (Instant::now(), cpu()));
        tokio::time::sleep(Duration::from_secs(3)).await;
        report(&format!("index of {selector}, an object of it"), objects, begun);
        println!("  {} bytes for each object", resident().saturating_sub(before) / objects);
    }
    for selector in ["id=none", "id=i77", "tier=t7", "tier in (t7,t8)", "app=a1", "id", "id=i77,app=a7"] {
        let path = format!("{MAPS}?labelSelector={}", selector.replace(' ', "%20"));
        let (begun, mut bytes) = ((Instant::now(), cpu()), 0);
        for _ in 0..10 {
            bytes = bench.get(&path, "application/json").await.bytes;
        }
        report(&format!("list of {selector}, {} KB, by an index", bytes >> 10), 10, begun);
    }
    let begun = (Instant::now(), cpu());
    for number in objects..objects + SOME {
        bench.create(&format!("n{number}"), &labels(number)).await;
    }
    report("create an object with three indexes", SOME, begun);
}
