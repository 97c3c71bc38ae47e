//! Field ownership: the owners after each kind of write, and what clients may change about them.
use serde_json::{Value, json};

use super::fixture::{World, at, below, dry_run, merge_patch, owners, shown, version};
use crate::{
    meta::{
        options::{PatchOptions, WriteOptions},
        refusal::Result,
    },
    schema::Document,
    verbs::{Admission, Attributes, Error, Plugin, Verbs},
};

fn by(field_manager: &str, client: &str) -> WriteOptions {
    WriteOptions { field_manager: field_manager.to_owned(), client: client.to_owned(), ..WriteOptions::default() }
}

fn owned(who: &str, fields: Value) -> (String, Value) {
    (who.to_owned(), fields)
}

#[tokio::test]
async fn the_owner_is_the_field_manager_or_the_client() {
    let world = World::new().await;
    let cases = [("ed", "kubectl", "ed Update"), ("", "kubectl", "kubectl Update"), ("", "", "unknown Update")];
    for (at_once, (manager, client, who)) in cases.into_iter().enumerate() {
        let body = json!({"metadata": {"name": format!("c{at_once}")}, "data": {"k": "v"}});
        let made = shown(world.api.create(&world.config(""), body, &by(manager, client)).await.unwrap());
        assert_eq!(owners(&made), [owned(who, json!({"f:data": {".": {}, "f:k": {}}}))]);
        let entry = &made["metadata"]["managedFields"][0];
        assert_eq!((&entry["apiVersion"], &entry["fieldsType"]), (&json!("v1"), &json!("FieldsV1")));
        assert_eq!(entry["time"], made["metadata"]["creationTimestamp"], "whole seconds, now");
    }
}

#[tokio::test]
async fn the_creator_owns_the_defaults_and_a_change_takes_a_field() {
    let world = World::new().await;
    let body = json!({"metadata": {"name": "w", "labels": {"a": "b"}}, "spec": {"size": 1}, "status": {"phase": "No"}});
    let made = shown(world.api.create(&world.widget(""), body, &by("one", "")).await.unwrap());
    let labels = json!({".": {}, "f:a": {}});
    let spec = json!({".": {}, "f:color": {}, "f:replicas": {}, "f:size": {}});
    assert_eq!(owners(&made), [owned("one Update", json!({"f:metadata": {"f:labels": labels}, "f:spec": spec}))]);

    let mut body = made;
    body["spec"]["size"] = json!(2);
    let changed = shown(world.api.update(&world.widget("w"), body.clone(), &by("two", "")).await.unwrap());
    let rest = json!({".": {}, "f:color": {}, "f:replicas": {}});
    let expected = [
        owned("one Update", json!({"f:metadata": {"f:labels": labels}, "f:spec": rest})),
        owned("two Update", json!({"f:spec": {"f:size": {}}})),
    ];
    assert_eq!(owners(&changed), expected);

    // A client that does not send managedFields does not reset them.
    body["metadata"] = json!({"name": "w", "labels": {"a": "b"}, "resourceVersion": version(&changed)});
    assert_eq!(shown(world.api.update(&world.widget("w"), body, &by("three", "")).await.unwrap()), changed);
}

#[tokio::test]
async fn owners_are_reset_on_request_and_only_valid_ones_accepted() {
    let world = World::new().await;
    let made = world.create_config(json!({"metadata": {"name": "a"}, "data": {"k": "v"}})).await;
    let request = world.config("a");
    let with = |entries: Value| json!({"metadata": {"managedFields": entries}});
    let same = world.merge(&request, with(json!([{"manager": "x", "operation": "Steal"}]))).await.unwrap();
    assert_eq!(same, made, "nonsense counts as nothing");
    let entry = json!({"manager": "x", "operation": "Apply", "apiVersion": "v1", "fieldsType": "FieldsV1",
        "fieldsV1": {"f:data": {"f:k": {}}}});
    let given = world.merge(&request, with(json!([entry]))).await.unwrap();
    assert_eq!(owners(&given), [owned("x Apply", json!({"f:data": {"f:k": {}}}))]);
    for (reset, k) in [(json!([{}]), "1"), (json!([]), "2")] {
        world.api.patch(&request, merge_patch(&json!({"data": {"k": k}})), &PatchOptions::default()).await.unwrap();
        let forgotten = world.merge(&request, with(reset)).await.unwrap();
        assert!(forgotten["metadata"].get("managedFields").is_none(), "{forgotten}");
        // Nothing is tracked again until the next apply.
        let quiet = world.merge(&request, json!({"data": {"k": k.repeat(2)}})).await.unwrap();
        assert!(quiet["metadata"].get("managedFields").is_none(), "{quiet}");
        world.merge(&request, with(json!([entry]))).await.unwrap();
    }
    let odd = world.update(&request, json!({"metadata": {"name": "a", "managedFields": 5}})).await;
    assert!(matches!(odd, Err(Error::BadRequest(_))), "{odd:?}");
}

