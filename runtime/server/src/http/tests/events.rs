//! Events, which are served in two groups.
use std::time::{Duration, Instant};

use super::*;
use crate::{builtin, kind::Kind};

async fn rig() -> Rig {
    Rig::with(builtin::kinds()).await
}

const CORE: &str = "/api/v1/namespaces/default/events";
const EVENTS: &str = "/apis/events.k8s.io/v1/namespaces/default/events";

/// An event as recorders of today write it.
fn recorded(name: &str) -> Value {
    json!({
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"name": name, "namespace": "default"},
        "eventTime": "2026-01-02T03:04:05.678901Z",
        "reportingController": "example.com/gardener",
        "reportingInstance": "gardener-1",
        "action": "Watering",
        "reason": "Dry",
        "regarding": {"kind": "Plant", "name": "fern", "namespace": "default"},
        "note": "it was dry",
        "type": "Normal",
    })
}

#[tokio::test]
async fn an_event_is_one_object_in_both_groups() {
    let rig = rig().await;
    let (code, created) = rig.post(EVENTS, &recorded("dry")).await;
    assert_eq!((code, &created["note"]), (201, &json!("it was dry")), "{created}");
    let (code, core) = rig.get(&format!("{CORE}/dry")).await;
    assert_eq!((code, &core["apiVersion"], &core["message"]), (200, &json!("v1"), &json!("it was dry")));
    assert_eq!(
        (&core["involvedObject"]["name"], &core["reportingComponent"]),
        (&json!("fern"), &json!("example.com/gardener"))
    );
    assert_eq!(core["metadata"]["uid"], created["metadata"]["uid"]);

    let old = json!({
        "metadata": {"name": "old"}, "involvedObject": {"namespace": "default"}, "message": "m", "count": 3,
        "source": {"component": "kubelet"}, "firstTimestamp": "2026-01-02T03:04:05Z",
    });
    assert_eq!(rig.post(CORE, &old).await.0, 201);
    let (_, shown) = rig.get(&format!("{EVENTS}/old")).await;
    assert_eq!(
        (&shown["note"], &shown["deprecatedCount"], &shown["deprecatedSource"]["component"]),
        (&json!("m"), &json!(3), &json!("kubelet"))
    );
    let selected = format!("{EVENTS}?fieldSelector=regarding.name%3Dfern,reportingController%3Dexample.com/gardener");
    assert_eq!(rig.get(&selected).await.1["items"].as_array().map(Vec::len), Some(1));

    assert_eq!(rig.json("DELETE", &format!("{CORE}/dry"), &[], "").await.0, 200);
    let (code, gone) = rig.get(&format!("{EVENTS}/dry")).await;
    assert_eq!((code, &gone["message"]), (404, &json!("events.events.k8s.io \"dry\" not found")));
}

#[tokio::test]
async fn discovery_lists_them_in_both_groups() {
    let rig = rig().await;
    let (_, groups) = rig.get("/apis").await;
    assert!(groups["groups"].as_array().unwrap().iter().any(|group| group["name"] == "events.k8s.io"));
    let (_, found) = rig.get("/apis/events.k8s.io/v1").await;
    let event = found["resources"].as_array().unwrap().iter().find(|found| found["name"] == "events").unwrap();
    assert_eq!((&event["kind"], &event["shortNames"]), (&json!("Event"), &json!(["ev"])));
    let (_, core) = rig.get("/api/v1").await;
    let same = core["resources"].as_array().unwrap().iter().find(|found| found["name"] == "events").unwrap();
    assert_eq!(same["storageVersionHash"], event["storageVersionHash"]);
    let (code, described) = rig.get("/openapi/v3/apis/events.k8s.io/v1").await;
    assert!(code == 200 && described["components"]["schemas"].get("io.k8s.api.events.v1.Event").is_some());
}

async fn put(rig: &Rig, event: &Value) -> (u16, Value) {
    let path = format!("{EVENTS}/{}", event["metadata"]["name"].as_str().unwrap());
    rig.json("PUT", &path, &[("content-type", "application/json")], &event.to_string()).await
}

#[tokio::test]
async fn new_events_of_their_own_group_follow_stricter_rules() {
    let rig = rig().await;
    for (field, value, why) in [
        ("eventTime", Value::Null, "eventTime: Required value"),
        ("type", json!("Odd"), "type: Invalid value: \"\": has invalid value: Odd"),
        ("reportingController", Value::Null, "reportingController: Required value"),
        ("deprecatedCount", json!(2), "count: Invalid value: \"\": needs to be unset"),
        (
            "series",
            json!({"count": 1, "lastObservedTime": "2026-01-02T03:04:05.678901Z"}),
            "series.count: Invalid value: 1: should be at least 2",
        ),
    ] {
        let mut event = recorded("strict");
        event[field] = value;
        let (code, status) = rig.post(EVENTS, &event).await;
        assert!(code == 422 && status["message"].as_str().unwrap().contains(why), "{field}: {status}");
    }
    let (_, mut event) = rig.post(EVENTS, &recorded("series")).await;
    event["series"] = json!({"count": 2, "lastObservedTime": "2026-01-02T03:05:05.678901Z"});
    let (code, mut event) = put(&rig, &event).await;
    assert_eq!((code, &event["series"]["count"]), (200, &json!(2)), "{event}");
    event["note"] = json!("another");
    let (code, status) = put(&rig, &event).await;
    let why = "message: Invalid value: \"another\": field is immutable";
    assert!(code == 422 && status["message"].as_str().unwrap().contains(why), "{status}");
}

#[tokio::test]
async fn an_event_is_deleted_after_its_lifetime_and_each_write_renews_it() {
    let lifetime = Duration::from_millis(1_500);
    let is_said = |kind: &&Kind| kind.shared.lifetime == Some(Duration::from_hours(1));
    let names: Vec<_> = builtin::kinds().iter().filter(is_said).map(|kind| kind.names().plural.clone()).collect();
    assert_eq!(names, ["events", "events"], "by default");
    let kinds = builtin::kinds().into_iter().map(|kind| builtin::event_lifetime(kind, lifetime));
    let rig = Rig::with(kinds.collect()).await;
    let start = Instant::now();
    for name in ["once", "again"] {
        assert_eq!(rig.post(EVENTS, &recorded(name)).await.0, 201);
    }
    let mut watch = rig.answer("GET", &format!("{CORE}?watch=1&resourceVersion=3"), &[], "").await.into_body();
    tokio::time::sleep(lifetime / 2).await;
    let renewed = Instant::now();
    let patch = json!({"metadata": {"labels": {"a": "b"}}}).to_string();
    let merge = [("content-type", "application/merge-patch+json")];
    assert_eq!(rig.json("PATCH", &format!("{CORE}/again"), &merge, &patch).await.0, 200);
    let mut seen = Vec::new();
    while seen.len() < 3 {
        let events = tokio::time::timeout(Duration::from_secs(20), frame(&mut watch)).await.unwrap().unwrap();
        for event in events {
            let (kind, name) = (event["type"].as_str().unwrap(), event["object"]["metadata"]["name"].as_str().unwrap());
            let written = if name == "once" { start } else { renewed };
            assert!(kind != "DELETED" || written.elapsed() >= lifetime, "{name} after {:?}", written.elapsed());
            seen.push(format!("{kind} {name}"));
        }
    }
    assert_eq!(seen, ["MODIFIED again", "DELETED once", "DELETED again"]);
    assert_eq!(rig.get(&format!("{EVENTS}/again")).await.0, 404);
}
