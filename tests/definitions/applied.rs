//! Definitions that clients apply while the server runs.
use std::time::Duration;

use kindsmith::{Server, server::TestServer};
use kindsmith_tests::{Client, Folder};
use serde_json::{Value, json};

pub(super) const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
pub(super) const BOLTS: &str = "/apis/hw.example.com/v1/namespaces/default/bolts";
const MERGE: &str = "application/merge-patch+json";

async fn serve() -> (TestServer, Client) {
    let server = Server::test().configure(kindsmith::server::Builder::definitions).start().await;
    let client = Client::new(server.url(), server.token());
    (server, client)
}

/// A definition whose objects have these fields in their spec.
fn definition(plural: &str, kind: &str, fields: &Value) -> Value {
    let spec = json!({"type": "object", "properties": fields});
    let schema = json!({"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.hw.example.com")},
        "spec": {
            "group": "hw.example.com", "scope": "Namespaced", "names": {"plural": plural, "kind": kind},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": schema}],
        },
    })
}

pub(super) fn bolts() -> Value {
    definition("bolts", "Bolt", &json!({"size": {"type": "integer", "default": 3}, "coating": {"type": "string"}}))
}

pub(super) fn bolt(name: &str, spec: &Value) -> Value {
    json!({"apiVersion": "hw.example.com/v1", "kind": "Bolt", "metadata": {"name": name}, "spec": spec})
}

pub(super) async fn call(client: &mut Client, method: &str, path: &str, body: &Value) -> (u16, Value) {
    let answer = client.json(method, path, body).await.expect("an answer");
    (answer.status, answer.json())
}

pub(super) async fn merge(client: &mut Client, path: &str, patch: Value) -> (u16, Value) {
    let answer = client.typed("PATCH", path, MERGE, &patch).await.expect("an answer");
    (answer.status, answer.json())
}

