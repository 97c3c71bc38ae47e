//! Namespaces: creation needs an active one, their deletion has two phases, and nothing is left behind.
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use serde_json::json;

use super::fixture::{World, at, below, value};
use crate::{
    meta::options::ListOptions,
    verbs::{DeleteResult, Error},
};

#[tokio::test]
async fn objects_need_an_existing_namespace() {
    let world = World::new().await;
    let refused = world.create(&world.configs, "missing", json!({"metadata": {"name": "Bad!"}})).await;
    assert!(matches!(refused, Err(Error::NotFound(what, name)) if what.resource == "namespaces" && name == "missing"));
    let list = world.list(&at(&world.configs, "missing", ""), &ListOptions::default()).await;
    assert!(list.items.is_empty());
}

#[tokio::test]
async fn a_terminating_namespace_refuses_new_objects_and_keeps_its_own() {
    let world = World::new().await;
    world.create_config(json!({"metadata": {"name": "a"}})).await;
    let namespace = at(&world.namespaces, "", "ns");
    let DeleteResult::Marked(object) = world.delete(&namespace).await.unwrap() else { panic!("its spec holds it") };
    assert_eq!(value(&object)["status"]["phase"], "Terminating");

    let refused = world.create(&world.configs, "ns", json!({"metadata": {"name": "b"}})).await;
    let Err(Error::Forbidden { message, causes, name, .. }) = refused else { panic!("{refused:?}") };
    assert_eq!(message, "unable to create new content in namespace ns because it is being terminated");
    assert_eq!((name.as_str(), causes[0].0.as_str()), ("b", "NamespaceTerminating"));
    assert!(world.merge(&world.config("a"), json!({"data": {"k": "v"}})).await.is_ok());
    assert!(world.delete(&world.config("a")).await.is_ok());

    let finalize = below(namespace.clone(), "finalize");
    let body = json!({"metadata": {"name": "ns", "labels": {"no": "no"}}, "spec": {"finalizers": []}});
    let last = world.update(&finalize, body).await.unwrap();
    assert!(last["metadata"]["labels"].get("no").is_none());
    assert!(matches!(world.get(&namespace).await, Err(Error::NotFound(..))));
}

#[tokio::test]
async fn a_policy_may_prevent_the_deletion_of_an_object() {
    let world = World::new().await;
    world.create(&world.namespaces, "", json!({"metadata": {"name": "kept"}})).await.unwrap();
    let refused = world.delete(&at(&world.namespaces, "", "kept")).await;
    assert!(matches!(refused, Err(Error::Forbidden { message, .. }) if message == "it is kept"));
}

/// Many writers create while the namespace is deleted: every acknowledged object is in a later list.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn nothing_is_created_after_the_mark() {
    for round in 0..20 {
        let world = Arc::new(World::new().await);
        let stop = Arc::new(AtomicBool::new(false));
        let writers: Vec<_> = (0..8)
            .map(|writer| {
                let (world, stop) = (world.clone(), stop.clone());
                tokio::spawn(async move {
                    let mut made = 0;
                    while !stop.load(Ordering::Relaxed) {
                        let body = json!({"metadata": {"name": format!("c-{writer}-{made}")}});
                        match world.create(&world.configs, "ns", body).await {
                            Ok(_) => made += 1,
                            Err(Error::Forbidden { .. }) => break,
                            Err(error) => panic!("{error:?}"),
                        }
                    }
                    made
                })
            })
            .collect();
        for _ in 0..round * 3 {
            tokio::task::yield_now().await;
        }
        world.delete(&at(&world.namespaces, "", "ns")).await.unwrap();
        let seen = world.list(&world.config(""), &ListOptions::default()).await.items.len();
        stop.store(true, Ordering::Relaxed);
        let mut made = 0;
        for writer in writers {
            made += writer.await.unwrap();
        }
        assert_eq!(made, seen, "round {round}");
    }
}
