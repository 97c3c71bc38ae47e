//! A client: random reads and writes of a few objects, recorded with what it learned from each answer.
use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use hyper::Method;
use kindsmith_tests::Random;
use serde_json::{Value, json};

use crate::{
    client::{Client, Failed, Target},
    history::{Call, Items, Operation, Outcome, Time, Version},
    record::Recorder,
};

/// The objects of a round.
pub(crate) const OBJECTS: [&str; 6] = ["o1", "o2", "o3", "o4", "o5", "o6"];

/// What all clients of a round share.
pub(crate) struct Shared {
    pub(crate) recorder: Recorder,
    pub(crate) targets: Vec<Target>,
    pub(crate) token: String,
    /// `/api/v1/namespaces/…/configmaps`.
    pub(crate) path: String,
    /// Reads are asked with `resourceVersion=0` but recorded as consistent ones: the checker must find them.
    pub(crate) stale_reads: bool,
    /// Clients end.
    pub(crate) quiet: AtomicBool,
    /// Watchers end.
    pub(crate) done: AtomicBool,
}

impl Shared {
    pub(crate) fn client(&self, server: usize) -> Client {
        Client::new(self.targets[server].clone(), Some(&self.token))
    }

    fn read_options(&self, begin: char) -> String {
        if self.stale_reads { format!("{begin}resourceVersion=0") } else { String::new() }
    }
}

pub(crate) fn number(value: &Value) -> Option<Version> {
    value.as_str()?.parse().ok()
}

/// The name, version and value of an object.
pub(crate) fn object(value: &Value) -> Option<(String, Version, String)> {
    let metadata = value.get("metadata")?;
    let name = metadata.get("name")?.as_str()?.to_owned();
    let text = value.pointer("/data/v").and_then(Value::as_str)?;
    Some((name, number(metadata.get("resourceVersion")?)?, text.to_owned()))
}

/// One client.
pub(crate) struct Worker {
    pub(crate) shared: Arc<Shared>,
    pub(crate) number: usize,
    pub(crate) server: usize,
    /// Moves from server to server.
    pub(crate) roams: bool,
    random: Random,
    clients: Vec<Client>,
    known: HashMap<String, Version>,
    written: u64,
}

impl Worker {
    pub(crate) fn new(shared: &Arc<Shared>, number: usize, server: usize, roams: bool, random: Random) -> Self {
        let clients = (0..shared.targets.len()).map(|server| shared.client(server)).collect();
        let known = HashMap::new();
        Self { shared: shared.clone(), number, server, roams, random, clients, known, written: 0 }
    }

    pub(crate) async fn run(mut self) {
        while !self.shared.quiet.load(Ordering::Relaxed) {
            if self.roams && self.random.one_in(20) {
                self.server = self.random.below(self.clients.len());
            }
            let served = self.step().await;
            if !served && self.roams && self.random.one_in(2) {
                self.server = (self.server + 1) % self.clients.len();
            }
            let pause = if served { 5 + self.random.below(20) } else { 50 };
            tokio::time::sleep(Duration::from_millis(pause as u64)).await;
        }
    }

    async fn step(&mut self) -> bool {
        let object = (*self.random.pick(&OBJECTS)).to_owned();
        let known = self.known.get(&object).copied();
        match self.random.below(100) {
            0..=27 => self.get(object).await,
            28..=59 => match known {
                Some(_) => self.write(Method::PUT, object, known).await,
                None => self.get(object).await,
            },
            60..=66 => self.write(Method::PATCH, object, None).await,
            67..=71 => self.write(Method::PUT, object, None).await,
            72..=82 => self.write(Method::POST, object, None).await,
            83..=87 => self.delete(object, known).await,
            88..=95 => self.list(0).await,
            _ => self.list(2).await,
        }
    }

    /// Records an operation. True if the server did its work.
    fn record(&mut self, server: usize, start: Time, end: Time, call: Call, answer: &Answer) -> bool {
        let writes = !matches!(call, Call::Get { .. } | Call::List { .. });
        let failure = match answer {
            Ok((200..=299 | 404 | 409 | 410, _)) => None,
            Ok((status, body)) => Some(format!("{status}: {}", body["message"].as_str().unwrap_or_default())),
            Err(failed) => Some(failed.reason.clone()),
        };
        let served = failure.is_none();
        self.shared.recorder.answered(server, failure);
        let outcome = outcome(&call, answer);
        if let (Some(object), Outcome::Written { version } | Outcome::Found { version, .. }) = (call.object(), &outcome)
        {
            self.known.insert(object.to_owned(), *version);
        }
        // A read without an answer says nothing.
        if writes || !matches!(outcome, Outcome::Refused | Outcome::Unknown) {
            let client = self.number;
            self.shared.recorder.operation(Operation { client, server, start, end, call, outcome });
        }
        served
    }

