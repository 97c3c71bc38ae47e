//! Clients that do not know which generation is served. Each checks that its answers belong to one generation.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::Relaxed},
};

use serde_json::{Value, json};
use tokio::{sync::watch::Receiver, task::JoinHandle, task::yield_now};

use super::{beta, rig::Rig};

/// The collection in v1.
pub(crate) const PATH: &str = "/apis/alive.example.com/v1/namespaces/ns/gadgets";

/// An object in v1.
fn gadget(name: &str) -> Value {
    json!({"apiVersion": "alive.example.com/v1", "kind": "Gadget", "metadata": {"name": name}, "spec": {"text": "a"}})
}

/// What the clients received.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    lists: AtomicU64,
    betas: AtomicU64,
    discovered: AtomicU64,
    missing: AtomicU64,
    written: AtomicU64,
    refused: AtomicU64,
    events: AtomicU64,
    resumed: AtomicU64,
    relisted: AtomicU64,
}

impl Counts {
    /// The load was one. How much there was of it depends on the machine.
    pub(crate) fn check(&self, rounds: u64) {
        for (what, count) in [
            ("lists", &self.lists),
            ("lists in other versions", &self.betas),
            ("discovery", &self.discovered),
            ("not found", &self.missing),
            ("writes", &self.written),
            ("events", &self.events),
            ("resumed watches", &self.resumed),
        ] {
            assert!(count.load(Relaxed) > rounds / 50, "too few of {what}: {self:?}");
        }
    }
}

/// The generation of an object, which has the field of exactly one.
pub(crate) fn generation_of(object: &Value) -> u64 {
    let fields = object["spec"].as_object().unwrap_or_else(|| panic!("no spec in {object}")).keys();
    let mut marks = fields.filter_map(|name| name.strip_prefix('g')?.parse().ok());
    let found = marks.next().unwrap_or_else(|| panic!("no generation in {object}"));
    assert_eq!(marks.next(), None, "{object}");
    found
}

/// Checks that objects belong to one generation, which serves the version of the answer.
fn check_one(objects: &[&Value], version: &str) {
    let Some(first) = objects.first().map(|object| generation_of(object)) else { return };
    for object in objects {
        assert_eq!(generation_of(object), first, "one answer, one generation");
    }
    assert!(version == "v1" || version == format!("v1beta{}", beta(first)), "{version} is not of generation {first}");
}

/// Starts readers, writers and watchers.
pub(crate) fn start(rig: &Arc<Rig>, stopping: &Receiver<bool>, counts: &Arc<Counts>) -> Vec<JoinHandle<()>> {
    let client = || Client { rig: rig.clone(), stopping: stopping.clone(), counts: counts.clone() };
    let mut clients = Vec::new();
    for seed in 0..2 {
        clients.push(tokio::spawn(client().read(seed)));
        clients.push(tokio::spawn(client().discover()));
    }
    clients.extend((0..3).map(|seed| tokio::spawn(client().write(seed))));
    clients.extend((0..4).map(|_| tokio::spawn(client().watch())));
    clients
}

struct Client {
    rig: Arc<Rig>,
    stopping: Receiver<bool>,
    counts: Arc<Counts>,
}

impl Client {
    fn goes_on(&self) -> bool {
        !*self.stopping.borrow()
    }

    async fn read(self, mut seed: u64) {
        while self.goes_on() {
            seed += 1;
            let version = if seed.is_multiple_of(3) { "v1".to_owned() } else { format!("v1beta{}", beta(seed)) };
            let (code, list) = self.rig.get(&PATH.replace("v1", &version)).await;
            match code {
                200 => {
                    check_one(&list["items"].as_array().expect("items").iter().collect::<Vec<_>>(), &version);
                    (if version == "v1" { &self.counts.lists } else { &self.counts.betas }).fetch_add(1, Relaxed);
                }
                404 => _ = self.counts.missing.fetch_add(1, Relaxed),
                _ => panic!("{code} {list}"),
            }
            yield_now().await;
        }
    }

    async fn discover(self) {
        while self.goes_on() {
            let (code, group) = self.rig.get("/apis/alive.example.com").await;
            if code == 200 {
                let versions = group["versions"].as_array().expect("versions");
                assert_eq!(versions.len(), 2, "{group}");
                assert_eq!(versions[0]["version"], "v1", "{group}");
                assert!(
                    versions[1]["version"].as_str().is_some_and(|version| version.starts_with("v1beta")),
                    "{group}"
                );
                self.counts.discovered.fetch_add(1, Relaxed);
            } else {
                assert_eq!(code, 404, "{group}");
            }
            yield_now().await;
        }
    }

    async fn write(self, seed: u64) {
        for n in 0_u64.. {
            if !self.goes_on() {
                return;
            }
            let name = format!("w{seed}-{}", n * 7 % 20);
            let path = format!("{PATH}/{name}");
            let (code, answer) = match n % 4 {
                0 | 1 => self.rig.call("POST", PATH, &gadget(&name)).await,
                2 => self.rig.call("PATCH", &path, &json!({"spec": {"text": n.to_string()}})).await,
                _ => self.rig.call("DELETE", &path, &Value::Null).await,
            };
            match code {
                200 | 201 => {
                    if answer["kind"] == "Gadget" {
                        check_one(&[&answer], "v1");
                    }
                    self.counts.written.fetch_add(1, Relaxed);
                }
                503 => {
                    let message = "the definition of gadgets.alive.example.com has changed; please try again";
                    assert_eq!(
                        (&answer["message"], &answer["details"]["retryAfterSeconds"]),
                        (&json!(message), &json!(1))
                    );
                    self.counts.refused.fetch_add(1, Relaxed);
                }
                404 | 409 => {}
                _ => panic!("{code} {answer}"),
            }
            yield_now().await;
        }
    }

    /// Lists, then watches, and resumes after every end of a stream.
    async fn watch(mut self) {
        let mut after: Option<u64> = None;
        while self.goes_on() {
            let Some(from) = after else {
                let (code, list) = self.rig.get(PATH).await;
                after = (code == 200).then(|| revision(&list));
                self.counts.relisted.fetch_add(u64::from(code == 200), Relaxed);
                yield_now().await;
                continue;
            };
            let (code, mut stream) = self.rig.stream(&format!("{PATH}?watch=1&resourceVersion={from}")).await;
            if code != 200 {
                assert!([404, 410].contains(&code), "{code}");
                after = after.filter(|_| code == 404);
                yield_now().await;
                continue;
            }
            let mut seen = Vec::new();
            loop {
                let frame = tokio::select! {
                    frame = stream.next() => frame,
                    _ = self.stopping.wait_for(|stopping| *stopping) => return,
                };
                let Some(events) = frame else { break };
                for event in events {
                    if event["type"] == "ERROR" {
                        assert_eq!(event["object"]["code"], 410, "{event}");
                        after = None;
                        continue;
                    }
                    let at = revision(&event["object"]);
                    assert!(after.is_some_and(|after| at > after), "{after:?}, then {event}");
                    after = Some(at);
                    if event["type"] != "BOOKMARK" {
                        seen.push(generation_of(&event["object"]));
                        self.counts.events.fetch_add(1, Relaxed);
                    }
                }
            }
            seen.dedup();
            assert!(seen.len() <= 1, "one stream, one generation: {seen:?}");
            self.counts.resumed.fetch_add(1, Relaxed);
        }
    }
}

fn revision(object: &Value) -> u64 {
    let text = object["metadata"]["resourceVersion"].as_str();
    text.and_then(|text| text.parse().ok()).unwrap_or_else(|| panic!("no revision in {object}"))
}
