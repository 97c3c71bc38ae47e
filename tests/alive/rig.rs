//! A server inside the process, whose resources the tests change.

use std::sync::Arc;

use http_body_util::{BodyExt, Full, combinators::UnsyncBoxBody};
use kindsmith::{
    Resource as _,
    auth::{Chain, Masters, Tokens},
    builtin::Namespace,
    kind::{
        Binding, Convert, Custom, Kind, Unchanged,
        model::{Names, Shared, Version},
    },
    schema::{Schema, Type},
};
use kindsmith_cache as cache;
use kindsmith_cache::Cache;
use kindsmith_server::{
    handlers::Pending,
    http::{self, Backend, Caller, CurrentLimits, DocumentsAt, Health, Limits, Metrics, Service, VersionInfo},
    registry::Registry,
    verbs::Verbs,
};
use kindsmith_storage::{Memory, Store};
use serde_json::{Value, json};
use tower::ServiceExt as _;

/// A server over a memory store, with namespaces and the registered resources.
pub(crate) struct Rig {
    pub service: Service,
    pub api: Arc<Verbs>,
}

impl Rig {
    pub(crate) async fn new() -> Self {
        let store: Arc<dyn Store> = Arc::new(Memory::new());
        let limits = cache::Limits { history_bytes: 2 << 20, ..cache::Limits::default() };
        let cache = Cache::new(store.clone(), limits);
        let registry = Arc::new(Registry::new(cache.clone()));
        registry.register([Namespace::kind()]).expect("a kind");
        let handlers = Pending::default().mount();
        let mut authenticator = Chain::new(Vec::new());
        authenticator.push(Tokens::from_csv("token,admin,1,\"system:masters\"\n").expect("a token"));
        let api = Verbs::new(registry, cache, store);
        let backend = Backend {
            api: api.clone(),
            handlers: Arc::new(handlers),
            authenticator: Arc::new(authenticator),
            authorizer: Arc::new(Masters),
            health: Health::default(),
            version: VersionInfo::default(),
            documents: DocumentsAt::default(),
            aggregation: None,
            limits: CurrentLimits::new(Limits::default()),
            metrics: Metrics::new(&api),
        };
        let rig = Self { service: Service::new(Arc::new(backend)), api };
        let made = rig.call("POST", "/api/v1/namespaces", &json!({"metadata": {"name": "ns"}})).await;
        assert_eq!(made.0, 201, "{}", made.1);
        rig
    }

    /// The complete answer to a request.
    pub(crate) async fn call(&self, method: &str, path: &str, sent: &Value) -> (u16, Value) {
        let answer = http::call(&self.service, Caller::Token("token"), method, path, sent).await;
        (answer.code, answer.body)
    }

    pub(crate) async fn get(&self, path: &str) -> (u16, Value) {
        self.call("GET", path, &Value::Null).await
    }

    /// The status code and the body of an answer.
    pub(crate) async fn stream(&self, path: &str) -> (u16, Stream) {
        let request = hyper::Request::builder()
            .uri(path)
            .header("authorization", "Bearer token")
            .body(Full::<bytes::Bytes>::default())
            .expect("a path");
        let answer = self.service.clone().oneshot(request).await.unwrap_or_else(|never| match never {});
        (answer.status().as_u16(), Stream(answer.into_body().map_err(Into::into).boxed_unsync()))
    }
}

/// The body of a watch.
pub(crate) struct Stream(UnsyncBoxBody<bytes::Bytes, Box<dyn std::error::Error + Send + Sync>>);

impl Stream {
    /// The events of the next frame; `None` at the end.
    pub(crate) async fn next(&mut self) -> Option<Vec<Value>> {
        let frame = self.0.frame().await?.expect("a frame").into_data().expect("bytes");
        assert_eq!(frame.last(), Some(&b'\n'), "a stream ends after whole events");
        Some(serde_json::Deserializer::from_slice(&frame).into_iter().map(|event| event.expect("JSON")).collect())
    }
}

/// An object with these properties.
pub(crate) fn object(properties: impl IntoIterator<Item = (String, Schema)>) -> Schema {
    Schema::of(Type::Object).with(|object| object.properties = properties.into_iter().collect())
}

pub(crate) fn text() -> Schema {
    Schema::of(Type::String)
}

/// A declared kind in a version. Objects are stored in v1.
pub(crate) fn kind(group: &str, name: &str, version: &str, schema: Schema) -> Kind {
    let conversion = (version != "v1").then(|| Arc::new(Unchanged { fills: true }) as Arc<dyn Convert>);
    let names = Names::new(name, format!("{}s", name.to_lowercase()));
    let kind = Kind::new(Shared::new(group, names), Version::new(version, schema), Binding::new(&Custom));
    kind.with(|_, version, binding| {
        (version.status, version.generation) = (true, true);
        binding.conversion = conversion;
    })
}

/// Resident memory of this process, in KiB.
pub(crate) fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|rest| rest.trim().trim_end_matches(" kB").parse().ok()).expect("a process has a size")
}
