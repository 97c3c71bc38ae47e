//! A watch of all objects, until the server is gone or up to a revision.

use std::time::Duration;

use kindsmith_tests::Client;
use serde_json::Value;
use tokio::{task::JoinHandle, time::timeout};

use crate::{PATH, history::Change};

/// A watch concurrent to the writers.
pub(crate) struct Watcher(JoinHandle<Vec<Change>>);

impl Watcher {
    /// Watches from a revision until the stream breaks.
    pub(crate) fn start(client: Client, from: u64) -> Self {
        Self(tokio::spawn(async move {
            let mut changes = Vec::new();
            let Ok(mut events) = client.watch(&path(from, false)).await else { return changes };
            while let Ok(Some(event)) = events.next().await {
                changes.extend(change(&event));
            }
            changes
        }))
    }

    /// The watched changes. Call it when the server is gone.
    pub(crate) async fn finish(self) -> Vec<Change> {
        timeout(Duration::from_secs(20), self.0)
            .await
            .expect("a killed server's streams end")
            .expect("no event was wrong")
    }

    /// The changes after a revision up to another one.
    pub(crate) async fn read_up_to(client: &Client, from: u64, upto: u64) -> Vec<Change> {
        let mut changes = Vec::new();
        if from >= upto {
            return changes;
        }
        let mut events = client.watch(&path(from, true)).await.expect("a watch resumes after a kill");
        loop {
            let event = timeout(Duration::from_secs(20), events.next()).await.expect("a bookmark comes by then");
            let event = event.expect("the stream is whole").expect("the stream goes on");
            let found = change(&event);
            let at = revision(&event);
            // Another resource may have the last revisions; then a bookmark shows that they have passed.
            if at > upto {
                return changes;
            }
            changes.extend(found);
            if at == upto {
                return changes;
            }
        }
    }
}

fn path(from: u64, bookmarks: bool) -> String {
    format!("{PATH}?watch=true&resourceVersion={from}&allowWatchBookmarks={bookmarks}")
}

fn revision(event: &Value) -> u64 {
    let text = event["object"]["metadata"]["resourceVersion"].as_str();
    text.and_then(|text| text.parse().ok()).unwrap_or_else(|| panic!("an event has a revision: {event}"))
}

/// The change in an event; bookmarks have none.
fn change(event: &Value) -> Option<Change> {
    let object = &event["object"];
    let write = || object["data"]["write"].as_str().and_then(|text| text.parse().ok());
    let write = match event["type"].as_str() {
        Some("ADDED" | "MODIFIED") => Some(write().unwrap_or_else(|| panic!("an object is unharmed: {event}"))),
        Some("DELETED") => None,
        Some("BOOKMARK") => return None,
        _ => panic!("a watch inside the window only has changes: {event}"),
    };
    let name = object["metadata"]["name"].as_str().expect("an object has a name").to_owned();
    Some(Change { name, revision: Some(revision(event)), write })
}
