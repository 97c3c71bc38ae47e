//! The library, served inside a test: a free port, a memory store, gone at the end.

use kindsmith::Server;
use kindsmith::server::TestServer;
use library::{Book, Shelf};
use serde_json::{Value, json};

const BOOKS: &str = "/apis/library.example.com/v1/namespaces/default/books";

async fn library() -> TestServer {
    Server::test().kind::<Book>().kind::<Shelf>().start().await
}

fn moby_dick() -> Value {
    json!({"metadata": {"name": "moby-dick"}, "spec": {"author": "Herman Melville"}})
}

#[tokio::test]
async fn a_book_gets_its_defaults_and_is_found_by_its_genre() {
    let library = library().await;
    let (status, book) = library.call("POST", BOOKS, moby_dick()).await;
    assert_eq!(status, 201, "{book}");
    assert_eq!(book["spec"], json!({"author": "Herman Melville", "genre": "Fiction", "copies": 1}));
    let (_, fiction) = library.call("GET", &format!("{BOOKS}?fieldSelector=spec.genre%3DFiction"), Value::Null).await;
    assert_eq!(fiction["items"].as_array().map(Vec::len), Some(1));
    let (_, poetry) = library.call("GET", &format!("{BOOKS}?fieldSelector=spec.genre%3DPoetry"), Value::Null).await;
    assert_eq!(poetry["items"].as_array().map(Vec::len), Some(0));
}

#[tokio::test]
async fn what_the_declaration_forbids_is_refused_field_by_field() {
    let library = library().await;
    let bad = json!({"metadata": {"name": "bad"}, "spec": {"author": "", "genre": "Crime", "copies": -1}});
    let (status, refusal) = library.call("POST", BOOKS, bad).await;
    assert_eq!(status, 422);
    let causes = refusal["details"]["causes"].as_array().expect("it says why");
    let mut fields: Vec<&str> = causes.iter().filter_map(|cause| cause["field"].as_str()).collect();
    fields.sort_unstable();
    assert_eq!(fields, ["spec.author", "spec.copies", "spec.genre"]);
    let twice =
        json!({"metadata": {"name": "twice"}, "spec": {"author": "A", "chapters": [{"name": "x"}, {"name": "x"}]}});
    let (status, refusal) = library.call("POST", BOOKS, twice).await;
    assert_eq!((status, &refusal["details"]["causes"][0]["reason"]), (422, &json!("FieldValueDuplicate")));
}

#[tokio::test]
async fn status_and_scale_are_written_apart_from_the_rest() {
    let library = library().await;
    library.call("POST", BOOKS, moby_dick()).await;
    let book = format!("{BOOKS}/moby-dick");
    let both = json!({"spec": {"copies": 9}, "status": {"copies": 2}});
    let (_, after) = library.call("PATCH", &format!("{book}/status"), both.clone()).await;
    assert_eq!((&after["spec"]["copies"], &after["status"]["copies"]), (&json!(1), &json!(2)));
    let (_, after) = library.call("PATCH", &book, both).await;
    assert_eq!((&after["spec"]["copies"], &after["metadata"]["generation"]), (&json!(9), &json!(2)));
    let (_, scaled) = library.call("PATCH", &format!("{book}/scale"), json!({"spec": {"replicas": 4}})).await;
    assert_eq!((&scaled["kind"], &scaled["spec"]["replicas"]), (&json!("Scale"), &json!(4)));
    let (_, after) = library.call("GET", &book, Value::Null).await;
    assert_eq!(after["spec"]["copies"], 4);
}

#[tokio::test]
async fn shelves_belong_to_no_namespace() {
    let library = library().await;
    let shelf = json!({"metadata": {"name": "north"}, "spec": {"room": "Reading room"}});
    let (status, _) = library.call("POST", "/apis/library.example.com/v1/shelves", shelf).await;
    assert_eq!(status, 201);
    let (status, _) = library.call("GET", "/apis/library.example.com/v1/namespaces/default/shelves", Value::Null).await;
    assert_eq!(status, 404);
}
