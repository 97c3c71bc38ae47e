//! What patches cost: `cargo bench -p kindsmith-model --bench patch [-- <word of a row>]`.
//!
//! Each row is the best of some rounds, per patch, so that it holds on a busy machine, too. The object has some 2 KB; a clone
//! of it is what the others are held against, since no patch changes the object that it is given. The last rows are about
//! lists of ten thousand items, which are to be merged in linear time.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use kindsmith_model::schema::{Document, Meter, PatchStrategy, Schema, Type};
use kindsmith_model::{
    codec::{self, Limits},
    patch::{json as json_patch, merge, strategic},
};
use serde_json::json;

const ROUNDS: u32 = 40;

fn object(properties: Vec<(&str, Schema)>) -> Schema {
    let properties = properties.into_iter().map(|(name, s)| (name.to_owned(), s)).collect();
    Schema::of(Type::Object).with(|object| object.properties = properties)
}

/// A list that is merged, by a key or as a set.
fn merged(items: Schema, key: Option<&str>) -> Schema {
    let patch = PatchStrategy { merge: true, retain_keys: false, merge_key: key.map(str::to_owned) };
    Schema::of(Type::Array).with(|list| {
        list.items = Some(items.into());
        list.patch = patch;
    })
}

/// The schema of [`widget`].
fn schema() -> Schema {
    let port = object(vec![
        ("name", Schema::of(Type::String)),
        ("port", Schema::of(Type::Integer)),
        ("protocol", Schema::of(Type::String)),
    ]);
    let env = object(vec![("name", Schema::of(Type::String)), ("value", Schema::of(Type::String))]);
    let template = object(vec![("image", Schema::of(Type::String)), ("env", merged(env, Some("name")))]);
    let options = Schema::of(Type::Object).with(|map| map.additional = Some(Schema::of(Type::String).into()));
    let spec = object(vec![
        ("replicas", Schema::of(Type::Integer)),
        ("description", Schema::of(Type::String)),
        ("ports", merged(port, Some("name"))),
        ("tags", merged(Schema::of(Type::String), None)),
        ("options", options),
        ("template", template),
    ]);
    object(vec![("spec", spec), ("status", object(vec![("phase", Schema::of(Type::String))]))])
}

fn ports(count: usize) -> Document {
    (0..count).map(|n| json!({"name": format!("port-{n}"), "port": 8000 + n, "protocol": "TCP"})).collect()
}

/// A Widget of about 2 KB.
fn widget() -> Document {
    let env: Document =
        (0..12).map(|n| json!({"name": format!("VARIABLE_{n}"), "value": format!("the value of {n}")})).collect();
    json!({
        "apiVersion": "conformance.example.com/v1", "kind": "Widget",
        "metadata": {
            "name": "a-widget", "namespace": "default", "uid": "6d1a37b3-8b3f-4f43-9c2e-5c1d9e6a7b10",
            "resourceVersion": "123456", "generation": 3, "creationTimestamp": "2026-11-21T08:21:36Z",
            "labels": {"app.kubernetes.io/name": "widget", "app.kubernetes.io/part-of": "bench", "tier": "backend"},
            "annotations": {"example.com/note": "a text with \"quotes\" and a\nline break"},
        },
        "spec": {
            "replicas": 3, "ports": ports(8), "tags": ["red", "green", "blue"],
            "description": "what this widget is for, in a sentence of about the usual length",
            "options": {"alpha": "1", "beta": "two", "gamma": "iii"},
            "template": {"image": "registry.example.com/team/widget:v1.2.3", "env": env},
        },
        "status": {"phase": "Ready"},
    })
}

fn bytes(document: &Document) -> Vec<u8> {
    let mut out = Vec::new();
    codec::encode(document, &mut out);
    out
}

/// The rows that are asked for.
struct Rows {
    asked: Option<String>,
    /// The baseline of the comparison.
    against: Duration,
}

impl Rows {
    /// The time of one call, in the best round.
    fn row<T>(&self, what: &str, times: u32, mut call: impl FnMut() -> T) {
        if self.asked.as_ref().is_some_and(|asked| !what.contains(asked)) {
            return;
        }
        let each = best(times, || drop(black_box(call())));
        let ratio = each.as_secs_f64() / self.against.as_secs_f64();
        println!("{what:<44} {:>10.2} µs {ratio:>9.2} x", each.as_secs_f64() * 1e6);
    }
}

