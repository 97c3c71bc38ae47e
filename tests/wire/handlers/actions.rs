//! Subresources with documents: actions, and values computed from the parent.

use std::sync::atomic::{AtomicUsize, Ordering};

use kindsmith::{
    Server,
    handlers::{NoOptions, Parent, Refusal, Result, Text, get, post, text},
    server::TestServer,
};
use serde_json::{Value, json};

use crate::kinds::{Book, Keeping, keep, keeping, lend, remove};

const BOOKS: &str = "/apis/handlers.example.com/v1/namespaces/default/books";

async fn server() -> TestServer {
    let server = Server::test().kind::<Book>().configure(|server| {
        server
            .subresource("lend", post(lend))
            .subresource("removal", post(remove))
            .subresource("keeping", get(keeping).put(keep))
    });
    server.start().await
}

async fn with_book(copies: i32) -> TestServer {
    let server = server().await;
    let book = json!({"metadata": {"name": "emma"}, "spec": {"copies": copies}});
    let (code, book) = server.call("POST", BOOKS, book).await;
    assert_eq!(code, 201, "{book}");
    server
}

fn at(subresource: &str) -> String {
    format!("{BOOKS}/emma/{subresource}")
}

async fn emma(server: &TestServer) -> Value {
    server.call("GET", &format!("{BOOKS}/emma"), Value::Null).await.1
}

fn loan(reader: &str) -> Value {
    json!({"apiVersion": "loans.example.com/v1beta1", "kind": "Loan", "spec": {"reader": reader}})
}

#[tokio::test]
async fn an_action_changes_its_parent_and_answers_with_its_own_kind() {
    let server = with_book(2).await;
    let (code, answer) = server.call("POST", &at("lend"), loan("ann")).await;
    assert_eq!(code, 201, "{answer}");
    let metadata = json!({"name": "emma", "namespace": "default"});
    let want = json!({
        "apiVersion": "loans.example.com/v1beta1", "kind": "Loan", "metadata": metadata,
        "spec": {"reader": "ann", "days": 14}, "status": {"left": 1},
    });
    assert_eq!(answer, want);
    let book = emma(&server).await;
    assert_eq!(book["status"]["readers"], json!(["ann"]));
    assert_eq!(book["metadata"]["generation"], 1, "what was wanted is as it was");
}

#[tokio::test]
async fn a_refusal_of_an_action_has_its_status_and_retry_after() {
    let server = with_book(1).await;
    assert_eq!(server.call("POST", &at("lend"), loan("ann")).await.0, 201);
    let (code, refusal) = server.call("POST", &at("lend"), loan("bob")).await;
    assert_eq!((code, &refusal["reason"]), (429, &json!("TooManyRequests")), "{refusal}");
    assert_eq!(refusal["details"]["retryAfterSeconds"], 60);
    assert_eq!(refusal["details"]["causes"], json!([{"reason": "NoCopies", "message": "come back later"}]));
    assert_eq!(emma(&server).await["status"]["readers"], json!(["ann"]));
}

#[tokio::test]
async fn bodies_of_actions_are_decoded_and_validated_like_objects() {
    let server = with_book(1).await;
    let (code, refusal) = server.call("POST", &at("lend"), loan("")).await;
    assert_eq!((code, &refusal["details"]["causes"][0]["field"]), (422, &json!("spec.reader")));
    let mut named = loan("ann");
    named["metadata"] = json!({"name": "other"});
    assert_eq!(server.call("POST", &at("lend"), named).await.0, 400, "the name is the parent's");
    let mut unknown = loan("ann");
    unknown["spec"]["shelf"] = json!(1);
    let strict = format!("{}?fieldValidation=Strict", at("lend"));
    assert_eq!(server.call("POST", &strict, unknown).await.0, 400);
    assert_eq!(server.call("POST", &at("lend"), json!({"kind": "Book"})).await.0, 422);
    let missing = at("lend").replace("emma", "nothing");
    let (code, refusal) = server.call("POST", &missing, loan("ann")).await;
    assert_eq!((code, &refusal["details"]["kind"]), (404, &json!("books")));
    assert_eq!(emma(&server).await.get("status"), None);
}

#[tokio::test]
async fn a_dry_run_of_an_action_stores_nothing() {
    let server = with_book(1).await;
    let (code, answer) = server.call("POST", &format!("{}?dryRun=All", at("lend")), loan("ann")).await;
    assert_eq!((code, &answer["status"]["left"]), (201, &json!(0)));
    assert_eq!(emma(&server).await.get("status"), None);
    let removal = json!({"reason": "torn"});
    assert_eq!(server.call("POST", &format!("{}?dryRun=All", at("removal")), removal).await.0, 201);
    assert_eq!(emma(&server).await["metadata"]["name"], "emma");
}

