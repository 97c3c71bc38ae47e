//! Tests of apply and ownership, by subject, over a schema that has every kind of list and map.
use std::sync::LazyLock;

use serde_json::{Value, json};

use super::{ApplyError, View, Writer, merge, update};
use crate::{
    codec,
    schema::{self, Document, Schema, fixture},
};

mod kubectl;
mod lists;
mod model;
mod noop;
mod owners;
mod ownership;
mod property;
mod removal;
mod sets;
mod typing;

/// Every kind of list and map.
pub(super) static SCHEMA: LazyLock<Schema> = LazyLock::new(|| {
    let text = json!({"type": "string"});
    let number = json!({"type": "integer"});
    let texts = json!({"type": "array", "items": text});
    let with = |base: &Value, key: &str, value: Value| {
        let mut with = base.clone();
        with[key] = value;
        with
    };
    let port = json!({"type": "object", "properties": {
        "name": text, "port": number, "protocol": with(&text, "default", json!("TCP")), "note": text,
        "tags": with(&texts, "x-kubernetes-list-type", json!("set"))}});
    let ports = json!({"type": "array", "x-kubernetes-list-type": "map", "items": port});
    let whole = json!({"type": "object", "properties": {"p": text, "q": text}, "x-kubernetes-map-type": "atomic"});
    fixture::schema(&json!({"type": "object", "properties": {
        "spec": {"type": "object", "properties": {
            "a": text, "b": number, "flag": {"type": "boolean"}, "d": with(&text, "default", json!("filled")),
            "nested": {"type": "object", "properties": {
                "x": text, "y": {"type": "object", "properties": {"z": text}}, "d": with(&text, "default", json!("in"))}},
            "whole": whole,
            "map": {"type": "object", "additionalProperties": text},
            "maps": {"type": "object", "additionalProperties": {"type": "object", "properties": {"m": text, "n": text}}},
            "fixed": {"type": "object", "additionalProperties": text, "x-kubernetes-map-type": "atomic"},
            "set": with(&texts, "x-kubernetes-list-type", json!("set")),
            "list": with(&ports, "x-kubernetes-list-map-keys", json!(["name"])),
            "multi": with(&ports, "x-kubernetes-list-map-keys", json!(["port", "protocol"])),
            "wholes": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["p"], "items": whole},
            "seq": texts,
            "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
            "any": {"x-kubernetes-preserve-unknown-fields": true}}},
        "status": {"type": "object", "properties": {"phase": text}}}}))
});

pub(super) const VERSION: &str = "example.com/v1";

/// An object around a spec.
pub(super) fn object(spec: &Value) -> Document {
    json!({"apiVersion": VERSION, "kind": "Thing", "metadata": {"name": "t", "namespace": "ns"}, "spec": spec})
}

pub(super) fn view() -> View<'static> {
    View { root: &SCHEMA, kind: "Thing", reset: &[&["status"]] }
}

pub(super) fn writer<'a>(manager: &'a str, time: &'a str) -> Writer<'a> {
    Writer { manager, api_version: VERSION, subresource: "", time }
}

/// A time some seconds after a beginning.
pub(super) fn at(second: usize) -> String {
    format!("2026-01-01T{:02}:{:02}:{:02}Z", second / 3600, second / 60 % 60, second % 60)
}

/// An object to which things are done, a second apart.
#[derive(Default)]
pub(super) struct World {
    pub(super) live: Option<Document>,
    second: usize,
}

impl World {
    /// Applies a spec.
    pub(super) fn apply(&mut self, manager: &str, spec: &Value) -> Result<(), ApplyError> {
        self.apply_object(manager, &object(spec), false)
    }

    /// Applies a spec, whoever owns what.
    pub(super) fn force(&mut self, manager: &str, spec: &Value) {
        self.apply_object(manager, &object(spec), true).expect("nothing is in the way of force");
    }

    pub(super) fn apply_object(&mut self, manager: &str, config: &Value, force: bool) -> Result<(), ApplyError> {
        let time = self.tick();
        let noop = self.is_noop(manager, config);
        let new = merge(&view(), self.live.as_ref(), config, &writer(manager, &time), force)?;
        assert!(!noop || self.live.as_ref() == Some(&new), "an apply that changes nothing, by a look: {new}");
        self.settle(new);
        Ok(())
    }

    /// An apply would change nothing, as a look tells.
    pub(super) fn is_noop(&self, manager: &str, config: &Value) -> bool {
        let Some(mut live) = self.live.clone() else { return false };
        let mut entries = Vec::new();
        codec::encode(&live["metadata"]["managedFields"].take(), &mut entries);
        live["metadata"].as_object_mut().expect("metadata").remove("managedFields");
        let entries = String::from_utf8(entries).expect("JSON");
        super::is_noop(&view(), &live, &entries, config, &writer(manager, &at(0)))
    }

    /// Replaces the spec, as an update does.
    pub(super) fn put(&mut self, manager: &str, spec: &Value) {
        let mut new = self.live.clone().unwrap_or_else(|| object(spec));
        new["spec"] = spec.clone();
        self.put_object(manager, new);
    }

    pub(super) fn put_object(&mut self, manager: &str, mut new: Document) {
        let time = self.tick();
        schema::default(&SCHEMA, &mut new);
        update(&view(), self.live.as_ref(), &mut new, &writer(manager, &time));
        self.settle(new);
    }

    /// What the pipeline does once ownership is settled.
    fn settle(&mut self, mut new: Document) {
        schema::default(&SCHEMA, &mut new);
        if let Some(live) = &self.live {
            super::keep_times(live, &mut new);
        }
        self.live = Some(new);
    }

    fn tick(&mut self) -> String {
        self.second += 1;
        at(self.second)
    }

    pub(super) fn spec(&self) -> &Value {
        &self.live.as_ref().expect("an object")["spec"]
    }

    pub(super) fn entries(&self) -> &[Value] {
        self.live.as_ref().expect("an object")["metadata"]["managedFields"].as_array().map_or(&[], Vec::as_slice)
    }

    /// What a manager owns of the spec; null if it owns nothing.
    pub(super) fn owned(&self, manager: &str) -> &Value {
        let found = self.entries().iter().find(|entry| entry["manager"] == manager);
        found.map_or(&Value::Null, |entry| &entry["fieldsV1"]["f:spec"])
    }

    /// When a manager's entry last moved.
    pub(super) fn time(&self, manager: &str) -> &Value {
        let found = self.entries().iter().find(|entry| entry["manager"] == manager);
        found.map_or(&Value::Null, |entry| &entry["time"])
    }
}

/// The message of a conflict.
pub(super) fn conflict(result: Result<(), ApplyError>) -> String {
    match result {
        Err(error @ ApplyError::Conflicts(_)) => error.to_string(),
        other => panic!("no conflict: {other:?}"),
    }
}
