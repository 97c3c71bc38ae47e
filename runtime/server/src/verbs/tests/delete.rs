//! delete: preconditions, both phases, propagation, deletecollection.
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::fixture::{World, at, causes, names, selecting, value, version};
use crate::{
    kind::{Kind, fixture::Hooks, hook},
    meta::options::{DeleteOptions, ListOptions, Preconditions, Propagation},
    verbs::{DeleteResult, Error, Request},
};

fn marked(deleted: DeleteResult) -> Value {
    match deleted {
        DeleteResult::Marked(object) => value(&object),
        DeleteResult::Gone { uid, .. } => panic!("{uid} is gone"),
        DeleteResult::Forced => panic!("gone by force"),
    }
}

async fn delete_with(world: &World, request: &Request, propagation: Propagation) -> DeleteResult {
    let options = DeleteOptions { propagation: Some(propagation), ..DeleteOptions::default() };
    world.api.delete(request, &options).await.unwrap()
}

#[tokio::test]
async fn an_object_without_finalizers_is_removed_at_once() {
    let world = World::new().await;
    let made = world.create_config(json!({"metadata": {"name": "a"}})).await;
    let DeleteResult::Gone { uid, object } = world.delete(&world.config("a")).await.unwrap() else { panic!("marked") };
    assert_eq!((json!(uid), value(&object)), (made["metadata"]["uid"].clone(), made));
    assert!(matches!(world.get(&world.config("a")).await, Err(Error::NotFound(..))));
    assert!(matches!(world.delete(&world.config("a")).await, Err(Error::NotFound(..))));
}

#[tokio::test]
async fn a_hook_may_hold_a_deleted_object() {
    let world = World::new().await;
    let holds_deletion = Some((|thing| thing["data"]["lent"].is_string()) as fn(&Value) -> bool);
    let things = world.things(Hooks { holds_deletion, ..Hooks::default() });
    world.create(&things, "ns", json!({"metadata": {"name": "t"}, "data": {"lent": "to Ada"}})).await.unwrap();
    let thing = at(&things, "ns", "t");
    assert!(marked(world.delete(&thing).await.unwrap())["metadata"]["deletionTimestamp"].is_string());
    assert!(things.endpoint("finalize").is_none(), "its finalizers are those of its metadata alone");
    world.merge(&thing, json!({"data": {"lent": null}})).await.unwrap();
    assert!(matches!(world.get(&thing).await, Err(Error::NotFound(..))));
}

/// A thing whose data says to whom it is lent, which it once did not have to.
#[derive(Deserialize, Serialize)]
struct Thing {
    data: BTreeMap<String, String>,
}

#[tokio::test]
async fn an_object_that_the_hook_cannot_decode_is_held_until_it_can_or_by_force() {
    let world = World::new().await;
    let things = world.things(Hooks::default());
    for name in ["a", "b"] {
        let body = json!({"metadata": {"name": name, "finalizers": ["example.com/x"]}});
        world.create(&things, "ns", body).await.unwrap();
    }
    let kind = Kind::clone(&things.kind).with(|_, _, binding| {
        let held = |thing: &Thing| thing.data.contains_key("lent");
        binding.hooks = hook::on_documents(hook::Functions { holds_deletion: Some(held), ..hook::Functions::NONE });
    });
    let things = world.api.registry.replace([kind], None).expect("the same things with other hooks");
    let (first, second) = (at(&things, "ns", "a"), at(&things, "ns", "b"));
    let force = DeleteOptions { ignore_read_errors: true, ..DeleteOptions::default() };
    for thing in [&first, &second] {
        marked(world.delete(thing).await.unwrap());
        let released = world.merge(thing, json!({"metadata": {"finalizers": null}})).await.unwrap();
        assert!(released["metadata"]["deletionTimestamp"].is_string());
        marked(world.delete(thing).await.unwrap());
    }
    assert!(matches!(world.api.delete(&first, &force).await, Ok(DeleteResult::Gone { .. })));
    world.merge(&second, json!({"data": {"lent": "to Ada"}})).await.unwrap();
    let refused = world.api.delete(&second, &force).await;
    assert!(matches!(refused, Err(Error::Conflict(..))), "it can be decoded: {refused:?}");
    world.merge(&second, json!({"data": {"lent": null, "back": "yes"}})).await.unwrap();
    assert!(matches!(world.get(&second).await, Err(Error::NotFound(..))));
}

