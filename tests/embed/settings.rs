//! What the builder reaches: layers, health checks, the version, limits, admission, the transformer, no built-in kinds.

use std::sync::atomic::{AtomicBool, Ordering};

use axum::{extract::Request, middleware, response::Response};
use bytes::Bytes;
use kindsmith::{
    ApiType, ObjectMeta, Resource, Server,
    admission::{Admission, Attributes},
    auth::User,
    builtin::Namespace,
    handlers::{self, Refusal},
    server::{Builder, TestServer, Transformer},
};
use kindsmith_tests::Client;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A thing in a namespace.
#[derive(Resource, Clone, Debug)]
#[resource(group = "embed.example.com", version = "v1")]
pub(crate) struct Thing {
    pub metadata: ObjectMeta,
    pub spec: ThingSpec,
}

/// What is wanted of it.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ThingSpec {
    pub size: i32,
}

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

async fn server(configure: impl FnOnce(Builder) -> Builder) -> TestServer {
    Server::test().configure(configure).start().await
}

/// A layer that knows who asks by a header of the application's own.
async fn gateway(mut request: Request, next: middleware::Next) -> Response {
    if request.headers().get("x-application-user").is_some_and(|user| user == "ada") {
        request.extensions_mut().insert(std::sync::Arc::new(User::new("ada", &[User::MASTERS])));
    }
    let mut answer = next.run(request).await;
    answer.headers_mut().append("x-layer", "inner".parse().expect("a header"));
    answer
}

async fn outer(request: Request, next: middleware::Next) -> Response {
    let mut answer = next.run(request).await;
    answer.headers_mut().append("x-layer", "outer".parse().expect("a header"));
    answer
}

#[tokio::test]
async fn layers_are_around_every_answer_and_may_say_who_asks() {
    let layers = |server: Builder| server.layer(middleware::from_fn(gateway)).layer(middleware::from_fn(outer));
    let server = server(layers).await;
    let mut client = Client::new(server.url(), "");
    for (user, status) in [("ada", 200), ("bob", 403)] {
        let request = hyper::Request::get(MAPS).header("host", "x").header("x-application-user", user);
        let answer = client.send(request.body(http_body_util::Full::default()).expect("a request")).await;
        let answer = answer.expect("an answer");
        assert_eq!(answer.status, status, "{user}");
        let layers: Vec<_> = answer.headers.get_all("x-layer").iter().collect();
        assert_eq!(layers, ["inner", "outer"], "the last layer is the outermost");
    }
}

static WELL: AtomicBool = AtomicBool::new(true);

#[tokio::test]
async fn health_has_the_named_checks_of_the_builder() {
    let server = server(|server| {
        let server = server.health_check("database", || WELL.load(Ordering::SeqCst));
        server.readiness_check("peers", || false)
    });
    let server = server.await;
    let get = async |path: &str| server.call("GET", path, Value::Null).await;
    assert_eq!(get("/livez/database").await, (200, "ok".into()));
    assert_eq!(get("/livez").await.0, 200);
    assert_eq!(get("/readyz").await.0, 500);
    WELL.store(false, Ordering::SeqCst);
    let (status, text) = get("/livez").await;
    assert_eq!(status, 500);
    assert!(text.as_str().expect("text").contains("[-]database failed"), "{text}");
    for name in ["", "store", "ping", "shutdown", "a/b"] {
        let build = Server::builder().memory().health_check(name, || true).build().await;
        let error = build.err().expect("no such name").to_string();
        assert!(error.contains(&format!("{name:?}")), "{error}");
    }
}

#[tokio::test]
async fn the_version_is_the_builders() {
    let server = server(|server| server.version("v1.33.0+library-2.1")).await;
    let version = server.call("GET", "/version", Value::Null).await.1;
    let said = [&version["major"], &version["minor"], &version["gitVersion"]];
    assert_eq!(said, ["1", "33", "v1.33.0+library-2.1"]);
    let error = Server::builder().memory().version("library-2.1").build().await.err().expect("no numbers").to_string();
    assert!(error.contains("\"library-2.1\"") && error.contains("v1.33.0"), "{error}");
}

#[tokio::test]
async fn requests_have_the_limits_of_the_builder() {
    let limited = |server: Builder| {
        server.limits(|limits| {
            limits.requests.body_bytes = 1_000;
            limits.requests.writes_in_flight = 0;
        })
    };
    let server = server(limited).await;
    assert_eq!(server.call("GET", MAPS, Value::Null).await.0, 200);
    assert_eq!(server.call("POST", MAPS, json!({"metadata": {"name": "a"}})).await.0, 429);
    let server = self::server(|server| server.limits(|limits| limits.requests.body_bytes = 1_000)).await;
    let large = json!({"metadata": {"name": "a"}, "data": {"k": "x".repeat(1_000)}});
    assert_eq!(server.call("POST", MAPS, large).await.0, 413);
}

