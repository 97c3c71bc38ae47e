//! Tests of the library, served inside the test on a free port with a memory store.

use kindsmith::server::TestServer;
use kindsmith::{Server, client::WatchEvent, meta::options::ListOptions};
use library::Book;
use serde_json::{Value, json};

const BOOKS: &str = "/apis/library.example.com/v1/namespaces/default/books";

async fn library() -> TestServer {
    Server::test().configure(library::serve).start().await
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
async fn invalid_fields_are_refused_with_a_cause_each() {
    let library = library().await;
    let bad = json!({"metadata": {"name": "bad"}, "spec": {"author": "", "genre": "Crime", "copies": -1}});
    let (status, refusal) = library.call("POST", BOOKS, bad).await;
    assert_eq!(status, 422);
    let causes = refusal["details"]["causes"].as_array().expect("causes");
    let mut fields: Vec<&str> = causes.iter().filter_map(|cause| cause["field"].as_str()).collect();
    fields.sort_unstable();
    // As in kube-apiserver, the first says that a Scale cannot have so many replicas, and the second that rules were not checked, because
    // the genre is none of the enumeration.
    assert_eq!(fields, [".spec.copies", "<nil>", "spec.author", "spec.copies", "spec.genre"]);
    let twice =
        json!({"metadata": {"name": "twice"}, "spec": {"author": "A", "chapters": [{"name": "x"}, {"name": "x"}]}});
    let (status, refusal) = library.call("POST", BOOKS, twice).await;
    assert_eq!((status, &refusal["details"]["causes"][0]["reason"]), (422, &json!("FieldValueDuplicate")));
}

#[tokio::test]
async fn a_book_without_copies_stands_on_no_shelf() {
    let library = library().await;
    let mut book = moby_dick();
    book["spec"]["shelf"] = json!("north");
    library.call("POST", BOOKS, book).await;
    let none = json!({"spec": {"copies": 0}});
    let (status, refusal) = library.call("PATCH", &format!("{BOOKS}/moby-dick"), none).await;
    let cause = json!({"reason": "FieldValueForbidden", "field": "spec.shelf",
        "message": "Forbidden: a book without copies stands on no shelf"});
    assert_eq!((status, &refusal["details"]["causes"]), (422, &json!([cause])));
    let none = json!({"spec": {"copies": 0, "shelf": null}});
    assert_eq!(library.call("PATCH", &format!("{BOOKS}/moby-dick"), none).await.0, 200);
}

#[tokio::test]
async fn more_copies_than_the_library_buys_are_refused_in_each_way_to_ask_for_them() {
    let library = library().await;
    library.call("POST", BOOKS, moby_dick()).await;
    let many = json!({"spec": {"copies": 1_001}});
    let (status, refusal) = library.call("PATCH", &format!("{BOOKS}/moby-dick"), many.clone()).await;
    let cause = json!({"reason": "FieldValueInvalid", "field": "spec.copies",
        "message": "Invalid value: 1001: the library buys at most 1000 copies of a book"});
    assert_eq!((status, &refusal["details"]["causes"]), (422, &json!([cause])));
    let beta = "/apis/library.example.com/v1beta1/namespaces/default/books/moby-dick";
    assert_eq!(library.call("PATCH", beta, many).await.0, 422);
    let replicas = json!({"spec": {"replicas": 1_001}});
    assert_eq!(library.call("PATCH", &format!("{BOOKS}/moby-dick/scale"), replicas).await.0, 422);
}

#[tokio::test]
async fn status_and_scale_are_written_separately() {
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
async fn shelves_are_cluster_scoped() {
    let library = library().await;
    let shelf = json!({"metadata": {"name": "north"}, "spec": {"room": "Reading room"}});
    let (status, _) = library.call("POST", "/apis/library.example.com/v1/shelves", shelf).await;
    assert_eq!(status, 201);
    let (status, _) = library.call("GET", "/apis/library.example.com/v1/namespaces/default/shelves", Value::Null).await;
    assert_eq!(status, 404);
}

fn loan(reader: &str) -> Value {
    json!({"spec": {"reader": reader}})
}

#[tokio::test]
async fn copies_are_lent_until_none_is_left_and_are_returned() {
    let library = library().await;
    let two = json!({"metadata": {"name": "moby-dick"}, "spec": {"author": "Herman Melville", "copies": 2}});
    library.call("POST", BOOKS, two).await;
    let (lend, give_back) = (format!("{BOOKS}/moby-dick/lend"), format!("{BOOKS}/moby-dick/return"));
    for (reader, left) in [("ahab", 1), ("ishmael", 0)] {
        let (code, answer) = library.call("POST", &lend, loan(reader)).await;
        assert_eq!((code, &answer["kind"], &answer["status"]["left"]), (201, &json!("Loan"), &json!(left)));
    }
    let (code, refusal) = library.call("POST", &lend, loan("queequeg")).await;
    assert_eq!((code, &refusal["reason"]), (409, &json!("Conflict")));
    assert!(refusal["message"].as_str().is_some_and(|m| m.ends_with("all copies are lent")), "{refusal}");
    assert_eq!(library.call("POST", &give_back, loan("starbuck")).await.0, 409);
    let (code, status) = library.call("POST", &give_back, loan("ahab")).await;
    assert_eq!((code, &status["status"]), (201, &json!("Success")));
    let (_, log) = library.call("GET", &format!("{BOOKS}/moby-dick/log"), Value::Null).await;
    assert_eq!(log, "moby-dick: 1 left; lent to [\"ishmael\"]\n");
}

#[tokio::test]
async fn a_review_changes_nothing() {
    let library = library().await;
    library.call("POST", BOOKS, moby_dick()).await;
    let reviews = BOOKS.replace("books", "loanreviews");
    let ask = |book: &str| json!({"spec": {"book": book, "reader": "ahab"}});
    let (code, answer) = library.call("POST", &reviews, ask("moby-dick")).await;
    assert_eq!((code, &answer["status"]), (201, &json!({"allowed": true})));
    library.call("POST", &format!("{BOOKS}/moby-dick/lend"), loan("ahab")).await;
    let (_, answer) = library.call("POST", &reviews, ask("moby-dick")).await;
    assert_eq!(answer["status"], json!({"allowed": false, "reason": "ahab already has a copy"}));
    assert_eq!(library.call("POST", &reviews, ask("typee")).await.0, 404);
}

#[test]
fn the_handlers_in_the_guide_are_those_of_the_example() {
    let page = include_str!("../../../runtime/docs/subresources.md");
    let (_, section) = page.split_once("\n## Answer with code\n").expect("the page shows handlers");
    let shown = section.split("```").nth(1).and_then(|block| block.strip_prefix("rust\n")).expect("a block of code");
    let handlers: Vec<_> = shown.split("\n\n").filter(|item| item.contains("async fn ")).collect();
    assert_eq!(handlers.len(), 2, "{shown}");
    for handler in handlers {
        assert!(include_str!("../src/lending.rs").contains(handler), "not in the example:\n{handler}");
    }
}

#[tokio::test]
async fn a_book_is_watched_from_its_state_to_its_end() {
    let library = library().await;
    library.call("POST", BOOKS, moby_dick()).await;
    let book = format!("{BOOKS}/moby-dick");
    let books = library.client().of::<Book>("default");
    let mut events = books.watch(&ListOptions::named("moby-dick")).await.expect("it is there");
    library.call("POST", &format!("{book}/lend"), loan("ahab")).await;
    library.call("POST", BOOKS, json!({"metadata": {"name": "another"}, "spec": {"author": "A"}})).await;
    library.call("POST", &format!("{book}/return"), loan("ahab")).await;
    library.call("DELETE", &book, Value::Null).await;
    let mut lent = Vec::new();
    let last = loop {
        match events.next().await.expect("an event").expect("no error") {
            WatchEvent::Added(book) | WatchEvent::Modified(book) => {
                lent.push(book.status.map_or(0, |status| status.readers.len()));
            }
            other => break other,
        }
    };
    assert_eq!(lent, [0, 1, 0]);
    assert!(matches!(last, WatchEvent::Deleted(_)), "{last:?}");
}

#[tokio::test]
async fn a_book_is_readable_in_both_of_its_versions() {
    let library = library().await;
    let older = BOOKS.replace("v1", "v1beta1");
    let typee = json!({"metadata": {"name": "typee"}, "spec": {"writer": "Herman Melville"}});
    let (status, book) = library.call("POST", &older, typee).await;
    assert_eq!((status, &book["apiVersion"]), (201, &json!("library.example.com/v1beta1")), "{book}");
    let shelved = json!({"spec": {"author": "H. Melville", "shelf": "north"}});
    let (_, book) = library.call("PATCH", &format!("{BOOKS}/typee"), shelved).await;
    let spec = json!({"author": "H. Melville", "genre": "Fiction", "copies": 1, "shelf": "north"});
    assert_eq!((&book["apiVersion"], &book["spec"]), (&json!("library.example.com/v1"), &spec));

    let (_, book) = library.call("GET", &format!("{older}/typee"), Value::Null).await;
    assert_eq!(book["spec"], json!({"writer": "H. Melville", "genre": "Fiction", "copies": 1}));
    assert_eq!(book["metadata"]["annotations"], json!({"library.example.com/v1.spec.shelf": "\"north\""}));
    let (_, scaled) = library.call("PATCH", &format!("{older}/typee/scale"), json!({"spec": {"replicas": 4}})).await;
    assert_eq!(scaled["spec"]["replicas"], 4, "{scaled}");
    let (_, found) =
        library.call("GET", &format!("{older}?fieldSelector=spec.writer%3DH.%20Melville"), Value::Null).await;
    assert_eq!(found["items"][0]["spec"]["copies"], 4);
    let (_, book) = library.call("GET", &format!("{BOOKS}/typee"), Value::Null).await;
    assert_eq!((&book["spec"]["copies"], &book["spec"]["shelf"]), (&json!(4), &json!("north")));
    assert_eq!(book["metadata"].get("annotations"), None, "{book}");
}
