//! Conversion webhooks that take connections and never answer. Requests that need them wait or are refused; everything else goes on:
//! other kinds, other definitions, the start, the stop, and the deletion of their definitions.

use std::time::{Duration, Instant};

use base64::{Engine, engine::general_purpose::STANDARD};
use kindsmith_tests::{Answer, Client};
use serde_json::{Value, json};
use tokio::{net::TcpListener, task::JoinSet, time::timeout};

use super::{Bounds, Observation, Setup, Target};

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const MAPS: &str = "/api/v1/namespaces/default/configmaps";
/// How much longer debug builds may take.
const SLOWNESS: u32 = if cfg!(debug_assertions) { 5 } else { 1 };

/// A webhook that takes connections and never answers, until this is dropped.
struct Silent {
    url: String,
    ca_bundle: String,
    _connections: JoinSet<()>,
}

impl Silent {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("https://{}/convert", listener.local_addr().unwrap());
        let key = rcgen::KeyPair::generate().unwrap();
        let certificate = rcgen::CertificateParams::new(["127.0.0.1".to_owned()]).unwrap().self_signed(&key).unwrap();
        let mut connections = JoinSet::new();
        connections.spawn(async move {
            let mut open = Vec::new();
            while let Ok((stream, _)) = listener.accept().await {
                open.push(stream);
            }
        });
        Self { url, ca_bundle: STANDARD.encode(certificate.pem()), _connections: connections }
    }

    /// A definition in the group `NAME.example.com`, stored in v1, and converted by the webhook to v2.
    fn definition(&self, name: &str) -> Value {
        let version = |version: &str, is_stored: bool| {
            let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
            json!({"name": version, "served": true, "storage": is_stored, "schema": {"openAPIV3Schema": schema}})
        };
        json!({
            "metadata": {"name": format!("{name}s.{name}.example.com")},
            "spec": {
                "group": format!("{name}.example.com"), "scope": "Namespaced",
                "names": {"plural": format!("{name}s"), "singular": name, "kind": "Thing", "listKind": "ThingList"},
                "versions": [version("v1", true), version("v2", false)],
                "conversion": {"strategy": "Webhook", "webhook": {
                    "conversionReviewVersions": ["v1"],
                    "clientConfig": {"url": self.url, "caBundle": self.ca_bundle},
                }},
            },
        })
    }

    /// Defines a kind with this many objects.
    async fn define(&self, client: &mut Client, name: &str, count: usize) {
        define(client, &self.definition(name)).await;
        let path = objects(name, "v1");
        for number in 0..count {
            let object = json!({
                "apiVersion": format!("{name}.example.com/v1"), "kind": "Thing", "metadata": {"name": format!("o-{number}")},
            });
            let answer = client.json("POST", &path, &object).await.unwrap();
            assert_eq!(answer.status, 201, "{:?}", answer.body);
        }
    }
}

/// The path of the objects of a kind.
fn objects(name: &str, version: &str) -> String {
    format!("/apis/{name}.example.com/{version}/namespaces/default/{name}s")
}

/// The path of the definition of a kind.
fn definition(name: &str) -> String {
    format!("{DEFINITIONS}/{name}s.{name}.example.com")
}

/// Creates a definition, and waits until it is served. Returns how long that took.
async fn define(client: &mut Client, definition: &Value) -> Duration {
    let start = Instant::now();
    let answer = client.json("POST", DEFINITIONS, definition).await.unwrap();
    assert_eq!(answer.status, 201, "{:?}", answer.body);
    let (group, plural) =
        (definition["spec"]["group"].as_str().unwrap(), definition["spec"]["names"]["plural"].as_str());
    let path = format!("/apis/{group}/v1/namespaces/default/{}", plural.unwrap());
    while client.get(&path).await.unwrap().status != 200 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    start.elapsed()
}

/// Stores a kind in v2 from now on.
async fn store_second_version(client: &mut Client, silent: &Silent, name: &str) {
    let mut versions = silent.definition(name)["spec"]["versions"].clone();
    versions[0]["storage"] = json!(false);
    versions[1]["storage"] = json!(true);
    let patch = json!({"spec": {"versions": versions}});
    let answer = client.typed("PATCH", &definition(name), "application/merge-patch+json", &patch).await.unwrap();
    assert_eq!(answer.status, 200, "{:?}", answer.body);
}

