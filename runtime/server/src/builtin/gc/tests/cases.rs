//! Single cases: what is collected, what is kept, and in which order.
use serde_json::{Value, json};

use super::{
    super::super::{Controllers, tests::Inside},
    config, delete, find, owner, set_owners, settled, until, until_left,
};
use crate::{
    kind::{Kind, model::Names},
    meta::options::{DeleteOptions, Propagation, WriteOptions},
    verbs::Request,
};

#[tokio::test]
async fn objects_without_remaining_owners_are_deleted_and_others_kept() {
    let inside = Inside::new().await;
    let controllers = Controllers::started(&inside.api);
    let a = config(&inside, "a", &[]).await;
    let b = config(&inside, "b", &[]).await;
    let child = config(&inside, "child", &[owner(&a, false)]).await;
    config(&inside, "grandchild", &[owner(&child, true)]).await;
    config(&inside, "shared", &[owner(&a, false), owner(&b, true)]).await;
    config(&inside, "free", &[]).await;
    settled(&inside).await;
    delete(&inside, "a", Propagation::Background).await;
    until_left(&inside, &["b", "free", "shared"]).await;
    until(&inside, "the owner reference is removed", || {
        find(&inside, "shared").expect("still there")["metadata"]["ownerReferences"] == json!([owner(&b, true)])
    })
    .await;
    delete(&inside, "b", Propagation::Background).await;
    until_left(&inside, &["free"]).await;
    controllers.stop().await;
}

#[tokio::test]
async fn an_owner_that_never_existed_does_not_keep_an_object() {
    let inside = Inside::new().await;
    let a = config(&inside, "a", &[]).await;
    let nobody = json!({"metadata": {"name": "nobody", "uid": "1"}});
    let other_uid = json!({"metadata": {"name": "a", "uid": "2"}});
    config(&inside, "of-nobody", &[owner(&nobody, true)]).await;
    config(&inside, "of-another-a", &[owner(&other_uid, true)]).await;
    config(&inside, "of-both", &[owner(&nobody, true), owner(&a, true)]).await;
    let controllers = Controllers::started(&inside.api);
    until_left(&inside, &["a", "of-both"]).await;
    until(&inside, "one owner", || {
        find(&inside, "of-both").expect("there")["metadata"]["ownerReferences"] == json!([owner(&a, true)])
    })
    .await;
    // An owner that is added too late.
    set_owners(&inside, "of-both", &[owner(&other_uid, false)]).await;
    until_left(&inside, &["a"]).await;
    controllers.stop().await;
}

#[tokio::test]
async fn objects_with_owners_of_unserved_kinds_are_kept() {
    let inside = Inside::new().await;
    let controllers = Controllers::started(&inside.api);
    let strange = json!({"apiVersion": "v1", "kind": "Strange", "name": "s", "uid": "1"});
    let later = json!({"apiVersion": "v1", "kind": "Later", "name": "l", "uid": "1"});
    let nobody = owner(&json!({"metadata": {"name": "nobody", "uid": "2"}}), true);
    config(&inside, "of-strange", &[strange, nobody.clone()]).await;
    config(&inside, "of-later", &[later, nobody]).await;
    settled(&inside).await;
    assert!(find(&inside, "of-strange").is_some() && find(&inside, "of-later").is_some());
    let kind = Kind::clone(&inside.request("configmaps", "", "").resource.kind)
        .with(|shared, _, _| shared.names = Names::new("Later", "laters"));
    // The objects of a kind that is not stored cannot be listed.
    let unstored = kind.clone().with(|shared, _, _| {
        shared.names.plural = "stranges".to_owned();
        shared.names.singular = "strange".to_owned();
        shared.stored = false;
    });
    let (name, list_kind) = ("Strange".to_owned(), "StrangeList".to_owned());
    inside
        .api
        .registry
        .register([unstored.with(|shared, _, _| {
            shared.names.kind = name;
            shared.names.list_kind = list_kind;
        })])
        .expect("a kind");
    inside.api.registry.register([kind]).expect("a kind");
    until_left(&inside, &["of-strange"]).await;
    settled(&inside).await;
    assert!(find(&inside, "of-strange").is_some());
    controllers.stop().await;
}

