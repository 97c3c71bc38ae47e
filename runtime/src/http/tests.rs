//! Tests of whole requests, in process: a memory store, the sample kinds, and requests as a connection would pass them.

use std::{future::poll_fn, pin::Pin};

use axum::{
    body::Body,
    http::{HeaderMap, header},
    response::Response,
};
use http_body::Body as _;
use serde_json::{Value, json};

use super::*;
use crate::{
    auth::{
        authenticate::{Anonymous, Chain},
        authorize::MastersOnly,
        tokens::Tokens,
    },
    cache::{self, Cache},
    http::sample,
    kind::{Kind, Registry, model::HookContext},
    meta::FieldError,
    schema::Document,
    storage::{Store, memory::Memory},
    verbs::Api,
};

const TABLE: &str = "application/json;as=Table;g=meta.k8s.io;v=v1";
const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";

fn panics(_: &Document, _: &HookContext<'_>) -> Result<Vec<FieldError>, String> {
    panic!("a hook of the user")
}

struct Rig(Arc<Site>);

impl Rig {
    async fn new() -> Self {
        let store: Arc<dyn Store> = Arc::new(Memory::new());
        let cache = Cache::new(store.clone(), cache::Limits::default());
        let registry = Arc::new(Registry::new(cache.clone()));
        let mut fragile = Kind {
            kind: "Fragile".to_owned(),
            list_kind: "FragileList".to_owned(),
            plural: "fragiles".to_owned(),
            singular: "fragile".to_owned(),
            short_names: Vec::new(),
            ..sample::widget()
        };
        fragile.hooks.validate = Some(panics);
        for kind in [sample::namespace(), sample::config_map(), sample::widget(), fragile] {
            registry.register(kind).unwrap();
        }
        let mut chain = Chain::new(Vec::new());
        chain.push(
            Tokens::from_csv("admintoken,admin,1,\"system:masters\"\nalicetoken,alice,2,\"developers\"\n").unwrap(),
        );
        chain.push(Anonymous::default());
        let app = App {
            api: Api::new(registry, cache, store),
            authenticator: Arc::new(chain),
            authorizer: Arc::new(MastersOnly),
            health: Health::default(),
            version: VersionInfo::default(),
            limits: Limits { body_bytes: 10_000, ..Limits::default() },
        };
        let rig = Self(Arc::new(Site::new(Arc::new(app))));
        let (code, _) = rig.post("/api/v1/namespaces", &json!({"metadata": {"name": "default"}})).await;
        assert_eq!(code, 201);
        rig
    }

    async fn send(&self, request: axum::http::request::Builder, body: impl Into<Body>) -> Response {
        let request = request.body(body.into()).unwrap();
        guard::run(dispatch::handle(self.0.clone(), request)).await
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

    async fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        self.json("POST", path, &[("content-type", "application/json")], &body.to_string()).await
    }

    async fn config_map(&self, name: &str) -> Value {
        let (code, made) = self.post(CONFIG_MAPS, &json!({"metadata": {"name": name}, "data": {"k": "v"}})).await;
        assert_eq!(code, 201, "{made}");
        made
    }
}