/// Sends requests at once, each on a connection of its own, and waits this long. Returns the answers that came.
async fn at_once(
    target: &Target,
    count: usize,
    wait: Duration,
    method: &'static str,
    path_and_body: impl Fn(usize) -> (String, Value),
) -> (Vec<Answer>, JoinSet<Answer>) {
    let mut sent = JoinSet::new();
    for number in 0..count {
        let (mut client, (path, body)) = (target.client(), path_and_body(number));
        sent.spawn(async move { client.json(method, &path, &body).await.unwrap() });
    }
    let mut answers = Vec::new();
    let all = async {
        while let Some(answer) = sent.join_next().await {
            answers.push(answer.unwrap());
        }
    };
    drop(timeout(wait, all).await);
    (answers, sent)
}

/// Checks that the answers are refusals because of the webhook.
fn assert_refused(answers: &[Answer], resource: &str) {
    for answer in answers {
        let status = answer.json();
        assert_eq!(answer.status, 429, "{status}");
        let message = status["message"].as_str().unwrap();
        assert!(message.contains("the conversion webhook of") && message.contains(resource), "{status}");
    }
}

/// 400 gets of 40 objects: 75 wait for the webhook, and the others are refused.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn gets_that_wait_for_a_webhook_leave_other_kinds_their_slots() {
    let (target, silent) = (Target::start(Setup::default()), Silent::start().await);
    silent.define(&mut target.client(), "thing", 40).await;
    let observation = Observation::begin("400 gets, silent webhook", &target).await;
    let path = objects("thing", "v2");
    let get = |number: usize| (format!("{path}/o-{}", number % 40), Value::Null);
    let (answers, waiting) = at_once(&target, 400, Duration::from_secs(3), "GET", get).await;
    assert_refused(&answers, "things.thing.example.com");
    assert_eq!((answers.len(), waiting.len()), (325, 75));
    let stored = target.client().get(&format!("{}/o-1", objects("thing", "v1"))).await.unwrap();
    assert_eq!(stored.status, 200, "the stored version needs no webhook");
    drop(waiting);
    observation.end(&target, Bounds::STRANGER).await;
}

/// The same at 300 descriptors, with two such kinds.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn health_answers_at_three_hundred_descriptors_while_webhooks_hang() {
    let target = Target::start(Setup { descriptors: Some(300), ..Setup::default() });
    let silent = [Silent::start().await, Silent::start().await];
    for (webhook, name) in silent.iter().zip(["left", "right"]) {
        webhook.define(&mut target.client(), name, 40).await;
    }
    let observation = Observation::begin("silent, 300 descriptors", &target).await;
    let path = ["left", "right"].map(|name| objects(name, "v2"));
    let mut sent = JoinSet::new();
    for number in 0..400 {
        let (mut client, path) = (target.client(), format!("{}/o-{}", path[number % 2], number / 2 % 40));
        sent.spawn(async move { client.get(&path).await.map(|answer| answer.status) });
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    for _ in 0..10 {
        // Idle connections give way to others, also that of a client that has not sent its request yet.
        let start = Instant::now();
        while !matches!(target.client().get("/readyz").await, Ok(answer) if answer.status == 200) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert!(start.elapsed() < Bounds::STRANGER.latency * SLOWNESS, "health answers after {:?}", start.elapsed());
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    drop(sent);
    observation.end(&target, Bounds { latency: Duration::from_secs(5), ..Bounds::STRANGER }).await;
}

/// 200 creations of 100 KB each: their bodies take no room of others, either.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writes_that_wait_for_a_webhook_leave_other_kinds_their_slots_and_bytes() {
    let (target, silent) = (Target::start(Setup::default()), Silent::start().await);
    silent.define(&mut target.client(), "thing", 0).await;
    let observation = Observation::begin("200 writes, silent webhook", &target).await;
    let (path, text) = (objects("thing", "v2"), "x".repeat(100_000));
    let create = |number: usize| {
        let metadata = json!({"name": format!("n-{number}")});
        (
            path.clone(),
            json!({"apiVersion": "thing.example.com/v2", "kind": "Thing", "metadata": metadata, "text": text}),
        )
    };
    let (answers, waiting) = at_once(&target, 200, Duration::from_secs(2), "POST", create).await;
    assert_refused(&answers, "things.thing.example.com");
    assert_eq!((answers.len(), waiting.len()), (125, 75));
    let start = Instant::now();
    for number in 0..10 {
        let body = json!({"metadata": {"name": format!("large-{number}")}, "data": {"value": text}});
        let answer = target.client().json("POST", MAPS, &body).await.unwrap();
        assert_eq!(answer.status, 201, "{:?}", answer.body);
    }
    assert!(start.elapsed() < Duration::from_secs(1) * SLOWNESS, "{:?}", start.elapsed());
    drop(waiting);
    observation.end(&target, Bounds::STRANGER).await;
}

