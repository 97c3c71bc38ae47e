//! Tests of complete requests inside the process, with a memory store and the sample kinds.

use std::{future::poll_fn, pin::Pin};

use axum_core::{body::Body, extract::Request, response::Response};
use http::{HeaderMap, header};
use http_body::Body as _;
use serde_json::{Value, json};

use super::{unread::DrainLimits, *};
use crate::{
    Resource,
    auth::{
        authenticate::Chain,
        authorize::{Authorize, Masters, Union},
        roles::Roles,
        tokens::Tokens,
    },
    builtin::{self, ConfigMap, Namespace},
    cache::{self, Cache},
    handlers::Pending,
    kind::{
        Kind,
        binding::HookContext,
        by_resource,
        fixture::Hooks,
        model::{Cell, Names},
    },
    meta::FieldError,
    registry::Registry,
    schema::Document,
    storage::{Store, memory::Memory},
    verbs::Verbs,
    widget::Widget,
};

const TABLE: &str = "application/json;as=Table;g=meta.k8s.io;v=v1";
const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";

fn panics(_: &Document, _: &HookContext<'_>) -> Result<Vec<FieldError>, String> {
    panic!("a hook of the user")
}

fn cell_panics(_: &Document) -> Document {
    panic!("a column of the user")
}

/// Members of `system:masters` may do everything, others what the default roles allow.
fn default_roles() -> Arc<dyn Authorize> {
    Arc::new(Union::new(vec![Box::new(Masters), Box::new(Roles::fixed())]))
}

struct Rig(Arc<Site>);

impl Rig {
    async fn new() -> Self {
        let fragile = Widget::kind().with(|shared, _, binding| {
            shared.names = Names::new("Fragile", "fragiles");
            binding.hooks = Arc::new(Hooks { validate: Some(panics), ..Hooks::default() });
        });
        let odd = Widget::kind().with(|shared, version, binding| {
            shared.names = Names::new("Odd", "odds");
            version.columns[0].cell = Cell::Computed;
            binding.cells.insert(version.columns[0].name.clone(), cell_panics);
        });
        Self::with(vec![Namespace::kind(), ConfigMap::kind(), Widget::kind(), fragile, odd]).await
    }

    async fn with(kinds: Vec<Kind>) -> Self {
        Self::authorized(kinds, default_roles()).await
    }

    async fn authorized(kinds: Vec<Kind>, authorizer: Arc<dyn Authorize>) -> Self {
        Self::limited(kinds, authorizer, Limits { body_bytes: 10_000, body_seconds: 90, ..Limits::default() }).await
    }

    async fn limited(kinds: Vec<Kind>, authorizer: Arc<dyn Authorize>, limits: Limits) -> Self {
        Self::built(kinds, authorizer, limits, Pending::default(), Arc::new(Memory::new())).await
    }

    async fn stored(kinds: Vec<Kind>, store: Arc<dyn Store>) -> Self {
        Self::built(kinds, default_roles(), Limits::default(), Pending::default(), store).await
    }

    async fn handled(kinds: Vec<Kind>, handlers: Pending) -> Self {
        Self::built(kinds, default_roles(), Limits::default(), handlers, Arc::new(Memory::new())).await
    }

    async fn built(
        mut kinds: Vec<Kind>,
        authorizer: Arc<dyn Authorize>,
        limits: Limits,
        mut handlers: Pending,
        store: Arc<dyn Store>,
    ) -> Self {
        handlers.declare(&mut kinds).unwrap();
        let cache = Cache::new(store.clone(), cache::Limits::default());
        let registry = Arc::new(Registry::new(cache.clone()));
        for versions in by_resource(kinds) {
            registry.register(versions).unwrap();
        }
        let mut chain = Chain::new(Vec::new());
        chain.push(
            Tokens::from_csv("admintoken,admin,1,\"system:masters\"\nalicetoken,alice,2,\"developers\"\n").unwrap(),
        );
        let authenticator: Arc<dyn Authenticate> = Arc::new(chain.or_anonymous());
        builtin::answer_reviews(&mut handlers, &authenticator, &authorizer);
        let handlers = Arc::new(handlers.mount());
        let api = Verbs::new(registry, cache, store);
        let backend = Backend {
            metrics: Metrics::new(&api),
            api,
            handlers,
            authenticator,
            authorizer,
            documents: DocumentsAt::default(),
            aggregation: None,
            health: Health::default(),
            version: VersionInfo::default(),
            limits: CurrentLimits::new(limits),
        };
        let rig = Self(Arc::new(Site::new(Arc::new(backend))));
        let (code, _) = rig.post("/api/v1/namespaces", &json!({"metadata": {"name": "default"}})).await;
        assert_eq!(code, 201);
        rig
    }

