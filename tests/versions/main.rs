//! One kind in several versions over the wire: objects are written through one, and read, listed, watched, patched,
//! applied and scaled through the others.

mod lamp;

use bytes::Bytes;
use http_body_util::Full;
use kindsmith::{Server, server::TestServer};
use kindsmith_tests::{Answer, Client};
use lamp::{Lamp, v1alpha1, v1beta1};
use serde_json::{Value, json};

const VERSIONS: [&str; 3] = ["v1", "v1beta1", "v1alpha1"];

async fn serve() -> (TestServer, Client) {
    let server = Server::test().kind::<v1beta1::Lamp>().kind::<Lamp>().kind::<v1alpha1::Lamp>().start().await;
    let client = Client::new(server.url(), server.token());
    (server, client)
}

/// The path of all lamps, of one lamp, or of a subresource, in a version.
fn lamps(version: &str, rest: &str) -> String {
    format!("/apis/wire.example.com/{version}/namespaces/default/lamps{rest}")
}

/// A lamp of forty watts in a version.
fn lamp(version: &str, name: &str, owner: &str) -> Value {
    let spec = match version {
        "v1" => json!({"owner": owner, "size": {"watts": 40}}),
        "v1beta1" => json!({"holder": owner, "watts": 40}),
        _ => json!({"owner": owner, "watts": "40W"}),
    };
    json!({
        "apiVersion": format!("wire.example.com/{version}"), "kind": "Lamp", "metadata": {"name": name}, "spec": spec,
    })
}

/// The spec of such a lamp with only defaults.
fn spec(version: &str, owner: &str) -> Value {
    let mut spec = lamp(version, "", owner)["spec"].take();
    spec["count"] = json!(1);
    if version == "v1beta1" {
        spec["hours"] = json!(1000);
    }
    spec
}

async fn call(client: &mut Client, method: &str, path: &str, body: Value) -> (u16, Value) {
    let answer = client.json(method, path, &body).await.expect("an answer");
    (answer.status, answer.json())
}

async fn apply(client: &mut Client, path: &str, manager: &str, body: Value) -> Answer {
    let path = format!("{path}?fieldManager={manager}");
    client.typed("PATCH", &path, "application/apply-patch+yaml", &body).await.expect("an answer")
}

#[tokio::test]
async fn an_object_is_written_in_any_version_and_read_in_all() {
    let (_server, mut client) = serve().await;
    for written in VERSIONS {
        let (status, lamp) = call(&mut client, "POST", &lamps(written, ""), lamp(written, written, "ann")).await;
        assert_eq!((status, &lamp["spec"]), (201, &spec(written, "ann")), "{lamp}");
        assert_eq!(lamp["apiVersion"], format!("wire.example.com/{written}"));
        for read in VERSIONS {
            let answer = client.get(&lamps(read, &format!("/{written}"))).await.expect("an answer");
            let shown = answer.json();
            assert_eq!((answer.status, &shown["spec"]), (200, &spec(read, "ann")), "written in {written}");
            assert_eq!(shown["apiVersion"], format!("wire.example.com/{read}"));
            for same in ["uid", "resourceVersion", "generation", "creationTimestamp"] {
                assert_eq!(shown["metadata"][same], lamp["metadata"][same]);
            }
            assert_eq!(answer.headers.contains_key("warning"), read == "v1beta1");
        }
    }
}

