//! Virtual kinds: only POST, nothing stored, decoded and validated like any object.

use kindsmith::{Server, server::TestServer};
use serde_json::{Value, json};

use crate::kinds::{answer, review};

const REVIEWS: &str = "/apis/handlers.example.com/v1/loanreviews";
const QUESTIONS: &str = "/apis/handlers.example.com/v1/namespaces/default/questions";

async fn server() -> TestServer {
    Server::test().configure(|server| server.virtual_kind(review).virtual_kind(answer)).start().await
}

fn ask(spec: &Value) -> Value {
    json!({"apiVersion": "handlers.example.com/v1", "kind": "LoanReview", "spec": spec})
}

#[tokio::test]
async fn a_post_is_answered_with_the_object_and_its_status() {
    let server = server().await;
    let (code, answer) = server.call("POST", REVIEWS, ask(&json!({"books": 5}))).await;
    assert_eq!(code, 201, "{answer}");
    let want = json!({
        "apiVersion": "handlers.example.com/v1", "kind": "LoanReview", "metadata": {}, "spec": {"books": 5},
        "status": {"allowed": false, "user": "admin", "dryRun": false},
    });
    assert_eq!(answer, want);
    let (_, answer) = server.call("POST", &format!("{REVIEWS}?dryRun=All"), ask(&json!({}))).await;
    assert_eq!(answer["spec"], json!({"books": 1}), "defaults are filled in");
    assert_eq!(answer["status"], json!({"allowed": true, "user": "admin", "dryRun": true}));
}

#[tokio::test]
async fn an_invalid_object_is_refused_before_the_handler_runs() {
    let server = server().await;
    let (code, refusal) = server.call("POST", REVIEWS, ask(&json!({"books": 0}))).await;
    assert_eq!((code, &refusal["details"]["causes"][0]["field"]), (422, &json!("spec.books")), "{refusal}");
    let strict = format!("{REVIEWS}?fieldValidation=Strict");
    let (code, refusal) = server.call("POST", &strict, ask(&json!({"books": 1, "shelf": 2}))).await;
    assert_eq!(code, 400);
    assert!(refusal["message"].as_str().is_some_and(|m| m.contains("unknown field \"spec.shelf\"")), "{refusal}");
    let (code, _) = server.call("POST", REVIEWS, json!({"kind": "Question", "apiVersion": "v1"})).await;
    assert_eq!(code, 400);
}

#[tokio::test]
async fn a_handler_refuses_with_its_own_status() {
    let server = server().await;
    let (code, refusal) = server.call("POST", REVIEWS, ask(&json!({"mode": "refuse"}))).await;
    assert_eq!((code, &refusal["reason"]), (403, &json!("Forbidden")));
    let message = "loanreviews.handlers.example.com is forbidden: the library is closed";
    assert_eq!(refusal["message"], message);
    let (code, refusal) = server.call("POST", REVIEWS, ask(&json!({"mode": "invalid"}))).await;
    assert_eq!((code, &refusal["reason"]), (422, &json!("Invalid")));
    let (code, refusal) = server.call("POST", REVIEWS, ask(&json!({"mode": "panic"}))).await;
    assert_eq!((code, &refusal["reason"]), (500, &json!("InternalError")), "a panic is an answer, too");
}

#[tokio::test]
async fn only_post_is_allowed_and_nothing_is_stored() {
    let server = server().await;
    let named = json!({"metadata": {"name": "mine"}, "spec": {}});
    assert_eq!(server.call("POST", REVIEWS, named.clone()).await.0, 201);
    assert_eq!(server.call("POST", REVIEWS, named).await.0, 201, "a name is not taken by having been asked about");
    for (method, path) in [
        ("GET", REVIEWS.to_owned()),
        ("GET", format!("{REVIEWS}?watch=1")),
        ("GET", format!("{REVIEWS}/mine")),
        ("PUT", format!("{REVIEWS}/mine")),
        ("PATCH", format!("{REVIEWS}/mine")),
        ("DELETE", format!("{REVIEWS}/mine")),
        ("DELETE", REVIEWS.to_owned()),
    ] {
        let body = if method == "GET" { Value::Null } else { json!({}) };
        let (code, answer) = server.call(method, &path, body).await;
        assert_eq!((code, &answer["reason"]), (405, &json!("MethodNotAllowed")), "{method} {path}");
    }
    assert_eq!(server.call("GET", &format!("{REVIEWS}/mine/status"), Value::Null).await.0, 404);
}

#[tokio::test]
async fn a_virtual_kind_may_live_in_namespaces() {
    let server = server().await;
    let (code, answer) = server.call("POST", QUESTIONS, json!({})).await;
    assert_eq!(code, 201, "{answer}");
    assert_eq!(answer["answer"], "asked in default");
    assert_eq!(answer["metadata"], json!({"namespace": "default"}));
    let missing = QUESTIONS.replace("default", "nowhere");
    assert_eq!(server.call("POST", &missing, json!({})).await.0, 404);
    let across = "/apis/handlers.example.com/v1/questions";
    assert_eq!(server.call("POST", across, json!({})).await.0, 405);
}

#[tokio::test]
async fn discovery_and_openapi_include_virtual_kinds() {
    let server = server().await;
    let (_, list) = server.call("GET", "/apis/handlers.example.com/v1", Value::Null).await;
    let want = json!([
        {"name": "loanreviews", "singularName": "loanreview", "namespaced": false, "kind": "LoanReview", "verbs": ["create"]},
        {"name": "questions", "singularName": "question", "namespaced": true, "kind": "Question", "verbs": ["create"]},
    ]);
    assert_eq!(list["resources"], want);
    let (_, document) = server.call("GET", "/openapi/v3/apis/handlers.example.com/v1", Value::Null).await;
    let path = document["paths"][REVIEWS].as_object().expect("a path");
    assert_eq!(path.keys().collect::<Vec<_>>(), ["parameters", "post"]);
    assert_eq!(path["post"]["x-kubernetes-action"], "post");
    let schemas = document["components"]["schemas"].as_object().expect("schemas");
    assert!(schemas.contains_key("com.example.handlers.v1.LoanReview"));
    assert!(!schemas.contains_key("com.example.handlers.v1.LoanReviewList"));
    assert!(document["paths"].get(format!("{REVIEWS}/{{name}}")).is_none());
}
