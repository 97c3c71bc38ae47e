//! Heavy writes are processed off the threads that serve requests.

use std::{
    sync::Mutex,
    thread::{self, ThreadId},
};

use super::*;

/// The thread on which the hook ran last.
static LAST: Mutex<Option<ThreadId>> = Mutex::new(None);

fn notes_its_thread(document: &Document, _: &HookContext<'_>) -> Result<Vec<FieldError>, String> {
    assert!(document["data"].get("panic").is_none(), "a hook of the user");
    *LAST.lock().unwrap() = Some(thread::current().id());
    if document["data"].get("unread").is_some() { Err("no such type".to_owned()) } else { Ok(Vec::new()) }
}

/// The status of a write, and whether it ran on another thread. The test's runtime has one thread.
async fn write(rig: &Rig, method: &str, path: &str, media_type: &str, body: &Value) -> (u16, bool) {
    *LAST.lock().unwrap() = None;
    let (code, _) = rig.json(method, path, &[("content-type", media_type)], &body.to_string()).await;
    (code, LAST.lock().unwrap().is_some_and(|thread| thread != thread::current().id()))
}

#[tokio::test]
async fn heavy_writes_run_on_other_threads() {
    const JSON: &str = "application/json";
    const MERGE: &str = "application/merge-patch+json";
    const APPLY: &str = "application/apply-patch+yaml";
    let hooks = Hooks { validate: Some(notes_its_thread), ..Hooks::default() };
    let kind = ConfigMap::kind().with(|_, _, binding| binding.hooks = Arc::new(hooks));
    let limits = Limits { body_bytes: 1 << 20, ..Limits::default() };
    let rig = Rig::limited(vec![Namespace::kind(), kind], default_roles(), limits).await;
    let named = |name: &str, data: Value| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data});
    let long = "x".repeat(offload::LARGE);
    let at = |name: &str| format!("{CONFIG_MAPS}/{name}");

    assert_eq!(write(&rig, "POST", CONFIG_MAPS, JSON, &named("small", json!({}))).await, (201, false));
    assert_eq!(write(&rig, "PATCH", &at("small"), MERGE, &json!({"data": {"a": "b"}})).await, (200, false));
    assert_eq!(write(&rig, "POST", CONFIG_MAPS, JSON, &named("large", json!({"a": long}))).await, (201, true));
    assert_eq!(write(&rig, "PATCH", &at("small"), MERGE, &json!({"data": {"a": long}})).await, (200, true));
    assert_eq!(
        write(&rig, "PATCH", &at("large"), MERGE, &json!({"data": {"c": "d"}})).await,
        (200, true),
        "as it stands"
    );
    let apply = format!("{}?fieldManager=me", at("large"));
    assert_eq!(write(&rig, "PATCH", &apply, APPLY, &named("large", json!({"e": "f"}))).await, (200, true));
    assert_eq!(write(&rig, "PUT", &at("large"), JSON, &named("large", json!({"a": "b"}))).await, (200, true));
    assert_eq!(
        write(&rig, "PUT", &at("large"), JSON, &named("large", json!({"a": "c"}))).await,
        (200, false),
        "small again"
    );

    let panics = named("panics", json!({"panic": long}));
    for _ in 0..3 {
        assert_eq!(write(&rig, "POST", CONFIG_MAPS, JSON, &panics).await.0, 500, "its turn is given back");
    }
    let unread = named("unread", json!({"unread": long}));
    assert_eq!(write(&rig, "POST", CONFIG_MAPS, JSON, &unread).await, (422, true));
    let wrong = named("wrong", json!({"a": [long]}));
    assert_eq!(write(&rig, "POST", CONFIG_MAPS, JSON, &wrong).await.0, 400, "the error is reported");
    let large = named("other", json!({"a": long}));
    assert_eq!(write(&rig, "POST", CONFIG_MAPS, JSON, &large).await, (201, true));
    for accept in ["application/yaml", "application/cbor", TABLE] {
        let answer = rig.answer("GET", &at("other"), &[("accept", accept)], "").await;
        assert_eq!(answer.status(), 200, "{accept}");
    }
    let answer = rig.answer("DELETE", &at("other"), &[], "").await;
    assert_eq!(answer.status(), 200);
}
