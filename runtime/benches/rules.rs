//! What rules cost: `cargo bench -p kindsmith --bench rules`.
//!
//! Expressions on an object whose schema gives them their types, the compilation of a rule, and the verbs without HTTP for two kinds that
//! differ in ten rules. The rounds of both kinds take turns; their times are those of the processor, of all threads.

use std::{
    hint::black_box,
    sync::Arc,
    time::{Duration, Instant},
};

use kindsmith::{
    kind::{Kind, crd},
    meta::options::WriteOptions,
    schema::{Document, Meter, Schema},
};
use kindsmith_cache::{Cache, Limits};
use kindsmith_model::{
    codec,
    schema::{
        At,
        rules::{Expression, RuleSet, Step},
    },
};
use kindsmith_server::{
    registry::Registry,
    verbs::{Request, Verbs},
};
use kindsmith_storage::Memory;
use serde_json::json;

const ROUNDS: usize = 200;
const WRITES: u32 = 2_000;
const TURNS: usize = 9;

const RULES: [&str; 10] = [
    "self.min <= self.max",
    "self.max < 1000 || self.tier == 'large'",
    "!has(self.secret) || !has(self.file)",
    "self.name.startsWith('web') || self.tier != 'small'",
    "self.tier in ['small', 'medium', 'large']",
    "size(self.labels) <= 16",
    "self.ports.all(p, p.port > 0)",
    "self.ports.exists(p, p.name == 'http')",
    "self.timeout > duration('1s')",
    "self.name.matches('^[a-z][a-z0-9-]*$')",
];

/// A definition with these rules for its spec.
fn definition(name: &str, rules: &[&str]) -> Document {
    let singular = name.to_lowercase();
    let text = |most: u64| json!({"type": "string", "maxLength": most});
    let port = json!({"type": "object", "required": ["name", "port"], "properties": {"name": text(15), "port": {"type": "integer"}}});
    let rules: Vec<_> = rules.iter().map(|rule| json!({"rule": rule, "message": "is wrong"})).collect();
    let spec = json!({"type": "object", "required": ["min", "max", "name", "tier", "labels", "ports", "timeout"], "x-kubernetes-validations": rules,
        "properties": {"min": {"type": "integer"}, "max": {"type": "integer"}, "name": text(63), "tier": text(16), "secret": text(63),
            "file": text(63), "text": text(4000), "timeout": {"type": "string", "format": "duration"},
            "labels": {"type": "object", "maxProperties": 16, "additionalProperties": text(63)},
            "ports": {"type": "array", "maxItems": 200, "items": port}}});
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": format!("{singular}s.bench.example.com")},
        "spec": {"group": "bench.example.com", "scope": "Cluster", "names": {"plural": format!("{singular}s"), "singular": singular, "kind": name,
            "listKind": format!("{name}List")},
            "versions": [{"name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}}]}})
}

/// The kind of a definition.
fn kind(name: &str, rules: &[&str]) -> (Kind, Arc<Schema>) {
    let read = crd::read("bench", definition(name, rules).to_string().as_bytes()).expect("a definition");
    let defined = read.definitions.into_iter().next().expect("one definition").definition;
    let schema = defined.versions[0].schema.clone();
    let mut kinds = defined.kinds(&kindsmith::kind::Custom);
    (kinds.remove(0), schema)
}

fn object(kind: &str, ports: usize) -> Document {
    let ports: Document = (0..ports)
        .map(|n| json!({"name": if n == 0 { "http".to_owned() } else { format!("port-{n}") }, "port": 8000 + n}))
        .collect();
    json!({"apiVersion": "bench.example.com/v1", "kind": kind, "metadata": {"name": "a", "labels": {"app": "bench"}},
        "spec": {"min": 1, "max": 5, "name": "web-1", "tier": "small", "labels": {"a": "b", "c": "d"}, "ports": ports, "timeout": "30s",
            "text": "x".repeat(1_500)}})
}

/// Prints the time of a call, as the best of many rounds.
fn measure<T>(what: &str, times: u32, mut once: impl FnMut() -> T) {
    let best = (0..ROUNDS).map(|_| {
        let start = Instant::now();
        (0..times).for_each(|_| drop(black_box(once())));
        start.elapsed()
    });
    let best = best.min().unwrap_or_default();
    println!("{what:<58} {:>9.3} µs", best.as_secs_f64() * 1e6 / f64::from(times));
}

fn expressions(schema: &Schema) {
    let (document, meter) = (object("Ruled", 100), Meter::default());
    let (at, steps) = (At::of(schema), [Step::Name("spec".to_owned())]);
    for text in [
        "self.min <= self.max",
        "self.name == 'web-1'",
        "self.ports.all(p, p.port > 0)",
        "self.ports.exists(p, p.name == 'none') == false",
    ] {
        let expression = Expression::new(at, &steps, text, false).expect("an expression");
        measure(text, 20, || expression.evaluate(&document["spec"], None, None, &Meter::default()).cost);
    }
    for text in RULES {
        measure(&format!("compile {text}"), 5, || Expression::new(at, &steps, text, false).expect("an expression"));
    }
    let (schema, small) = (Arc::new(schema.clone()), object("Ruled", 3));
    let rules = RuleSet::of(&schema, true).expect("rules");
    measure("all ten rules of an object", 20, || {
        rules.evaluate(&small, None, &Meter::default()).expect("valid").errors.len()
    });
    measure("validation by the schema", 20, || {
        kindsmith::schema::validate(&schema, &small, &meter).expect("valid").len()
    });
}

/// Processor time of the process.
fn cpu() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let behind_name = stat.rsplit(") ").next().unwrap_or_default();
    let ticks: u64 = behind_name.split(' ').skip(11).take(2).filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks * 10)
}

async fn writes(kinds: [Kind; 2]) {
    let store = Arc::new(Memory::new());
    let cache = Cache::new(store.clone(), Limits::default());
    let registry = Arc::new(Registry::new(cache.clone()));
    let requests = kinds.map(|kind| {
        let name = kind.shared.names.kind.clone();
        (name, Request::for_all(&Arc::default(), &registry.register([kind]).expect("a kind")))
    });
    let api = Verbs::new(registry, cache, store);
    let mut times = [Vec::new(), Vec::new()];
    for turn in 0..TURNS {
        for ((kind, request), times) in requests.iter().zip(&mut times) {
            let mut body = object(kind, 3);
            let start = cpu();
            for at in 0..WRITES {
                body["metadata"]["name"] = format!("o-{turn}-{at}").into();
                let decoded = codec::decode(body.to_string().as_bytes(), &codec::Limits::default()).expect("JSON");
                api.create(request, decoded, &WriteOptions::default()).await.expect("created");
            }
            times.push(cpu().saturating_sub(start));
        }
    }
    let [plain, ruled] = times.map(|mut times| {
        times.sort();
        times[TURNS / 2].as_secs_f64() * 1e6 / f64::from(WRITES)
    });
    println!(
        "{:<58} {plain:>9.1} µs\n{:<58} {ruled:>9.1} µs, {:.2} times",
        "a create, all threads",
        "a create with ten rules",
        ruled / plain
    );
}

fn main() {
    let (plain, _) = kind("Plain", &[]);
    let (ruled, schema) = kind("Ruled", &RULES);
    expressions(&schema);
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .build()
        .expect("a runtime")
        .block_on(writes([plain, ruled]));
}