fn best(times: u32, mut call: impl FnMut()) -> Duration {
    let round = |_| {
        let began = Instant::now();
        (0..times).for_each(|_| call());
        began.elapsed() / times
    };
    (0..ROUNDS).map(round).min().unwrap_or_default()
}

fn main() {
    let asked = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let live = widget();
    let rows = Rows { asked, against: best(500, || drop(black_box(live.clone()))) };
    println!("an object of {} bytes of JSON", bytes(&live).len());
    rows.row("(clone of the object)", 500, || live.clone());
    json_patches(&rows, &live);
    merge_patches(&rows, &live);
    strategic_patches(&rows, &live);
    long_lists(&rows);
}

fn json_patches(rows: &Rows, live: &Document) {
    let patch = bytes(&json!([
        {"op": "test", "path": "/spec/replicas", "value": 3},
        {"op": "replace", "path": "/spec/replicas", "value": 5},
        {"op": "add", "path": "/spec/ports/-", "value": {"name": "more", "port": 1}},
        {"op": "remove", "path": "/spec/options/alpha"},
        {"op": "copy", "from": "/spec/options/beta", "path": "/spec/options/delta"},
    ]));
    rows.row("JSON patch, five operations: parse", 500, || json_patch::Patch::parse(black_box(&patch)));
    let parsed = json_patch::Patch::parse(&patch).expect("a patch");
    rows.row("JSON patch, five operations: apply", 500, || {
        parsed.apply(black_box(live), &Meter::default()).expect("it applies")
    });
}

fn merge_patches(rows: &Rows, live: &Document) {
    let change = json!({"spec": {"replicas": 5, "options": {"alpha": null, "delta": "4"}}, "status": {"phase": "New"}});
    let patch = bytes(&change);
    rows.row("merge patch: parse", 500, || merge::parse(black_box(&patch)));
    rows.row("merge patch: apply", 500, || {
        let mut document = live.clone();
        merge::apply(&mut document, black_box(&change));
        document
    });
}

fn strategic_patches(rows: &Rows, live: &Document) {
    let root = schema();
    let patch = json!({"spec": {
        "replicas": 5, "options": {"alpha": null, "delta": "4"},
        "$setElementOrder/tags": ["blue", "red", "white"], "$deleteFromPrimitiveList/tags": ["green"], "tags": ["white"],
        "$setElementOrder/ports": [{"name": "port-7"}, {"name": "more"}, {"name": "port-1"}],
        "ports": [{"name": "more", "port": 1}, {"name": "port-1", "port": 2}, {"$patch": "delete", "name": "port-3"}],
        "template": {"env": [{"name": "VARIABLE_5", "value": "another"}]},
    }});
    rows.row("strategic merge patch: decode", 500, || codec::decode(&bytes(black_box(&patch)), &Limits::default()));
    rows.row("strategic merge patch: apply", 500, || strategic::apply(&root, live, black_box(&patch)));
}

fn long_lists(rows: &Rows) {
    let root = schema();
    let live = json!({"metadata": {"name": "a"}, "spec": {"ports": ports(10_000)}});
    let turned: Vec<Document> = (0..10_000).rev().map(|n| json!({"name": format!("port-{n}")})).collect();
    let order = json!({"spec": {"$setElementOrder/ports": turned}});
    let items = json!({"spec": {"ports": turned}});
    let inserts: Vec<Document> = (0..100).map(|_| json!({"op": "add", "path": "/spec/ports/0", "value": {}})).collect();
    let inserts = json_patch::Patch::parse(&bytes(&inserts.into())).expect("a patch");
    rows.row("10,000 items: (clone of the object)", 1, || live.clone());
    rows.row("10,000 items: strategic, all in another order", 1, || strategic::apply(&root, &live, &order));
    rows.row("10,000 items: strategic, all merged", 1, || strategic::apply(&root, &live, &items));
    rows.row("10,000 items: JSON patch, 100 before the first", 1, || inserts.apply(&live, &Meter::default()));
}
