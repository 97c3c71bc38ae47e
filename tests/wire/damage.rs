//! A server with a damaged store: its answer for the damaged object, and that it serves the others.

use std::{fs, path::Path};

use kindsmith::Server;
use kindsmith_tests::{Client, Folder};
use serde_json::json;

const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";

/// Flips a bit of a text in the store's file, wherever it is.
fn spoil(data: &Path, text: &str) {
    let file = data.join("store.redb");
    let mut bytes = fs::read(&file).expect("the store's file");
    let mut spoilt = 0;
    for at in 0..bytes.len() - text.len() {
        if bytes[at..].starts_with(text.as_bytes()) {
            bytes[at] ^= 1;
            spoilt += 1;
        }
    }
    assert!(spoilt > 0, "the file does not hold {text:?}");
    fs::write(&file, bytes).expect("the file takes it back");
}

#[tokio::test]
async fn a_damaged_object_is_reported_and_can_be_deleted_while_others_are_served() {
    let folder = Folder::new("damage");
    let start = || Server::test().data_dir(folder.path()).start();
    let server = start().await;
    let mut client = Client::new(server.url(), server.token());
    for name in ["a", "b", "c"] {
        let object = json!({"metadata": {"name": name}, "data": {"text": format!("the text of object {name}")}});
        assert_eq!(client.json("POST", CONFIG_MAPS, &object).await.expect("an answer").status, 201);
    }
    server.stop();

    spoil(folder.path(), "the text of object b");
    let server = start().await;
    let mut client = Client::new(server.url(), server.token());
    let broken = format!("{CONFIG_MAPS}/b");
    for path in [&*broken, CONFIG_MAPS] {
        let answer = client.get(path).await.expect("an answer");
        assert_eq!((answer.status, &answer.json()["reason"]), (500, &json!("StoreReadError")), "{path}");
        let field = &answer.json()["details"]["causes"][0]["field"];
        assert_eq!(field, "/registry/configmaps/default/b", "{path}");
    }
    let over = client.json("PUT", &broken, &json!({"metadata": {"name": "b"}})).await.expect("an answer");
    assert_eq!((over.status, &over.json()["reason"]), (500, &json!("StoreReadError")));
    for name in ["a", "c"] {
        let object = client.get(&format!("{CONFIG_MAPS}/{name}")).await.expect("an answer").json();
        assert_eq!(object["data"]["text"], format!("the text of object {name}"));
    }
    let ready = client.get("/readyz?verbose").await.expect("an answer");
    let text = String::from_utf8_lossy(&ready.body).into_owned();
    assert_eq!(ready.status, 200, "{text}");
    assert!(text.contains("[!]store: 1 stored values are damaged"), "{text}");

    let force = format!("{broken}?ignoreStoreReadErrorWithClusterBreakingPotential=true");
    assert_eq!(client.json("DELETE", &force, &serde_json::Value::Null).await.expect("an answer").status, 200);
    let list = client.get(CONFIG_MAPS).await.expect("an answer");
    assert_eq!(list.json()["items"].as_array().map(Vec::len), Some(2));
    server.stop();
    let server = start().await;
    let mut client = Client::new(server.url(), server.token());
    let ready = client.get("/readyz?verbose").await.expect("an answer");
    assert!(!String::from_utf8_lossy(&ready.body).contains("damaged"));
    server.stop();
}
