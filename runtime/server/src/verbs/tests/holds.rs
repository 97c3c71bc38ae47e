//! The namespace changes between a creation's check and its commit, as another server might do.
use std::{future::Future, sync::Arc};

use serde_json::{Value, json};

use super::fixture::{World, at, below, shown};
use crate::{
    meta::options::WriteOptions,
    storage::delayed_store::DelayedStore,
    verbs::{Error, Request, Verbs},
};

fn namespace(world: &World) -> Request {
    at(&world.namespaces, "", "ns")
}

async fn label(world: &World, value: usize) {
    let labels = json!({"metadata": {"labels": {"n": value.to_string()}}});
    world.merge(&namespace(world), labels).await.expect("a label");
}

/// Removes the namespace, like the lifecycle controller.
async fn remove(world: &World) {
    world.delete(&namespace(world)).await.expect("the mark");
    let finalize = below(namespace(world), "finalize");
    let last = json!({"metadata": {"name": "ns"}, "spec": {"finalizers": []}});
    world.update(&finalize, last).await.expect("the end");
}

/// Creates an object while something happens before each of its commits, which are counted.
async fn create<F>(meddle: impl Fn(Arc<World>, usize) -> F + Send + Sync + 'static) -> (Result<Value, Error>, usize)
where
    F: Future<Output = ()> + Send + 'static,
{
    let world = Arc::new(World::new().await);
    let (registry, cache, store) = (world.api.registry.clone(), world.api.cache.clone(), world.store.clone());
    let meddled = world.clone();
    let store = Arc::new(DelayedStore::new(store, move |time| meddle(meddled.clone(), time)));
    let api = Verbs::new(registry, cache, store.clone());
    let config = json!({"metadata": {"name": "a"}});
    let made = api.create(&at(&world.configs, "ns", ""), config, &WriteOptions::default()).await.map(shown);
    assert_eq!(world.get(&world.config("a")).await.ok(), made.as_ref().ok().cloned(), "stored exactly if it says so");
    (made, store.times())
}

#[tokio::test]
async fn a_namespace_that_is_marked_meanwhile_refuses_objects() {
    let (made, times) = create(|world, _| async move { drop(world.delete(&namespace(&world)).await) }).await;
    let Err(Error::Forbidden { name, causes, .. }) = made else { panic!("{made:?}") };
    assert_eq!((name.as_str(), causes[0].0.as_str(), times), ("a", "NamespaceTerminating", 1));
}

#[tokio::test]
async fn a_namespace_that_is_removed_meanwhile_is_not_found() {
    let (made, times) = create(|world, _| async move { remove(&world).await }).await;
    assert!(matches!(&made, Err(Error::NotFound(what, name)) if what.resource == "namespaces" && name == "ns"));
    assert_eq!(times, 1);
}

#[tokio::test]
async fn a_namespace_with_other_changes_is_checked_again() {
    let (made, times) = create(|world, time| async move {
        match time {
            0..5 => label(&world, time).await,
            5 => {
                remove(&world).await;
                world.create(&world.namespaces, "", json!({"metadata": {"name": "ns"}})).await.expect("a new one");
            }
            _ => {}
        }
    })
    .await;
    assert_eq!((made.expect("a config")["metadata"]["name"].as_str(), times), (Some("a"), 7));
}

#[tokio::test]
async fn a_namespace_that_keeps_changing_causes_a_conflict() {
    let (made, times) = create(|world, time| async move { label(&world, time).await }).await;
    assert!(matches!(made, Err(Error::Conflict(..))), "{made:?}");
    assert_eq!(times, 64);
}
