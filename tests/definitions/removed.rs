//! Definitions that could be served once, and cannot any more when they are deleted.

use kindsmith::{Server, server::TestServer};
use kindsmith_storage::{Embedded, Expect, Op, Options, Store};
use kindsmith_tests::{Client, Folder};
use serde_json::{Value, json};

use super::applied::{BOLTS, DEFINITIONS, bolt, bolts, call, establish, has, merge, until, until_status};

const ROW: &str = "/registry/apiextensions.k8s.io/customresourcedefinitions/bolts.hw.example.com";
const OBJECT: &str = "/registry/hw.example.com/bolts/default/a";

async fn serve(folder: &Folder, other: Option<Value>) -> (TestServer, Client) {
    let server = Server::test().data_dir(folder.path()).configure(|server| match other {
        Some(definition) => server.definitions().crd(definition),
        None => server.definitions(),
    });
    let server = server.start().await;
    let client = Client::new(server.url(), server.token());
    (server, client)
}

/// A store with an object of a definition.
async fn stored(name: &str) -> Folder {
    let folder = Folder::new(name);
    let (_server, mut client) = serve(&folder, None).await;
    establish(&mut client, &bolts()).await;
    let mut held = bolt("a", &json!({"size": 3}));
    held["metadata"]["finalizers"] = json!(["example.com/x"]);
    assert_eq!(call(&mut client, "POST", BOLTS, &held).await.0, 201);
    folder
}

fn open(folder: &Folder) -> Embedded {
    Embedded::open(folder.path(), Options::default()).expect("a store")
}

#[tokio::test]
async fn objects_of_a_definition_that_cannot_be_read_any_more_are_deleted_with_it() {
    let folder = stored("removed-bare").await;
    let store = open(&folder);
    let (entries, _) = store.range(ROW).expect("rows");
    let text = entries[0].value.clone().expect("a value").to_vec();
    let (known, unknown) = (br#""type":"integer""#, br#""type":"integral"#);
    let at = text.windows(known.len()).position(|window| window == known).expect("a type");
    let changed = [&text[..at], &unknown[..known.len() - 1], b"\"", &text[at + known.len()..]].concat();
    let op = Op { key: ROW.into(), value: Some(changed.into()), expect: Expect::Any, lifetime: None };
    store.commit(vec![op].into()).await.expect("a commit");
    drop(store);

    let (server, mut client) = serve(&folder, None).await;
    let path = format!("{DEFINITIONS}/bolts.hw.example.com");
    let refused = until(&mut client, &path, |_, definition| has(definition, "Established", "False")).await;
    assert!(refused["status"].to_string().contains("NotServed"), "{refused}");
    assert_eq!(client.get(BOLTS).await.expect("an answer").status, 404);
    assert_eq!(call(&mut client, "DELETE", &path, &Value::Null).await.0, 200);
    let object = format!("{BOLTS}/a");
    until_status(&mut client, &object, 200).await;
    until(&mut client, &object, |_, bolt| bolt["metadata"]["deletionTimestamp"].is_string()).await;
    let (status, freed) = merge(&mut client, &object, json!({"metadata": {"finalizers": null}})).await;
    assert_eq!(status, 200, "{freed}");
    until(&mut client, &path, |status, _| status == 404).await;
    drop((server, client));
    assert!(open(&folder).range(OBJECT).expect("rows").0.is_empty(), "nothing is left");
}

#[tokio::test]
async fn a_definition_whose_objects_cannot_be_served_says_why_it_stays() {
    let folder = stored("removed-clash").await;
    let mut other = bolts();
    other["metadata"]["name"] = json!("rivets.hw.example.com");
    other["spec"]["names"]["plural"] = json!("rivets");
    let (server, mut client) = serve(&folder, Some(other)).await;
    let path = format!("{DEFINITIONS}/bolts.hw.example.com");
    assert_eq!(call(&mut client, "DELETE", &path, &Value::Null).await.0, 200);
    let kept = until(&mut client, &path, |_, it| it["status"].to_string().contains("InstanceDeletionFailed")).await;
    assert!(kept["status"].to_string().contains("kind Bolt of bolts.hw.example.com is taken"), "{kept}");
    drop((server, client));
    assert_eq!(open(&folder).range(OBJECT).expect("rows").0.len(), 1);

    let (_server, mut client) = serve(&folder, None).await;
    let object = format!("{BOLTS}/a");
    until_status(&mut client, &object, 200).await;
    until(&mut client, &object, |_, bolt| bolt["metadata"]["deletionTimestamp"].is_string()).await;
    assert_eq!(merge(&mut client, &object, json!({"metadata": {"finalizers": null}})).await.0, 200);
    until(&mut client, &path, |status, _| status == 404).await;
}
