//! Authorization of handlers, size limits, and connections in discovery and OpenAPI.

use std::sync::{Arc, Mutex};

use kindsmith::{
    Server,
    auth::{Attributes, Authorize, Decision, Soon, User},
    handlers::{get, post},
    server::TestServer,
};
use serde_json::{Value, json};

use crate::{
    kinds::{Book, keep, keeping, lend, review},
    pod::PODS,
    socket::{Message, Socket},
};

const BOOKS: &str = "/apis/handlers.example.com/v1/namespaces/default/books";

/// Allows the listed requests, and records all.
#[derive(Clone, Default)]
struct Asked {
    seen: Arc<Mutex<Vec<String>>>,
    forbidden: Option<&'static str>,
}

impl Asked {
    /// The recorded requests about handlers since the last call.
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.seen.lock().expect("no holder of the lock panicked"))
    }
}

impl Authorize for Asked {
    fn authorize<'a>(&'a self, of: &'a Attributes<'a>) -> Soon<'a, Decision> {
        let Attributes { verb, group, resource, subresource, namespace, name, .. } = of;
        let asked = format!("{verb} {group}/{resource}/{subresource} {namespace}/{name}");
        let forbidden = self.forbidden == Some(asked.as_str());
        self.seen.lock().expect("no holder of the lock panicked").push(asked);
        Soon::now(if forbidden { Decision::NO_OPINION } else { Decision::ALLOW })
    }
}

async fn server(asked: &Asked) -> TestServer {
    let server = Server::test().kind::<Book>().configure(|server| {
        let server = pod_server::serve(server).authorizer(asked.clone()).virtual_kind(review);
        server.subresource("lend", post(lend)).subresource("keeping", get(keeping).put(keep))
    });
    let server = server.start().await;
    let book = json!({"metadata": {"name": "emma"}, "spec": {"copies": 9}});
    assert_eq!(server.call("POST", BOOKS, book).await.0, 201);
    let pod = json!({"metadata": {"name": "one"}, "spec": {"containers": [{"name": "main"}]}});
    assert_eq!(server.call("POST", PODS, pod).await.0, 201);
    server
}

