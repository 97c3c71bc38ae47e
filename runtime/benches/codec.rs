//! What encodings cost: `cargo bench -p kindsmith --bench codec [-- <word of a row>]`.
//!
//! Each row is the best of some rounds, per document, so that it holds on a busy machine, too. The document is a Widget of
//! some 2 KB. `serde_json` into a `Value` is what the others are held against.
//!
//! YAML bombs are measured in `bombs`: how long until each is refused, and at what peak of memory.

use std::{
    collections::BTreeMap,
    hint::black_box,
    time::{Duration, Instant},
};

use kindsmith::{
    codec::{self, Limits, Order, yaml},
    schema::{
        Document, Schema,
        model::{ListType, Type},
    },
};
use serde_json::json;

const ROUNDS: usize = 40;
const TIMES: u32 = 500;

fn object(properties: Vec<(&str, Schema)>) -> Schema {
    let properties: BTreeMap<String, Schema> = properties.into_iter().map(|(name, s)| (name.to_owned(), s)).collect();
    Schema { kind: Type::Object, properties, ..Schema::default() }
}

fn of(kind: Type) -> Schema {
    Schema { kind, ..Schema::default() }
}

fn list(items: Schema) -> Schema {
    let keys = ListType::Map(vec!["name".to_owned()]);
    Schema { kind: Type::Array, items: Some(Box::new(items)), list: keys, ..Schema::default() }
}

fn texts() -> Schema {
    Schema { kind: Type::Object, additional: Some(Box::new(of(Type::String))), ..Schema::default() }
}

/// The schema of [`widget`].
fn schema() -> Schema {
    let port = object(vec![("name", of(Type::String)), ("port", of(Type::Integer)), ("protocol", of(Type::String))]);
    let env = object(vec![("name", of(Type::String)), ("value", of(Type::String))]);
    let template = object(vec![("image", of(Type::String)), ("env", list(env))]);
    let spec = object(vec![
        ("size", of(Type::Integer)),
        ("color", of(Type::String)),
        ("description", of(Type::String)),
        ("replicas", of(Type::Integer)),
        ("paused", of(Type::Boolean)),
        ("ports", list(port)),
        ("options", texts()),
        ("template", template),
    ]);
    let status = object(vec![("phase", of(Type::String)), ("observedGeneration", of(Type::Integer))]);
    object(vec![("spec", spec), ("status", status)])
}

/// A Widget of about 2 KB.
fn widget() -> Document {
    let ports: Vec<Document> =
        (0..8).map(|n| json!({"name": format!("port-{n}"), "port": 8000 + n, "protocol": "TCP"})).collect();
    let env: Vec<Document> =
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
            "size": 5, "color": "Red", "replicas": 3, "paused": false, "ports": ports,
            "description": "what this widget is for, in a sentence of about the usual length",
            "options": {"alpha": "1", "beta": "two", "gamma": "iii"},
            "template": {"image": "registry.example.com/team/widget:v1.2.3", "env": env},
        },
        "status": {"phase": "Ready", "observedGeneration": 3},
    })
}

/// The time of one call, in the best round.
fn best(mut call: impl FnMut()) -> Duration {
    let mut best = Duration::MAX;
    for _ in 0..ROUNDS {
        let began = Instant::now();
        for _ in 0..TIMES {
            call();
        }
        best = best.min(began.elapsed() / TIMES);
    }
    best
}

/// One row, unless another was asked for.
fn row(
    asked: Option<&str>,
    what: &str,
    bytes: usize,
    against: Option<Duration>,
    call: impl FnMut(),
) -> Option<Duration> {
    if asked.is_some_and(|asked| !what.contains(asked)) {
        return None;
    }
    let each = best(call);
    let rate = f64::from(u32::try_from(bytes).unwrap_or(u32::MAX)) / each.as_secs_f64() / 1e6;
    let times = against.map(|other| format!("{:.2} x", each.as_secs_f64() / other.as_secs_f64())).unwrap_or_default();
    println!("{what:<28} {:>9.2} µs {rate:>7.0} MB/s {times:>8}", each.as_secs_f64() * 1e6);
    Some(each)
}

