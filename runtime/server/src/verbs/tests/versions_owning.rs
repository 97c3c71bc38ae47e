//! Field ownership of objects that are written in several versions.
use std::sync::Arc;

use serde_json::{Value, json};

use super::{
    fixture::{World, applier, at, below, shown},
    versions::{gears, gears_with, stored},
};
use crate::{
    kind::model::{Path, ScalePaths},
    meta::options::PatchOptions,
    registry::ResourceEntry,
    verbs::{Error, Patch},
};

const V1: &str = "example.com/v1";
const BETA: &str = "example.com/v1beta1";

fn gear(version: &str, fields: &Value) -> Value {
    let mut gear = json!({"apiVersion": version, "kind": "Gear", "metadata": {"name": "g"}});
    gear.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    gear
}

/// Applies, and returns the object.
async fn apply(world: &World, resource: &Arc<ResourceEntry>, manager: &str, fields: Value) -> Result<Value, Error> {
    let config = gear(&resource.kind.group_version.to_string(), &fields);
    world.apply(&at(resource, "ns", "g"), manager, config).await.map(shown)
}

/// The message of conflicts.
fn told(refused: &Error) -> &str {
    match refused {
        Error::Conflicts(message, _) => message,
        other => panic!("no conflicts: {other:?}"),
    }
}

/// The owners and their versions, sorted by name: within a second their order is undefined.
fn owners(object: &Value) -> Vec<(&str, &str, &Value)> {
    let mut owners = Vec::new();
    for entry in object["metadata"]["managedFields"].as_array().unwrap() {
        let member = |name: &str| entry[name].as_str().unwrap_or_default();
        owners.push((member("manager"), member("apiVersion"), &entry["fieldsV1"]));
    }
    owners.sort_by_key(|(manager, ..)| *manager);
    owners
}

#[tokio::test]
async fn a_field_is_owned_by_its_name_in_the_version_that_its_manager_wrote() {
    let world = World::new().await;
    let [v1, beta] = gears(&world);
    apply(&world, &beta, "old", json!({"cogs": 20, "spec": {"color": "red"}})).await.unwrap();
    let refused = apply(&world, &v1, "new", json!({"spec": {"teeth": 21}})).await.unwrap_err();
    assert_eq!(told(&refused), "Apply failed with 1 conflict: conflict with \"old\": .cogs");
    let made = apply(&world, &v1, "new", json!({"spec": {"teeth": 20, "metal": "Tin"}})).await.unwrap();
    let of_old = json!({"f:cogs": {}, "f:spec": {"f:color": {}}});
    let of_new = json!({"f:spec": {"f:metal": {}, "f:teeth": {}}});
    assert_eq!(owners(&made), [("new", V1, &of_new), ("old", BETA, &of_old)]);

    let kept = apply(&world, &beta, "old", json!({"spec": {"color": "red"}})).await.unwrap();
    assert_eq!(kept["cogs"], 20, "the other applies it, too");
    let refused = apply(&world, &beta, "old", json!({"cogs": 9})).await.unwrap_err();
    assert_eq!(told(&refused), "Apply failed with 1 conflict: conflict with \"new\": .spec.teeth");
    let moved = apply(&world, &v1, "old", json!({"spec": {}})).await.unwrap();
    assert_eq!(moved["spec"].get("color"), None, "what was applied in the other version goes: {moved}");
    assert_eq!(owners(&moved), [("new", V1, &of_new), ("old", V1, &json!({"f:spec": {}}))]);
}

#[tokio::test]
async fn an_update_takes_fields_from_owners_in_other_versions() {
    let world = World::new().await;
    let [v1, beta] = gears(&world);
    apply(&world, &v1, "new", json!({"spec": {"teeth": 20, "metal": "Tin"}})).await.unwrap();
    let patch = |options: PatchOptions, patch: Value| {
        let (api, request) = (&world.api, at(&beta, "ns", "g"));
        async move { api.patch(&request, Patch::Merge(patch.to_string().into()), &options).await.map(shown).unwrap() }
    };
    patch(applier("old"), json!({"spec": {"color": "red"}})).await;
    patch(applier("old"), json!({"cogs": 30})).await;
    let found = world.get(&at(&v1, "ns", "g")).await.unwrap();
    // The older version has no metal, so a write in it removes the value. Its owner gets a conflict at its next apply.
    let of_old = json!({"f:cogs": {}, "f:spec": {"f:color": {}}});
    let of_new = json!({"f:spec": {"f:metal": {}}});
    assert_eq!(
        (&found["spec"]["teeth"], owners(&found)),
        (&json!(30), vec![("new", V1, &of_new), ("old", BETA, &of_old)])
    );
    let refused = apply(&world, &v1, "new", json!({"spec": {"teeth": 20, "metal": "Tin"}})).await.unwrap_err();
    let message = "Apply failed with 1 conflict: conflict with \"old\" using example.com/v1beta1: .cogs";
    assert_eq!(told(&refused), message);
}

#[tokio::test]
async fn a_repeated_apply_changes_nothing_despite_owners_in_another_version() {
    let world = World::new().await;
    let [v1, beta] = gears(&world);
    apply(&world, &beta, "old", json!({"cogs": 20})).await.unwrap();
    let config = json!({"spec": {"color": "red"}});
    let made = apply(&world, &v1, "new", config.clone()).await.unwrap();
    assert_eq!(apply(&world, &v1, "new", config).await.unwrap(), made);
}

#[tokio::test]
async fn a_write_of_the_scale_keeps_owners_in_versions_without_scale() {
    let world = World::new().await;
    let scale = ScalePaths::new(Path::from("spec.teeth"), Path::from("status.teeth"));
    let [v1, beta] = gears_with(&world, stored().with(|_, version, _| version.scale = Some(scale)));
    apply(&world, &beta, "old", json!({"cogs": 20})).await.unwrap();
    apply(&world, &v1, "new", json!({"spec": {"teeth": 20, "color": "red"}})).await.unwrap();
    let request = below(at(&v1, "ns", "g"), "scale");
    let patch = Patch::Merge(json!({"spec": {"replicas": 25}}).to_string().into());
    world.api.patch(&request, patch, &applier("scaler")).await.unwrap();
    let found = world.get(&at(&v1, "ns", "g")).await.unwrap();
    assert_eq!(
        owners(&found),
        [
            ("new", V1, &json!({"f:spec": {"f:color": {}}})),
            ("old", BETA, &json!({"f:cogs": {}})),
            ("scaler", V1, &json!({"f:spec": {"f:teeth": {}}})),
        ],
        "as kube-apiserver, which knows the replicas of versions with a scale only"
    );
}
