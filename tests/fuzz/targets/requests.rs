//! Input other than bodies: media types, continue tokens and other parameters, over a connection. Complete requests of
//! all kinds are in `wire/hostile.rs`.
use std::{cell::RefCell, time::Duration};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use hyper::Request;
use kindsmith::{Server, server::TestServer};
use kindsmith_tests::{Client, Random};
use serde_json::json;
use tokio::runtime::Runtime;

use crate::{engine::Target, json, sample::Sample};

const OBJECTS: &str = "/api/v1/namespaces/default/configmaps";
const METHODS: [&str; 4] = ["GET", "POST", "PATCH", "DELETE"];

/// Requests to a server. The lines of an input: the method's number, the query, Accept, Content-Type, the body.
pub(crate) struct Requests {
    runtime: Runtime,
    client: RefCell<Client>,
    server: TestServer,
}

impl Requests {
    pub(crate) fn start() -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let server = Server::test().kind::<Sample>();
        let server = runtime.block_on(server.start());
        let mut client = Client::new(server.url(), server.token());
        for number in 0..5 {
            let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": format!("a{number}")}});
            let answer = runtime.block_on(client.json("POST", OBJECTS, &object)).expect("an answer");
            assert_eq!(answer.status, 201);
        }
        Self { runtime, client: RefCell::new(client), server }
    }
}

fn token(random: &mut Random) -> String {
    let revision = *random.pick(&[0, 1, -1, -2, 1_003, 1_005, 1_006, i64::MIN]);
    let start =
        *random.pick(&["a1\0", "a1", "default/a1\0", "../a\0", "\0", "", "zzz\0", "a//b\0", "a\0\0", "\u{10ffff}\0"]);
    let version = *random.pick(&["meta.k8s.io/v1", "meta.k8s.io/v1", "v2", ""]);
    let mut token = json!({"v": version, "rv": revision, "start": start});
    if random.one_in(8) {
        token[*random.pick(&["v", "rv", "start", "x"])] = json::document(random, 2);
    }
    URL_SAFE_NO_PAD.encode(token.to_string())
}

fn media_type(random: &mut Random) -> String {
    const TYPES: [&str; 14] = [
        "application/json",
        "application/yaml",
        "application/cbor",
        "application/vnd.kubernetes.protobuf",
        "application/*",
        "*/*",
        "text/html",
        "application/json-patch+json",
        "application/merge-patch+json",
        "application/strategic-merge-patch+json",
        "application/apply-patch+yaml",
        "application/cbor-seq",
        "a",
        "",
    ];
    const PARAMETERS: [&str; 12] = [
        ";q=0.5",
        ";q=0",
        ";q=1.0001",
        ";q=",
        ";as=Table;v=v1;g=meta.k8s.io",
        ";as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
        ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
        ";stream=watch",
        ";charset=utf-8",
        ";v=\"v1\"",
        ";;",
        " ; a = b",
    ];
    let one = |random: &mut Random| {
        let kind = *random.pick(&TYPES);
        let parameters: String = (0..random.below(3)).map(|_| *random.pick(&PARAMETERS)).collect();
        format!("{kind}{parameters}")
    };
    (0..=random.below(3)).map(|_| one(random)).collect::<Vec<_>>().join(", ")
}

impl Target for Requests {
    const WORDS: &'static [&'static str] = &[
        "continue=",
        "limit=2",
        "&",
        "%00",
        "%",
        "%ff",
        "labelSelector=a",
        "fieldSelector=metadata.name=a1",
        "dryRun=All",
        "pretty=1",
        ";q=0.",
        ",",
        ";as=Table",
        "application/",
        "*/*",
        "\n",
        "{}",
        "[]",
    ];
    const LONGEST: usize = 4 << 10;
    /// The server waits three seconds for a future revision.
    const PATIENCE: Duration = Duration::from_secs(4);

    fn make(&self, random: &mut Random) -> Vec<u8> {
        let query = match random.below(4) {
            0 => format!("limit=2&continue={}", token(random)),
            1 => format!("continue={}", token(random)),
            2 => "labelSelector=a%20in%20(b,c)&limit=1&dryRun=All".to_owned(),
            _ => String::new(),
        };
        let method = if random.one_in(2) { 0 } else { random.below(METHODS.len()) };
        let body = json!({"metadata": {"name": "a0"}, "data": {"k": json::text(random)}});
        format!("{method}\n{query}\n{}\n{}\n{body}", media_type(random), media_type(random)).into_bytes()
    }

    fn attempt(&self, input: &[u8]) -> String {
        let mut lines = input.splitn(5, |byte| *byte == b'\n');
        let mut line = || lines.next().unwrap_or_default();
        let method = METHODS[line().first().map_or(0, |byte| usize::from(*byte)) % METHODS.len()];
        let query = String::from_utf8_lossy(line()).into_owned();
        // These wait: for a future revision, or for events.
        if query.contains("resourceVersion") || query.contains("watch") || query.contains("sendInitialEvents") {
            return "left out".to_owned();
        }
        let path = if matches!(method, "PATCH" | "DELETE") {
            format!("{OBJECTS}/a0?{query}")
        } else {
            format!("{OBJECTS}?{query}")
        };
        let request = Request::builder().method(method).uri(path).header("host", "server");
        let request = request.header("authorization", format!("Bearer {}", self.server.token()));
        let request = request.header("accept", line()).header("content-type", line()).body(line().to_vec().into());
        let Ok(request) = request else { return "no request".to_owned() };
        let answer = self.runtime.block_on(self.client.borrow_mut().send(request)).expect("an answer");
        let text = String::from_utf8_lossy(&answer.body);
        assert!(answer.status != 500 && answer.status < 600, "{}: {text}", answer.status);
        if answer.status >= 400 {
            assert!(!answer.body.is_empty(), "{} says nothing", answer.status);
        }
        let kind = answer.headers.get("content-type").map_or("", |kind| kind.to_str().unwrap_or("not text"));
        format!("{} {kind} {}", answer.status, text.get(text.len() / 3..).unwrap_or_default())
    }
}
