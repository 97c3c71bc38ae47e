//! patch: the effect of JSON and merge patches, and their errors.
use serde_json::json;

use super::fixture::{World, causes, shown, version};
use crate::{
    meta::options::{FieldValidation, PatchOptions, WriteOptions},
    verbs::{Error, Patch},
};

#[tokio::test]
async fn a_merge_patch_sets_and_removes() {
    let world = World::new().await;
    let made = world.create_config(json!({"metadata": {"name": "a"}, "data": {"x": "1", "y": "2"}})).await;
    let request = world.config("a");
    let patched = world.merge(&request, json!({"data": {"x": "10", "y": null}})).await.unwrap();
    assert_eq!(patched["data"], json!({"x": "10"}));
    assert_ne!(version(&patched), version(&made));
    let same = world.merge(&request, json!({"data": {"x": "10"}})).await.unwrap();
    assert_eq!(same, patched, "no change, no write");
}

#[tokio::test]
async fn a_version_in_a_patch_is_a_precondition() {
    let world = World::new().await;
    let made = world.create_widget(json!({"metadata": {"name": "w"}, "spec": {"size": 1}})).await;
    let request = world.widget("w");
    let with = |version: &str, size: i64| json!({"metadata": {"resourceVersion": version}, "spec": {"size": size}});
    assert!(world.merge(&request, with(&version(&made), 2)).await.is_ok());
    assert!(matches!(world.merge(&request, with(&version(&made), 3)).await, Err(Error::Conflict(..))));
}

#[tokio::test]
async fn a_json_patch_applies_as_a_whole() {
    let world = World::new().await;
    world.create_config(json!({"metadata": {"name": "a"}, "data": {"x": "1"}})).await;
    let request = world.config("a");
    let ops = json!([{"op": "test", "path": "/data/x", "value": "1"}, {"op": "add", "path": "/data/y", "value": "2"}]);
    assert_eq!(world.json(&request, ops).await.unwrap()["data"], json!({"x": "1", "y": "2"}));
    let fails = json!([{"op": "remove", "path": "/data/x"}, {"op": "test", "path": "/data/y", "value": "no"}]);
    assert!(matches!(world.json(&request, fails).await, Err(Error::InapplicablePatch(_))));
    assert_eq!(world.get(&request).await.unwrap()["data"], json!({"x": "1", "y": "2"}));
    assert!(matches!(world.json(&request, json!({"not": "a list"})).await, Err(Error::BadRequest(_))));
}

#[tokio::test]
async fn a_patch_may_not_change_name_or_uid() {
    let world = World::new().await;
    world.create_config(json!({"metadata": {"name": "a"}})).await;
    let request = world.config("a");
    assert!(matches!(world.merge(&request, json!({"metadata": {"name": "b"}})).await, Err(Error::BadRequest(_))));
    let uid = json!({"metadata": {"uid": "11111111-2222-3333-4444-555555555555"}});
    let refused = world.merge(&request, uid).await.unwrap_err();
    let told = "metadata.uid: Invalid value: \"11111111-2222-3333-4444-555555555555\": field is immutable";
    assert_eq!(causes(&refused), [told, told], "told twice, as by kube-apiserver");
    assert!(matches!(world.merge(&request, json!({"kind": "Secret"})).await, Err(Error::BadRequest(_))));
}

