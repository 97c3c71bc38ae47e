//! Definitions whose versions a webhook converts.
use std::time::Duration;

use kindsmith::{Server, server::TestServer};
use kindsmith_tests::Client;
use serde_json::{Value, json};

use super::{
    applied::{call, establish, merge, until},
    converter::{Converter, Manner},
};

pub(super) const V1: &str = "/apis/hw.example.com/v1/namespaces/default/crates";
pub(super) const V2: &str = "/apis/hw.example.com/v2/namespaces/default/crates";
pub(super) const DEFINITION: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/crates.hw.example.com";

/// Crates, stored in v1.
pub(super) fn crates(client_config: &Value) -> Value {
    let version = |name: &str, is_stored: bool, fields: Value| {
        let spec = json!({"type": "object", "properties": fields});
        json!({
            "name": name, "served": true, "storage": is_stored,
            "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}},
        })
    };
    let label = json!({"type": "string"});
    let size = json!({"size": {"type": "string"}, "label": label});
    let number = json!({"type": "integer", "minimum": 0});
    let sides = json!({"width": number, "height": number, "label": label});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "crates.hw.example.com"},
        "spec": {
            "group": "hw.example.com", "scope": "Namespaced", "names": {"plural": "crates", "kind": "Crate"},
            "versions": [version("v1", true, size), version("v2", false, sides)],
            "conversion": {"strategy": "Webhook", "webhook": {
                "conversionReviewVersions": ["v2", "v1"], "clientConfig": client_config,
            }},
        },
    })
}

pub(super) async fn serve() -> (TestServer, Client, Converter) {
    let converter = Converter::start().await;
    let server = Server::test().configure(kindsmith::server::Builder::definitions).start().await;
    let mut client = Client::new(server.url(), server.token());
    establish(&mut client, &crates(&converter.client_config())).await;
    (server, client, converter)
}

pub(super) fn of_v1(name: &str, size: &str) -> Value {
    json!({"apiVersion": "hw.example.com/v1", "kind": "Crate", "metadata": {"name": name}, "spec": {"size": size}})
}

pub(super) fn of_v2(name: &str, width: u32, height: u32) -> Value {
    let spec = json!({"width": width, "height": height});
    json!({"apiVersion": "hw.example.com/v2", "kind": "Crate", "metadata": {"name": name}, "spec": spec})
}

pub(super) async fn get(client: &mut Client, path: &str) -> (u16, Value) {
    call(client, "GET", path, &Value::Null).await
}

pub(super) async fn create(client: &mut Client, path: &str, object: &Value) -> Value {
    let (status, created) = call(client, "POST", path, object).await;
    assert_eq!(status, 201, "{created}");
    created
}

/// The message of an answer with 500.
pub(super) async fn failure(client: &mut Client, path: &str) -> String {
    let (status, answer) = get(client, path).await;
    assert_eq!((status, &answer["reason"]), (500, &json!("InternalError")), "{answer}");
    answer["message"].as_str().expect("a message").to_owned()
}

#[tokio::test]
async fn what_is_written_in_one_version_is_read_in_another() {
    let (_server, mut client, converter) = serve().await;
    let created = create(&mut client, V1, &of_v1("a", "3x4")).await;
    assert_eq!(converter.calls(), [], "the storage version needs no call");
    let (status, read) = get(&mut client, &format!("{V2}/a")).await;
    assert_eq!((status, &read["spec"]), (200, &json!({"width": 3, "height": 4})));
    assert_eq!((&read["apiVersion"], &read["metadata"]), (&json!("hw.example.com/v2"), &created["metadata"]));
    assert_eq!(converter.calls(), [("hw.example.com/v2".to_owned(), vec!["a".to_owned()])]);
    get(&mut client, &format!("{V2}/a")).await;
    assert_eq!(converter.calls(), [], "once for each state of the object");

    let created = create(&mut client, V2, &of_v2("b", 5, 6)).await;
    assert_eq!(created["spec"], json!({"width": 5, "height": 6}));
    assert_eq!(get(&mut client, &format!("{V1}/b")).await.1["spec"], json!({"size": "5x6"}));
    let (status, patched) = merge(&mut client, &format!("{V2}/b"), json!({"spec": {"height": 7}})).await;
    assert_eq!((status, &patched["spec"]), (200, &json!({"width": 5, "height": 7})));
    let mut replaced = patched;
    replaced["spec"]["label"] = json!("fragile");
    let (status, replaced) = call(&mut client, "PUT", &format!("{V2}/b"), &replaced).await;
    assert_eq!((status, &replaced["metadata"]["generation"]), (200, &json!(3)), "{replaced}");
    assert_eq!(get(&mut client, &format!("{V1}/b")).await.1["spec"], json!({"size": "5x7", "label": "fragile"}));
    assert_eq!(call(&mut client, "DELETE", &format!("{V2}/b"), &Value::Null).await.0, 200);
    assert_eq!(converter.connections(), 1, "connections are used again");
}

