//! Thousands of invalid requests over real connections: paths, queries, headers and bodies. Each is answered in time;
//! nothing panics; a 500 is one that kube-apiserver also gives; and the server is healthy afterwards.

mod hostile {
    pub(crate) mod body;
    pub(crate) mod request;
}
mod leaf;

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use kindsmith::Server;
use kindsmith_tests::{Client, Random};
use leaf::Leaf;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};

use hostile::request;

const REQUESTS: usize = 12_000;
const AT_ONCE: usize = 12;
/// Longer than any intended wait of the server (three seconds for a future revision).
const PATIENCE: Duration = Duration::from_secs(15);

/// The messages of kube-apiserver's own answers with 500.
const KNOWN: [&str; 4] = [
    "resourceVersion: Invalid value",
    "resourceVersion should not be set on objects to be created",
    "failed to create typed patch object",
    "does not contain declared merge key",
];

static PANICS: AtomicUsize = AtomicUsize::new(0);

/// The head of the answer and the available part of the body; `None` if the server closed the connection without an
/// answer, which it may do for input that is not HTTP.
async fn ask(server: &str, request: &[u8]) -> Option<String> {
    let stream = TcpStream::connect(server).await.expect("the server accepts connections");
    let (mut stream, mut sending) = stream.into_split();
    let bytes = request.to_vec();
    // Written concurrently: a server may answer and close before it has read everything.
    let writing = tokio::spawn(async move {
        let _ = sending.write_all(&bytes).await;
        sending
    });
    let mut answer = Vec::new();
    let mut buffer = vec![0; 64 << 10];
    loop {
        let whole_head = answer.windows(4).any(|window| window == b"\r\n\r\n");
        let patience = if whole_head { Duration::from_millis(200) } else { PATIENCE };
        match timeout(patience, stream.read(&mut buffer)).await {
            Ok(Ok(0) | Err(_)) => break,
            Ok(Ok(read)) => answer.extend_from_slice(&buffer[..read]),
            Err(elapsed) => {
                assert!(whole_head, "no answer in {PATIENCE:?} ({elapsed}) to {}", shown(request));
                break;
            }
        }
        if answer.len() > 1 << 20 {
            break;
        }
    }
    writing.abort();
    (!answer.is_empty()).then(|| String::from_utf8_lossy(&answer).into_owned())
}

fn shown(request: &[u8]) -> String {
    let text = request.escape_ascii().to_string();
    if text.len() > 3000 { format!("{}… ({} bytes)", &text[..3000], request.len()) } else { text }
}

fn check(request: &[u8], answer: Option<&str>) -> u16 {
    let Some(answer) = answer else { return 0 };
    let status = answer.get(9..12).and_then(|digits| digits.parse().ok());
    let status: u16 = status.unwrap_or_else(|| panic!("{} was answered {answer:.200}", shown(request)));
    // An answer to HEAD has no message to identify it; GET has the same path.
    let known = status != 500 || request.starts_with(b"HEAD ") || KNOWN.iter().any(|message| answer.contains(message));
    assert!(known, "500 for {}\n{answer:.1500}", shown(request));
    assert!((200..600).contains(&status), "{status} for {}", shown(request));
    status
}

async fn prepare(client: &mut Client) {
    for name in ["a", "b"] {
        let leaf = json!({"apiVersion": "wire.example.com/v1", "kind": "Leaf", "metadata": {"name": name}, "spec": {}});
        let path = "/apis/wire.example.com/v1/namespaces/default/leaves";
        assert_eq!(client.json("POST", path, &leaf).await.expect("the server answers").status, 201);
        let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"k": "v"}});
        let path = "/api/v1/namespaces/default/configmaps";
        assert_eq!(client.json("POST", path, &map).await.expect("the server answers").status, 201);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_panics_hangs_or_fails_internally() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if std::thread::current().name() == Some("test-server") {
            PANICS.fetch_add(1, Ordering::SeqCst);
        }
        before(info);
    }));
    let mut random = Random::from_environment();
    let server = Server::test().kind::<Leaf>().start().await;
    let mut client = Client::new(server.url(), server.token());
    prepare(&mut client).await;

    let tasks: Vec<_> = (0..AT_ONCE)
        .map(|_| {
            let mut random = random.fork();
            let address = server.url().trim_start_matches("http://").to_owned();
            let token = server.token().to_owned();
            tokio::spawn(async move {
                let mut statuses = std::collections::BTreeMap::<u16, usize>::new();
                for _ in 0..REQUESTS / AT_ONCE {
                    let request = request::random(&mut random, &token);
                    let answer = timeout(2 * PATIENCE, ask(&address, &request)).await;
                    let answer = answer.unwrap_or_else(|_| panic!("an answer without end to {}", shown(&request)));
                    *statuses.entry(check(&request, answer.as_deref())).or_default() += 1;
                    let panics = PANICS.load(Ordering::SeqCst);
                    assert_eq!(panics, 0, "something panicked; this request was sent just before: {}", shown(&request));
                }
                statuses
            })
        })
        .collect();
    let mut statuses = std::collections::BTreeMap::<u16, usize>::new();
    for task in tasks {
        for (status, count) in task.await.expect("every request was answered well") {
            *statuses.entry(status).or_default() += count;
        }
    }
    eprintln!("answers by status: {statuses:?}");
    // Otherwise the requests were too broken to reach their targets.
    for status in [200, 201, 400, 404, 405, 409, 415, 422] {
        assert!(statuses.contains_key(&status), "no request was answered {status}: {statuses:?}");
    }
    let ready = client.another().get("/readyz").await.expect("the server is there");
    assert_eq!((ready.status, &ready.body[..]), (200, &b"ok"[..]));
    let map = json!({"metadata": {"name": "after-all"}, "data": {"still": "well"}});
    let path = "/api/v1/namespaces/kube-public/configmaps";
    assert_eq!(client.another().json("POST", path, &map).await.expect("the server answers").status, 201);
    let list: Value = client.another().get("/api/v1/configmaps").await.expect("the server answers").json();
    assert!(list["items"].as_array().is_some_and(|items| !items.is_empty()));
}