#[tokio::test]
async fn changes_that_lose_a_race_are_retried() {
    let server = with_book(16).await;
    let path = at("lend");
    let calls: Vec<_> = (0..16).map(|reader| server.call("POST", &path, loan(&format!("r{reader}")))).collect();
    let codes: Vec<u16> = join(calls).await.into_iter().map(|(code, _)| code).collect();
    assert_eq!(codes, [201; 16]);
    assert_eq!(emma(&server).await["status"]["readers"].as_array().map(Vec::len), Some(16));
}

#[tokio::test]
async fn patches_that_lose_a_race_are_retried() {
    let server = with_book(1).await;
    let path = at("keeping");
    for round in 0..10 {
        let patch = |writer: i32| json!({"keeper": format!("{round} {writer}")});
        let calls: Vec<_> = (0..8).map(|writer| server.call("PATCH", &path, patch(writer))).collect();
        let codes: Vec<u16> = join(calls).await.into_iter().map(|(code, _)| code).collect();
        assert_eq!(codes, [200; 8], "round {round}");
    }
    let stale = json!({"metadata": {"resourceVersion": "1"}, "keeper": "kim"});
    assert_eq!(server.call("PATCH", &path, stale).await.0, 409, "what a patch expects is no race");
}

#[tokio::test]
async fn a_conflict_that_a_handler_returns_is_not_retried() {
    static ASKED: AtomicUsize = AtomicUsize::new(0);
    async fn busy(_book: Parent<Book>, _keeping: Keeping) -> Result<Keeping> {
        ASKED.fetch_add(1, Ordering::Relaxed);
        Err(Refusal::conflict("the keeper is away"))
    }
    let server =
        Server::test().kind::<Book>().configure(|server| server.subresource("keeping", get(keeping).put(busy)));
    let server = server.start().await;
    server.call("POST", BOOKS, json!({"metadata": {"name": "emma"}, "spec": {"copies": 1}})).await;
    let (code, refusal) = server.call("PATCH", &at("keeping"), json!({"keeper": "kim"})).await;
    assert_eq!((code, ASKED.load(Ordering::Relaxed)), (409, 1), "{refusal}");
}

