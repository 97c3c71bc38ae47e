//! Tests of the controller over a memory store: deletions, waits, and interruption at any moment.
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use serde_json::json;
use tokio::time::timeout;

use super::super::{Controllers, tests::Inside};
use crate::{
    cache::Subscription,
    schema::Document,
    storage::delayed_store::DelayedStore,
    verbs::{Error, Request},
};

/// Much longer than any step takes.
const LONG: Duration = Duration::from_secs(20);

/// Waits until a condition holds for the namespace; the closure gets `None` once the namespace is gone.
async fn until(inside: &Inside, name: &str, holds: impl Fn(Option<&Document>) -> bool) {
    let objects = inside.request("namespaces", "", name).resource.objects.clone();
    let waiting = async {
        let mut watch =
            objects.watch(objects.snapshot().revision(), Subscription::Key(name.into()), None).await.expect("a watch");
        while !holds(inside.find("namespaces", "", name).as_ref()) {
            watch.next().await.expect("an open cache").expect("a change");
        }
    };
    timeout(LONG, waiting).await.unwrap_or_else(|_| panic!("{name}: {:#?}", inside.find("namespaces", "", name)));
}

async fn until_gone(inside: &Inside, name: &str) {
    until(inside, name, |namespace| namespace.is_none()).await;
}

async fn config(inside: &Inside, namespace: &str, name: &str, finalizers: &[&str]) {
    let body = json!({"metadata": {"name": name, "finalizers": finalizers}});
    inside.create("configmaps", namespace, body).await.expect("a config map");
}

fn condition<'n>(namespace: &'n Document, kind: &str) -> &'n Document {
    let all = namespace["status"]["conditions"].as_array().expect("conditions");
    all.iter().find(|condition| condition["type"] == kind).expect("the condition")
}

#[tokio::test]
async fn a_deleted_namespace_is_emptied_and_removed_and_others_stay() {
    let inside = Inside::new().await;
    let controllers = Controllers::started(&inside.api);
    inside.namespace("a").await;
    inside.namespace("ab").await;
    for at in 0..100 {
        config(&inside, "a", &format!("c{at}"), &[]).await;
    }
    inside.create("secrets", "a", json!({"metadata": {"name": "s"}})).await.expect("a secret");
    inside.create("leases", "a", json!({"metadata": {"name": "l"}})).await.expect("a lease");
    config(&inside, "ab", "stays", &[]).await;
    inside.delete("namespaces", "", "a").await;
    until_gone(&inside, "a").await;
    for plural in ["configmaps", "secrets", "leases"] {
        let objects = inside.request(plural, "a", "").resource.objects.clone();
        assert_eq!(objects.snapshot().count("a/", None), 0, "{plural}");
    }
    assert!(inside.find("configmaps", "ab", "stays").is_some());
    inside.namespace("a").await;
    inside.delete("namespaces", "", "a").await;
    until_gone(&inside, "a").await;
    controllers.stop().await;
}

#[tokio::test]
async fn remaining_content_is_reported_in_the_conditions() {
    let inside = Inside::new().await;
    let controllers = Controllers::started(&inside.api);
    inside.namespace("a").await;
    config(&inside, "a", "held", &["example.com/x"]).await;
    config(&inside, "a", "held-too", &["example.com/x", "example.com/y"]).await;
    config(&inside, "a", "free", &[]).await;
    inside.delete("namespaces", "", "a").await;
    until(&inside, "a", |namespace| namespace.expect("still there")["status"]["conditions"].is_array()).await;
    let namespace = inside.find("namespaces", "", "a").expect("still there");
    let told = |kind: &str| {
        let condition = condition(&namespace, kind);
        let text = |member: &str| condition[member].as_str().expect("text").to_owned();
        assert!(condition["lastTransitionTime"].is_string(), "{condition}");
        [text("status"), text("reason"), text("message")]
    };
    for (kind, status, reason, message) in [
        ("NamespaceDeletionDiscoveryFailure", "False", "ResourcesDiscovered", "All resources successfully discovered"),
        (
            "NamespaceDeletionGroupVersionParsingFailure",
            "False",
            "ParsedGroupVersions",
            "All legacy kube types successfully parsed",
        ),
        (
            "NamespaceDeletionContentFailure",
            "False",
            "ContentDeleted",
            "All content successfully deleted, may be waiting on finalization",
        ),
        (
            "NamespaceContentRemaining",
            "True",
            "SomeResourcesRemain",
            "Some resources are remaining: configmaps. has 2 resource instances",
        ),
        (
            "NamespaceFinalizersRemaining",
            "True",
            "SomeFinalizersRemain",
            "Some content in the namespace has finalizers remaining: example.com/x in 2 resource instances, example.com/y in 1 resource instances",
        ),
    ] {
        assert_eq!(told(kind), [status, reason, message], "{kind}");
    }
    assert_eq!(namespace["status"]["phase"], "Terminating");

    // When one object is removed, the conditions follow. When the last one is removed, so is the namespace.
    let held = inside.request("configmaps", "a", "held");
    inside.merge(&held, json!({"metadata": {"finalizers": null}})).await.expect("no finalizer");
    until(&inside, "a", |namespace| {
        let message = &condition(namespace.expect("still there"), "NamespaceContentRemaining")["message"];
        message == "Some resources are remaining: configmaps. has 1 resource instances"
    })
    .await;
    let held = inside.request("configmaps", "a", "held-too");
    inside.merge(&held, json!({"metadata": {"finalizers": null}})).await.expect("no finalizer");
    until_gone(&inside, "a").await;
    controllers.stop().await;
}