/// Lets no object be called "forbidden".
struct Names;

impl Admission for Names {
    async fn validate(&self, attributes: &Attributes<'_>, _: &Value) -> handlers::Result<()> {
        if attributes.name == "forbidden" {
            return Err(Refusal::bad_request("that name is forbidden"));
        }
        Ok(())
    }
}

#[tokio::test]
async fn admission_of_the_builder_is_asked() {
    let server = server(|server| server.admission(Names)).await;
    assert_eq!(server.call("POST", MAPS, json!({"metadata": {"name": "allowed"}})).await.0, 201);
    let (status, refusal) = server.call("POST", MAPS, json!({"metadata": {"name": "forbidden"}})).await;
    assert_eq!((status, &refusal["message"]), (400, &"that name is forbidden".into()));
}

/// Turns every bit around.
struct Inverted;

impl Transformer for Inverted {
    fn seal(&self, _: &str, record: Vec<u8>) -> Result<Vec<u8>, String> {
        Ok(record.into_iter().map(|byte| !byte).collect())
    }

    fn open(&self, _: &str, stored: &Bytes) -> Result<Bytes, String> {
        Ok(stored.iter().map(|byte| !byte).collect())
    }
}

#[tokio::test]
async fn objects_are_stored_through_the_transformer() {
    let folder = kindsmith_tests::Folder::new("embed");
    let data = folder.path().join("data");
    let start = || Server::test().data_dir(&data).configure(|server| server.transformer(Inverted)).start();
    let secret = "correct horse battery staple";
    let first = start().await;
    let map = json!({"metadata": {"name": "a"}, "data": {"password": secret}});
    assert_eq!(first.call("POST", MAPS, map).await.0, 201);
    first.stop();
    let stored = std::fs::read(data.join("store.redb")).expect("a store");
    assert!(!stored.windows(secret.len()).any(|window| window == secret.as_bytes()), "it is not there in the clear");
    let second = start().await;
    assert_eq!(second.call("GET", &format!("{MAPS}/a"), Value::Null).await.1["data"]["password"], secret);
}

#[tokio::test]
async fn without_the_built_in_kinds_namespaces_are_names() {
    let server = server(|server| server.without_builtins().kind::<Thing>()).await;
    let things = "/apis/embed.example.com/v1/namespaces/anywhere/things";
    let thing = json!({"metadata": {"name": "a"}, "spec": {"size": 1}});
    assert_eq!(server.call("POST", things, thing.clone()).await.0, 201);
    assert_eq!(server.call("POST", "/apis/embed.example.com/v1/namespaces/No!/things", thing).await.0, 422);
    assert_eq!(
        server.call("GET", "/apis/embed.example.com/v1/things", Value::Null).await.1["items"][0]["metadata"]["name"],
        "a"
    );
    assert_eq!(server.call("GET", "/api/v1/namespaces", Value::Null).await.0, 404);
    let (status, core) = server.call("GET", "/api", Value::Null).await;
    assert_eq!((status, &core["kind"]), (200, &"APIVersions".into()), "{core}");
    let groups = server.call("GET", "/apis", Value::Null).await.1;
    let names: Vec<&Value> = groups["groups"].as_array().expect("groups").iter().map(|group| &group["name"]).collect();
    assert_eq!(names, ["embed.example.com"]);
    for path in ["/openapi/v3", "/openapi/v2", "/readyz"] {
        assert_eq!(server.call("GET", path, Value::Null).await.0, 200, "{path}");
    }
}

#[tokio::test]
async fn namespaces_alone_can_be_served_and_have_a_life() {
    let server = server(|server| server.without_builtins().kind::<Namespace>().kind::<Thing>()).await;
    let thing = json!({"metadata": {"name": "a"}, "spec": {"size": 1}});
    let things = |namespace: &str| format!("/apis/embed.example.com/v1/namespaces/{namespace}/things");
    assert_eq!(server.call("POST", &things("default"), thing.clone()).await.0, 201);
    assert_eq!(server.call("POST", &things("anywhere"), thing).await.0, 404);
    assert_eq!(server.call("GET", MAPS, Value::Null).await.0, 404, "no other built-in kind is served");
}
