//! Behaviour over time: a server continues the work of another one, gracefully deleted objects are awaited, and many
//! dependents do not delay other clients.
use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::{
    super::super::{Controllers, tests::Inside},
    LONG, config, delete, find, owner, set_owners, settled, until, until_left,
};
use crate::{
    kind::{
        Kind,
        binding::NoHooks,
        model::{Grace, Names},
    },
    meta::options::{DeleteOptions, Propagation},
    storage::Memory,
};

#[tokio::test]
async fn a_server_continues_the_work_of_another_one() {
    const CHILDREN: usize = 60;
    for propagation in [Propagation::Background, Propagation::Foreground, Propagation::Orphan] {
        let store = Arc::new(Memory::new());
        let mut inside = Inside::over(store.clone()).await;
        let a = config(&inside, "a", &[]).await;
        for at in 0..CHILDREN {
            let child = config(&inside, &format!("child-{at:02}"), &[owner(&a, true)]).await;
            config(&inside, &format!("leaf-{at:02}"), &[owner(&child, true)]).await;
        }
        delete(&inside, "a", propagation).await;
        // Servers that stop at once or after a while, each with its own view of the state.
        for wait in [0, 1, 2, 5] {
            let controllers = Controllers::started(&inside.api);
            sleep(Duration::from_millis(wait)).await;
            controllers.stop().await;
            inside.api.cache.close();
            inside = Inside::over(store.clone()).await;
        }
        let controllers = Controllers::started(&inside.api);
        if propagation == Propagation::Orphan {
            until(&inside, "the owner is gone", || find(&inside, "a").is_none()).await;
            settled(&inside).await;
            for at in 0..CHILDREN {
                let child = find(&inside, &format!("child-{at:02}")).expect("an orphan");
                assert_eq!(child["metadata"]["ownerReferences"], Value::Null);
                assert!(find(&inside, &format!("leaf-{at:02}")).is_some(), "its owner is still there");
            }
        } else {
            until_left(&inside, &[]).await;
        }
        controllers.stop().await;
    }
}

#[tokio::test]
async fn gracefully_deleted_dependents_are_awaited() {
    let inside = Inside::new().await;
    let kind = Kind::clone(&inside.request("configmaps", "", "").resource.kind).with(|shared, _, binding| {
        shared.names = Names::new("Slow", "slows");
        shared.grace = Some(Grace::Seconds(30));
        binding.hooks = Arc::new(NoHooks);
    });
    inside.api.registry.register([kind]).expect("a kind");
    let controllers = Controllers::started(&inside.api);
    let slow = |name: &str| inside.find("slows", "default", name);
    let a = config(&inside, "a", &[]).await;
    let body = json!({"metadata": {"name": "s", "ownerReferences": [owner(&a, true)]}});
    let made = inside.create("slows", "default", body).await.expect("a slow one");
    let mut reference = owner(&made, true);
    reference["kind"] = json!("Slow");
    config(&inside, "of-s", &[reference]).await;
    delete(&inside, "a", Propagation::Foreground).await;
    // It is deleted in the foreground, too: its dependents are deleted at once, and only its grace period holds it.
    until(&inside, "it is marked and has no dependents", || {
        let marked = slow("s").expect("it is in its grace period");
        marked["metadata"]["deletionGracePeriodSeconds"] == json!(30) && marked["metadata"]["finalizers"].is_null()
    })
    .await;
    until_left(&inside, &["a"]).await;
    settled(&inside).await;
    assert!(find(&inside, "a").is_some() && slow("s").is_some(), "its owner waits for it");
    let request = inside.request("slows", "default", "s");
    let at_once = DeleteOptions { grace_period_seconds: Some(0), ..DeleteOptions::default() };
    inside.api.delete(&request, &at_once).await.expect("its end");
    until_left(&inside, &[]).await;

    // While it exists, it keeps its dependents.
    let made = inside.create("slows", "default", json!({"metadata": {"name": "s"}})).await.expect("a slow one");
    let kept = config(&inside, "kept", &[]).await;
    let mut reference = owner(&made, true);
    reference["kind"] = json!("Slow");
    set_owners(&inside, "kept", &[reference]).await;
    inside.delete("slows", "default", "s").await;
    settled(&inside).await;
    assert_eq!(find(&inside, "kept").expect("kept")["metadata"]["uid"], kept["metadata"]["uid"]);
    inside.api.delete(&request, &at_once).await.expect("its end");
    until_left(&inside, &[]).await;
    controllers.stop().await;
}

/// The longest time that another client waits for a write and a read, measured repeatedly while something holds.
async fn longest_wait(inside: &Inside, holds: impl Fn() -> bool) -> Duration {
    let mut longest = Duration::ZERO;
    let body = json!({"metadata": {"name": "stranger"}});
    inside.create("configmaps", "kube-public", body).await.expect("a config map");
    let request = inside.request("configmaps", "kube-public", "stranger");
    for at in 0.. {
        if !holds() {
            break;
        }
        let begun = Instant::now();
        inside.merge(&request, json!({"data": {"at": at.to_string()}})).await.expect("a change");
        assert_eq!(inside.find("configmaps", "kube-public", "stranger").expect("there")["data"]["at"], at.to_string());
        longest = longest.max(begun.elapsed());
        sleep(Duration::from_millis(1)).await;
    }
    longest
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_dependents_are_deleted_fast_without_delaying_others() {
    let inside = Inside::new().await;
    let controllers = Controllers::started(&inside.api);
    for (many, propagation) in [(10_000, Propagation::Foreground), (2_000, Propagation::Orphan)] {
        let a = config(&inside, "a", &[]).await;
        for at in 0..many {
            config(&inside, &format!("c{at}"), &[owner(&a, at % 2 == 0)]).await;
        }
        settled(&inside).await;
        let begun = Instant::now();
        delete(&inside, "a", propagation).await;
        let objects = inside.request("configmaps", "default", "").resource.objects.clone();
        let left = if propagation == Propagation::Orphan { many } else { 0 };
        let longest = longest_wait(&inside, || objects.snapshot().count("default/", None) > left).await;
        let took = begun.elapsed();
        eprintln!("{many} dependents: {propagation:?} within {took:?}; others waited {longest:?} at most");
        assert!(took < 2 * LONG, "{took:?}");
        assert!(longest < Duration::from_secs(2), "{longest:?}");
        inside.delete("configmaps", "kube-public", "stranger").await;
    }
    controllers.stop().await;
}