/// Awaits futures concurrently.
async fn join<F: Future>(futures: Vec<F>) -> Vec<F::Output> {
    let mut pinned: Vec<_> = futures.into_iter().map(Box::pin).collect();
    let mut done: Vec<Option<F::Output>> = pinned.iter().map(|_| None).collect();
    std::future::poll_fn(|cx| {
        for (future, done) in pinned.iter_mut().zip(&mut done) {
            if done.is_none()
                && let std::task::Poll::Ready(output) = future.as_mut().poll(cx)
            {
                *done = Some(output);
            }
        }
        if done.iter().all(Option::is_some) { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
    done.into_iter().flatten().collect()
}

#[tokio::test]
async fn an_action_without_an_answer_returns_success() {
    let server = with_book(1).await;
    let (code, refusal) = server.call("POST", &at("removal"), json!({})).await;
    assert_eq!(code, 403);
    let message = "books.handlers.example.com \"emma\" is forbidden: a removal needs a reason";
    assert_eq!(refusal["message"], message);
    let stale = json!({"metadata": {"uid": "another"}, "reason": "torn"});
    let (code, refusal) = server.call("POST", &at("removal"), stale).await;
    assert_eq!((code, &refusal["reason"]), (409, &json!("Conflict")), "{refusal}");
    let (code, status) = server.call("POST", &at("removal"), json!({"reason": "torn"})).await;
    assert_eq!((code, &status["kind"], &status["status"]), (201, &json!("Status"), &json!("Success")));
    assert_eq!(server.call("GET", &format!("{BOOKS}/emma"), Value::Null).await.0, 404);
}

#[tokio::test]
async fn values_computed_from_the_parent_are_read_written_and_patched() {
    let server = with_book(1).await;
    let (code, read) = server.call("GET", &at("keeping"), Value::Null).await;
    assert_eq!(code, 200, "{read}");
    let book = emma(&server).await;
    assert_eq!(read["kind"], "Keeping");
    for member in ["name", "namespace", "uid", "resourceVersion", "creationTimestamp"] {
        assert_eq!(read["metadata"][member], book["metadata"][member], "{member}");
    }
    let mut write = read.clone();
    write["keeper"] = json!("kim");
    let (code, written) = server.call("PUT", &at("keeping"), write.clone()).await;
    assert_eq!((code, &written["keeper"]), (200, &json!("kim")), "{written}");
    assert_eq!(emma(&server).await["metadata"]["generation"], 2);
    let (code, refusal) = server.call("PUT", &at("keeping"), write).await;
    assert_eq!((code, &refusal["reason"]), (409, &json!("Conflict")), "its resourceVersion is not the newest");
    let (code, patched) = server.call("PATCH", &at("keeping"), json!({"keeper": "lee"})).await;
    assert_eq!((code, &patched["keeper"]), (200, &json!("lee")), "{patched}");
    assert_eq!(emma(&server).await["spec"]["keeper"], "lee");
    let (code, refusal) = server.call("PATCH", &at("keeping"), json!({"keeper": "no one"})).await;
    assert_eq!(code, 422, "the parent's own validation has a say");
    assert!(refusal["message"].as_str().is_some_and(|m| m.contains("no one through keeping")), "{refusal}");
}

#[tokio::test]
async fn other_methods_are_refused_and_other_names_not_found() {
    let server = with_book(1).await;
    for (method, subresource) in [("GET", "lend"), ("PUT", "lend"), ("DELETE", "lend"), ("POST", "keeping")] {
        let body = if method == "GET" { Value::Null } else { json!({}) };
        assert_eq!(server.call(method, &at(subresource), body).await.0, 405, "{method} {subresource}");
    }
    assert_eq!(server.call("POST", &at("borrow"), json!({})).await.0, 404);
    assert_eq!(server.call("POST", &at("lend/again"), json!({})).await.0, 404);
}

#[tokio::test]
async fn discovery_names_the_kinds_and_verbs_of_subresources() {
    let server = server().await;
    let (_, list) = server.call("GET", "/apis/handlers.example.com/v1", Value::Null).await;
    let own: Vec<&Value> =
        list["resources"].as_array().expect("resources").iter().filter(|r| r["name"] != "books").collect();
    let want = json!([
        {"name": "books/status", "singularName": "", "namespaced": true, "kind": "Book", "verbs": ["get", "patch", "update"]},
        {"name": "books/lend", "singularName": "", "namespaced": true, "group": "loans.example.com",
         "version": "v1beta1", "kind": "Loan", "verbs": ["create"]},
        {"name": "books/removal", "singularName": "", "namespaced": true, "kind": "Removal", "verbs": ["create"]},
        {"name": "books/keeping", "singularName": "", "namespaced": true, "kind": "Keeping",
         "verbs": ["get", "patch", "update"]},
    ]);
    assert_eq!(json!(own), want);
    let (_, document) = server.call("GET", "/openapi/v3/apis/handlers.example.com/v1", Value::Null).await;
    let path = |name: &str| {
        &document["paths"][format!("/apis/handlers.example.com/v1/namespaces/{{namespace}}/books/{{name}}/{name}")]
    };
    let lend = &path("lend")["post"];
    assert_eq!(lend["x-kubernetes-action"], "post");
    let kind = json!({"group": "loans.example.com", "version": "v1beta1", "kind": "Loan"});
    assert_eq!(lend["x-kubernetes-group-version-kind"], kind);
    let schema = "#/components/schemas/com.example.loans.v1beta1.Loan";
    assert_eq!(lend["requestBody"]["content"]["application/json"]["schema"]["$ref"], schema);
    assert!(document["components"]["schemas"].get("com.example.loans.v1beta1.Loan").is_some());
    assert_eq!(lend["operationId"], "createHandlersExampleComV1NamespacedBookLend");
    let removal = &path("removal")["post"]["responses"]["201"]["content"]["application/json"]["schema"]["$ref"];
    assert!(removal.as_str().is_some_and(|name| name.ends_with("v1.Status")), "{removal}");
    let methods: Vec<&String> = path("keeping").as_object().expect("a path").keys().collect();
    assert_eq!(methods, ["get", "parameters", "patch", "put"]);
}

#[tokio::test]
async fn a_subresource_needs_a_kind_and_a_free_name() {
    let orphan = Server::test().configure(|server| server.subresource("lend", post(lend))).try_start().await;
    assert!(orphan.err().is_some_and(|error| error.to_string().contains("which is not served")));
    let taken = Server::test().kind::<Book>().configure(|server| server.subresource("status", post(lend)));
    assert!(taken.try_start().await.err().is_some_and(|error| error.to_string().contains("the name is taken")));
}

#[tokio::test]
async fn handlers_of_a_subresource_that_exclude_each_other_keep_the_server_from_starting() {
    let empty = |_: Parent<Book>, _: NoOptions| async { Ok(Text::written(|_| async { Ok(()) })) };
    for (subresource, why) in [
        (
            post(lend).post(lend),
            "books.handlers.example.com cannot have the subresource \"lend\": POST has two handlers",
        ),
        (
            text(empty).post(lend),
            "POST cannot be added: it is a stream or a connection; declare it as another subresource",
        ),
    ] {
        let server = Server::builder().memory().kind::<Book>().subresource("lend", subresource);
        let Err(error) = server.build().await else { panic!("it starts, although {why}") };
        assert!(error.to_string().contains(why), "{error}");
    }
}