async fn collect(answer: Response) -> Vec<u8> {
    axum::body::to_bytes(answer.into_body(), usize::MAX).await.unwrap().to_vec()
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

#[tokio::test]
async fn who_may_ask() {
    let rig = Rig::new().await;
    for (authorization, code) in
        [("Bearer admintoken", 200), ("Bearer wrong", 401), ("Bearer alicetoken", 403), ("", 403)]
    {
        let headers = [("authorization", authorization)];
        assert_eq!(rig.json("GET", CONFIG_MAPS, &headers, "").await.0, code, "{authorization}");
    }
    let (_, status) = rig.json("GET", &format!("{CONFIG_MAPS}/a"), &[("authorization", "")], "").await;
    let recorded = "configmaps \"a\" is forbidden: User \"system:anonymous\" cannot get resource \"configmaps\" in API group \"\" in the namespace \"default\"";
    assert_eq!(status["message"], recorded);
    // Whether a thing exists is not told to those who may not ask.
    assert_eq!(rig.json("GET", "/apis/no/such/thing", &[("authorization", "")], "").await.0, 403);
    assert_eq!(rig.json("PUT", CONFIG_MAPS, &[("authorization", "Bearer alicetoken")], "").await.0, 403);
}

#[tokio::test]
async fn what_is_not_there() {
    let rig = Rig::new().await;
    for (path, want) in [
        ("/api/v1/namespaces/default/nothings", "the server could not find the requested resource"),
        ("/api/v1/namespaces/default/configmaps/a/status", "the server could not find the requested resource"),
        ("/api/v1/namespaces/default/namespaces", "the server could not find the requested resource"),
        ("/api/v1/configmaps/a", "the server could not find the requested resource"),
        ("/api/v1/namespaces/default/configmaps/a/b/c", "the server could not find the requested resource"),
        ("/api/v1/namespaces/default/configmaps/a", "configmaps \"a\" not found"),
        (
            "/apis/conformance.example.com/v1/namespaces/default/widgets/w/nothing",
            "widgets.conformance.example.com \"w\" not found",
        ),
    ] {
        let (code, status) = rig.get(path).await;
        assert_eq!((code, status["message"].as_str()), (404, Some(want)), "{path}");
    }
    for path in [
        "/apis/no.such.group/v1/things",
        "/apis/no.such.group",
        "/api/v9",
        "/nothing",
        "/readyz/nothing",
        "/openapi/v4",
    ] {
        let answer = rig.answer("GET", path, &[], "").await;
        assert_eq!(answer.status(), 404, "{path}");
        assert_eq!(header(answer.headers(), "content-type"), "text/plain; charset=utf-8");
        assert_eq!(text(answer).await, "404 page not found\n");
    }
    assert_eq!(rig.answer("GET", "/api/v1/%zz", &[], "").await.status(), 400);
}

#[tokio::test]
async fn methods_that_make_no_sense() {
    let rig = Rig::new().await;
    let widget = "/apis/conformance.example.com/v1/namespaces/default/widgets/w";
    for (method, path) in [
        ("POST", format!("{CONFIG_MAPS}/a")),
        ("PUT", CONFIG_MAPS.to_owned()),
        ("PATCH", CONFIG_MAPS.to_owned()),
        ("HEAD", CONFIG_MAPS.to_owned()),
        ("OPTIONS", CONFIG_MAPS.to_owned()),
        ("POST", "/api/v1/configmaps".to_owned()),
        ("DELETE", "/api/v1/configmaps".to_owned()),
        ("DELETE", "/api/v1/namespaces".to_owned()),
        ("POST", format!("{widget}/status")),
        ("DELETE", format!("{widget}/status")),
        ("GET", "/api/v1/namespaces/default/finalize".to_owned()),
        ("DELETE", "/api/v1/watch/namespaces/default/configmaps".to_owned()),
        ("POST", "/version".to_owned()),
    ] {
        let answer = rig.answer(method, &path, &[], "{}").await;
        assert_eq!(answer.status(), 405, "{method} {path}");
    }
}

#[tokio::test]
async fn bodies_that_are_refused() {
    let rig = Rig::new().await;
    let with = |media_type: &'static str| [("content-type", media_type)];
    let big = format!("{{\"a\":\"{}\"}}", "x".repeat(10_000));
    let (code, status) = rig.json("POST", CONFIG_MAPS, &with("application/json"), &big).await;
    assert_eq!((code, status["message"].as_str()), (413, Some("Request entity too large: limit is 10000")));
    assert_eq!(rig.json("POST", CONFIG_MAPS, &with("text/plain"), "{}").await.0, 415);
    assert_eq!(rig.json("PATCH", &format!("{CONFIG_MAPS}/a"), &with("application/json"), "{}").await.0, 415);
    for body in ["", "{not json", "[]", "{} {}", "\u{0}"] {
        let (code, status) = rig.json("POST", CONFIG_MAPS, &with("application/json"), body).await;
        assert_eq!((code, status["reason"].as_str()), (400, Some("BadRequest")), "{body}");
    }
    let twice = r#"{"metadata":{"name":"a","name":"b"}}"#;
    let strict = format!("{CONFIG_MAPS}?fieldValidation=Strict");
    let (code, status) = rig.json("POST", &strict, &with("application/json"), twice).await;
    assert_eq!(code, 400);
    assert!(status["message"].as_str().unwrap().ends_with("strict decoding error: duplicate field \"metadata.name\""));
    let answer = rig.answer("POST", CONFIG_MAPS, &with("application/json; charset=utf-8"), twice).await;
    assert_eq!(
        (answer.status().as_u16(), header(answer.headers(), "warning")),
        (201, r#"299 - "duplicate field \"metadata.name\"""#.to_owned())
    );
}

#[tokio::test]
async fn a_panic_in_a_hook_is_an_answer() {
    let rig = Rig::new().await;
    let path = "/apis/conformance.example.com/v1/namespaces/default/fragiles";
    let (code, status) = rig.post(path, &json!({"metadata": {"name": "a"}, "spec": {"size": 1}})).await;
    assert_eq!((code, status["reason"].as_str()), (500, Some("InternalError")));
    assert_eq!(rig.get(path).await.0, 200, "the server lives on");
}

#[tokio::test]
async fn objects_and_lists_in_every_form() {
    let rig = Rig::new().await;
    let made = rig.config_map("a").await;
    let path = format!("{CONFIG_MAPS}/a");
    let answer = rig.answer("GET", &path, &[], "").await;
    assert_eq!(header(answer.headers(), "content-type"), "application/json");
    assert_eq!(header(answer.headers(), "cache-control"), "no-cache, private");
    assert!(!header(answer.headers(), "audit-id").is_empty());
    let exact = answer.body().size_hint().exact();
    let bytes = collect(answer).await;
    assert_eq!(exact, Some(bytes.len() as u64));
    assert_eq!(serde_json::from_slice::<Value>(&bytes).unwrap(), made);
    let pretty = text(rig.answer("GET", &path, &[("user-agent", "curl/8")], "").await).await;
    assert!(pretty.starts_with("{\n  \"kind\": \"ConfigMap\",\n"), "{pretty}");
    let (_, list) = rig.get(CONFIG_MAPS).await;
    assert_eq!((list["kind"].as_str(), list["items"][0].get("kind")), (Some("ConfigMapList"), None));
    assert_eq!(list["items"][0]["metadata"], made["metadata"]);
    let form = |name: &str| format!("application/json;as={name};g=meta.k8s.io;v=v1");
    for (path, accept, want) in [
        (&*path, TABLE.to_owned(), "Table"),
        (&*path, form("PartialObjectMetadata"), "PartialObjectMetadata"),
        (CONFIG_MAPS, TABLE.to_owned(), "Table"),
        (CONFIG_MAPS, form("PartialObjectMetadataList"), "PartialObjectMetadataList"),
    ] {
        let (code, shaped) = rig.json("GET", path, &[("accept", &accept)], "").await;
        assert_eq!((code, shaped["kind"].as_str()), (200, Some(want)), "{accept}");
    }
    for (path, accept) in [
        (&*path, form("PartialObjectMetadataList")),
        (CONFIG_MAPS, form("PartialObjectMetadata")),
        (CONFIG_MAPS, "text/html".to_owned()),
    ] {
        assert_eq!(rig.json("GET", path, &[("accept", &accept)], "").await.0, 406, "{accept}");
    }
}

#[tokio::test]
async fn deletions() {
    let rig = Rig::new().await;
    let made = rig.config_map("a").await;
    let path = format!("{CONFIG_MAPS}/a");
    let wrong = json!({"preconditions": {"uid": "other"}}).to_string();
    assert_eq!(rig.json("DELETE", &path, &[], &wrong).await.0, 409, "options of the body count");
    let (code, status) = rig.json("DELETE", &path, &[], "").await;
    let details = json!({"name": "a", "kind": "configmaps", "uid": made["metadata"]["uid"]});
    assert_eq!((code, &status["status"], &status["details"]), (200, &json!("Success"), &details));
    rig.config_map("b").await;
    let (code, list) = rig.json("DELETE", CONFIG_MAPS, &[], "").await;
    assert_eq!((code, list["items"].as_array().map(Vec::len)), (200, Some(1)));
}

#[tokio::test(start_paused = true)]
async fn a_watch_from_its_initial_events_to_its_end() {
    let rig = Rig::new().await;
    rig.config_map("a").await;
    let query =
        "watch=1&timeoutSeconds=150&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan";
    let answer = rig.answer("GET", &format!("{CONFIG_MAPS}?{query}"), &[], "").await;
    assert_eq!((answer.status().as_u16(), answer.body().size_hint().exact()), (200, None));
    let mut body = answer.into_body();
    let initial = frame(&mut body).await.unwrap();
    assert_eq!(initial[0]["type"], "ADDED");
    assert_eq!(initial[0]["object"]["kind"], "ConfigMap");
    assert_eq!(initial[1]["type"], "BOOKMARK");
    assert_eq!(initial[1]["object"]["metadata"]["annotations"], json!({"k8s.io/initial-events-end": "true"}));
    let made = rig.config_map("b").await;
    let live = frame(&mut body).await.unwrap();
    assert_eq!(live, [json!({"type": "ADDED", "object": made})]);
    rig.config_map("c").await;
    rig.json("DELETE", &format!("{CONFIG_MAPS}/c"), &[], "").await;
    let mut types = Vec::new();
    while types.len() < 2 {
        types.extend(frame(&mut body).await.unwrap().into_iter().map(|event| event["type"].clone()));
    }
    assert_eq!(types, ["ADDED", "DELETED"]);
    // Two bookmarks, a minute apart, then one more at the end: the clock runs on its own here.
    for _ in 0..3 {
        let events = frame(&mut body).await.unwrap();
        assert_eq!((events.len(), &events[0]["type"]), (1, &json!("BOOKMARK")));
        assert!(events[0]["object"]["metadata"]["resourceVersion"].is_string());
    }
    assert_eq!(frame(&mut body).await, None);
}

#[tokio::test(start_paused = true)]
async fn watches_in_other_forms() {
    let rig = Rig::new().await;
    let made = rig.config_map("a").await;
    rig.config_map("b").await;
    let version = made["metadata"]["resourceVersion"].as_str().unwrap().parse::<u64>().unwrap() - 1;
    let path = format!("{CONFIG_MAPS}?watch=1&timeoutSeconds=1&resourceVersion={version}");
    let mut body = rig.answer("GET", &path, &[("accept", TABLE)], "").await.into_body();
    let mut events = Vec::new();
    while let Some(more) = frame(&mut body).await {
        events.extend(more);
    }
    let columns: Vec<bool> = events.iter().map(|event| event["object"]["columnDefinitions"].is_array()).collect();
    assert_eq!(columns, [true, false], "columns come once");
    assert_eq!(events[1]["object"]["rows"][0]["cells"][0], "b");
    let one = format!("/api/v1/watch/namespaces/default/configmaps/b?timeoutSeconds=1&resourceVersion={version}");
    let mut body = rig.answer("GET", &one, &[], "").await.into_body();
    let events = frame(&mut body).await.unwrap();
    assert_eq!((events.len(), &events[0]["object"]["metadata"]["name"]), (1, &json!("b")));
    assert_eq!(frame(&mut body).await, None, "without bookmarks it just ends");
}

#[tokio::test]
async fn discovery_and_openapi_are_known_again() {
    let rig = Rig::new().await;
    let (_, groups) = rig.get("/apis").await;
    assert_eq!(groups["groups"][0]["preferredVersion"]["groupVersion"], "conformance.example.com/v1");
    assert_eq!(rig.get("/api").await.1["versions"], json!(["v1"]));
    assert_eq!(rig.get("/version").await.1["major"], "1");
    let accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";
    let answer = rig.answer("GET", "/apis", &[("accept", accept)], "").await;
    let media_type = header(answer.headers(), "content-type");
    assert_eq!(media_type, "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
    let etag = header(answer.headers(), "etag");
    let again = rig.answer("GET", "/apis", &[("accept", accept), ("if-none-match", &etag)], "").await;
    assert_eq!(again.status(), 304);
    let (_, index) = rig.get("/openapi/v3").await;
    let url = index["paths"]["apis/conformance.example.com/v1"]["serverRelativeURL"].as_str().unwrap();
    let answer = rig.answer("GET", url, &[], "").await;
    assert_eq!(header(answer.headers(), "cache-control"), "public, immutable");
    assert!(header(answer.headers(), "expires").ends_with(" GMT"));
    let stale = rig.answer("GET", "/openapi/v3/apis/conformance.example.com/v1?hash=AB", &[], "").await;
    assert_eq!((stale.status().as_u16(), header(stale.headers(), "location").as_str()), (301, url));
    let protobuf = [("accept", "application/com.github.proto-openapi.spec.v2@v1.0+protobuf")];
    let answer = rig.answer("GET", "/openapi/v2", &protobuf, "").await;
    assert_eq!(
        header(answer.headers(), header::CONTENT_TYPE.as_str()),
        "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
    );
    assert_eq!(rig.answer("GET", "/openapi/v2", &[("accept", "text/html")], "").await.status(), 406);
}

#[tokio::test]
async fn openapi_lists_what_is_served_and_no_more() {
    let rig = Rig::new().await;
    let (_, document) = rig.get("/openapi/v3/apis/conformance.example.com/v1").await;
    let patch = &document["paths"]["/apis/conformance.example.com/v1/namespaces/{namespace}/widgets/{name}"]["patch"];
    let types: Vec<&String> = patch["requestBody"]["content"].as_object().unwrap().keys().collect();
    assert_eq!(types, ["application/json-patch+json", "application/merge-patch+json"]);
    let widget = &document["components"]["schemas"]["com.example.conformance.v1.Widget"];
    let gvk = json!([{"group": "conformance.example.com", "kind": "Widget", "version": "v1"}]);
    assert_eq!(widget["x-kubernetes-group-version-kind"], gvk);
    assert!(widget["properties"]["metadata"]["allOf"].is_array());
    let (_, v2) = rig.get("/openapi/v2").await;
    let paths = v2["paths"].as_object().unwrap();
    assert!(paths.contains_key("/api/v1/namespaces/{name}/finalize"));
    assert!(paths["/api/v1/namespaces"].get("delete").is_none(), "namespaces are not deleted as a collection");
    assert!(v2["definitions"].get("io.k8s.api.core.v1.ConfigMapList").is_some());
    let mut ids: Vec<&str> = Vec::new();
    for item in paths.values() {
        ids.extend(item.as_object().unwrap().values().filter_map(|operation| operation["operationId"].as_str()));
    }
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count, "operation ids are unique");
}

#[tokio::test]
async fn a_kind_that_comes_while_running_is_served() {
    let rig = Rig::new().await;
    assert_eq!(rig.get("/apis/late.example.com/v1").await.0, 404);
    let mut late = sample::widget();
    late.group_version.group = "late.example.com".to_owned();
    rig.0.app.api.registry.register(late).unwrap();
    assert_eq!(rig.get("/apis/late.example.com/v1").await.0, 200);
    assert_eq!(rig.get("/apis/late.example.com/v1/widgets").await.0, 200);
    assert_eq!(rig.get("/openapi/v3/apis/late.example.com/v1").await.0, 200);
}