#[tokio::test]
async fn lists_tables_and_selectors_are_those_of_the_version() {
    let (server, mut client) = serve().await;
    for (name, owner) in [("a", "ann"), ("b", "bob")] {
        call(&mut client, "POST", &lamps("v1", ""), lamp("v1", name, owner)).await;
    }
    for version in VERSIONS {
        let (_, list) = call(&mut client, "GET", &lamps(version, ""), Value::Null).await;
        let specs: Vec<_> = list["items"].as_array().expect("items").iter().map(|item| &item["spec"]).collect();
        assert_eq!(specs, [&spec(version, "ann"), &spec(version, "bob")]);
    }
    for (version, field) in [("v1", "spec.owner"), ("v1beta1", "spec.holder")] {
        let selected = lamps(version, &format!("?fieldSelector={field}%3Dbob"));
        let (_, list) = call(&mut client, "GET", &selected, Value::Null).await;
        assert_eq!(
            (&list["items"][0]["metadata"]["name"], list["items"].as_array().map(Vec::len)),
            (&json!("b"), Some(1))
        );
        let other = if version == "v1" { "v1beta1" } else { "v1" };
        let (status, _) = call(&mut client, "GET", &selected.replace(version, other), Value::Null).await;
        assert_eq!(status, 400, "{field} is no field of {other}");
    }
    for (version, header, cell) in [("v1", "Watts", json!(40)), ("v1beta1", "Holder", json!("ann"))] {
        let request = hyper::Request::get(lamps(version, ""))
            .header("host", "x")
            .header("authorization", format!("Bearer {}", server.token()))
            .header("accept", "application/json;as=Table;v=v1;g=meta.k8s.io");
        let table =
            client.send(request.body(Full::<Bytes>::default()).expect("a request")).await.expect("an answer").json();
        assert_eq!((&table["columnDefinitions"][1]["name"], &table["rows"][0]["cells"][1]), (&json!(header), &cell));
    }
}

#[tokio::test]
async fn a_watch_in_each_version_sees_writes_in_the_others() {
    let (_server, mut client) = serve().await;
    let mut watches = Vec::new();
    for version in VERSIONS {
        watches.push((version, client.watch(&lamps(version, "?watch=1")).await.expect("a watch")));
    }
    call(&mut client, "POST", &lamps("v1beta1", ""), lamp("v1beta1", "a", "ann")).await;
    call(&mut client, "PATCH", &lamps("v1alpha1", "/a"), json!({"spec": {"owner": "bob"}})).await;
    call(&mut client, "DELETE", &lamps("v1", "/a"), Value::Null).await;
    for (version, mut events) in watches {
        for (kind, owner) in [("ADDED", "ann"), ("MODIFIED", "bob"), ("DELETED", "bob")] {
            let event = events.next().await.expect("the stream").expect("an event");
            assert_eq!((&event["type"], &event["object"]["spec"]), (&json!(kind), &spec(version, owner)), "{event}");
            assert_eq!(event["object"]["apiVersion"], format!("wire.example.com/{version}"));
        }
    }
}

#[tokio::test]
async fn fields_that_a_version_lacks_survive_its_writes() {
    let (_server, mut client) = serve().await;
    let mut wide = lamp("v1", "a", "ann");
    wide["spec"]["size"]["wide"] = json!(7);
    call(&mut client, "POST", &lamps("v1", ""), wide).await;
    let (_, old) = call(&mut client, "GET", &lamps("v1beta1", "/a"), Value::Null).await;
    assert_eq!(old["metadata"]["annotations"], json!({"wire.example.com/v1.spec.size.wide": "7"}));
    let (status, mut old) =
        call(&mut client, "PATCH", &lamps("v1beta1", "/a"), json!({"spec": {"note": "old", "watts": 60}})).await;
    assert_eq!(status, 200, "{old}");
    let (_, new) = call(&mut client, "GET", &lamps("v1", "/a"), Value::Null).await;
    assert_eq!(new["spec"], json!({"owner": "ann", "size": {"watts": 60, "wide": 7}, "count": 1}));
    assert_eq!(new["metadata"]["annotations"], json!({"wire.example.com/v1beta1.spec.note": "\"old\""}));
    let (_, new) = call(&mut client, "PATCH", &lamps("v1", "/a"), json!({"spec": {"count": 2}})).await;
    assert_eq!(new["spec"]["count"], 2);
    let (_, shown) = call(&mut client, "GET", &lamps("v1beta1", "/a"), Value::Null).await;
    assert_eq!(shown["spec"]["note"], "old");
    // Removing the annotation resets the field to its default.
    old["metadata"]["annotations"] = Value::Null;
    old["metadata"]["resourceVersion"] = shown["metadata"]["resourceVersion"].clone();
    let (status, old) = call(&mut client, "PUT", &lamps("v1beta1", "/a"), old).await;
    assert_eq!(status, 200, "{old}");
    let (_, new) = call(&mut client, "GET", &lamps("v1", "/a"), Value::Null).await;
    assert_eq!(new["spec"], json!({"owner": "ann", "size": {"watts": 60}, "count": 1}));
    let (_, same) = call(&mut client, "PUT", &lamps("v1beta1", "/a"), old.clone()).await;
    assert_eq!(same["metadata"]["resourceVersion"], old["metadata"]["resourceVersion"], "nothing changed");
}