#[tokio::test(flavor = "multi_thread")]
async fn the_subresource_itself_is_authorized() {
    let asked = Asked::default();
    let server = server(&asked).await;
    asked.take();
    let loan = json!({"spec": {"reader": "ann"}});
    for (method, path, body, want) in [
        ("POST", format!("{BOOKS}/emma/lend"), loan, "create handlers.example.com/books/lend default/emma"),
        ("GET", format!("{BOOKS}/emma/keeping"), Value::Null, "get handlers.example.com/books/keeping default/emma"),
        ("PUT", format!("{BOOKS}/emma/keeping"), json!({}), "update handlers.example.com/books/keeping default/emma"),
        ("PATCH", format!("{BOOKS}/emma/keeping"), json!({}), "patch handlers.example.com/books/keeping default/emma"),
        ("GET", format!("{PODS}/one/log"), Value::Null, "get /pods/log default/one"),
        (
            "POST",
            "/apis/handlers.example.com/v1/loanreviews".to_owned(),
            json!({"spec": {}}),
            "create handlers.example.com/loanreviews/ /",
        ),
    ] {
        let (code, answer) = server.call_as(&User::new("ann", &[]), method, &path, body).await;
        assert!(code < 300, "{method} {path}: {code} {answer}");
        assert_eq!(asked.take(), [want], "{method} {path}: the handler's own changes are not authorized");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn connecting_with_get_needs_permission_to_create() {
    let asked = Asked { forbidden: Some("create /pods/exec default/one"), ..Asked::default() };
    let server = server(&asked).await;
    asked.take();
    let path = format!("{PODS}/one/exec?command=true&stdout=1");
    // Authorizers are not asked about the admin.
    let speaking = [("sec-websocket-protocol", "v5.channel.k8s.io"), ("impersonate-user", "ann")];
    let (code, body) = Socket::open(&server, &path, &speaking).await.err().expect("a refusal");
    assert_eq!(code, 403, "{body}");
    assert!(body.contains("cannot create resource \\\"pods/exec\\\" in API group \\\"\\\""), "{body}");
    assert_eq!(asked.take(), ["get /pods/exec default/one", "create /pods/exec default/one"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn bodies_and_messages_have_limits() {
    let server = server(&Asked::default()).await;
    let huge = json!({"spec": {"reader": "x".repeat(4 << 20)}});
    for path in [format!("{BOOKS}/emma/lend"), "/apis/handlers.example.com/v1/loanreviews".to_owned()] {
        let (code, refusal) = server.call("POST", &path, huge.clone()).await;
        assert_eq!((code, &refusal["reason"]), (413, &json!("RequestEntityTooLarge")), "{path}");
    }
    let path = format!("{PODS}/one/exec?command=cat&stdin=1&stdout=1");
    let mut socket = Socket::speaking(&server, &path, "v5.channel.k8s.io").await;
    socket.offer(Message::Binary(vec![0; 2 << 20].into())).await;
    let [_, out, ..] = socket.channels().await;
    assert!(out.is_empty(), "{} bytes of a message that is too large", out.len());
    assert_eq!(server.call("GET", &format!("{PODS}/one/log"), Value::Null).await.0, 200, "and nothing else is harmed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_handler_that_does_not_read_blocks_its_client() {
    let server = server(&Asked::default()).await;
    let path = format!("{PODS}/one/exec?command=forever&stdin=1&stdout=1");
    let mut socket = Socket::speaking(&server, &path, "v5.channel.k8s.io").await;
    let (mut sent, piece) = (0, vec![0; 32 << 10]);
    let flood = async {
        loop {
            socket.write(0, &piece).await;
            sent += piece.len();
        }
    };
    let held = tokio::time::timeout(std::time::Duration::from_secs(2), flood).await;
    assert!(held.is_err(), "it goes on and on");
    assert!(sent < 32 << 20, "{sent} bytes were accepted without a reader");
}

#[tokio::test(flavor = "multi_thread")]
async fn discovery_and_openapi_include_connections() {
    let server = server(&Asked::default()).await;
    let (_, list) = server.call("GET", "/api/v1", Value::Null).await;
    let of = |name: &str| list["resources"].as_array().expect("resources").iter().find(|r| r["name"] == name).cloned();
    let want = json!({"name": "pods/exec", "singularName": "", "namespaced": true, "kind": "ExecOptions",
                      "verbs": ["create", "get"]});
    assert_eq!(of("pods/exec"), Some(want));
    let want = json!({"name": "pods/log", "singularName": "", "namespaced": true, "kind": "Pod", "verbs": ["get"]});
    assert_eq!(of("pods/log"), Some(want));
    for (document, reference) in [("/openapi/v2", "#/definitions/"), ("/openapi/v3/api/v1", "#/components/schemas/")] {
        let (_, document) = server.call("GET", document, Value::Null).await;
        let path = |name: &str| &document["paths"][format!("/api/v1/namespaces/{{namespace}}/pods/{{name}}/{name}")];
        for method in ["get", "post"] {
            let operation = &path("exec")[method];
            assert_eq!(operation["x-kubernetes-action"], "connect", "{reference}: {operation}");
            assert_eq!(operation["x-kubernetes-group-version-kind"]["kind"], "ExecOptions");
        }
        assert_eq!(path("exec")["get"]["operationId"], "connectCoreV1GetNamespacedPodExec");
        let parameters = path("exec")["parameters"].as_array().expect("parameters");
        let names: Vec<_> = parameters.iter().filter_map(|parameter| parameter["name"].as_str()).collect();
        for name in ["command", "container", "stdin", "stdout", "stderr", "tty"] {
            assert!(names.contains(&name), "{name} is not among {names:?}");
        }
        assert_eq!(path("log")["get"]["x-kubernetes-action"], "get");
        assert!(path("log")["post"].is_null());
    }
    let (_, document) = server.call("GET", "/openapi/v2", Value::Null).await;
    let lend = &document["paths"]["/apis/handlers.example.com/v1/namespaces/{namespace}/books/{name}/lend"]["post"];
    let body =
        lend["parameters"].as_array().and_then(|given| given.iter().find(|p| p["in"] == "body")).expect("a body");
    assert_eq!(body["schema"]["$ref"], "#/definitions/com.example.loans.v1beta1.Loan");
    let review = &document["paths"]["/apis/handlers.example.com/v1/loanreviews"];
    assert_eq!(review["post"]["x-kubernetes-group-version-kind"]["kind"], "LoanReview");
    assert!(review["get"].is_null() && document["definitions"]["com.example.handlers.v1.LoanReviewList"].is_null());
}