#[tokio::test]
async fn finalizers_hold_a_deleted_object_until_the_last_is_removed() {
    let world = World::new().await;
    let finalizers = json!(["example.com/one", "example.com/two"]);
    let made = world
        .create_widget(json!({"metadata": {"name": "f", "finalizers": finalizers.clone()}, "spec": {"size": 1}}))
        .await;
    let request = world.widget("f");
    let first = marked(world.delete(&request).await.unwrap());
    assert!(first["metadata"]["deletionTimestamp"].is_string());
    assert_eq!(first["metadata"]["deletionGracePeriodSeconds"], 0);
    assert_eq!(first["metadata"]["generation"], 2, "being deleted is a change of what is desired");
    assert_ne!(version(&first), version(&made));
    assert_eq!(marked(world.delete(&request).await.unwrap()), first, "again is the same");

    let cannot = world.merge(&request, json!({"metadata": {"deletionTimestamp": null}})).await.unwrap();
    assert_eq!(cannot, first);
    let more = json!({"metadata": {"finalizers": ["example.com/one", "example.com/two", "example.com/three"]}});
    let refused = world.merge(&request, more).await.unwrap_err();
    assert!(causes(&refused)[0].contains("found new finalizers []string{\"example.com/three\"}"), "{refused:?}");
    let changed = world.merge(&request, json!({"spec": {"size": 2}})).await.unwrap();
    assert_eq!(changed["spec"]["size"], 2, "may change while it waits");

    world.merge(&request, json!({"metadata": {"finalizers": ["example.com/two"]}})).await.unwrap();
    let before = world.get(&request).await.unwrap();
    let last = world.merge(&request, json!({"metadata": {"finalizers": null}})).await.unwrap();
    assert!(last["metadata"].get("finalizers").is_none());
    assert_eq!(version(&last), version(&before), "the last state has no version of its own");
    assert!(matches!(world.get(&request).await, Err(Error::NotFound(..))));
}

#[tokio::test]
async fn a_failed_precondition_changes_nothing() {
    let world = World::new().await;
    let made = world.create_config(json!({"metadata": {"name": "a"}})).await;
    let uid = made["metadata"]["uid"].as_str().unwrap().to_owned();
    let with = |uid: Option<&str>, version: Option<&str>| DeleteOptions {
        preconditions: Preconditions { uid: uid.map(str::to_owned), resource_version: version.map(str::to_owned) },
        ..DeleteOptions::default()
    };
    let request = world.config("a");
    for (options, what) in [(with(Some("other"), None), "UID"), (with(None, Some("1")), "ResourceVersion")] {
        let Err(Error::Conflict(named, _, why)) = world.api.delete(&request, &options).await else { panic!("{what}") };
        assert_eq!(named.resource, "ConfigMap", "kube-apiserver names the kind here");
        assert!(why.starts_with(&format!("the {what} in the precondition")), "{why}");
    }
    assert!(world.api.delete(&request, &with(Some(&uid), Some(&version(&made)))).await.is_ok());
}

#[tokio::test]
async fn propagation_is_a_finalizer() {
    let world = World::new().await;
    for (policy, finalizer) in [(Propagation::Foreground, "foregroundDeletion"), (Propagation::Orphan, "orphan")] {
        world.create_config(json!({"metadata": {"name": "a"}})).await;
        let object = marked(delete_with(&world, &world.config("a"), policy).await);
        assert_eq!(object["metadata"]["finalizers"], json!([finalizer]));
        assert_eq!(marked(world.delete(&world.config("a")).await.unwrap()), object, "the object's own policy stays");
        let gone = delete_with(&world, &world.config("a"), Propagation::Background).await;
        assert!(matches!(gone, DeleteResult::Gone { .. }), "the client's policy replaces it");
    }
}

#[tokio::test]
async fn a_dry_run_deletes_nothing() {
    let world = World::new().await;
    let made = world.create_config(json!({"metadata": {"name": "a", "finalizers": ["example.com/x"]}})).await;
    let options = DeleteOptions { dry_run: true, ..DeleteOptions::default() };
    let shown = marked(world.api.delete(&world.config("a"), &options).await.unwrap());
    assert!(shown["metadata"]["deletionTimestamp"].is_string());
    assert_eq!(world.get(&world.config("a")).await.unwrap(), made);
}

#[tokio::test]
async fn a_collection_is_deleted_by_selector_and_page() {
    let world = World::new().await;
    for n in 0..200 {
        let labels = json!({"dc": (n % 2).to_string()});
        world.create_config(json!({"metadata": {"name": format!("c-{n:03}"), "labels": labels}})).await;
    }
    let all = world.config("");
    let options = ListOptions { limit: 10, ..selecting("dc=1", "") };
    let gone = world.api.delete_collection(&all, &options, &DeleteOptions::default()).await.unwrap();
    assert_eq!((gone.items.len(), gone.continue_token.is_some()), (10, true));
    let dry = DeleteOptions { dry_run: true, ..DeleteOptions::default() };
    let shown = world.api.delete_collection(&all, &ListOptions::default(), &dry).await.unwrap();
    assert_eq!(shown.items.len(), 190);
    let rest = world.api.delete_collection(&all, &selecting("dc=1", ""), &DeleteOptions::default()).await.unwrap();
    assert_eq!(rest.items.len(), 90);
    let left = world.list(&all, &ListOptions::default()).await;
    assert_eq!(left.items.len(), 100);
    assert!(names(&left).iter().all(|name| name.ends_with(['0', '2', '4', '6', '8'])));
}
