//! Tests of the cache over the memory store, through its public interface.

mod alive;
mod cut_off;
mod following;
mod frames;
mod model;
mod reading;

use std::{
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use serde_json::{Value, json};

use super::*;
use crate::storage::{Expect, Memory, Op, Store as _, relay::Relay};

const PREFIX: &str = "/registry/things/";

/// Reads bodies unchanged, labels from `metadata.labels`, and one selectable field from `spec.color`.
struct Plain;

impl Reader for Plain {
    fn type_meta(&self) -> &'static str {
        r#""kind":"Thing","apiVersion":"v1","#
    }

    fn read(&self, _key: &str, value: &Bytes) -> DecodedValue {
        let document: Value = serde_json::from_slice(value).unwrap();
        let labels = document["metadata"]["labels"].as_object().into_iter().flatten();
        let labels = labels.map(|(key, value)| (key.as_str(), value.as_str().unwrap_or("")));
        let texts = Texts::new(labels, [document["spec"]["color"].as_str().unwrap_or("")]);
        DecodedValue { texts, ..DecodedValue::plain(Ok(std::str::from_utf8(value).unwrap().into())) }
    }
}

fn reader() -> SharedReader {
    Arc::new(Plain)
}

/// Loads a resource, and serves it.
pub(super) fn serve(cache: &Cache, prefix: &str, reader: SharedReader) -> Arc<Resource> {
    cache.load(prefix, reader).unwrap().serve(|| ())
}

/// Puts a thing into a store of several processes.
async fn relay(store: &Relay, key: &str, app: &str) {
    store.commit(vec![put(key, app, "red")].into()).await.unwrap();
}

/// A store, a cache over it and one resource.
pub(super) struct World {
    store: Arc<Memory>,
    pub(super) cache: Arc<Cache>,
    pub(super) things: Arc<Resource>,
}

impl World {
    pub(super) fn new(limits: Limits) -> Self {
        Self::over(Arc::new(Memory::new()), limits)
    }

    /// A new cache over a store that may have content, as after a restart.
    fn over(store: Arc<Memory>, limits: Limits) -> Self {
        let cache = Cache::new(store.clone(), limits);
        let things = serve(&cache, PREFIX, reader());
        Self { store, cache, things }
    }

    async fn commit(&self, ops: Vec<Op>) -> Revision {
        *self.store.commit(ops.into()).await.unwrap().last().unwrap()
    }

    pub(super) async fn put(&self, key: &str, app: &str, color: &str) -> Revision {
        self.commit(vec![put(key, app, color)]).await
    }

    pub(super) async fn delete(&self, key: &str) -> Revision {
        self.commit(vec![delete(key)]).await
    }

    async fn watch(&self, after: u64, subscription: Subscription, filter: Option<Filter>) -> Watch {
        self.things.watch(Revision(after), subscription, filter).await.unwrap()
    }
}

fn put(key: &str, app: &str, color: &str) -> Op {
    let (namespace, name) = key.rsplit_once('/').unwrap_or(("", key));
    let metadata = json!({"labels": {"app": app}, "name": name, "namespace": namespace});
    let value = json!({"metadata": metadata, "spec": {"color": color}});
    Op {
        key: format!("{PREFIX}{key}").into(),
        value: Some(value.to_string().into()),
        expect: Expect::Any,
        lifetime: None,
    }
}

/// Limits with room for about this many updates of objects by [`put`].
fn room_for(changes: usize) -> Limits {
    Limits { history_bytes: changes * 600, ..Limits::default() }
}

fn delete(key: &str) -> Op {
    Op { key: format!("{PREFIX}{key}").into(), value: None, expect: Expect::Any, lifetime: None }
}

fn selects(value: &'static str) -> Filter {
    Arc::new(move |object| object.label("app") == Some(value))
}

/// The keys of a snapshot, with revisions.
fn content(snapshot: &Snapshot) -> Vec<String> {
    snapshot.range("", None).map(|object| format!("{} {}", object.key(), object.revision())).collect()
}

/// An event in short: the first letter of its type, key, revision and label.
fn short(event: &Event) -> String {
    let object = &event.object;
    let letter = &event.event_type.as_str()[..1];
    format!("{letter} {} {} {}", object.key(), object.revision(), object.label("app").unwrap_or("-"))
}

/// The same of each frame.
fn short_of_frames(frames: &Frames) -> Vec<String> {
    let bytes = frames.bytes();
    assert_eq!(bytes.len(), frames.sizes().sum::<usize>());
    let lines = bytes.split_inclusive(|byte| *byte == b'\n').zip(frames.sizes());
    let short = |(line, size): (&[u8], usize)| {
        assert_eq!(line.len(), size);
        let event: Value = serde_json::from_slice(line).unwrap();
        let (letter, metadata) = (&event["type"].as_str().unwrap()[..1], &event["object"]["metadata"]);
        let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
        let key = format!("{}/{}", text(&metadata["namespace"]), text(&metadata["name"]));
        let (version, app) = (text(&metadata["resourceVersion"]), text(&metadata["labels"]["app"]));
        format!("{letter} {} {version} {app}", key.trim_start_matches('/'))
    };
    lines.map(short).collect()
}

/// Events in short, and the revision of the last one.
type ShortEvents = (Revision, Vec<String>);

/// The next event in short and its revision; or all that come as frames, and the revision of the last one.
fn poll_short(watch: &mut Watch, cx: &mut Context<'_>, frames: bool) -> Poll<Option<Result<ShortEvents, WatchError>>> {
    if !frames {
        return watch.poll_next(cx).map_ok(|event| (event.object.revision(), vec![short(&event)]));
    }
    let mut events = Vec::new();
    watch.poll_frames(cx, 1, &mut events).map_ok(|frames| match frames {
        Some(frames) => (frames.revision(), short_of_frames(&frames)),
        None => (events.last().unwrap().object.revision(), events.iter().map(short).collect()),
    })
}

/// The events that are ready now.
fn ready(watch: &mut Watch) -> Vec<String> {
    let mut cx = Context::from_waker(std::task::Waker::noop());
    let mut found = Vec::new();
    while let Poll::Ready(Some(Ok(event))) = watch.poll_next(&mut cx) {
        found.push(short(&event));
    }
    found
}

/// Waits for the next events.
async fn next(watch: &mut Watch, count: usize) -> Vec<String> {
    let mut found = Vec::new();
    for _ in 0..count {
        found.push(short(&watch.next().await.unwrap().unwrap()));
    }
    found
}
