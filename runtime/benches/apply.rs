//! What apply and ownership cost: `cargo bench -p kindsmith --bench apply [-- <word of a row>]`.
//!
//! Objects are of 2 KB beside their managed fields, with four managers. The functions are measured by themselves, then the
//! whole verb without HTTP: decoding of the body and of the live object, merge, comparison, ownership, defaults,
//! validation. An apply that changes nothing commits nothing.

use std::{
    collections::BTreeMap,
    hint::black_box,
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::Bytes;
use kindsmith::{
    ApiType, ObjectMeta, Resource,
    meta::options::PatchOptions,
    schema::{Document, Meter},
};
use kindsmith_cache::{Cache, Limits};
use kindsmith_model::{
    codec,
    patch::apply::{self, OneVersion, View, Writer},
};
use kindsmith_server::{
    registry::Registry,
    verbs::{Answer, Patch, Request, Verbs},
};
use kindsmith_storage::Memory;
use serde::{Deserialize, Serialize};
use serde_json::json;

const ROUNDS: u32 = 1_000;
const TIMES: u32 = 10;
const WRITES: u32 = 20_000;
const VERSION: &str = "bench.example.com/v1";

#[derive(Resource, Clone, Debug)]
#[resource(group = "bench.example.com", version = "v1", cluster, status)]
struct Service {
    metadata: ObjectMeta,
    spec: ServiceSpec,
    status: Option<ServiceStatus>,
}

#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ServiceSpec {
    #[api(default = 1)]
    replicas: i32,
    #[serde(default)]
    selector: BTreeMap<String, String>,
    #[api(list = map(key = name))]
    #[serde(default)]
    containers: Vec<Container>,
    #[api(list = set)]
    #[serde(default)]
    tags: Vec<String>,
}

#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Container {
    name: String,
    image: Option<String>,
    #[api(default = "IfNotPresent")]
    pull_policy: String,
    #[api(list = atomic)]
    #[serde(default)]
    args: Vec<String>,
    #[api(list = map(key = container_port, key = protocol))]
    #[serde(default)]
    ports: Vec<Port>,
    #[api(list = map(key = name))]
    #[serde(default)]
    env: Vec<Variable>,
}

#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Port {
    container_port: i32,
    #[api(default = "TCP")]
    protocol: String,
}

#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
struct Variable {
    name: String,
    value: Option<String>,
}

#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ServiceStatus {
    ready: Option<i32>,
    phase: Option<String>,
}

/// What a deployer applies: most of the object.
fn config() -> Document {
    let container = |name: &str| {
        let env: Vec<Document> =
            (0..6).map(|at| json!({"name": format!("VARIABLE_{at}"), "value": format!("the value of {at}")})).collect();
        json!({
            "name": name, "image": format!("registry.example.com/team/{name}:1.2.3"),
            "args": ["--listen=0.0.0.0", "--verbose"], "ports": [{"containerPort": 8080}, {"containerPort": 9090}],
            "env": env,
        })
    };
    json!({
        "apiVersion": VERSION, "kind": "Service",
        "metadata": {"name": "s", "labels": {"app": "shop", "tier": "front", "team": "sales"},
            "annotations": {"example.com/contact": "someone@example.com", "example.com/why": "x".repeat(200)}},
        "spec": {"selector": {"app": "shop", "tier": "front"}, "tags": ["a", "b", "c"],
            "containers": [container("web"), container("cache"), container("proxy")]},
    })
}

/// Prints the time of each call in the best of many rounds that are shorter than a turn on the processor: what one costs,
/// on a busy machine, too.
fn measure<T>(what: &str, mut once: impl FnMut() -> T) {
    if std::env::args().nth(1).is_some_and(|word| !word.starts_with('-') && !what.contains(&word)) {
        return;
    }
    let best = (0..ROUNDS).map(|_| {
        let start = Instant::now();
        for _ in 0..TIMES {
            black_box(once());
        }
        start.elapsed()
    });
    let best = best.min().unwrap_or_default();
    println!("{what:<58} {:>8.1} µs", best.as_secs_f64() * 1e6 / f64::from(TIMES));
}

fn writer(manager: &str) -> Writer<'_> {
    Writer { manager, api_version: VERSION, subresource: "", time: "2026-01-01T00:00:00Z" }
}

/// The object after four managers have written it.
fn live(view: &View<'_>) -> Document {
    let by = |live: &Document, manager: &str, change: &dyn Fn(&mut Document)| {
        let mut new = live.clone();
        change(&mut new);
        apply::update(view, Some(live), &mut new, &writer(manager));
        new
    };
    let mut live = apply::merge(view, None, &config(), &writer("deployer"), false).expect("applied");
    kindsmith::schema::default(view.root, &mut live, &Meter::default()).expect("a small object");
    let live = by(&live, "scaler", &|new| new["spec"]["replicas"] = 5.into());
    let live = by(&live, "labeller", &|new| new["metadata"]["labels"]["zone"] = "north".into());
    let extra = json!({"apiVersion": VERSION, "kind": "Service", "metadata": {"name": "s"},
        "spec": {"tags": ["d"], "containers": [{"name": "web", "env": [{"name": "INJECTED", "value": "yes"}]}]}});
    apply::merge(view, Some(&live), &extra, &writer("injector"), false).expect("applied")
}