#[tokio::test]
async fn a_status_has_its_own_owners_and_does_not_affect_others() {
    let world = World::new().await;
    let made = world.create_widget(json!({"metadata": {"name": "w"}, "spec": {"size": 1}})).await;
    let status = below(world.widget("w"), "status");
    let body = json!({
        "metadata": {"name": "w", "resourceVersion": version(&made), "managedFields": []},
        "spec": {"size": 9}, "status": {"phase": "Ready"},
    });
    let ready = shown(world.api.update(&status, body, &by("controller", "")).await.unwrap());
    let mut expected = owners(&made);
    expected.push(owned("controller Update status", json!({"f:status": {".": {}, "f:phase": {}}})));
    expected.sort_by(|a, b| a.0.cmp(&b.0));
    assert_eq!(owners(&ready), expected);
}

#[tokio::test]
async fn a_writer_of_the_scale_owns_the_replicas() {
    let world = World::new().await;
    world.create_widget(json!({"metadata": {"name": "w"}, "spec": {"size": 1, "replicas": 3}})).await;
    let scale = below(world.widget("w"), "scale");
    let body = json!({"metadata": {"name": "w"}, "spec": {"replicas": 5}});
    let answer = shown(world.api.update(&scale, body, &by("hpa", "")).await.unwrap());
    assert!(answer["metadata"].get("managedFields").is_none(), "a scale shows no owners");
    let object = world.get(&world.widget("w")).await.unwrap();
    let expected = [
        owned("hpa Update scale", json!({"f:spec": {"f:replicas": {}}})),
        owned("unknown Update", json!({"f:spec": {".": {}, "f:color": {}, "f:size": {}}})),
    ];
    assert_eq!(owners(&object), expected);
    assert_eq!(object["metadata"]["managedFields"][0]["apiVersion"], "example.com/v1");
    let head = world.api.cache.revision();
    let same = json!({"metadata": {"name": "w"}, "spec": {"replicas": 5}});
    world.api.update(&scale, same, &by("other", "")).await.unwrap();
    assert_eq!(world.api.cache.revision(), head, "no change, no write, no owner");
}

#[tokio::test]
async fn a_dry_run_shows_owners_and_stores_none() {
    let world = World::new().await;
    let made = world.create_config(json!({"metadata": {"name": "a"}, "data": {"k": "1"}})).await;
    let request = world.config("a");
    let body = json!({"metadata": {"name": "a"}, "data": {"k": "2"}});
    let options = WriteOptions { field_manager: "dry".to_owned(), ..dry_run() };
    let tried = shown(world.api.update(&request, body, &options).await.unwrap());
    assert!(owners(&tried).iter().any(|(who, _)| who == "dry Update"), "{tried}");
    assert_eq!(world.get(&request).await.unwrap(), made);
}

/// An admission step that adds a label and breaks the entries.
struct Meddling;

impl Admission for Meddling {
    async fn admit(&self, _: &Attributes<'_>, object: &mut Document) -> Result<()> {
        object["metadata"]["labels"] = json!({"seen": "yes"});
        object["metadata"]["managedFields"][0]["operation"] = json!("Meddle");
        Ok(())
    }
}

#[tokio::test]
async fn admission_owns_nothing_and_cannot_break_the_entries() {
    let world = World::new().await;
    let (registry, cache) = (world.api.registry.clone(), world.api.cache.clone());
    let api = Verbs::with_admission(registry, cache, world.store.clone(), vec![Plugin::new(Meddling)]);
    let body = json!({"metadata": {"name": "a"}, "data": {"k": "v"}});
    let written = api.create(&world.config(""), body, &by("one", "")).await.unwrap();
    let [warning] = written.warnings.as_slice() else { panic!("{:?}", written.warnings) };
    assert!(warning.starts_with(".metadata.managedFields was in an invalid state after admission"), "{warning}");
    let made = shown(written);
    assert_eq!(made["metadata"]["labels"], json!({"seen": "yes"}));
    assert_eq!(owners(&made), [owned("one Update", json!({"f:data": {".": {}, "f:k": {}}}))]);
}

#[tokio::test]
async fn repeated_owner_references_are_dropped_with_a_warning() {
    let world = World::new().await;
    let owner = json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": "u-1"});
    let body = json!({"metadata": {"name": "a", "ownerReferences": [owner, owner]}});
    let written = world.api.create(&at(&world.configs, "ns", ""), body, &WriteOptions::default()).await.unwrap();
    assert!(written.warnings[0].ends_with("duplicate UID(s) observed: u-1"), "{:?}", written.warnings);
    assert_eq!(shown(written)["metadata"]["ownerReferences"], json!([owner]));
    let patch = json!({"metadata": {"ownerReferences": [owner, owner]}});
    let patched = world.api.patch(&world.config("a"), merge_patch(&patch), &PatchOptions::default()).await.unwrap();
    assert!(patched.warnings[0].contains("after mutating admission happens"), "{:?}", patched.warnings);
}
