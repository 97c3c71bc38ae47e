//! Tests of apply and ownership, by subject, over a schema that has every kind of list and map.
use std::{cell::Cell, sync::LazyLock};

use serde_json::{Value, json};

use super::{ApplyError, Versions, View, Writer, merge, update};
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
mod recursion;
mod removal;
mod sets;
mod typing;
mod versions;

/// Things, in a version, in one with other names, and in one that lacks fields and has another. Their schema has every kind of
/// list and map.
pub(super) static THINGS: LazyLock<Fixture> = LazyLock::new(|| {
    let (mut renamed, mut narrow) = (schema(), schema());
    rename(&mut renamed, false);
    narrow_schema(&mut narrow);
    let convert = |mut thing: Document, to: &str| {
        rename(&mut thing, to != RENAMED);
        Ok(thing)
    };
    let versions = [(VERSION, schema()), (RENAMED, renamed), (NARROW, narrow)];
    let versions = versions.map(|(version, schema)| (version, fixture::schema(&schema)));
    Fixture { kind: "Thing", versions: versions.into(), convert }
});

/// The fields that the narrow version lacks, without lists; and the one that no other version has.
pub(super) const LACKING: [&[&str]; 6] =
    [&["b"], &["nested", "x"], &["maps"], &["set"], &["list", "note"], &["multi", "note"]];
pub(super) const EXTRA: &str = "extra";

fn narrow_schema(schema: &mut Value) {
    let spec = &mut schema["properties"]["spec"]["properties"];
    for path in LACKING {
        let [above @ .., name] = path else { unreachable!("a path has a name") };
        let holder = above.iter().fold(&mut *spec, |at, name| {
            let at = &mut at[name];
            let list = at.get("items").is_some();
            if list { &mut at["items"]["properties"] } else { &mut at["properties"] }
        });
        holder.as_object_mut().expect("fields").remove(*name).expect("a field");
    }
    spec[EXTRA] = json!({"type": "string"});
}

/// The names of fields in one version and in the other.
pub(super) const NAMES: [(&str, &str); 5] =
    [("a", "alpha"), ("nested", "inner"), ("x", "ex"), ("list", "entries"), ("note", "remark")];

