//! The controllers and objects that do not match their kind's current schema. Such objects are collected, orphaned and
//! deleted with their namespace like any other.
use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use tokio::time::timeout;

use super::{
    super::{ConfigMap, Controllers},
    Inside,
};
use crate::{
    Resource,
    kind::{
        Kind, Policy,
        fixture::Hooks,
        model::Names,
        policy::{Compiled, Custom},
    },
    meta::{
        Revision,
        options::{DeleteOptions, Propagation},
    },
    schema::{Document, fixture::schema},
    storage::Memory,
    verbs::{DeleteResult, Request},
};

/// The kind. Its second generation requires a field, and its hooks cannot decode objects of the first.
fn gadgets(policy: &'static dyn Policy, second: bool) -> Kind {
    let required = if second { json!(["owner"]) } else { json!([]) };
    let spec = json!({"type": "object", "required": required, "properties": {"owner": {"type": "string"}}});
    let schema = schema(&json!({"type": "object", "required": if second { json!(["spec"]) } else { json!([]) },
        "properties": {"spec": spec}}));
    let hooks = Hooks {
        default: Some(|_, _| Err("of another generation".to_owned())),
        validate: Some(|_, _| Err("of another generation".to_owned())),
        ..Hooks::default()
    };
    ConfigMap::kind().with(|shared, version, binding| {
        shared.names = Names::new("Gadget", "gadgets");
        binding.policy = policy;
        version.schema = Arc::new(schema);
        binding.hooks = Arc::new(if second { hooks } else { Hooks::default() });
    })
}

/// A server with the second generation, and objects of the first that `make` created.
async fn later(policy: &'static dyn Policy, make: impl AsyncFn(&Inside)) -> Inside {
    let store = Arc::new(Memory::new());
    let first = Inside::over(store.clone()).await;
    first.api.registry.register([gadgets(policy, false)]).expect("the first generation");
    make(&first).await;
    let second = Inside::over(store).await;
    second.api.registry.register([gadgets(policy, true)]).expect("the second generation");
    second
}

async fn until(inside: &Inside, what: &str, holds: impl Fn() -> bool) {
    let waiting = async {
        while !holds() {
            let Revision(seen) = inside.api.cache.revision();
            if !holds() {
                inside.api.cache.reached(Revision(seen + 1)).await;
            }
        }
    };
    timeout(Duration::from_secs(20), waiting).await.unwrap_or_else(|_| panic!("never: {what}"));
}

fn gadget(inside: &Inside, namespace: &str, name: &str) -> Request {
    inside.request("gadgets", namespace, name)
}

fn owned_by(object: &Document) -> Value {
    json!([{"apiVersion": "v1", "kind": object["kind"], "name": object["metadata"]["name"],
        "uid": object["metadata"]["uid"], "blockOwnerDeletion": true}])
}

#[tokio::test]
async fn a_namespace_with_objects_that_do_not_fit_goes() {
    for policy in [&Custom as &dyn Policy, &Compiled] {
        let inside = later(policy, async |first| {
            first.namespace("a").await;
            for (name, finalizers) in [("free", json!([])), ("held", json!(["example.com/x"]))] {
                let body = json!({"metadata": {"name": name, "finalizers": finalizers}});
                first.create("gadgets", "a", body).await.expect("a gadget");
            }
        })
        .await;
        let controllers = Controllers::started(&inside.api);
        inside.delete("namespaces", "", "a").await;
        until(&inside, "the object without finalizers is deleted", || inside.find("gadgets", "a", "free").is_none())
            .await;
        let release = json!({"metadata": {"finalizers": null}});
        inside.merge(&gadget(&inside, "a", "held"), release).await.expect("the finalizer is removed");
        until(&inside, "the namespace is deleted", || inside.find("namespaces", "", "a").is_none()).await;
        controllers.stop().await;
    }
}

#[tokio::test]
async fn objects_that_do_not_fit_are_collected_and_orphaned_and_collect() {
    for policy in [&Custom as &dyn Policy, &Compiled] {
        let inside = later(policy, async |first| {
            for owner in ["background", "orphan"] {
                let owner = first.create("configmaps", "default", json!({"metadata": {"name": owner}})).await;
                let owner = owner.expect("an owner");
                let name = format!("of-{}", owner["metadata"]["name"].as_str().expect("a name"));
                let body = json!({"metadata": {"name": name, "ownerReferences": owned_by(&owner)}});
                first.create("gadgets", "default", body).await.expect("a gadget");
            }
            let body = json!({"metadata": {"name": "foreground"}});
            let owner = first.create("gadgets", "default", body).await.expect("a gadget");
            let body = json!({"metadata": {"name": "of-foreground", "ownerReferences": owned_by(&owner)}});
            first.create("configmaps", "default", body).await.expect("a dependent");
        })
        .await;
        let controllers = Controllers::started(&inside.api);
        let delete = async |plural: &str, name: &str, propagation| {
            let options = DeleteOptions { propagation: Some(propagation), ..DeleteOptions::default() };
            let request = inside.request(plural, "default", name);
            inside.api.delete(&request, &options).await.expect("a deletion")
        };
        delete("configmaps", "background", Propagation::Background).await;
        until(&inside, "it is collected", || inside.find("gadgets", "default", "of-background").is_none()).await;

        delete("configmaps", "orphan", Propagation::Orphan).await;
        until(&inside, "the owner is deleted", || inside.find("configmaps", "default", "orphan").is_none()).await;
        let left = inside.find("gadgets", "default", "of-orphan").expect("it stays");
        assert!(left["metadata"]["ownerReferences"].is_null(), "{left}");

        let marked = delete("gadgets", "foreground", Propagation::Foreground).await;
        assert!(matches!(marked, DeleteResult::Marked(_)), "it waits for its dependent");
        until(&inside, "both go", || {
            let gone = |plural, name| inside.find(plural, "default", name).is_none();
            gone("configmaps", "of-foreground") && gone("gadgets", "foreground")
        })
        .await;
        controllers.stop().await;
    }
}
