//! Unreadable objects: the answer of each verb, and forced deletion.
use bytes::Bytes;
use serde_json::json;

use super::fixture::{World, at, selecting};
use crate::{
    cache::WatchError,
    meta::options::{DeleteOptions, ListOptions, WriteOptions},
    storage::{Expect, Op, Store},
    verbs::{DeleteResult, Error},
};

/// Replaces an object with unreadable bytes.
pub(super) async fn spoil(world: &World, key: &str) {
    let key = format!("{}{key}", world.configs.objects.prefix()).into();
    let value = Some(Bytes::from_static(b"\x01 not a record"));
    let revisions =
        world.store.commit(vec![Op { key, value, expect: Expect::Any, lifetime: None }].into()).await.unwrap();
    world.api.cache.reached(revisions[0]).await;
}

pub(super) fn force() -> DeleteOptions {
    DeleteOptions { ignore_read_errors: true, ..DeleteOptions::default() }
}

fn keys(error: Error) -> Vec<String> {
    let Error::StoreRead { causes, .. } = error else { panic!("{error:?}") };
    causes.into_iter().map(|(key, _)| key).collect()
}

#[tokio::test]
async fn every_verb_names_unreadable_objects() {
    let world = World::new().await;
    for name in ["a", "b", "c"] {
        world.create_config(json!({"metadata": {"name": name, "labels": {"x": name}}})).await;
    }
    let request = world.config("b");
    let mut watch = world.api.watch(&at(&world.configs, "ns", ""), &selecting("x=c", "")).await.unwrap().watch;
    spoil(&world, "ns/b").await;
    let key = format!("{}ns/b", world.configs.objects.prefix());
    let only = [key.clone()];

    assert_eq!(keys(world.get(&request).await.unwrap_err()), only);
    assert_eq!(keys(world.merge(&request, json!({"data": {"k": "v"}})).await.unwrap_err()), only);
    assert_eq!(keys(world.update(&request, json!({"metadata": {"name": "b"}})).await.unwrap_err()), only);
    assert_eq!(keys(world.delete(&request).await.unwrap_err()), only);
    let again = world.create(&world.configs, "ns", json!({"metadata": {"name": "b"}})).await;
    assert!(matches!(again, Err(Error::AlreadyExists(..))), "it is there");

    let all = at(&world.configs, "ns", "");
    let listed = async |options: &ListOptions| world.api.list(&all, options).await.map(|list| list.items.len());
    assert_eq!(keys(listed(&ListOptions::default()).await.unwrap_err()), only);
    assert_eq!(keys(listed(&selecting("x=a", "")).await.unwrap_err()), only, "its labels are not known");
    assert_eq!(listed(&selecting("", "metadata.name=a")).await.unwrap(), 1, "its name is");
    let first = ListOptions { limit: 1, ..ListOptions::default() };
    assert_eq!(listed(&first).await.unwrap(), 1, "a page before it");
    let refused = world.api.delete_collection(&all, &ListOptions::default(), &DeleteOptions::default()).await;
    assert_eq!(keys(refused.map(|list| list.items.len()).unwrap_err()), only);
    assert_eq!(keys(world.api.watch(&all, &ListOptions::default()).await.map(drop).unwrap_err()), only);
    match watch.next().await {
        Some(Err(WatchError::Unreadable { key: told, .. })) => assert_eq!(*told, *key),
        other => panic!("{other:?}"),
    }
    assert!(watch.next().await.is_none(), "the watch has ended");
}

#[tokio::test]
async fn force_deletes_only_unreadable_objects() {
    let world = World::new().await;
    world.create_config(json!({"metadata": {"name": "a", "finalizers": ["example.com/x"]}})).await;
    let request = world.config("a");
    let Err(Error::Conflict(_, name, why)) = world.api.delete(&request, &force()).await else { panic!("deleted") };
    assert_eq!(name, "a");
    assert!(why.ends_with("unsafe deletion is not allowed because the object is decodable from storage"), "{why}");
    assert!(matches!(world.api.delete(&world.config("none"), &force()).await, Err(Error::NotFound(..))));

    spoil(&world, "ns/a").await;
    let revision = world.configs.objects.snapshot().revision();
    let after = ListOptions { resource_version: Some(revision), ..ListOptions::default() };
    let mut watch = world.api.watch(&at(&world.configs, "ns", ""), &after).await.unwrap().watch;
    assert!(matches!(world.api.delete(&request, &force()).await, Ok(DeleteResult::Forced)));
    let gone = watch.next().await.unwrap().unwrap();
    assert_eq!((gone.event_type.as_str(), gone.object.key()), ("DELETED", "ns/a"), "watchers learn that it is gone");
    assert!(matches!(world.get(&request).await, Err(Error::NotFound(..))));
    let body = json!({"metadata": {"name": "a"}});
    world.api.create(&at(&world.configs, "ns", ""), body, &WriteOptions::default()).await.unwrap();
}

#[tokio::test]
async fn an_error_names_a_hundred_objects_and_mentions_more() {
    let world = World::new().await;
    for count in 0..101 {
        spoil(&world, &format!("ns/c{count:03}")).await;
    }
    let all = at(&world.configs, "ns", "");
    let Err(Error::StoreRead { causes, more, .. }) = world.api.list(&all, &ListOptions::default()).await else {
        panic!("a list")
    };
    assert_eq!((causes.len(), more), (100, true));
}