    async fn send(&self, request: http::request::Builder, body: impl Into<Body>) -> Response {
        let request = request.body(body.into()).unwrap();
        dispatch::receive(self.0.clone(), request).await
    }

    async fn answer(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Response {
        let mut request = Request::builder().method(method).uri(path);
        if !headers.iter().any(|(name, _)| *name == "authorization") {
            request = request.header("authorization", "Bearer admintoken");
        }
        for (name, value) in headers.iter().filter(|(_, value)| !value.is_empty()) {
            request = request.header(*name, *value);
        }
        self.send(request, body.to_owned()).await
    }

    async fn json(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> (u16, Value) {
        let answer = self.answer(method, path, headers, body).await;
        let code = answer.status().as_u16();
        (code, serde_json::from_slice(&collect(answer).await).unwrap_or_default())
    }

    async fn get(&self, path: &str) -> (u16, Value) {
        self.json("GET", path, &[], "").await
    }

    /// Creates an object. A body without a type gets that of the path.
    async fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        let body = self.typed(path, body.clone()).to_string();
        self.json("POST", path, &[("content-type", "application/json")], &body).await
    }

    /// A body with the type of the objects at a path.
    fn typed(&self, path: &str, mut body: Value) -> Value {
        let (at, _) = path.split_once('?').unwrap_or((path, ""));
        let plural = at.rsplit('/').next().unwrap_or_default();
        let (kinds, _) = self.0.backend.api.registry.all();
        let kind = kinds
            .iter()
            .map(|served| &served.kind)
            .find(|kind| kind.names().plural == plural && at.contains(&format!("/{}/", kind.group_version)));
        if let (Some(kind), Some(members)) = (kind, body.as_object_mut()) {
            members.entry("apiVersion").or_insert_with(|| kind.group_version.to_string().into());
            members.entry("kind").or_insert_with(|| kind.names().kind.clone().into());
        }
        body
    }

    async fn config_map(&self, name: &str) -> Value {
        let (code, made) = self.post(CONFIG_MAPS, &json!({"metadata": {"name": name}, "data": {"k": "v"}})).await;
        assert_eq!(code, 201, "{made}");
        made
    }
}

async fn collect(answer: Response) -> Vec<u8> {
    local::whole(answer.into_body()).await.unwrap().to_vec()
}

async fn text(answer: Response) -> String {
    String::from_utf8(collect(answer).await).unwrap()
}

async fn frame(body: &mut Body) -> Option<Vec<Value>> {
    let frame = poll_fn(|cx| Pin::new(&mut *body).poll_frame(cx)).await?.unwrap().into_data().unwrap();
    assert_eq!(frame.last(), Some(&b'\n'), "frames are whole");
    Some(serde_json::Deserializer::from_slice(&frame).into_iter().map(Result::unwrap).collect())
}

fn header(headers: &HeaderMap, name: &str) -> String {
    headers.get(name).map(|value| value.to_str().unwrap().to_owned()).unwrap_or_default()
}

mod bounds;
mod busy;
mod compressed;
mod deadlines;
mod documents;
mod doubles;
mod encodings;
mod endpoints;
mod events;
mod force;
mod heavy;
mod large_events;
mod methods;
mod metrics;
mod negotiation;
mod offered;
mod protobuf;
mod queries;
mod replaced;
mod requests;
mod rules;
mod sockets;
mod streams;
mod versions;
mod versions_property;
mod views;
