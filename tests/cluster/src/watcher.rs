//! A watcher: lists, watches from there, and resumes on other servers, as an informer does.
use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use hyper::Method;
use kindsmith_tests::Random;
use serde_json::Value;
use tokio::time::timeout;

use crate::{
    history::{Call, Operation, Outcome, Seen, Version},
    work::{Shared, items, number, object},
};

/// A stream without events for this long is left for another server.
const SILENCE: Duration = Duration::from_secs(2);

pub(crate) struct Watching {
    shared: Arc<Shared>,
    number: usize,
    server: usize,
    random: Random,
    position: Option<Version>,
}

impl Watching {
    pub(crate) fn new(shared: &Arc<Shared>, number: usize, random: Random) -> Self {
        let server = number % shared.targets.len();
        Self { shared: shared.clone(), number, server, random, position: None }
    }

    pub(crate) async fn run(mut self) {
        while !self.shared.done.load(Ordering::Relaxed) {
            let served = match self.position {
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
        let (client, server, call) = (100 + self.number, self.server, Call::List { pages: 1 });
        let outcome = Outcome::Listed { version, items: items.clone() };
        recorder.operation(Operation { client, server, start, end, call, outcome });
        self.step(Seen::Listed { version, items });
        self.position = Some(version);
        true
    }

    async fn watch(&mut self, position: Version) -> bool {
        let path = format!("{}?watch=true&allowWatchBookmarks=true&resourceVersion={position}", self.shared.path);
        let opened = self.shared.client(self.server).watch(&path).await;
        let failure = match &opened {
            Ok(Ok(_) | Err(410)) => None,
            Ok(Err(status)) => Some(format!("a watch: {status}")),
            Err(failed) => Some(format!("a watch: {}", failed.reason)),
        };
        let served = failure.is_none();
        self.shared.recorder.answered(self.server, failure);
        let Ok(opened) = opened else { return false };
        let Ok(mut lines) = opened else {
            if served {
                self.expired();
            }
            return served;
        };
        self.step(Seen::Resumed);
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
