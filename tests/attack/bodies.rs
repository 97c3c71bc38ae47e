//! Writes with bodies near the limit of 3 MB, all at once.
//!
//! The permitted memory in MiB: the objects that remain (70), the history of changes (128), the budget for bodies (64),
//! the documents of writes in progress, one for every two cores (32 each), and allocator overhead (32). If glibc's
//! allocator keeps freed memory, the process takes two to three times that.

use std::{thread, time::Duration};

use bytes::Bytes;
use http_body_util::Full;
use hyper::Request;
use kindsmith_tests::Client;

use super::{Bounds, Observation, Setup, Target, size};

const PATH: &str = "/apis/attack.example.com/v1/namespaces/default/archives";
/// Objects that are overwritten repeatedly.
const SHARED: usize = 4;

/// 200 clients (40 in an ordinary run) write 2.5 MB each at once: some create, replace, merge or apply.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn large_writes_hold_up_nobody() {
    let target = Target::start(Setup { durable: true, gives_back: true, ..Setup::default() });
    let clients = size(200, 40);
    let writes: Vec<Write> = (0..SHARED).flat_map(Write::of_shared).chain([Write::create()]).collect();
    for write in writes.iter().filter(|write| write.path.contains("apply")) {
        assert_eq!(answered(target.client(), write.request(&target)).await, 201);
    }
    let observation = Observation::begin("large writes", &target).await;
    let writing = |number: usize| {
        let write =
            if number.is_multiple_of(10) { writes.last().unwrap() } else { &writes[number % (writes.len() - 1)] };
        tokio::spawn(answered(target.client(), write.request(&target)))
    };
    let mut answers = Vec::new();
    for writing in (0..clients).map(writing).collect::<Vec<_>>() {
        answers.push(writing.await.unwrap());
    }
    let count = |status| answers.iter().filter(|answer| **answer == status).count();
    let (created, written, refused) = (count(201), count(200), count(429));
    eprintln!("large writes: {created} created, {written} written, {refused} told to come again");
    assert_eq!(created + written + refused, clients, "{answers:?}");
    assert!(created > 0 && written > 0);
    let cores = thread::available_parallelism().map_or(2, Into::into);
    let peak_mib = 70 + 128 + 64 + 32 * cores.div_ceil(2) as u64 + 32;
    // Within a second in debug builds, too, which get five times as long.
    let latency = if cfg!(debug_assertions) { Duration::from_millis(200) } else { Duration::from_secs(1) };
    observation.end(&target, Bounds { peak_mib, latency }).await;
}

async fn answered(mut client: Client, request: Request<Full<Bytes>>) -> u16 {
    let answer = client.send(request).await.unwrap();
    if !matches!(answer.status, 200 | 201 | 429) {
        eprintln!("{}", String::from_utf8_lossy(&answer.body[..answer.body.len().min(1_000)]));
    }
    answer.status
}

/// One of the clients' writes.
struct Write {
    method: &'static str,
    path: String,
    kind: &'static str,
    body: Bytes,
}

impl Write {
    fn new(method: &'static str, path: String, kind: &'static str, metadata: &str, text: &str) -> Self {
        // 8,000 texts of 300 bytes.
        let texts: Vec<String> = (0..8_000).map(|number| format!(r#""text-{number}":"{text:x<300}""#)).collect();
        let texts = texts.join(",");
        let body = format!(
            r#"{{"apiVersion":"attack.example.com/v1","kind":"Archive","metadata":{metadata},"spec":{{"texts":{{{texts}}}}}}}"#
        );
        Self { method, path, kind, body: body.into() }
    }

    fn create() -> Self {
        Self::new("POST", PATH.to_owned(), "application/json", r#"{"generateName":"large-"}"#, "")
    }

    /// An apply, a replacement or a merge patch of a shared object, each with different texts.
    fn of_shared(number: usize) -> [Self; 3] {
        let (path, metadata) = (format!("{PATH}/shared-{number}"), format!(r#"{{"name":"shared-{number}"}}"#));
        let apply = format!("{path}?fieldManager=apply&force=true");
        [
            Self::new("PATCH", apply, "application/apply-patch+yaml", &metadata, "applied"),
            Self::new("PUT", path.clone(), "application/json", &metadata, "replaced"),
            Self::new("PATCH", path, "application/merge-patch+json", "{}", "merged"),
        ]
    }

    fn request(&self, target: &Target) -> Request<Full<Bytes>> {
        let request = Request::builder().method(self.method).uri(&self.path).header("content-type", self.kind);
        let request = request.header("host", target.address()).header("authorization", Target::authorization());
        request.body(Full::new(self.body.clone())).unwrap()
    }
}