    async fn send(&mut self, method: Method, path: &str, body: &Value, call: Call) -> bool {
        let (server, start) = (self.server, self.shared.recorder.now());
        let answer = self.clients[server].send(method, path, body).await;
        let end = self.shared.recorder.now();
        self.record(server, start, end, call, &answer)
    }

    pub(crate) async fn get(&mut self, object: String) -> bool {
        let path = format!("{}/{object}{}", self.shared.path, self.shared.read_options('?'));
        self.send(Method::GET, &path, &Value::Null, Call::Get { object }).await
    }

    async fn write(&mut self, method: Method, object: String, expect: Option<Version>) -> bool {
        self.written += 1;
        let value = format!("c{}-{}", self.number, self.written);
        let mut body =
            json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": object }, "data": { "v": value } });
        if let Some(version) = expect {
            body["metadata"]["resourceVersion"] = version.to_string().into();
        }
        let creates = method == Method::POST;
        let path = if creates { self.shared.path.clone() } else { format!("{}/{object}", self.shared.path) };
        let call = if creates { Call::Create { object, value } } else { Call::Update { object, value, expect } };
        self.send(method, &path, &body, call).await
    }

    async fn delete(&mut self, object: String, known: Option<Version>) -> bool {
        let expect = known.filter(|_| !self.random.one_in(2));
        let body = expect.map_or(Value::Null, |version| {
            json!({ "apiVersion": "v1", "kind": "DeleteOptions", "preconditions": { "resourceVersion": version.to_string() } })
        });
        let path = format!("{}/{object}", self.shared.path);
        self.send(Method::DELETE, &path, &body, Call::Delete { object, expect }).await
    }

    /// Lists, in pages of this size if it is not zero; each page comes from another server.
    pub(crate) async fn list(&mut self, limit: usize) -> bool {
        let options = self.shared.read_options('&');
        let first = format!("{}?limit={limit}{options}", self.shared.path);
        let (mut server, start) = (self.server, self.shared.recorder.now());
        let mut answer = self.clients[server].send(Method::GET, &first, &Value::Null).await;
        let (end, mut pages, mut items) = (self.shared.recorder.now(), 1, Vec::new());
        while let Ok((200, page)) = &mut answer {
            items.extend(page["items"].as_array_mut().map(std::mem::take).unwrap_or_default());
            let Some(next) = page.pointer("/metadata/continue").and_then(Value::as_str).filter(|t| !t.is_empty())
            else {
                page["items"] = items.into();
                break;
            };
            let path = format!("{}?limit={limit}&continue={next}", self.shared.path);
            server = (server + 1) % self.clients.len();
            pages += 1;
            let version = page["metadata"]["resourceVersion"].clone();
            answer = self.clients[server].send(Method::GET, &path, &Value::Null).await;
            if let Ok((200, page)) = &answer
                && page["metadata"]["resourceVersion"] != version
            {
                // The checker reports it: an item of another version is not in the list's state.
                items.push(json!({ "metadata": { "name": "pages-of-two-versions", "resourceVersion": "0" }, "data": { "v": "" } }));
            }
        }
        self.record(server, start, end, Call::List { pages }, &answer)
    }
}

type Answer = Result<(u16, Value), Failed>;

/// The items of a list, or `None` if it is not one.
pub(crate) fn items(list: &Value) -> Option<(Version, Items)> {
    let version = number(list.pointer("/metadata/resourceVersion")?)?;
    let items = list.get("items")?.as_array()?.iter().filter_map(object);
    Some((version, items.map(|(name, version, value)| (name, (version, value))).collect()))
}

fn outcome(call: &Call, answer: &Answer) -> Outcome {
    let body = match answer {
        Ok((200..=299, body)) => body,
        Ok((404, _)) => return Outcome::Absent,
        Ok((409, body)) if body["reason"] == "AlreadyExists" => return Outcome::Exists,
        Ok((409, _)) => return Outcome::Conflict,
        Ok((400..=499, _)) | Err(Failed { sent: false, .. }) => return Outcome::Refused,
        Ok(_) | Err(_) => return Outcome::Unknown,
    };
    let learned = match call {
        Call::Delete { .. } => Some(Outcome::Deleted),
        Call::List { .. } => items(body).map(|(version, items)| Outcome::Listed { version, items }),
        Call::Get { .. } => object(body).map(|(_, version, value)| Outcome::Found { version, value }),
        Call::Create { .. } | Call::Update { .. } => object(body).map(|(_, version, _)| Outcome::Written { version }),
    };
    learned.unwrap_or(Outcome::Unknown)
}