#[tokio::test]
async fn a_waiting_namespace_causes_no_writes() {
    let inside = Inside::new().await;
    let controllers = Controllers::started(&inside.api);
    inside.namespace("a").await;
    config(&inside, "a", "held", &["example.com/x"]).await;
    inside.delete("namespaces", "", "a").await;
    until(&inside, "a", |namespace| namespace.expect("still there")["status"]["conditions"].is_array()).await;
    let before = inside.api.cache.revision();
    tokio::time::sleep(Duration::from_millis(700)).await;
    assert_eq!(inside.api.cache.revision(), before, "nothing is written while nothing changes");
    controllers.stop().await;
}

#[tokio::test]
async fn propagation_finalizers_do_not_hold_a_namespace() {
    let inside = Inside::new().await;
    inside.namespace("a").await;
    config(&inside, "a", "orphaned", &["orphan"]).await;
    config(&inside, "a", "waited-for", &["foregroundDeletion"]).await;
    // Marked before the namespace is, so only this controller would remove the finalizer.
    inside.delete("configmaps", "a", "waited-for").await;
    assert!(inside.find("configmaps", "a", "waited-for").is_some());
    inside.delete("namespaces", "", "a").await;
    let controllers = Controllers::started(&inside.api);
    until_gone(&inside, "a").await;
    controllers.stop().await;
}

#[tokio::test]
async fn other_finalizers_hold_the_namespace_after_it_is_empty() {
    let inside = Inside::new().await;
    let controllers = Controllers::started(&inside.api);
    let body = json!({"metadata": {"name": "a"}, "spec": {"finalizers": ["example.com/x"]}});
    inside.create("namespaces", "", body).await.expect("a namespace");
    config(&inside, "a", "c", &[]).await;
    inside.delete("namespaces", "", "a").await;
    until(&inside, "a", |namespace| namespace.expect("still there")["spec"]["finalizers"] == json!(["example.com/x"]))
        .await;
    assert!(inside.find("configmaps", "a", "c").is_none());
    let finalize = Request { subresource: "finalize".into(), ..inside.request("namespaces", "", "a") };
    inside.merge(&finalize, json!({"spec": {"finalizers": []}})).await.expect("no finalizer");
    until_gone(&inside, "a").await;
    controllers.stop().await;
}

/// Writers create objects in a namespace that comes and goes, and in one that is only labelled. Every created object is
/// in an existing namespace, or is deleted with its namespace.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn what_is_created_while_its_namespace_ends_is_not_left_behind() {
    let store =
        DelayedStore::new(Arc::default(), |time| tokio::time::sleep(Duration::from_micros(time as u64 * 379 % 5000)));
    let inside = Arc::new(Inside::over(Arc::new(store)).await);
    let controllers = Controllers::started(&inside.api);
    inside.namespace("stays").await;
    let stop = Arc::new(AtomicBool::new(false));
    let writers: Vec<_> = (0..8)
        .map(|writer| {
            let (inside, stop) = (inside.clone(), stop.clone());
            tokio::spawn(async move {
                let mut made = 0;
                while !stop.load(Ordering::Relaxed) {
                    let body = json!({"metadata": {"generateName": format!("c{writer}-")}});
                    match inside.create("configmaps", "goes", body.clone()).await {
                        Ok(_) => made += 1,
                        Err(Error::Forbidden { .. } | Error::NotFound(..)) => tokio::task::yield_now().await,
                        Err(error) => panic!("{error:?}"),
                    }
                    inside.create("configmaps", "stays", body).await.expect("a config map");
                }
                made
            })
        })
        .collect();
    let configs = inside.request("configmaps", "", "").resource.objects.clone();
    let stays = inside.request("namespaces", "", "stays");
    for round in 0..20 {
        inside.namespace("goes").await;
        while configs.snapshot().count("goes/", None) < round {
            inside.merge(&stays, json!({"metadata": {"labels": {"round": round.to_string()}}})).await.expect("a label");
            tokio::task::yield_now().await;
        }
        inside.delete("namespaces", "", "goes").await;
        until_gone(&inside, "goes").await;
        assert_eq!(configs.snapshot().count("goes/", None), 0, "round {round}");
    }
    stop.store(true, Ordering::Relaxed);
    let mut made = 0;
    for writer in writers {
        made += writer.await.expect("a writer");
    }
    assert!(made > 0);
    assert_eq!(configs.snapshot().count("goes/", None), 0);
    controllers.stop().await;
}

/// A controller that is stopped at any moment, and repeatedly, is continued by the next one.
#[tokio::test]
async fn a_controller_that_is_cut_off_anywhere_is_taken_over() {
    let inside = Inside::new().await;
    let mut names = Vec::new();
    for at in 0..8 {
        let name = format!("n{at}");
        inside.namespace(&name).await;
        for item in 0..20 {
            config(&inside, &name, &format!("c{item}"), &[]).await;
        }
        inside.delete("namespaces", "", &name).await;
        names.push(name);
    }
    for cut in 0..40u64 {
        let (_keep, stopping) = tokio::sync::watch::channel(false);
        let task = tokio::spawn(super::run(inside.api.clone(), stopping));
        tokio::time::sleep(Duration::from_micros(cut * 37)).await;
        task.abort();
        let _ = task.await;
    }
    let controllers = Controllers::started(&inside.api);
    for name in &names {
        until_gone(&inside, name).await;
    }
    let configs = inside.request("configmaps", "", "").resource.objects.clone();
    assert_eq!(configs.snapshot().count("", None), 0);
    controllers.stop().await;
}

#[tokio::test]
async fn controllers_end_when_the_cache_is_closed() {
    let inside = Inside::new().await;
    let controllers = Controllers::started(&inside.api);
    tokio::task::yield_now().await;
    inside.api.cache.close();
    timeout(LONG, controllers.stop()).await.expect("an end");
}