#[tokio::test]
async fn watches_get_every_change_in_their_version() {
    let (_server, mut client, converter) = serve().await;
    create(&mut client, V1, &of_v1("old", "1x1")).await;
    let mut old = client.watch(&format!("{V1}?watch=true")).await.expect("a watch");
    let mut watches = Vec::new();
    for _ in 0..5 {
        watches.push(client.watch(&format!("{V2}?watch=true")).await.expect("a watch"));
    }
    for index in 0..5 {
        create(&mut client, V1, &of_v1(&format!("c{index}"), &format!("{index}x2"))).await;
    }
    merge(&mut client, &format!("{V2}/c1"), json!({"spec": {"width": 9}})).await;
    call(&mut client, "DELETE", &format!("{V1}/c2"), &Value::Null).await;
    let expected =
        [("ADDED", "old", 1), ("ADDED", "c0", 0), ("ADDED", "c1", 1), ("ADDED", "c2", 2), ("ADDED", "c3", 3)];
    let expected = [&expected[..], &[("ADDED", "c4", 4), ("MODIFIED", "c1", 9), ("DELETED", "c2", 2)]].concat();
    for events in &mut watches {
        for (kind, name, width) in &expected {
            let event = events.next().await.expect("whole").expect("an event");
            let object = &event["object"];
            let found = (&event["type"], &object["metadata"]["name"], &object["spec"]["width"]);
            assert_eq!(found, (&json!(kind), &json!(name), &json!(width)));
            assert_eq!(object["apiVersion"], "hw.example.com/v2");
        }
    }
    for (kind, name, _) in &expected {
        let event = old.next().await.expect("whole").expect("an event");
        assert_eq!((&event["type"], &event["object"]["metadata"]["name"]), (&json!(kind), &json!(name)));
        assert_eq!(event["object"]["apiVersion"], "hw.example.com/v1");
    }
    let calls = converter.calls();
    let sent = calls.iter().filter(|(desired, _)| desired.ends_with("v2")).map(|(_, names)| names.len()).sum::<usize>();
    // Each state once for all watches; the patch also needs the state before it, and the one that it will store.
    assert!(sent <= 10, "{calls:?}");

    converter.behave(Manner::Refusing("c3"));
    merge(&mut client, &format!("{V1}/c3"), json!({"spec": {"label": "bad"}})).await;
    for events in &mut watches {
        let event = events.next().await.expect("whole").expect("an event");
        assert_eq!((&event["type"], &event["object"]["code"]), (&json!("ERROR"), &json!(500)), "{event}");
        let message = event["object"]["message"].as_str().expect("a message");
        assert!(message.contains("conversion webhook for hw.example.com/v1, Kind=Crate failed: no form for it"));
        assert_eq!(events.next().await.expect("whole"), None, "the watch ends");
    }
    assert_eq!(old.next().await.expect("whole").expect("an event")["type"], "MODIFIED", "the other version goes on");
}