#[tokio::test]
async fn an_undecodable_result_is_an_error_of_the_patch() {
    let world = World::new().await;
    world.create_config(json!({"metadata": {"name": "a"}, "data": {"x": "1"}})).await;
    let request = world.config("a");
    let refused = world.merge(&request, json!({"data": {"x": 5}})).await.unwrap_err();
    assert!(causes(&refused)[0].starts_with("patch: Invalid value: "), "{refused:?}");
    let strict = WriteOptions { field_validation: FieldValidation::Strict, ..WriteOptions::default() };
    let options = PatchOptions { write: strict, force: false };
    let refused = world.api.patch(&request, Patch::Merge(r#"{"nope":1}"#.into()), &options).await.unwrap_err();
    let told = "patch: Invalid value: \"\": strict decoding error: unknown field \"nope\"";
    assert_eq!(causes(&refused), [told], "what is wrong, and no value of the object");
}

#[tokio::test]
async fn strict_validation_applies_to_the_patch_itself() {
    let world = World::new().await;
    world.create_config(json!({"metadata": {"name": "a"}, "data": {"x": "1"}})).await;
    let patch = |patch: &'static str, make: fn(bytes::Bytes) -> Patch, field_validation| {
        let write = WriteOptions { field_validation, ..WriteOptions::default() };
        let (world, options) = (&world, PatchOptions { write, force: false });
        async move { world.api.patch(&world.config("a"), make(patch.into()), &options).await }
    };
    let twice = r#"{"data": {"x": "2", "x": "3"}, "nope": 1}"#;
    let faults = ["duplicate field \"data.x\"", "unknown field \"nope\""];
    for make in [Patch::Merge, Patch::Strategic] {
        let refused = patch(twice, make, FieldValidation::Strict).await.unwrap_err();
        assert!(causes(&refused)[0].ends_with(&format!("strict decoding error: {}", faults.join(", "))), "{refused:?}");
    }
    assert_eq!(patch(twice, Patch::Merge, FieldValidation::Warn).await.unwrap().warnings, faults);
    assert!(patch(twice, Patch::Strategic, FieldValidation::Ignore).await.unwrap().warnings.is_empty());
    let odd = r#"[{"op": "add", "path": "/data/y", "value": "1", "value": "2", "extra": 1}]"#;
    let told = ["json patch duplicate field \"[0].value\"", "json patch unknown field \"[0].extra\""];
    assert!(patch(odd, Patch::Json, FieldValidation::Strict).await.is_err());
    assert_eq!(patch(odd, Patch::Json, FieldValidation::Warn).await.unwrap().warnings, told);
}

#[tokio::test]
async fn a_strategic_patch_follows_the_schema() {
    let world = World::new().await;
    let finalizers = json!(["example.com/a", "example.com/b"]);
    world.create_config(json!({"metadata": {"name": "a", "finalizers": finalizers}, "data": {"x": "1"}})).await;
    let patch = |patch: serde_json::Value| {
        let world = &world;
        async move {
            let patch = Patch::Strategic(patch.to_string().into());
            world.api.patch(&world.config("a"), patch, &PatchOptions::default()).await
        }
    };
    let merged = shown(patch(json!({"metadata": {"finalizers": ["example.com/c"]}})).await.unwrap());
    assert_eq!(merged["metadata"]["finalizers"].as_array().unwrap().len(), 3);
    let gone =
        json!({"metadata": {"$deleteFromPrimitiveList/finalizers": ["example.com/a"]}, "data": {"$patch": "replace"}});
    let less = shown(patch(gone).await.unwrap());
    assert_eq!(less["metadata"]["finalizers"].as_array().unwrap().len(), 2);
    assert!(less.get("data").is_none(), "{less}");
    assert_eq!(shown(patch(json!({})).await.unwrap()), less, "no change, no write");
    assert!(matches!(patch(json!(["no object"])).await, Err(Error::BadRequest(_))));
    assert!(matches!(patch(json!({"metadata": {"$patch": "what"}})).await, Err(Error::BadRequest(_))));
}

#[tokio::test]
async fn a_patch_needs_an_existing_object() {
    let world = World::new().await;
    assert!(matches!(world.merge(&world.config("a"), json!({})).await, Err(Error::NotFound(..))));
}

#[tokio::test]
async fn only_changes_of_the_desired_state_increment_the_generation() {
    let world = World::new().await;
    world.create_widget(json!({"metadata": {"name": "w"}, "spec": {"size": 1}})).await;
    let request = world.widget("w");
    let generation = |patch| {
        let (world, request) = (&world, &request);
        async move { world.merge(request, patch).await.unwrap()["metadata"]["generation"].clone() }
    };
    assert_eq!(generation(json!({"metadata": {"labels": {"a": "b"}}})).await, 1);
    assert_eq!(generation(json!({"spec": {"size": 2}})).await, 2);
    assert_eq!(generation(json!({"status": {"phase": "x"}})).await, 2);
    assert_eq!(generation(json!({"metadata": {"generation": 9}})).await, 2);
    assert_eq!(generation(json!({"spec": {"size": 3}, "metadata": {"generation": null}})).await, 3);
}