fn main() {
    let asked = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let asked = asked.as_deref();
    let (root, document, limits) = (schema(), widget(), Limits::default());
    let (mut json, mut yaml) = (Vec::new(), Vec::new());
    codec::encode(&document, &mut json);
    yaml::encode(&document, &mut yaml);
    println!("a document of {} bytes of JSON, {} of YAML", json.len(), yaml.len());

    let plain = best(|| drop(black_box(serde_json::from_slice::<Document>(black_box(&json)))));
    let against = Some(plain);
    row(asked, "JSON decode, serde_json", json.len(), against, || {
        drop(black_box(serde_json::from_slice::<Document>(black_box(&json))));
    });
    row(asked, "JSON decode", json.len(), against, || drop(black_box(codec::decode(black_box(&json), &limits))));
    for (what, order) in [("JSON decode, strict", Order::AsMet), ("JSON decode, strict, custom", Order::UnknownLast)] {
        row(asked, what, json.len(), against, || {
            drop(black_box(codec::decode_strict(black_box(&json), &limits, &root, order)));
        });
    }
    row(asked, "drop unknown fields", json.len(), against, || {
        black_box(codec::drop_unknown(&mut document.clone(), &root, Order::AsMet));
    });
    row(asked, "(clone of the document)", json.len(), against, || drop(black_box(document.clone())));
    let writing = best(|| drop(black_box(serde_json::to_vec(black_box(&document)))));
    let against = Some(writing);
    row(asked, "JSON encode, serde_json", json.len(), against, || {
        drop(black_box(serde_json::to_vec(black_box(&document))));
    });
    let mut out = Vec::with_capacity(json.len() * 2);
    row(asked, "JSON encode", json.len(), against, || {
        out.clear();
        codec::encode(black_box(&document), &mut out);
    });
    row(asked, "YAML decode", yaml.len(), Some(plain), || drop(black_box(yaml::decode(black_box(&yaml), &limits))));
    row(asked, "YAML encode", yaml.len(), against, || {
        out.clear();
        yaml::encode(black_box(&document), &mut out);
    });
    if asked.is_none_or(|asked| "bombs".contains(asked)) {
        bombs(&limits);
    }
}

/// How long hostile bodies take until they are refused.
fn bombs(limits: &Limits) {
    let body = 3 << 20;
    let laughs: Vec<String> = (1..12)
        .map(|n| {
            let before = format!("*a{}", n - 1);
            format!("a{n}: &a{n} [{}]\n", [before.as_str(); 9].join(","))
        })
        .collect();
    let keys: Vec<String> = (0..2_000).map(|n| format!("k{n}: 1")).collect();
    for (what, text) in [
        ("laughs", format!("a0: &a0 [lol,lol,lol]\n{}", laughs.concat())),
        ("long text by aliases", format!("a: &a {}\nb: [{}]", "x".repeat(1 << 20), vec!["*a"; 1000].join(","))),
        ("maps by aliases", format!("a: &a {{x: 1}}\nb: [{}]", vec!["*a"; 300_000].join(","))),
        ("merges", format!("a: &a {{{}}}\nb: [{}]", keys.join(","), vec!["{<<: *a}"; 2_000].join(","))),
        ("deep flow", "[".repeat(body)),
        ("deep block", "- ".repeat(body / 2)),
        ("small maps", "- a: 1\n".repeat(body / 7)),
        ("small items", format!("[{}1] # YAML", "1,".repeat(body / 2))),
        ("small JSON maps", format!("[{}1]", "{\"a\":1},".repeat(body / 8))),
        ("small JSON items", format!("[{}1]", "1,".repeat(body / 2))),
        ("lines", "\n".repeat(body) + "]"),
        ("spaces", " ".repeat(body) + "\t:"),
        ("quotes", "\"".repeat(body)),
        ("one key", "k".repeat(body) + ": ["),
        ("colons", "a: ".repeat(body / 3)),
        ("question marks", "? ".repeat(body / 2)),
        ("comments", "#".repeat(body) + "\n]"),
        ("comment lines", "# a\n".repeat(body / 4) + "]"),
        ("long number", "1".repeat(body)),
        ("long folded text", format!(">\n{}\n]", " a\n".repeat(body / 3))),
    ] {
        let began = Instant::now();
        let answer = yaml::decode(text.as_bytes(), limits).map(|_| ());
        println!("{what:<28} {:>9.1} ms {:?}", began.elapsed().as_secs_f64() * 1e3, answer.map_err(|e| e.to_string()));
    }
}