/// Reads a path until the answer is as expected.
pub(super) async fn until(client: &mut Client, path: &str, is_expected: impl Fn(u16, &Value) -> bool) -> Value {
    let deadline = tokio::time::Instant::now() + Duration::from_secs(20);
    loop {
        let answer = client.get(path).await.expect("an answer");
        let (status, body) = (answer.status, answer.json());
        if is_expected(status, &body) {
            return body;
        }
        assert!(tokio::time::Instant::now() < deadline, "{path}: {status} {body}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Reads a path, which need not be served yet, until the answer has this status.
pub(super) async fn until_status(client: &mut Client, path: &str, status: u16) {
    let deadline = tokio::time::Instant::now() + Duration::from_secs(20);
    while client.get(path).await.expect("an answer").status != status {
        assert!(tokio::time::Instant::now() < deadline, "{path}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

pub(super) fn has(definition: &Value, kind: &str, status: &str) -> bool {
    let conditions = definition["status"]["conditions"].as_array();
    conditions.into_iter().flatten().any(|condition| condition["type"] == kind && condition["status"] == status)
}

/// Applies a definition, and waits until it is established.
pub(super) async fn establish(client: &mut Client, definition: &Value) -> Value {
    let (status, created) = call(client, "POST", DEFINITIONS, definition).await;
    assert_eq!(status, 201, "{created}");
    let path = format!("{DEFINITIONS}/{}", definition["metadata"]["name"].as_str().expect("a name"));
    until(client, &path, |_, definition| has(definition, "Established", "True")).await
}

#[tokio::test]
async fn a_definition_is_served_changed_and_removed_while_the_server_runs() {
    let (_server, mut client) = serve().await;
    assert_eq!(client.get("/apis/hw.example.com").await.expect("an answer").status, 404);
    let established = establish(&mut client, &bolts()).await;
    assert_eq!(established["status"]["acceptedNames"]["listKind"], "BoltList");
    assert_eq!(established["status"]["storedVersions"], json!(["v1"]));

    let (status, created) = call(&mut client, "POST", BOLTS, &bolt("a", &json!({"coating": "zinc", "odd": 1}))).await;
    assert_eq!((status, &created["spec"]), (201, &json!({"size": 3, "coating": "zinc"})));
    let openapi = client.get("/openapi/v3/apis/hw.example.com/v1").await.expect("an answer");
    assert!(openapi.status == 200 && openapi.json()["components"]["schemas"].to_string().contains("coating"));

    let path = format!("{DEFINITIONS}/bolts.hw.example.com");
    let schema = json!({"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object", "properties": {
        "size": {"type": "integer", "maximum": 9}, "grade": {"type": "string", "default": "A"},
    }}}}});
    let versions = json!([{"name": "v1", "served": true, "storage": true, "schema": schema}]);
    let (status, changed) = merge(&mut client, &path, json!({"spec": {"versions": versions}})).await;
    assert_eq!((status, &changed["metadata"]["generation"]), (200, &json!(2)), "{changed}");
    let changed = until(&mut client, &format!("{BOLTS}/a"), |_, bolt| bolt["spec"]["grade"] == "A").await;
    assert_eq!(changed["spec"], json!({"size": 3, "grade": "A"}), "what the schema no longer has is not shown");
    let (status, refused) = call(&mut client, "POST", BOLTS, &bolt("b", &json!({"size": 10}))).await;
    assert_eq!(status, 422, "{refused}");

    let mut events = client.watch(&format!("{BOLTS}?watch=true")).await.expect("a watch");
    assert_eq!(events.next().await.expect("whole").expect("an event")["type"], "ADDED");
    let (status, deleted) = call(&mut client, "DELETE", &path, &Value::Null).await;
    assert_eq!(status, 200);
    assert_eq!(deleted["metadata"]["finalizers"], json!(["customresourcecleanup.apiextensions.k8s.io"]));
    assert!(has(&deleted, "Terminating", "True"), "{deleted}");
    assert_eq!(events.next().await.expect("whole").expect("an event")["type"], "DELETED");
    assert_eq!(events.next().await.expect("whole"), None, "the watch ends");
    until(&mut client, &path, |status, _| status == 404).await;
    assert_eq!(client.get(BOLTS).await.expect("an answer").status, 404);
    assert_eq!(client.get("/apis/hw.example.com").await.expect("an answer").status, 404);

    establish(&mut client, &bolts()).await;
    assert_eq!(client.get(BOLTS).await.expect("an answer").json()["items"], json!([]), "nothing is left");
}

#[tokio::test]
async fn names_are_as_the_schema_says() {
    let (_server, mut client) = serve().await;
    let mut definition = bolts();
    let properties = &mut definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"];
    properties["metadata"] = json!({"type": "object", "properties": {"name": {"type": "string", "enum": ["only"]}}});
    establish(&mut client, &definition).await;
    let (status, refused) = call(&mut client, "POST", BOLTS, &bolt("other", &json!({}))).await;
    let expected = "metadata.name: Unsupported value: \"other\": supported values: \"only\"";
    assert!(status == 422 && refused["message"].to_string().contains(&expected.replace('"', "\\\"")), "{refused}");
    let (status, created) = call(&mut client, "POST", BOLTS, &bolt("only", &json!({}))).await;
    assert_eq!((status, &created["spec"]), (201, &json!({"size": 3})), "{created}");
}

#[tokio::test]
async fn objects_with_finalizers_hold_their_definition() {
    let (_server, mut client) = serve().await;
    establish(&mut client, &bolts()).await;
    let mut held = bolt("held", &json!({}));
    held["metadata"]["finalizers"] = json!(["example.com/x"]);
    assert_eq!(call(&mut client, "POST", BOLTS, &held).await.0, 201);
    let path = format!("{DEFINITIONS}/bolts.hw.example.com");
    assert_eq!(call(&mut client, "DELETE", &path, &Value::Null).await.0, 200);
    let held = format!("{BOLTS}/held");
    until(&mut client, &held, |_, bolt| bolt["metadata"]["deletionTimestamp"].is_string()).await;
    let (status, refused) = call(&mut client, "POST", BOLTS, &bolt("late", &json!({}))).await;
    assert_eq!((status, &refused["reason"]), (403, &json!("Forbidden")), "{refused}");
    // The owner of the finalizer can write the object, even after a write of the definition.
    assert_eq!(merge(&mut client, &path, json!({"metadata": {"labels": {"a": "b"}}})).await.0, 200);
    let (status, freed) = merge(&mut client, &held, json!({"metadata": {"finalizers": null}})).await;
    assert_eq!(status, 200, "{freed}");
    until(&mut client, &path, |status, _| status == 404).await;
}

#[tokio::test]
async fn definitions_and_their_objects_are_there_after_a_restart() {
    let folder = Folder::new("definitions");
    let start = || Server::test().data_dir(folder.path()).configure(kindsmith::server::Builder::definitions).start();
    let server = start().await;
    let mut client = Client::new(server.url(), server.token());
    establish(&mut client, &bolts()).await;
    let (_, created) = call(&mut client, "POST", BOLTS, &bolt("a", &json!({"size": 7}))).await;
    drop(server);

    let server = start().await;
    let mut client = Client::new(server.url(), server.token());
    let kept = client.get(&format!("{BOLTS}/a")).await.expect("an answer");
    assert_eq!((kept.status, kept.json()), (200, created), "at once, without a wait");
    assert_eq!(call(&mut client, "POST", BOLTS, &bolt("b", &json!({}))).await.0, 201);
}

#[tokio::test]
async fn names_in_use_are_refused_until_they_are_free() {
    let (_server, mut client) = serve().await;
    establish(&mut client, &bolts()).await;
    let rivets = definition("rivets", "Bolt", &json!({}));
    assert_eq!(call(&mut client, "POST", DEFINITIONS, &rivets).await.0, 201);
    let path = format!("{DEFINITIONS}/rivets.hw.example.com");
    let refused = until(&mut client, &path, |_, definition| has(definition, "NamesAccepted", "False")).await;
    assert!(has(&refused, "Established", "False"), "{refused}");
    let rivets = BOLTS.replace("bolts", "rivets");
    assert_eq!(client.get(&rivets).await.expect("an answer").status, 404);
    call(&mut client, "DELETE", &format!("{DEFINITIONS}/bolts.hw.example.com"), &Value::Null).await;
    until(&mut client, &path, |_, definition| has(definition, "Established", "True")).await;
    assert_eq!(client.get(&rivets).await.expect("an answer").status, 200);
}

#[tokio::test]
async fn names_go_from_files_to_applied_definitions_and_back() {
    let folder = Folder::new("applied-released");
    let file = folder.path().join("bolts.yaml");
    std::fs::write(&file, bolts().to_string()).expect("a file");
    let paths = [folder.path().to_owned()];
    let server = Server::test().configure(|server| server.definitions().definition_files(paths)).start().await;
    let mut client = Client::new(server.url(), server.token());
    let mut other = bolts();
    other["spec"]["versions"][0]["name"] = json!("v2");
    assert_eq!(call(&mut client, "POST", DEFINITIONS, &other).await.0, 201);
    let path = format!("{DEFINITIONS}/bolts.hw.example.com");
    until(&mut client, &path, |_, definition| has(definition, "NamesAccepted", "False")).await;
    assert_eq!(client.get(BOLTS).await.expect("an answer").status, 200, "the file's kind keeps its names");

    std::fs::remove_file(&file).expect("a file");
    until(&mut client, &path, |_, definition| has(definition, "Established", "True")).await;
    until_status(&mut client, &BOLTS.replace("v1", "v2"), 200).await;
    assert_eq!(client.get(BOLTS).await.expect("an answer").status, 404);

    std::fs::write(&file, bolts().to_string()).expect("a file");
    // Long enough for the file to be read and refused.
    tokio::time::sleep(Duration::from_secs(6)).await;
    assert_eq!(client.get(BOLTS).await.expect("an answer").status, 404);
    assert_eq!(call(&mut client, "DELETE", &path, &Value::Null).await.0, 200);
    until_status(&mut client, BOLTS, 200).await;
}

#[tokio::test]
async fn a_kind_of_the_program_keeps_its_names() {
    let server = Server::test().configure(|server| server.definitions().crd(bolts())).start().await;
    let mut client = Client::new(server.url(), server.token());
    let mut other = bolts();
    other["spec"]["versions"][0]["schema"] = json!({"openAPIV3Schema": {"type": "object"}});
    assert_eq!(call(&mut client, "POST", DEFINITIONS, &other).await.0, 201);
    let path = format!("{DEFINITIONS}/bolts.hw.example.com");
    until(&mut client, &path, |_, definition| has(definition, "NamesAccepted", "False")).await;
    let (status, created) = call(&mut client, "POST", BOLTS, &bolt("a", &json!({}))).await;
    assert_eq!((status, &created["spec"]["size"]), (201, &json!(3)));
    assert_eq!(call(&mut client, "DELETE", &path, &Value::Null).await.0, 200);
    until(&mut client, &path, |status, _| status == 404).await;
    assert_eq!(client.get(&format!("{BOLTS}/a")).await.expect("an answer").status, 200, "its objects are not taken");
}

#[tokio::test]
async fn rules_of_a_definition_are_kept() {
    let (_server, mut client) = serve().await;
    let ruled = json!({"a": {"type": "integer", "x-kubernetes-validations": [{"rule": "self > 1"}]}});
    let answer = client.json("POST", DEFINITIONS, &definition("ruled", "Ruled", &ruled)).await.expect("an answer");
    assert_eq!(answer.status, 201);
    assert!(answer.headers.get("warning").is_none());
    let rules = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/a/x-kubernetes-validations/0/rule";
    assert_eq!(answer.json().pointer(rules), Some(&json!("self > 1")), "they are kept");
}