#[tokio::test]
async fn foreground_deletion_deletes_dependents_first() {
    let inside = Inside::new().await;
    let controllers = Controllers::started(&inside.api);
    let a = config(&inside, "a", &[]).await;
    let keeper = config(&inside, "keeper", &[]).await;
    let child = config(&inside, "child", &[owner(&a, true)]).await;
    let body = json!({"metadata": {"name": "leaf", "finalizers": ["example.com/x"], "ownerReferences": [owner(&child, true)]}});
    inside.create("configmaps", "default", body).await.expect("a config map");
    config(&inside, "loose", &[owner(&a, false)]).await;
    config(&inside, "shared", &[owner(&a, true), owner(&keeper, false)]).await;
    delete(&inside, "a", Propagation::Foreground).await;
    until(&inside, "the leaf is deleted", || {
        find(&inside, "leaf").expect("a finalizer holds it")["metadata"]["deletionTimestamp"].is_string()
    })
    .await;
    until_left(&inside, &["a", "child", "keeper", "leaf", "shared"]).await;
    settled(&inside).await;
    for name in ["a", "child"] {
        let waits = find(&inside, name).expect("it waits");
        assert_eq!(waits["metadata"]["finalizers"], json!(["foregroundDeletion"]), "{name}");
    }
    let leaf = inside.request("configmaps", "default", "leaf");
    inside.merge(&leaf, json!({"metadata": {"finalizers": null}})).await.expect("no finalizer");
    until_left(&inside, &["keeper", "shared"]).await;
    assert_eq!(
        find(&inside, "shared").expect("kept")["metadata"]["ownerReferences"],
        json!([owner(&keeper, false)]),
        "it blocked the deletion of its owner"
    );
    controllers.stop().await;
}

#[tokio::test]
async fn a_dependent_that_drops_its_owner_unblocks_it() {
    let inside = Inside::new().await;
    let controllers = Controllers::started(&inside.api);
    let a = config(&inside, "a", &[]).await;
    for (name, freed) in [("let-go", json!([])), ("unblocked", json!([owner(&a, false)]))] {
        let a = config(&inside, &format!("a-{name}"), &[]).await;
        let body =
            json!({"metadata": {"name": name, "finalizers": ["example.com/x"], "ownerReferences": [owner(&a, true)]}});
        inside.create("configmaps", "default", body).await.expect("a config map");
        delete(&inside, &format!("a-{name}"), Propagation::Foreground).await;
        settled(&inside).await;
        assert!(find(&inside, &format!("a-{name}")).is_some(), "{name} blocks it");
        let mut freed = freed;
        for reference in freed.as_array_mut().expect("a list") {
            *reference = owner(&a, false);
        }
        set_owners(&inside, name, freed.as_array().expect("a list")).await;
        until(&inside, "the owner is deleted", || find(&inside, &format!("a-{name}")).is_none()).await;
    }
    controllers.stop().await;
}

#[tokio::test]
async fn orphans_are_kept_without_their_owner() {
    let inside = Inside::new().await;
    let controllers = Controllers::started(&inside.api);
    let a = config(&inside, "a", &[]).await;
    let b = config(&inside, "b", &[]).await;
    let mut left = vec!["b".to_owned()];
    for at in 0..100 {
        let owners = if at % 2 == 0 { vec![owner(&a, true)] } else { vec![owner(&b, true), owner(&a, false)] };
        config(&inside, &format!("c{at:03}"), &owners).await;
        left.push(format!("c{at:03}"));
    }
    delete(&inside, "a", Propagation::Orphan).await;
    let left: Vec<&str> = left.iter().map(String::as_str).collect();
    until_left(&inside, &left).await;
    settled(&inside).await;
    for (at, name) in left[1..].iter().enumerate() {
        let owners = &find(&inside, name).expect("it stays")["metadata"]["ownerReferences"];
        let expected = if at % 2 == 0 { Value::Null } else { json!([owner(&b, true)]) };
        assert_eq!(*owners, expected, "{name}");
    }
    controllers.stop().await;
}

#[tokio::test]
async fn policies_in_the_finalizers_of_dependents_apply() {
    let inside = Inside::new().await;
    let controllers = Controllers::started(&inside.api);
    let a = config(&inside, "a", &[]).await;
    let body = json!({"metadata": {"name": "child", "finalizers": ["orphan"], "ownerReferences": [owner(&a, false)]}});
    let child = inside.create("configmaps", "default", body).await.expect("a config map");
    config(&inside, "grandchild", &[owner(&child, false)]).await;
    delete(&inside, "a", Propagation::Background).await;
    until_left(&inside, &["grandchild"]).await;
    settled(&inside).await;
    assert!(find(&inside, "grandchild").is_some());
    controllers.stop().await;
}

