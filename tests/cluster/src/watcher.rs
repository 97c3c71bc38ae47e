//! A watcher: lists, or gets the objects as a watch's initial events; watches from there, and resumes on other servers, as
//! an informer does. Some watchers select one object.
use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use hyper::Method;
use kindsmith_tests::Random;
use serde_json::Value;
use tokio::time::timeout;

use crate::{
    client::Lines,
    history::{Call, Items, Operation, Outcome, Seen, Time, Version},
    work::{OBJECTS, Shared, items, number, object},
};

/// A stream without events for this long is left for another server.
const SILENCE: Duration = Duration::from_secs(2);

pub(crate) struct Watching {
    shared: Arc<Shared>,
    number: usize,
    server: usize,
    random: Random,
    position: Option<Version>,
    /// Begins with a watch's initial events instead of a list.
    streams: bool,
    /// The only object that it selects.
    selects: Option<&'static str>,
}

impl Watching {
    pub(crate) fn new(shared: &Arc<Shared>, number: usize, random: Random) -> Self {
        let server = number % shared.targets.len();
        let (streams, selects) = (number % 2 == 1, (number % 4 == 3).then_some(OBJECTS[0]));
        if let Some(object) = selects {
            shared.recorder.selects(number, object);
        }
        Self { shared: shared.clone(), number, server, random, position: None, streams, selects }
    }

    pub(crate) async fn run(mut self) {
        while !self.shared.done.load(Ordering::Relaxed) {
            let served = match self.position {
                None if self.streams => self.begin().await,
                None => self.list().await,
                Some(position) => self.watch(position).await,
            };
            if !served {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            self.server = self.random.below(self.shared.targets.len());
        }
    }

    fn step(&self, seen: Seen) {
        self.shared.recorder.step(self.number, self.server, seen);
    }

    async fn list(&mut self) -> bool {
        let recorder = &self.shared.recorder;
        let start = recorder.now();
        let answer = self.shared.client(self.server).send(Method::GET, &self.shared.path, &Value::Null).await;
        let end = recorder.now();
        let (failure, listed) = match &answer {
            Ok((200, body)) => (None, items(body)),
            Ok((status, _)) => (Some(format!("a watcher's list: {status}")), None),
            Err(failed) => (Some(format!("a watcher's list: {}", failed.reason)), None),
        };
        recorder.answered(self.server, failure);
        let Some((version, items)) = listed else { return false };
        self.has((start, end), version, items);
        true
    }

    /// Records the objects with which it begins.
    fn has(&mut self, (start, end): (Time, Time), version: Version, items: Items) {
        if self.selects.is_none() {
            let (client, server, call) = (100 + self.number, self.server, Call::List { pages: 1 });
            let outcome = Outcome::Listed { version, items: items.clone() };
            self.shared.recorder.operation(Operation { client, server, start, end, call, outcome });
        }
        self.step(Seen::Listed { version, items });
        self.position = Some(version);
    }

    /// Gets the newest objects as initial events, up to the bookmark that ends them, and goes on with the same stream.
    async fn begin(&mut self) -> bool {
        let (start, mut items) = (self.shared.recorder.now(), Items::new());
        let mut lines = match self.open("sendInitialEvents=true&resourceVersionMatch=NotOlderThan").await {
            Ok(lines) => lines,
            Err(served) => return served,
        };
        let version = loop {
            let Ok(Some(event)) = timeout(SILENCE, lines.next()).await else { return true };
            let version = event.pointer("/object/metadata/resourceVersion").and_then(number);
            match (event["type"].as_str(), object(&event["object"])) {
                (Some("ADDED"), Some((object, version, value))) => drop(items.insert(object, (version, value))),
                (Some("BOOKMARK"), _) if ends_initial_events(&event) => break version,
                _ => return false,
            }
        };
        let Some(version) = version else { return false };
        self.has((start, self.shared.recorder.now()), version, items);
        self.follow(lines).await
    }

    /// Opens a watch. Without a stream, returns whether the server did its work.
    async fn open(&mut self, parameters: &str) -> Result<Lines, bool> {
        let selector =
            self.selects.map(|object| format!("&fieldSelector=metadata.name%3D{object}")).unwrap_or_default();
        let path = format!("{}?watch=true&allowWatchBookmarks=true&{parameters}{selector}", self.shared.path);
        let opened = self.shared.client(self.server).watch(&path).await;
        let failure = match &opened {
            Ok(Ok(_) | Err(410)) => None,
            Ok(Err(status)) => Some(format!("a watch: {status}")),
            Err(failed) => Some(format!("a watch: {}", failed.reason)),
        };
        let served = failure.is_none();
        self.shared.recorder.answered(self.server, failure);
        if let Ok(Ok(lines)) = opened {
            return Ok(lines);
        }
        if served {
            self.expired();
        }
        Err(served)
    }

    async fn watch(&mut self, position: Version) -> bool {
        let lines = match self.open(&format!("resourceVersion={position}")).await {
            Ok(lines) => lines,
            Err(served) => return served,
        };
        self.step(Seen::Resumed);
        self.follow(lines).await
    }

    async fn follow(&mut self, mut lines: Lines) -> bool {
        let leave = self.random.below(400);
        for _ in 0..leave {
            let Ok(Some(event)) = timeout(SILENCE, lines.next()).await else { return true };
            if !self.event(&event) || self.shared.done.load(Ordering::Relaxed) {
                return true;
            }
        }
        true
    }

    fn expired(&mut self) {
        self.step(Seen::Expired);
        self.position = None;
    }

    /// Records an event. False if the stream ends with it.
    fn event(&mut self, event: &Value) -> bool {
        let kind = event["type"].as_str().unwrap_or_default();
        if kind == "ERROR" {
            if event.pointer("/object/code").and_then(Value::as_u64) == Some(410) {
                self.expired();
            }
            return false;
        }
        let seen = if kind == "BOOKMARK" {
            let version = event.pointer("/object/metadata/resourceVersion").and_then(number);
            version.map(|version| Seen::Bookmark { version })
        } else {
            object(&event["object"]).and_then(|(object, version, value)| match kind {
                "ADDED" => Some(Seen::Added { object, version, value }),
                "MODIFIED" => Some(Seen::Modified { object, version, value }),
                "DELETED" => Some(Seen::Deleted { object, version, value }),
                _ => None,
            })
        };
        // An unknown event does not advance the position, so that the checker reports a missing event.
        let Some(seen) = seen else { return false };
        if let Seen::Added { version, .. }
        | Seen::Modified { version, .. }
        | Seen::Deleted { version, .. }
        | Seen::Bookmark { version } = seen
        {
            self.position = Some(version);
        }
        self.step(seen);
        true
    }
}

fn ends_initial_events(event: &Value) -> bool {
    event["object"]["metadata"]["annotations"]["k8s.io/initial-events-end"] == "true"
}