/// 200 creates in the storage version, of objects with fields of a manager that has written in the other one: 75 wait for the
/// webhook, which converts that manager's fields.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writes_in_the_storage_version_leave_other_kinds_their_slots() {
    let (target, silent) = (Target::start(Setup::default()), Silent::start().await);
    silent.define(&mut target.client(), "thing", 0).await;
    let observation = Observation::begin("200 creates in the storage version, silent webhook", &target).await;
    let path = objects("thing", "v1");
    let written = json!({"manager": "other", "operation": "Update", "apiVersion": "thing.example.com/v2",
        "fieldsType": "FieldsV1", "fieldsV1": {"f:text": {}}});
    let create = |number: usize| {
        let metadata = json!({"name": format!("n-{number}"), "managedFields": [written]});
        (
            path.clone(),
            json!({"apiVersion": "thing.example.com/v1", "kind": "Thing", "metadata": metadata, "text": "x"}),
        )
    };
    let (answers, waiting) = at_once(&target, 200, Duration::from_secs(2), "POST", create).await;
    assert_refused(&answers, "things.thing.example.com");
    assert_eq!((answers.len(), waiting.len()), (125, 75));
    let body = json!({"metadata": {"name": "other"}, "data": {}});
    let answer = target.client().json("POST", MAPS, &body).await.unwrap();
    assert_eq!(answer.status, 201, "{:?}", answer.body);
    drop(waiting);
    observation.end(&target, Bounds::STRANGER).await;
}

/// The storage versions of 20 kinds change, whose webhook does not answer; others are defined, and these are deleted.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn definitions_do_not_wait_for_the_webhooks_of_others_nor_for_their_own_to_be_deleted() {
    let (target, silent) = (Target::start(Setup::default()), Silent::start().await);
    let mut client = target.client();
    let names: Vec<String> = (0..20).map(|number| format!("thing{}", char::from(b'a' + number))).collect();
    for name in &names {
        silent.define(&mut client, name, 3).await;
    }
    let observation = Observation::begin("silent, storage versions", &target).await;
    for name in &names {
        store_second_version(&mut client, &silent, name).await;
    }
    let mut other = silent.definition("other");
    other["spec"]["conversion"] = json!({"strategy": "None"});
    let took = define(&mut client, &other).await;
    assert!(took < Duration::from_millis(500) * SLOWNESS, "another definition was served after {took:?}");
    let start = Instant::now();
    for name in &names {
        assert_eq!(client.json("DELETE", &definition(name), &Value::Null).await.unwrap().status, 200);
    }
    for name in &names {
        while client.get(&definition(name)).await.unwrap().status != 404 {
            assert!(start.elapsed() < Duration::from_secs(2) * SLOWNESS, "{name} is not gone");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
    eprintln!("another definition was served after {took:.1?}; 20 were gone after {:.1?}", start.elapsed());
    observation.end(&target, Bounds::STRANGER).await;
}

/// Ten kinds whose objects are stored in another version: the stop does not wait for their webhook, nor does the next start.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn neither_the_stop_nor_the_start_waits_for_a_webhook() {
    let mut target = Target::start(Setup { durable: true, ..Setup::default() });
    let silent = Silent::start().await;
    let mut client = target.client();
    let names: Vec<String> = (0..10).map(|number| format!("thing{}", char::from(b'a' + number))).collect();
    for name in &names {
        silent.define(&mut client, name, 3).await;
        store_second_version(&mut client, &silent, name).await;
    }
    let path = objects("other", "v2");
    silent.define(&mut client, "other", 3).await;
    let get = |number: usize| (format!("{path}/o-{}", number % 3), Value::Null);
    let (_, waiting) = at_once(&target, 50, Duration::from_millis(500), "GET", get).await;
    assert_eq!(waiting.len(), 50);
    let start = Instant::now();
    let listens = target.restart(Duration::from_secs(3) * SLOWNESS.min(3));
    let stopped = start.elapsed().saturating_sub(listens);
    eprintln!("stopped after {stopped:.1?}; listened after {listens:.1?}");
    assert!(listens < Duration::from_secs(1) * SLOWNESS, "it listens after {listens:?}");
    drop(waiting);
    let mut client = target.client();
    assert_eq!(client.get(MAPS).await.unwrap().status, 200);
    let unread = client.get(&format!("{}/o-1", objects(&names[0], "v2"))).await.unwrap();
    assert_eq!((unread.status, &unread.json()["reason"]), (503, &json!("ServiceUnavailable")));
    let text = unread.json().to_string();
    assert!(text.contains(&format!("conversion webhook for {}.example.com/v1, Kind=Thing failed", names[0])), "{text}");
    assert_eq!(
        client.get(&objects("other", "v1")).await.unwrap().status,
        200,
        "what is stored in its version is served"
    );
}
