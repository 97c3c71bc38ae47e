//! Typical `Accept` headers of clients.
use super::*;
use crate::codec::{Limits, protobuf, yaml};

const WIDGETS: &str = "/apis/conformance.example.com/v1/namespaces/default/widgets";
const JSON: &str = "application/json";
const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";
const KUBECTL: &str =
    "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json";
const CLIENT_GO: &str = "application/vnd.kubernetes.protobuf,application/json";
const METADATA: &str = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";
const METADATA_LIST: &str = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";
const BROWSER: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8";

/// The media type of an answer and its kind, which Protobuf has in its envelope.
async fn negotiated(rig: &Rig, path: &str, accept: &str) -> (u16, String, String) {
    let answer = rig.answer("GET", path, &[("accept", accept)], "").await;
    let (code, media_type) = (answer.status().as_u16(), header(answer.headers(), "content-type"));
    let body = collect(answer).await;
    let kind = if media_type == PROTOBUF {
        protobuf::open(&body).expect("an envelope").kind.to_owned()
    } else {
        let document: Value = serde_json::from_slice(&body).unwrap_or_default();
        document["kind"].as_str().unwrap_or_default().to_owned()
    };
    (code, media_type, kind)
}

#[tokio::test]
async fn answers_to_typical_accept_headers() {
    let rig = Rig::with([crate::builtin::kinds(), vec![Widget::kind()]].concat()).await;
    rig.config_map("a").await;
    rig.post(WIDGETS, &json!({"metadata": {"name": "a"}, "spec": {"size": 3}})).await;
    let (map, widget) = (&*format!("{CONFIG_MAPS}/a"), &*format!("{WIDGETS}/a"));
    let missing = &*format!("{CONFIG_MAPS}/missing");
    for (path, accept, want) in [
        (map, KUBECTL, (200, JSON, "Table")),
        (WIDGETS, KUBECTL, (200, JSON, "Table")),
        (missing, KUBECTL, (404, JSON, "Status")),
        ("/api/v1", KUBECTL, (200, JSON, "APIResourceList")),
        (map, CLIENT_GO, (200, PROTOBUF, "ConfigMap")),
        (CONFIG_MAPS, CLIENT_GO, (200, PROTOBUF, "ConfigMapList")),
        (missing, CLIENT_GO, (404, PROTOBUF, "Status")),
        (widget, CLIENT_GO, (200, JSON, "Widget")),
        (WIDGETS, CLIENT_GO, (200, JSON, "WidgetList")),
        ("/apis", CLIENT_GO, (200, PROTOBUF, "APIGroupList")),
        ("/version", CLIENT_GO, (200, JSON, "")),
        (widget, METADATA, (200, PROTOBUF, "PartialObjectMetadata")),
        (WIDGETS, METADATA_LIST, (200, PROTOBUF, "PartialObjectMetadataList")),
        // It accepts any form of lists, but only this one of objects, which is not available.
        (CONFIG_MAPS, METADATA, (406, JSON, "Status")),
        (map, BROWSER, (200, JSON, "ConfigMap")),
        (map, "*/*", (200, JSON, "ConfigMap")),
        (map, "*", (200, JSON, "ConfigMap")),
        (map, "application/*", (200, JSON, "ConfigMap")),
        (map, "APPLICATION/JSON", (200, JSON, "ConfigMap")),
        (map, "application/json;charset=utf-8", (200, JSON, "ConfigMap")),
        (map, "application/json, */*", (200, JSON, "ConfigMap")),
        (map, "application/json;q=0.1, application/vnd.kubernetes.protobuf;q=0.2", (200, PROTOBUF, "ConfigMap")),
        (widget, "application/json;q=0.1, application/vnd.kubernetes.protobuf;q=0.2", (200, JSON, "Widget")),
        (
            map,
            "application/vnd.kubernetes.protobuf;as=Table;g=meta.k8s.io;v=v1, application/json;as=Table;g=meta.k8s.io;v=v1",
            (200, JSON, "Table"),
        ),
        (
            map,
            "application/vnd.kubernetes.protobuf;as=Table;g=meta.k8s.io;v=v1, application/vnd.kubernetes.protobuf",
            (200, PROTOBUF, "ConfigMap"),
        ),
        (
            map,
            "application/json;as=Table;g=meta.k8s.io;v=v2, application/json;as=Table;g=meta.k8s.io;v=v1beta1",
            (200, JSON, "Table"),
        ),
        (map, "application/json;as=Table;g=meta.k8s.io;v=v2", (406, JSON, "Status")),
        (map, "application/json;q=0, application/vnd.kubernetes.protobuf", (200, PROTOBUF, "ConfigMap")),
        (widget, PROTOBUF, (406, PROTOBUF, "Status")),
        (map, "image/png", (406, JSON, "Status")),
        (map, ";;;,,", (406, JSON, "Status")),
        (map, "", (200, JSON, "ConfigMap")),
    ] {
        let found = negotiated(&rig, path, accept).await;
        assert_eq!((found.0, &*found.1, &*found.2), want, "{path} as {accept}");
    }
}

#[tokio::test]
async fn refusals_name_the_available_forms() {
    let rig = Rig::with([crate::builtin::kinds(), vec![Widget::kind()]].concat()).await;
    let message = async |path: &str, accept: &str| {
        let answer = rig.answer("GET", path, &[("accept", accept)], "").await;
        assert_eq!(answer.status(), 406);
        // JSON is YAML: a Status is sent in the encoding that the client reads.
        let status = yaml::decode(&collect(answer).await, &Limits::default()).expect("a Status").document;
        status["message"].as_str().unwrap().to_owned()
    };
    let all = "application/json, application/yaml, application/vnd.kubernetes.protobuf, application/cbor";
    let few = "application/json, application/yaml, application/cbor";
    let nothing = "application/json;as=Nothing;g=meta.k8s.io;v=v1";
    assert_eq!(message(CONFIG_MAPS, nothing).await, format!("only the following media types are accepted: {all}"));
    assert_eq!(message(WIDGETS, nothing).await, format!("only the following media types are accepted: {few}"));
    assert_eq!(message(WIDGETS, "text/html").await, format!("only the following media types are accepted: {few}"));
    let html = format!("406: Not Acceptable\n\nAvailable representations: {all}");
    assert_eq!(message(CONFIG_MAPS, "text/html").await, html);
    let streams =
        "application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch, application/cbor-seq";
    let watch = |path: &str| format!("{path}?watch=1");
    let yaml = message(&watch(CONFIG_MAPS), "application/yaml, text/html").await;
    assert!(yaml.ends_with(&format!(": {streams}")), "{yaml}");
    let yaml = message(&watch(WIDGETS), "application/yaml, text/html").await;
    assert!(yaml.ends_with(": application/json;stream=watch, application/cbor-seq"), "{yaml}");
}
