//! Watches, with a clock that advances while all tasks wait.
use std::time::Duration;

use super::*;
use crate::storage::{Expect, Op, relay::Relay};

#[tokio::test(start_paused = true)]
async fn a_watch_from_its_initial_events_to_its_end() {
    let rig = Rig::new().await;
    rig.config_map("a").await;
    let query =
        "watch=1&timeoutSeconds=150&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan";
    let answer = rig.answer("GET", &format!("{CONFIG_MAPS}?{query}"), &[], "").await;
    assert_eq!((answer.status().as_u16(), answer.body().size_hint().exact()), (200, None));
    let mut body = answer.into_body();
    let initial = frame(&mut body).await.unwrap();
    assert_eq!(initial[0]["type"], "ADDED");
    assert_eq!(initial[0]["object"]["kind"], "ConfigMap");
    assert_eq!(initial[1]["type"], "BOOKMARK");
    assert_eq!(initial[1]["object"]["metadata"]["annotations"], json!({"k8s.io/initial-events-end": "true"}));
    let made = rig.config_map("b").await;
    let live = frame(&mut body).await.unwrap();
    assert_eq!(live, [json!({"type": "ADDED", "object": made})]);
    rig.config_map("c").await;
    rig.json("DELETE", &format!("{CONFIG_MAPS}/c"), &[], "").await;
    let mut types = Vec::new();
    while types.len() < 2 {
        types.extend(frame(&mut body).await.unwrap().into_iter().map(|event| event["type"].clone()));
    }
    assert_eq!(types, ["ADDED", "DELETED"]);
    // Two bookmarks, a minute apart, and one at the end: the clock advances by itself.
    for _ in 0..3 {
        let events = frame(&mut body).await.unwrap();
        assert_eq!((events.len(), &events[0]["type"]), (1, &json!("BOOKMARK")));
        assert!(events[0]["object"]["metadata"]["resourceVersion"].is_string());
    }
    assert_eq!(frame(&mut body).await, None);
}

/// A client resumes after the revision of the last event that it has seen: etcd deletes all keys of a lease in one revision.
#[tokio::test(start_paused = true)]
async fn a_watch_ends_after_all_events_of_a_revision() {
    let store = Arc::new(Relay::default());
    let rig = Rig::stored(vec![Namespace::kind(), ConfigMap::kind()], store.clone()).await;
    let (mut ops, mut version) = (Vec::new(), Value::Null);
    for number in 0..60 {
        let body = json!({"metadata": {"name": format!("c{number}")}, "data": {"k": "v".repeat(1_500)}});
        version = rig.post(CONFIG_MAPS, &body).await.1["metadata"]["resourceVersion"].take();
        let key = format!("/registry/configmaps/default/c{number}").into();
        ops.push(Op { key, value: None, expect: Expect::Any, lifetime: None });
    }
    let path = format!("{CONFIG_MAPS}?watch=1&timeoutSeconds=5&resourceVersion={}", version.as_str().unwrap());
    let mut body = rig.answer("GET", &path, &[], "").await.into_body();
    let deletions = ops.len();
    store.join();
    store.commit(ops.into()).await.unwrap();
    let mut events = frame(&mut body).await.unwrap();
    assert!(events.len() < deletions, "a part of them");
    tokio::time::advance(Duration::from_secs(10)).await;
    while let Some(more) = frame(&mut body).await {
        events.extend(more);
    }
    let of_one = |event: &Value| event["type"] == "DELETED" && event["object"]["metadata"]["resourceVersion"] == "121";
    assert!(events.len() == deletions && events.iter().all(of_one), "{} of {deletions}: {:?}", events.len(), events[0]);
}