#[tokio::test]
async fn changes_before_one_that_cannot_be_converted_are_seen() {
    let (_server, mut client, converter) = serve().await;
    let mut events = client.watch(&format!("{V2}?watch=true")).await.expect("a watch");
    // While the first is converted, the others come together.
    converter.behave(Manner::Slow(Duration::from_millis(500)));
    for name in ["first", "a", "b", "bad", "c"] {
        create(&mut client, V1, &of_v1(name, "1x1")).await;
        while name == "first" && converter.calls().is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
    converter.behave(Manner::Refusing("bad"));
    for name in ["first", "a", "b"] {
        let event = events.next().await.expect("whole").expect("an event");
        assert_eq!((&event["type"], &event["object"]["metadata"]["name"]), (&json!("ADDED"), &json!(name)));
    }
    let event = events.next().await.expect("whole").expect("an event");
    assert_eq!(event["type"], "ERROR", "{event}");
    assert_eq!(events.next().await.expect("whole"), None);
}

#[tokio::test]
async fn appliers_of_both_versions_own_their_fields() {
    let (_server, mut client, _converter) = serve().await;
    let apply = "application/apply-patch+yaml";
    let path = |base: &str, manager: &str| format!("{base}/a?fieldManager={manager}");
    let answer = client.typed("PATCH", &path(V2, "sizes"), apply, &of_v2("a", 2, 3)).await.expect("an answer");
    assert_eq!((answer.status, &answer.json()["spec"]), (201, &json!({"width": 2, "height": 3})));
    let mut labelled = json!({"apiVersion": "hw.example.com/v1", "kind": "Crate", "metadata": {"name": "a"}});
    labelled["spec"] = json!({"label": "fragile"});
    let answer = client.typed("PATCH", &path(V1, "labels"), apply, &labelled).await.expect("an answer");
    assert_eq!((answer.status, &answer.json()["spec"]), (200, &json!({"size": "2x3", "label": "fragile"})));
    let answer = client.typed("PATCH", &path(V1, "other"), apply, &of_v1("a", "5x5")).await.expect("an answer");
    assert_eq!((answer.status, &answer.json()["reason"]), (409, &json!("Conflict")), "{:?}", answer.json());
    let answer = client.typed("PATCH", &path(V2, "sizes"), apply, &of_v2("a", 4, 3)).await.expect("an answer");
    assert_eq!((answer.status, &answer.json()["spec"]["width"]), (200, &json!(4)));
    let read = get(&mut client, &format!("{V1}/a")).await.1;
    assert_eq!(read["spec"], json!({"size": "4x3", "label": "fragile"}));
    let managers = read["metadata"]["managedFields"].as_array().expect("entries");
    let managers: Vec<_> = managers.iter().map(|entry| (&entry["manager"], &entry["apiVersion"])).collect();
    assert!(managers.contains(&(&json!("sizes"), &json!("hw.example.com/v2"))), "{managers:?}");
    assert!(managers.contains(&(&json!("labels"), &json!("hw.example.com/v1"))), "{managers:?}");
}

/// The webhook closes the connection over objects without a spec, as which it sees parts of them.
#[tokio::test]
async fn an_applier_of_labels_may_change_its_version() {
    let (_server, mut client, _converter) = serve().await;
    let with = |mut object: Value, labels: Value| {
        object["metadata"]["labels"] = labels;
        object
    };
    let path = |base: &str| format!("{base}/a?fieldManager=sizes");
    for (base, config, labels) in [
        (V2, with(of_v2("a", 2, 3), json!({"l": "1"})), json!({"l": "1"})),
        (V1, with(of_v1("a", "2x3"), json!({"l": "1"})), json!({"l": "1"})),
        (V2, with(of_v2("a", 4, 3), json!({"l": "2", "m": "1"})), json!({"l": "2", "m": "1"})),
        (V1, with(of_v1("a", "4x3"), json!({"m": "1"})), json!({"m": "1"})),
        (V2, of_v2("a", 4, 3), Value::Null),
    ] {
        let apply = "application/apply-patch+yaml";
        let answer = client.typed("PATCH", &path(base), apply, &config).await.expect("an answer");
        let made = answer.json();
        assert!(matches!(answer.status, 200 | 201), "{made}");
        assert_eq!((&made["metadata"]["labels"], &made["spec"]), (&labels, &config["spec"]));
        let entries = made["metadata"]["managedFields"].as_array().expect("entries");
        assert_eq!((entries.len(), &entries[0]["apiVersion"]), (1, &config["apiVersion"]));
    }
}

#[tokio::test]
async fn answers_that_are_wrong_are_errors_as_kube_apiserver_words_them() {
    let (_server, mut client, converter) = serve().await;
    let created = create(&mut client, V1, &of_v1("a", "1x2")).await;
    let uid = created["metadata"]["uid"].as_str().expect("a uid");
    let crate_of = "conversion webhook for hw.example.com/v1, Kind=Crate";
    let path = format!("{V2}/a");
    let cases = [
        (Manner::Response(json!({"uid": "other"})), "failed: expected response.uid="),
        (
            Manner::Response(json!({"result": {"status": "Failure"}})),
            "failed: response.result.status was 'Failure', not 'Success'",
        ),
        (Manner::Response(json!({"convertedObjects": []})), "returned 0 objects, expected 1"),
        (
            Manner::Response(json!({"convertedObjects": [{"apiVersion": "hw.example.com/v2", "kind": "Box"}]})),
            "returned invalid object at index 0: invalid kind (expected Crate, received Box)",
        ),
        (
            Manner::Elsewhere,
            "returned invalid object at index 0: invalid groupVersion (expected hw.example.com/v2, received hw.example.com/v3)",
        ),
        (Manner::Metadata(json!({"name": "b"})), "returned invalid object: must have the same name: a != b"),
        (
            Manner::Metadata(json!({"namespace": "n"})),
            "returned invalid object: must have the same namespace: default != n",
        ),
        (
            Manner::Metadata(json!({"uid": "u"})),
            &*format!("returned invalid object: must have the same UID: {uid} != u"),
        ),
        (
            Manner::Metadata(json!({"labels": {"a": 1}})),
            "returned invalid metadata: metadata.labels[a] must be a string, but is int64 in converted object",
        ),
        (
            Manner::Metadata(json!({"labels": [1]})),
            "returned invalid metadata: invalid metadata.labels of type []interface {} in converted object",
        ),
        (
            Manner::Metadata(json!({"labels": {"a b": "1"}})),
            "returned invalid metadata: metadata.labels: Invalid value: \"a b\"",
        ),
        (Manner::Redirect, "failed: the server responded with the status code 302"),
    ];
    for (manner, expected) in cases {
        converter.behave(manner.clone());
        let message = failure(&mut client, &path).await;
        assert!(
            message.starts_with(&format!("Internal error occurred: {crate_of} {expected}")),
            "{manner:?}: {message}"
        );
        let (status, refused) = call(&mut client, "POST", V2, &of_v2("new", 1, 1)).await;
        assert_eq!((status, &refused["reason"]), (500, &json!("InternalError")), "{manner:?}: {refused}");
    }
    assert_eq!(get(&mut client, &format!("{V1}/new")).await.0, 404, "nothing was stored");
    converter
        .behave(Manner::Metadata(json!({"labels": {"l": "1"}, "annotations": {"a": "b"}, "finalizers": ["x.y/z"]})));
    let read = get(&mut client, &path).await.1;
    let mut metadata = created["metadata"].clone();
    metadata["labels"] = json!({"l": "1"});
    metadata["annotations"] = json!({"a": "b"});
    assert_eq!(read["metadata"], metadata, "labels and annotations may change, and the rest is restored");
    assert_eq!(call(&mut client, "DELETE", &path, &Value::Null).await.0, 200);
}

#[tokio::test]
async fn a_webhook_that_is_down_fails_only_what_needs_it_until_it_is_up_again() {
    let (_server, mut client, mut converter) = serve().await;
    create(&mut client, V1, &of_v1("a", "1x2")).await;
    create(&mut client, V1, &of_v1("b", "1x2")).await;
    converter.fall().await;
    let message = failure(&mut client, &format!("{V2}/a")).await;
    let url = format!("Post \"https://127.0.0.1:{}/convert?timeout=30s\": dial tcp 127.0.0.1", converter.port());
    assert!(message.contains(&url) && message.contains("refused"), "{message}");
    assert_eq!(get(&mut client, V1).await.0, 200);
    assert_eq!(
        call(&mut client, "DELETE", &format!("{V2}/b"), &Value::Null).await.0,
        200,
        "a deletion needs no conversion"
    );
    converter.rise().await;
    assert_eq!(get(&mut client, &format!("{V2}/a")).await.1["spec"]["height"], 2);
    converter.fall().await;
    converter.rise().await;
    create(&mut client, V2, &of_v2("c", 3, 3)).await;
    let metrics = client.get("/metrics").await.expect("an answer");
    let metrics = String::from_utf8_lossy(&metrics.body).into_owned();
    for (from, to, succeeded) in [("v1", "v2", "false"), ("v1", "v2", "true"), ("v2", "v1", "true")] {
        let of = format!(
            "apiserver_crd_conversion_webhook_duration_seconds_count{{crd_name=\"crates.hw.example.com\",\
             from_version=\"{from}\",to_version=\"{to}\",succeeded=\"{succeeded}\"}}"
        );
        assert!(metrics.contains(&of), "{of}");
    }
}

#[tokio::test]
async fn others_go_on_while_a_slow_webhook_converts() {
    let (_server, mut client, converter) = serve().await;
    create(&mut client, V1, &of_v1("a", "1x2")).await;
    converter.behave(Manner::Slow(Duration::from_secs(3)));
    let slow: Vec<_> = (0..8)
        .map(|index| {
            let mut client = client.another();
            tokio::spawn(async move {
                let path = format!("{V2}/a?fieldManager=m{index}");
                merge(&mut client, &path, json!({"metadata": {"labels": {format!("l{index}"): "1"}}})).await
            })
        })
        .collect();
    tokio::time::sleep(Duration::from_millis(200)).await;
    let begun = std::time::Instant::now();
    for index in 0..20 {
        create(&mut client, V1, &of_v1(&format!("c{index}"), "1x1")).await;
        let (status, _) = merge(&mut client, &format!("{V1}/a"), json!({"spec": {"label": index.to_string()}})).await;
        assert_eq!(status, 200, "other writers of the same object go on");
    }
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
    converter.behave(Manner::Well);
    for slow in slow {
        let (status, merged) = slow.await.expect("no panic");
        assert_eq!((status, &merged["spec"]["label"]), (200, &json!("19")), "{merged}");
    }
}

#[tokio::test]
async fn a_service_is_found_by_the_program_and_named_in_its_certificate() {
    let converter = Converter::named("converter.hooks.svc").await;
    let address = format!("127.0.0.1:{}", converter.port());
    let server = Server::test().configure(move |server| {
        server.definitions().webhook_services(move |service| {
            assert_eq!((&*service.namespace, &*service.name, service.port), ("hooks", "converter", 8443));
            Some(address.clone())
        })
    });
    let server = server.start().await;
    let mut client = Client::new(server.url(), server.token());
    let service = json!({"namespace": "hooks", "name": "converter", "path": "/convert", "port": 8443});
    establish(&mut client, &crates(&json!({"service": service, "caBundle": converter.ca_bundle()}))).await;
    create(&mut client, V1, &of_v1("a", "1x2")).await;
    assert_eq!(get(&mut client, &format!("{V2}/a")).await.1["spec"]["height"], 2);

    // Another authority is not trusted.
    let other = Converter::start().await;
    let changed = json!({"service": service, "caBundle": other.ca_bundle()});
    let patch = json!({"spec": {"conversion": {"webhook": {"clientConfig": changed}}}});
    assert_eq!(merge(&mut client, DEFINITION, patch).await.0, 200);
    let refused = until(&mut client, &format!("{V2}/a"), |status, _| status == 500).await;
    let message = refused["message"].as_str().expect("a message");
    assert!(message.contains("https://converter.hooks.svc:8443/convert?timeout=30s\": tls: "), "{message}");
}