#[tokio::test]
async fn status_and_scale_are_written_through_any_version() {
    let (_server, mut client) = serve().await;
    call(&mut client, "POST", &lamps("v1", ""), lamp("v1", "a", "ann")).await;
    for (version, count) in [("v1beta1", 3), ("v1", 4), ("v1alpha1", 5)] {
        let status = json!({"status": {"count": count, "lit": true}, "spec": {"count": 9}});
        let (code, written) = call(&mut client, "PATCH", &lamps(version, "/a/status"), status).await;
        assert_eq!((code, &written["status"]["count"], &written["spec"]), (200, &json!(count), &spec(version, "ann")));
        for read in VERSIONS {
            let (_, shown) = call(&mut client, "GET", &lamps(read, "/a"), Value::Null).await;
            assert_eq!((&shown["status"]["count"], &shown["status"]["lit"]), (&json!(count), &json!(true)));
        }
    }
    for (version, other, count) in [("v1beta1", "v1", 6), ("v1", "v1beta1", 7)] {
        let scaled = json!({"spec": {"replicas": count}});
        let (code, scale) = call(&mut client, "PATCH", &lamps(version, "/a/scale"), scaled).await;
        assert_eq!((code, &scale["spec"]["replicas"]), (200, &json!(count)), "{scale}");
        let (_, scale) = call(&mut client, "GET", &lamps(other, "/a/scale"), Value::Null).await;
        assert_eq!((&scale["spec"]["replicas"], &scale["status"]["replicas"]), (&json!(count), &json!(5)));
    }
}

#[tokio::test]
async fn each_version_validates_by_its_own_rules() {
    let (_server, mut client) = serve().await;
    let mut bright = lamp("v1beta1", "a", "ann");
    bright["spec"]["watts"] = json!(600);
    let (status, refusal) = call(&mut client, "POST", &lamps("v1beta1", ""), bright).await;
    assert_eq!((status, &refusal["details"]["causes"][0]["field"]), (422, &json!("spec.watts")), "{refusal}");
    let mut bright = lamp("v1", "a", "ann");
    bright["spec"]["size"]["watts"] = json!(600);
    assert_eq!(call(&mut client, "POST", &lamps("v1", ""), bright).await.0, 201);
    // Unchanged values are not validated again.
    let (status, lamp) = call(&mut client, "PATCH", &lamps("v1beta1", "/a"), json!({"spec": {"count": 2}})).await;
    assert_eq!((status, &lamp["spec"]["watts"]), (200, &json!(600)), "{lamp}");
}