#[tokio::test(start_paused = true)]
async fn watchers_share_events_and_small_ones_are_merged() {
    let rig = Rig::new().await;
    let version = rig.config_map("first").await["metadata"]["resourceVersion"].take();
    let path = format!("{CONFIG_MAPS}?watch=1&timeoutSeconds=5&resourceVersion={}", version.as_str().unwrap());
    let sizes = [1, 2, 2_000, 3, 5_000, 4, 5, 1_500, 1_600];
    for (number, size) in sizes.into_iter().enumerate() {
        let object = json!({"metadata": {"name": format!("c{number}")}, "data": {"k": "v".repeat(size)}});
        assert_eq!(rig.post(CONFIG_MAPS, &object).await.0, 201);
    }
    // In JSON all are one piece, which both send. In other encodings the large one is sent by both, and the others are copied.
    for (accept, pieces) in [("application/json", 1), ("application/cbor", 3)] {
        let mut watches = Vec::new();
        for _ in 0..2 {
            watches.push((rig.answer("GET", &path, &[("accept", accept)], "").await.into_body(), Vec::new()));
        }
        for _ in 0..=pieces {
            for (body, read) in &mut watches {
                let frame = poll_fn(|cx| Pin::new(&mut *body).poll_frame(cx)).await;
                read.extend(frame.map(|frame| frame.unwrap().into_data().unwrap()));
            }
        }
        let (first, second) = (&watches[0].1, &watches[1].1);
        assert_eq!((first.len(), first), (pieces, second), "{accept}");
        let shared = first.iter().zip(second).filter(|(a, b)| a.as_ptr() == b.as_ptr());
        assert_eq!(shared.map(|(piece, _)| piece.len() >= 5_000).collect::<Vec<_>>(), [true], "{accept}");
        if accept == "application/json" {
            let events: Vec<Value> =
                serde_json::Deserializer::from_slice(&first.concat()).into_iter().map(Result::unwrap).collect();
            let names: Vec<_> = events.iter().map(|event| event["object"]["metadata"]["name"].clone()).collect();
            assert_eq!(names, (0..sizes.len()).map(|number| format!("c{number}")).collect::<Vec<_>>());
        }
    }
}

#[tokio::test(start_paused = true)]
async fn watches_in_other_forms() {
    let rig = Rig::new().await;
    let made = rig.config_map("a").await;
    rig.config_map("b").await;
    let version = made["metadata"]["resourceVersion"].as_str().unwrap().parse::<u64>().unwrap() - 1;
    let path = format!("{CONFIG_MAPS}?watch=1&timeoutSeconds=1&resourceVersion={version}");
    let mut body = rig.answer("GET", &path, &[("accept", TABLE)], "").await.into_body();
    let mut events = Vec::new();
    while let Some(more) = frame(&mut body).await {
        events.extend(more);
    }
    let columns: Vec<bool> = events.iter().map(|event| event["object"]["columnDefinitions"].is_array()).collect();
    assert_eq!(columns, [true, false], "columns come once");
    assert_eq!(events[1]["object"]["rows"][0]["cells"][0], "b");
    let one = format!("/api/v1/watch/namespaces/default/configmaps/b?timeoutSeconds=1&resourceVersion={version}");
    let mut body = rig.answer("GET", &one, &[], "").await.into_body();
    let events = frame(&mut body).await.unwrap();
    assert_eq!((events.len(), &events[0]["object"]["metadata"]["name"]), (1, &json!("b")));
    assert_eq!(frame(&mut body).await, None, "without bookmarks it just ends");
}

#[tokio::test(start_paused = true)]
async fn a_panic_in_a_column_ends_no_stream() {
    let rig = Rig::new().await;
    let path = "/apis/conformance.example.com/v1/namespaces/default/odds";
    for name in ["a", "b"] {
        assert_eq!(rig.post(path, &json!({"metadata": {"name": name}, "spec": {"size": 1}})).await.0, 201);
    }
    assert_eq!(rig.json("GET", path, &[("accept", TABLE)], "").await.0, 500, "a list has not begun yet");
    let watch = format!("{path}?watch=1&timeoutSeconds=1");
    let mut body = rig.answer("GET", &watch, &[("accept", TABLE)], "").await.into_body();
    let events = frame(&mut body).await.unwrap();
    let kinds: Vec<&Value> = events.iter().map(|event| &event["object"]["kind"]).collect();
    assert_eq!(kinds, ["Odd", "Odd"], "the objects themselves");
    assert_eq!(frame(&mut body).await, None);
}