/// Gives the members of all objects in a spec, or in a schema, their names in the other version, or those back.
pub(super) fn rename(value: &mut Value, back: bool) {
    match value {
        Value::Object(members) => {
            for (mut name, mut value) in std::mem::take(members) {
                let found = NAMES.iter().find(|(first, other)| name == *if back { other } else { first });
                if let Some((first, other)) = found {
                    name = if back { *first } else { *other }.to_owned();
                }
                if name != "metadata" {
                    rename(&mut value, back);
                }
                members.insert(name, value);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| rename(item, back)),
        _ => {}
    }
}

fn schema() -> Value {
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
    json!({"type": "object", "properties": {
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
        "status": {"type": "object", "properties": {"phase": text}}}})
}

pub(super) const VERSION: &str = "example.com/v1";
pub(super) const RENAMED: &str = "example.com/v2";
pub(super) const NARROW: &str = "example.com/v0";

thread_local! {
    /// The answer to a conversion is missing.
    pub(super) static LACKS_ANSWERS: Cell<bool> = const { Cell::new(false) };
}

/// A kind in its versions, the stored one first.
pub(super) struct Fixture {
    pub(super) kind: &'static str,
    pub(super) versions: Vec<(&'static str, Schema)>,
    /// Converts an object to another version, except for its type meta and for pruning.
    pub(super) convert: fn(Document, &str) -> Result<Document, String>,
}

impl Versions for Fixture {
    fn schema(&self, api_version: &str) -> Option<&Schema> {
        self.versions.iter().find(|(version, _)| *version == api_version).map(|(_, schema)| schema)
    }

    fn reset(&self, _: &str) -> Vec<Vec<&str>> {
        vec![vec!["status"]]
    }

    fn convert(&self, object: Document, from: &str, to: &str) -> Result<Document, String> {
        assert_eq!(object["apiVersion"], from, "an object is in the version that it is said to be in");
        assert_eq!(object["metadata"]["name"], "t", "conversions see the identity, also of a part of an object");
        let stored = self.versions[0].0;
        let object = if from == stored || to == stored { object } else { self.convert(object, from, stored)? };
        let mut object = (self.convert)(object, to)?;
        object["apiVersion"] = to.into();
        let schema = self.schema(to).expect("a version");
        schema::prune(schema, &mut object);
        schema::normalise(schema, &mut object);
        Ok(object)
    }

    fn lacks_answers(&self) -> bool {
        LACKS_ANSWERS.get()
    }
}

/// An object around a spec.
pub(super) fn object(spec: &Value) -> Document {
    json!({"apiVersion": VERSION, "kind": "Thing", "metadata": {"name": "t", "namespace": "ns"}, "spec": spec})
}

pub(super) fn view() -> View<'static> {
    view_in(&THINGS, VERSION)
}

fn view_in(fixture: &'static Fixture, version: &str) -> View<'static> {
    View {
        root: fixture.schema(version).expect("a version"),
        kind: fixture.kind,
        reset: &[&["status"]],
        versions: fixture,
    }
}

pub(super) fn writer<'a>(manager: &'a str, time: &'a str) -> Writer<'a> {
    Writer { manager, api_version: VERSION, subresource: "", time }
}

/// A time some seconds after a beginning.
pub(super) fn at(second: usize) -> String {
    format!("2026-01-01T{:02}:{:02}:{:02}Z", second / 3600, second / 60 % 60, second % 60)
}

/// An object to which things are done, a second apart.
pub(super) struct World {
    fixture: &'static Fixture,
    /// The version in which things are done.
    pub(super) version: &'static str,
    /// The object, in the stored version.
    pub(super) live: Option<Document>,
    second: usize,
}

impl Default for World {
    fn default() -> Self {
        Self::of(&THINGS)
    }
}

impl World {
    pub(super) fn of(fixture: &'static Fixture) -> Self {
        Self { fixture, version: fixture.versions[0].0, live: None, second: 0 }
    }

    /// Applies a spec.
    pub(super) fn apply(&mut self, manager: &str, spec: &Value) -> Result<(), ApplyError> {
        self.apply_object(manager, &self.object(spec), false)
    }

    /// Applies a spec, and takes over the fields of other managers.
    pub(super) fn force(&mut self, manager: &str, spec: &Value) {
        self.apply_object(manager, &self.object(spec), true).expect("nothing is in the way of force");
    }

    /// An object around a spec, in the version in which things are done.
    pub(super) fn object(&self, spec: &Value) -> Document {
        let mut object = object(spec);
        object["apiVersion"] = self.version.into();
        object["kind"] = self.fixture.kind.into();
        object
    }

    /// The object in the version in which things are done.
    pub(super) fn read(&self) -> Option<Document> {
        let live = self.live.clone()?;
        let stored = self.fixture.versions[0].0;
        Some(if self.version == stored {
            live
        } else {
            self.fixture.convert(live, stored, self.version).expect("a form in the version")
        })
    }

    pub(super) fn apply_object(&mut self, manager: &str, config: &Value, force: bool) -> Result<(), ApplyError> {
        let time = self.tick();
        let noop = self.is_noop(manager, config);
        let old = self.read();
        let writer = Writer { api_version: self.version, ..writer(manager, &time) };
        let new = merge(&view_in(self.fixture, self.version), old.as_ref(), config, &writer, force)?;
        assert!(!noop || old.as_ref() == Some(&new), "an apply that changes nothing, by a look: {new}");
        self.settle(new);
        Ok(())
    }

    /// An apply would change nothing, as a look tells.
    pub(super) fn is_noop(&self, manager: &str, config: &Value) -> bool {
        let Some(mut live) = self.read() else { return false };
        let mut entries = Vec::new();
        codec::encode(&live["metadata"]["managedFields"].take(), &mut entries);
        live["metadata"].as_object_mut().expect("metadata").remove("managedFields");
        let entries = String::from_utf8(entries).expect("JSON");
        let (view, at) = (view_in(self.fixture, self.version), at(0));
        let writer = Writer { api_version: self.version, ..writer(manager, &at) };
        super::is_noop(&view, &live, &entries, config, &writer)
    }

    /// Replaces the spec, as an update does.
    pub(super) fn put(&mut self, manager: &str, spec: &Value) {
        let mut new = self.read().unwrap_or_else(|| self.object(spec));
        new["spec"] = spec.clone();
        self.put_object(manager, new);
    }

    pub(super) fn put_object(&mut self, manager: &str, mut new: Document) {
        let time = self.tick();
        let view = view_in(self.fixture, self.version);
        self.add_defaults(&mut new);
        let writer = Writer { api_version: self.version, ..writer(manager, &time) };
        update(&view, self.read().as_ref(), &mut new, &writer);
        self.settle(new);
    }

    /// Adds the defaults of the version in which things are done.
    pub(super) fn add_defaults(&self, new: &mut Document) {
        schema::default(view_in(self.fixture, self.version).root, new, &schema::Meter::default()).unwrap();
    }

    /// The steps of the pipeline after field ownership.
    fn settle(&mut self, mut new: Document) {
        fill(view_in(self.fixture, self.version).root, &mut new);
        if let Some(old) = self.read() {
            super::keep_times(&old, &mut new);
        }
        let (stored, schema) = &self.fixture.versions[0];
        if self.version != *stored {
            new = self.fixture.convert(new, self.version, stored).expect("a form in the stored version");
            fill(schema, &mut new);
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

/// Adds defaults and drops what is absent for the schema, like the pipeline.
fn fill(schema: &Schema, new: &mut Document) {
    schema::default(schema, new, &schema::Meter::default()).unwrap();
    schema::normalise(schema, new);
}

/// The message of a conflict.
pub(super) fn conflict(result: Result<(), ApplyError>) -> String {
    match result {
        Err(error @ ApplyError::Conflicts { .. }) => error.to_string(),
        other => panic!("no conflict: {other:?}"),
    }
}
