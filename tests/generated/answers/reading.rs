//! Requests that read objects of a kind, write what was read, and delete it.
use kindsmith::kind::Kind;
use serde_json::{Value, json};

use super::{
    kinds::Collection,
    pair::{CBOR, JSON, PROTOBUF, Pair, Request, YAML},
};

const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";
const METADATA: &str = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";
const METADATA_LIST: &str = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";
const FORMS: [&str; 6] = [JSON, YAML, CBOR, PROTOBUF, TABLE, "text/html"];

/// Objects and lists in all encodings, and selected ones.
pub(super) async fn read(pair: &mut Pair, at: &Collection, kind: &Kind, objects: &[Value]) {
    let path = at.object(&objects[1]);
    for form in FORMS.into_iter().chain([METADATA]) {
        pair.send(Request::get(&path).accept(form)).await;
    }
    for form in FORMS.into_iter().chain([METADATA_LIST]) {
        pair.send(Request::get(&at.path).accept(form)).await;
    }
    pair.send(Request::get(at.with("includeObject=Object")).accept(TABLE)).await;
    pair.send(Request::get(at.named("missing"))).await;
    let [page, _] = pair.send(Request::get(at.with("limit=1"))).await;
    if let Some(next) = page.json()["metadata"]["continue"].as_str() {
        pair.send(Request::get(at.with(&format!("limit=1&continue={next}")))).await;
    }
    let mut queries = vec![
        "labelSelector=of%3Dpatch".to_owned(),
        "labelSelector=of%3D%3D%3D".to_owned(),
        "fieldSelector=metadata.name%3Dminimal".to_owned(),
        "fieldSelector=spec.nothing%3Da".to_owned(),
        "resourceVersion=0&limit=x".to_owned(),
    ];
    for field in &kind.version.selectable {
        let pointer = format!("/{}", field.0.join("/"));
        let value = objects[1].pointer(&pointer).map(|value| value.as_str().map_or(value.to_string(), str::to_owned));
        let plain = value.unwrap_or_default().chars().filter(char::is_ascii_alphanumeric).collect::<String>();
        queries.extend(["%3D", "!%3D"].map(|operator| format!("fieldSelector={field}{operator}{plain}")));
    }
    for query in queries {
        pair.send(Request::get(at.with(&query))).await;
    }
}

/// Puts objects back as they were read, in each encoding.
pub(super) async fn put_back(pair: &mut Pair, at: &Collection, objects: &[Value]) {
    let path = at.object(&objects[1]);
    for form in [JSON, YAML, CBOR, PROTOBUF] {
        let answers = pair.send(Request::get(&path).accept(form)).await;
        if answers.iter().all(|answer| answer.status == 200) {
            let put = |body| Request::new("PUT", &path).typed(form).accept(form).body(body);
            pair.send_each(answers.map(|answer| put(answer.body))).await;
        }
    }
}

/// Deletes one object, then all, and reads the events since the first object was created.
pub(super) async fn remove(pair: &mut Pair, at: &Collection, objects: &[Value], since: &str) {
    let initial = "watch=true&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan";
    let is_bookmark = |event: &Value| event["type"] == "BOOKMARK";
    for form in [JSON, TABLE] {
        pair.watch(Request::get(at.with(initial)).accept(form), is_bookmark).await;
    }
    let path = at.object(&objects[1]);
    let uid = json!({"preconditions": {"uid": "11111111-2222-4333-8444-555555555555"}});
    pair.send(Request::new("DELETE", &path).json(&uid)).await;
    pair.send(Request::new("DELETE", format!("{path}?dryRun=All"))).await;
    pair.send(Request::new("DELETE", &path).json(&json!({"propagationPolicy": "Sideways"}))).await;
    pair.send(Request::new("DELETE", &path)).await;
    pair.send(Request::new("DELETE", &path)).await;
    pair.send(Request::new("DELETE", at.with("labelSelector=of%3Dpatch"))).await;
    let mut last = names(pair, at).await.pop();
    pair.send(Request::new("DELETE", &at.path)).await;
    // Some kinds have no such verb.
    for name in names(pair, at).await {
        pair.send(Request::new("DELETE", at.named(&name))).await;
        last = Some(name);
    }
    let is_empty = names(pair, at).await.is_empty();
    if let Some(last) = last.filter(|_| is_empty) {
        let is_last = |event: &Value| event["type"] == "DELETED" && event["object"]["metadata"]["name"] == *last;
        pair.watch(Request::get(at.with(&format!("watch=true&resourceVersion={since}"))), is_last).await;
    }
}

/// The names of all objects.
async fn names(pair: &mut Pair, at: &Collection) -> Vec<String> {
    let [list, _] = pair.send(Request::get(&at.path)).await.map(|answer| answer.json());
    let items = list["items"].as_array().cloned().unwrap_or_default();
    items.iter().filter_map(|item| item["metadata"]["name"].as_str().map(str::to_owned)).collect()
}
