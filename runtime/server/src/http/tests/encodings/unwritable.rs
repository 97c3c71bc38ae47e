//! Objects that do not fit their kind's message. They are stored directly, because the pipeline would refuse them.
use super::*;
use crate::{
    registry::{index::Indexes, record},
    storage::{Expect, Op},
};

/// A server with the config map `odd`, which has a number instead of text.
async fn odd() -> Rig {
    let rig = rig().await;
    let mut map = rig.config_map("odd").await;
    map["data"]["k"] = 5.into();
    let api = &rig.0.backend.api;
    let served = api.registry.find("", "v1", "configmaps").expect("a built-in kind");
    let value = record::encode(
        "v1",
        crate::schema::fingerprint(&served.kind.version.schema),
        [("v1", &Indexes::of_paths(&[]), &map)],
        &map,
    );
    let key = "/registry/configmaps/default/odd".into();
    let revisions = api
        .store
        .commit(vec![Op { key, value: Some(value.into()), expect: Expect::Any, lifetime: None }].into())
        .await
        .unwrap();
    api.cache.reached(revisions[0]).await;
    rig
}

const WHY: &str =
    "\"odd\" cannot be written as application/vnd.kubernetes.protobuf, only in the other encodings: data.k: ";

#[tokio::test]
async fn they_are_refused_and_not_truncated() {
    let rig = odd().await;
    let path = format!("{CONFIG_MAPS}/odd");
    for path in [&*path, CONFIG_MAPS] {
        let (code, media_type, body) = get(&rig, path, &format!("{PROTOBUF}, application/json")).await;
        assert_eq!((code, &*media_type), (406, PROTOBUF));
        let status = of_protobuf(&protobuf::STATUS, &body);
        assert!(status["message"].as_str().unwrap().starts_with(WHY), "{status}");
    }
    for other in ["application/json", YAML, CBOR, &format!("{PROTOBUF};as=PartialObjectMetadata;g=meta.k8s.io;v=v1")] {
        assert_eq!(get(&rig, &path, other).await.0, 200, "{other}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_watch_reports_them_and_ends() {
    let rig = odd().await;
    rig.config_map("pad").await;
    let query = "watch=1&timeoutSeconds=50&sendInitialEvents=true&resourceVersionMatch=NotOlderThan";
    let path = format!("{CONFIG_MAPS}?{query}&allowWatchBookmarks=true");
    let stream = collect(rig.answer("GET", &path, &[("accept", PROTOBUF)], "").await).await;
    let found = watches::frames(&stream);
    assert_eq!((found.len(), &*found[0].0), (1, "ERROR"), "and nothing after it");
    let status = of_protobuf(&protobuf::STATUS, found[0].1);
    assert!(status["message"].as_str().unwrap().starts_with(WHY), "{status}");

    let version = rig.get(CONFIG_MAPS).await.1["metadata"]["resourceVersion"].as_str().unwrap().to_owned();
    let path = format!("{CONFIG_MAPS}?watch=1&timeoutSeconds=50&resourceVersion={version}");
    let answer = rig.answer("GET", &path, &[("accept", PROTOBUF)], "").await;
    let headers = [("content-type", "application/json")];
    rig.json("DELETE", &format!("{CONFIG_MAPS}/odd"), &headers, "").await;
    let stream = collect(answer).await;
    let found = watches::frames(&stream);
    assert_eq!((found.len(), &*found[0].0), (1, "ERROR"), "live events, too");
}