#[tokio::test]
async fn a_cycle_is_deleted_when_one_of_its_objects_is() {
    for propagation in [Propagation::Background, Propagation::Foreground] {
        for length in 1..=4 {
            let inside = Inside::new().await;
            let controllers = Controllers::started(&inside.api);
            let mut made = Vec::new();
            for at in 0..length {
                made.push(config(&inside, &format!("r{at}"), &[]).await);
            }
            for at in 0..length {
                set_owners(&inside, &format!("r{at}"), &[owner(&made[(at + 1) % length], true)]).await;
            }
            settled(&inside).await;
            assert!(find(&inside, "r0").is_some(), "a cycle is kept until one of its objects is deleted");
            delete(&inside, "r0", propagation).await;
            until_left(&inside, &[]).await;
            controllers.stop().await;
        }
    }
}

#[tokio::test]
async fn a_cycle_of_foreground_deletions_is_broken() {
    let inside = Inside::new().await;
    let a = config(&inside, "a", &[]).await;
    let b = config(&inside, "b", &[owner(&a, true)]).await;
    let c = config(&inside, "c", &[owner(&b, true)]).await;
    set_owners(&inside, "a", &[owner(&c, true)]).await;
    for name in ["a", "b", "c"] {
        delete(&inside, name, Propagation::Foreground).await;
    }
    let controllers = Controllers::started(&inside.api);
    until_left(&inside, &[]).await;
    controllers.stop().await;
}

#[tokio::test]
async fn an_owner_in_another_namespace_does_not_count_and_causes_a_warning() {
    let inside = Inside::new().await;
    let controllers = Controllers::started(&inside.api);
    let body = json!({"metadata": {"name": "far"}});
    let far = inside.create("configmaps", "kube-public", body).await.expect("a config map");
    let dependent = config(&inside, "d", &[owner(&far, true)]).await;
    until_left(&inside, &[]).await;
    let events = inside.request("events", "default", "").resource.objects.clone();
    until(&inside, "an event", || events.snapshot().count("default/", None) == 1).await;
    let event: Value =
        serde_json::from_slice(events.snapshot().range("", None).next().expect("one").json_bytes()).expect("JSON");
    assert_eq!((&event["type"], &event["reason"]), (&json!("Warning"), &json!("OwnerRefInvalidNamespace")));
    assert_eq!(event["involvedObject"]["uid"], dependent["metadata"]["uid"]);
    let uid = far["metadata"]["uid"].as_str().expect("a uid");
    assert_eq!(
        event["message"],
        format!(
            "ownerRef [v1/ConfigMap, namespace: default, name: far, uid: {uid}] does not exist in namespace \"default\""
        )
    );

    // A cluster-scoped object cannot name its owner's namespace, so it is kept.
    let body = json!({"metadata": {"name": "n", "ownerReferences": [owner(&far, true)]}});
    inside.create("namespaces", "", body).await.expect("a namespace");
    until(&inside, "another event", || events.snapshot().count("default/", None) == 2).await;
    settled(&inside).await;
    assert!(inside.find("namespaces", "", "n").expect("left alone")["metadata"].get("deletionTimestamp").is_none());
    controllers.stop().await;
}

#[tokio::test]
async fn cluster_scoped_owners_may_own_namespaced_objects() {
    let inside = Inside::new().await;
    let controllers = Controllers::started(&inside.api);
    inside.namespace("n").await;
    let n = inside.find("namespaces", "", "n").expect("made");
    let mut reference = owner(&n, true);
    reference["kind"] = json!("Namespace");
    config(&inside, "of-n", &[reference]).await;
    settled(&inside).await;
    assert!(find(&inside, "of-n").is_some());
    inside.delete("namespaces", "", "n").await;
    until_left(&inside, &[]).await;
    controllers.stop().await;
}

#[tokio::test]
async fn a_dry_run_triggers_no_collection() {
    let inside = Inside::new().await;
    let controllers = Controllers::started(&inside.api);
    let a = config(&inside, "a", &[]).await;
    config(&inside, "child", &[owner(&a, true)]).await;
    let request = inside.request("configmaps", "default", "a");
    let options =
        DeleteOptions { dry_run: true, propagation: Some(Propagation::Foreground), ..DeleteOptions::default() };
    inside.api.delete(&request, &options).await.expect("a dry run");
    let all = Request { name: String::new(), ..request };
    let body = json!({"metadata": {"name": "dry", "ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "no", "uid": "1"}]}});
    let options = WriteOptions { dry_run: true, ..WriteOptions::default() };
    inside.api.create(&all, body, &options).await.expect("a dry run");
    settled(&inside).await;
    until_left(&inside, &["a", "child"]).await;
    controllers.stop().await;
}