fn functions(view: &View<'_>) {
    let (live, config) = (live(view), config());
    let (entries, whole) = (live["metadata"]["managedFields"].to_string().len(), live.to_string().len());
    println!("an object of {} bytes, its managed fields of {entries}", whole - entries);
    let deployer = writer("deployer");
    let apply = |config: &Document| apply::merge(view, Some(&live), config, &deployer, true).expect("applied");
    measure("a document cloned, for comparison", || live.clone());
    measure("apply: nothing changes", || apply(&config));
    let mut changed = config.clone();
    changed["spec"]["containers"][1]["image"] = "registry.example.com/team/cache:2.0.0".into();
    measure("apply: a field changes", || apply(&changed));
    changed["spec"]["containers"].as_array_mut().expect("containers").pop();
    measure("apply: an item goes", || apply(&changed));
    let update = |change: &dyn Fn(&mut Document)| {
        let mut new = live.clone();
        change(&mut new);
        apply::update(view, Some(&live), &mut new, &deployer);
        new
    };
    measure("update: nothing changes (with the clone)", || update(&|_| ()));
    measure("update: a field changes (with the clone)", || update(&|new| new["spec"]["replicas"] = 7.into()));
}

/// The verbs over memory, and requests of the objects of a kind.
struct World {
    api: Arc<Verbs>,
    request: Request,
}

impl World {
    fn new() -> Self {
        let store = Arc::new(Memory::new());
        let cache = Cache::new(store.clone(), Limits::default());
        let registry = Arc::new(Registry::new(cache.clone()));
        let resource = registry.register([Service::kind()]).expect("a kind");
        let request = Request::for_all(&Arc::default(), &resource).at("s");
        Self { api: Verbs::new(registry, cache, store), request }
    }

    fn named(&self, name: String) -> Request {
        let mut request = self.request.clone();
        request.name = name;
        request
    }
}

fn by(manager: &str) -> PatchOptions {
    let mut options = PatchOptions::default();
    (options.write.field_manager, options.force) = (manager.to_owned(), true);
    options
}

fn decoded(body: &str) -> codec::DecodedDocument {
    codec::decode(body.as_bytes(), &codec::Limits::default()).expect("JSON")
}

async fn unchanging() {
    let World { api, request } = World::new();
    let body = config().to_string();
    api.patch(&request, Patch::Apply(decoded(&body)), &by("deployer")).await.expect("applied");
    for (manager, patch) in [
        ("scaler", r#"{"spec":{"replicas":5}}"#),
        ("labeller", r#"{"metadata":{"labels":{"zone":"north"}}}"#),
        ("injector", r#"{"spec":{"tags":["a","b","c","d"]}}"#),
    ] {
        api.patch(&request, Patch::Merge(Bytes::from_static(patch.as_bytes())), &by(manager)).await.expect("patched");
    }
    let options = by("deployer");
    let mut before = None;
    let runtime = tokio::runtime::Handle::current();
    let once = || {
        let answer = runtime.block_on(api.patch(&request, Patch::Apply(decoded(&body)), &options));
        let Answer::Object(object) = answer.expect("applied").answer else { panic!("an object is expected") };
        assert_eq!(*before.get_or_insert(object.revision()), object.revision(), "nothing was committed");
    };
    tokio::task::block_in_place(|| measure("the verb: an apply that changes nothing, decoding included", once));
}

/// Processor time of the process, of all its threads: writes go through those of the store and the cache.
fn cpu() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let behind_name = stat.rsplit(") ").next().unwrap_or_default();
    let ticks: u64 = behind_name.split(' ').skip(11).take(2).filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks * 10)
}

async fn changing() {
    let world = World::new();
    let (options, mut body) = (by("deployer").write, config());
    let row = |what: &str, spent: Duration| {
        println!("{what:<58} {:>8.1} µs", spent.as_secs_f64() * 1e6 / f64::from(WRITES));
    };
    let start = cpu();
    for at in 0..WRITES {
        body["metadata"]["name"] = format!("s-{at}").into();
        let decoded = decoded(&body.to_string());
        world.api.create(&world.named(String::new()), decoded, &options).await.expect("created");
    }
    row("the verb: a create, all threads", cpu().saturating_sub(start));
    let start = cpu();
    for at in 0..WRITES {
        let patch = Patch::Merge(Bytes::from_static(br#"{"spec":{"replicas":5}}"#));
        world.api.patch(&world.named(format!("s-{at}")), patch, &by("scaler")).await.expect("patched");
    }
    row("the verb: a patch of a field, all threads", cpu().saturating_sub(start));
}

fn main() {
    let kind = Service::kind();
    functions(&View { root: &kind.version.schema, kind: "Service", reset: &[&["status"]], versions: &OneVersion });
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().expect("a runtime");
    runtime.block_on(unchanging());
    if std::env::args().nth(1).is_none_or(|word| word.starts_with('-') || "the verb: a create".contains(&word)) {
        runtime.block_on(changing());
    }
}