#[tokio::test]
async fn fields_are_owned_in_the_version_that_their_manager_wrote_in() {
    let (_server, mut client) = serve().await;
    let applied = apply(&mut client, &lamps("v1", "/a"), "new", lamp("v1", "a", "ann")).await;
    assert_eq!(applied.status, 201, "{:?}", applied.body);
    let refused = apply(&mut client, &lamps("v1beta1", "/a"), "old", lamp("v1beta1", "a", "bob")).await;
    let causes = &refused.json()["details"]["causes"];
    assert_eq!(
        (refused.status, &causes[0]["field"]),
        (409, &json!(".spec.owner")),
        "in the terms of its owner: {causes}"
    );
    let shared = apply(&mut client, &lamps("v1beta1", "/a"), "old", lamp("v1beta1", "a", "ann")).await;
    assert_eq!(shared.status, 200, "{:?}", shared.body);
    let entries = &shared.json()["metadata"]["managedFields"];
    let versions: Vec<_> = entries.as_array().expect("owners").iter().map(|entry| &entry["apiVersion"]).collect();
    assert_eq!(versions.len(), 2, "{entries}");
    assert!(
        versions.contains(&&json!("wire.example.com/v1beta1")) && versions.contains(&&json!("wire.example.com/v1"))
    );
}

#[tokio::test]
async fn an_object_that_cannot_be_converted_is_named_and_can_be_deleted() {
    let (_server, mut client) = serve().await;
    let before = call(&mut client, "POST", &lamps("v1", ""), lamp("v1", "a", "ann")).await.1;
    let from = before["metadata"]["resourceVersion"].as_str().expect("a revision").to_owned();
    call(&mut client, "POST", &lamps("v1", ""), lamp("v1", "lost", "no one")).await;
    let why = "object not convertible to wire.example.com/v1alpha1";
    for path in ["/lost", ""] {
        let (status, refusal) = call(&mut client, "GET", &lamps("v1alpha1", path), Value::Null).await;
        let text = refusal.to_string();
        let told = ["lamps/default/lost", why, "it has no owner"].iter().all(|part| text.contains(part));
        assert!(status == 500 && told, "{status} {text}");
    }
    assert_eq!(call(&mut client, "GET", &lamps("v1alpha1", "/a"), Value::Null).await.0, 200, "others are served");
    assert_eq!(call(&mut client, "GET", &lamps("v1beta1", ""), Value::Null).await.0, 200, "in other versions all are");
    let watch = lamps("v1alpha1", &format!("?watch=1&resourceVersion={from}"));
    let mut events = client.watch(&watch).await.expect("a watch");
    let event = events.next().await.expect("the stream").expect("an event");
    assert_eq!((&event["type"], &event["object"]["code"]), (&json!("ERROR"), &json!(500)), "{event}");
    assert!(event.to_string().contains("it has no owner"), "{event}");
    assert!(events.next().await.expect("the stream").is_none(), "the watch ends");
    let (status, _) = call(&mut client, "DELETE", &lamps("v1alpha1", "/lost"), Value::Null).await;
    assert_eq!(status, 200);
    assert_eq!(call(&mut client, "GET", &lamps("v1", "/lost"), Value::Null).await.0, 404);
    assert_eq!(call(&mut client, "GET", &lamps("v1alpha1", ""), Value::Null).await.0, 200);
}

#[tokio::test]
async fn an_object_that_cannot_be_converted_to_the_storage_version_is_refused() {
    let (_server, mut client) = serve().await;
    let (status, refusal) = call(&mut client, "POST", &lamps("v1alpha1", ""), lamp("v1alpha1", "a", "")).await;
    assert!(
        status >= 400 && refusal["message"].as_str().is_some_and(|text| text.contains("somebody owns")),
        "{refusal}"
    );
    let mut lamp = lamp("v1beta1", "a", "ann");
    lamp["metadata"]["annotations"] = json!({"wire.example.com/v1.spec.size.wide": "-1"});
    let (status, refusal) = call(&mut client, "POST", &lamps("v1beta1", ""), lamp).await;
    assert!(
        status >= 400 && refusal["message"].as_str().is_some_and(|text| text.contains("spec.size.wide")),
        "{refusal}"
    );
    assert_eq!(call(&mut client, "GET", &lamps("v1", "/a"), Value::Null).await.0, 404);
}
