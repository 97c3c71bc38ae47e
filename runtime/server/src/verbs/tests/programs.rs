//! Two versions of a program over one store: the newer one has fields that the older one does not know.
use std::sync::Arc;

use serde_json::{Value, json};

use super::fixture::{World, applier, at, below, shown, version};
use crate::{
    cache::Limits,
    kind::{Kind, policy::Custom},
    meta::options::{DeleteOptions, PatchOptions},
    registry::ResourceEntry,
    schema::fixture::schema,
    storage::several::{Lag, Several},
    verbs::{Patch, Request},
};

/// A kind as the newer program declares it.
fn newer(old: &Kind) -> Kind {
    Kind::clone(old).with(|_, version, _| {
        let root = Arc::make_mut(&mut version.schema);
        let spec = root.properties.get_mut("spec").expect("a spec");
        spec.properties
            .insert("tint".to_owned(), schema(&json!({"type": "object", "properties": {"r": {"type": "integer"}}})));
        let ports = spec.properties.get_mut("ports").expect("ports");
        let port = Arc::make_mut(ports.items.as_mut().expect("a port"));
        port.properties.insert("weight".to_owned(), schema(&json!({"type": "integer"})));
        let status = root.properties.get_mut("status").expect("a status");
        status.properties.insert("shade".to_owned(), schema(&json!({"type": "string"})));
    })
}

/// The servers of both programs, and the kind as the newer one serves it.
struct Programs {
    older: World,
    newer: World,
    newest: Arc<ResourceEntry>,
}

impl Programs {
    async fn new() -> Self {
        let several = Several::new();
        let older = World::on(several.memory().clone(), several.server(Lag::None), Limits::default()).await;
        let world = World::on(several.memory().clone(), several.server(Lag::None), Limits::default()).await;
        assert!(world.api.registry.remove(&world.widgets));
        let newest = world.api.registry.register([newer(&world.widgets.kind)]).expect("the newer kind");
        let programs = Self { older, newer: world, newest };
        programs.newer.create(&programs.newest, "ns", object()).await.expect("a widget");
        programs
    }

    async fn newest(&self) -> Value {
        self.newer.get(&at(&self.newest, "ns", "w")).await.expect("the widget")
    }
}

fn object() -> Value {
    json!({"metadata": {"name": "w"}, "spec": {
        "size": 1, "tint": {"r": 7},
        "ports": [{"name": "a", "port": 1, "weight": 1}, {"name": "b", "port": 2, "weight": 2}],
    }})
}

/// The fields that the older program does not know.
fn unknown(widget: &Value) -> Value {
    let ports = widget["spec"]["ports"].as_array().expect("ports").iter();
    let weights: Vec<_> = ports.map(|port| json!([port["name"], port["weight"]])).collect();
    json!([widget["spec"]["tint"]["r"], weights, widget["status"]["shade"]])
}

#[tokio::test]
async fn what_the_older_program_writes_keeps_the_fields_of_the_newer_one() {
    let programs = Programs::new().await;
    let (older, widget) = (&programs.older, programs.older.widget("w"));
    let status = below(at(&programs.newest, "ns", "w"), "status");
    programs.newer.merge(&status, json!({"status": {"shade": "dark"}})).await.unwrap();
    let all = json!([7, [["a", 1], ["b", 2]], "dark"]);
    assert_eq!(unknown(&programs.newest().await), all);

    let seen = older.get(&widget).await.unwrap();
    assert!(seen["spec"].get("tint").is_none(), "it does not know it: {seen}");
    older.merge(&widget, json!({"spec": {"size": 2}})).await.unwrap();
    assert_eq!(unknown(&programs.newest().await), all, "merge patch");
    older.json(&widget, json!([{"op": "replace", "path": "/spec/size", "value": 3}])).await.unwrap();
    assert_eq!(unknown(&programs.newest().await), all, "JSON patch");
    let mut update = older.get(&widget).await.unwrap();
    update["spec"]["size"] = json!(4);
    older.update(&widget, update).await.unwrap();
    assert_eq!(unknown(&programs.newest().await), all, "update");
    let apply = PatchOptions { force: true, ..applier("m") };
    let config =
        json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": {"size": 5}});
    older.apply_with(&widget, config, &apply).await.unwrap();
    assert_eq!(unknown(&programs.newest().await), all, "apply");
    older.merge(&below(widget.clone(), "status"), json!({"status": {"phase": "x"}})).await.unwrap();
    assert_eq!(unknown(&programs.newest().await), all, "status");
    older.merge(&below(widget.clone(), "scale"), json!({"spec": {"replicas": 3}})).await.unwrap();
    let last = programs.newest().await;
    assert_eq!(
        (unknown(&last), &last["spec"]["size"], &last["spec"]["replicas"]),
        (all, &json!(5), &json!(3)),
        "scale"
    );
    assert!(older.get(&widget).await.unwrap()["spec"].get("tint").is_none(), "its own writes do not show them");
}

#[tokio::test]
async fn items_that_the_older_program_removes_lose_their_fields() {
    let programs = Programs::new().await;
    let ports = json!({"spec": {"ports": [{"name": "c", "port": 3}, {"name": "b", "port": 9}]}});
    programs.older.merge(&programs.older.widget("w"), ports).await.unwrap();
    assert_eq!(unknown(&programs.newest().await), json!([7, [["c", null], ["b", 2]], null]));
}

#[tokio::test]
async fn a_write_of_the_older_program_that_changes_nothing_writes_nothing() {
    let programs = Programs::new().await;
    let (older, widget) = (&programs.older, programs.older.widget("w"));
    let before = version(&programs.newest().await);
    let seen = older.get(&widget).await.unwrap();
    assert_eq!(version(&older.update(&widget, seen.clone()).await.unwrap()), before);
    older.merge(&widget, json!({"spec": {"size": 1}})).await.unwrap();
    assert_eq!(version(&programs.newest().await), before, "controllers of both programs would write for ever");
    older.merge(&widget, json!({"spec": {"size": 2}})).await.unwrap();
    let written = version(&programs.newest().await);
    programs.newer.merge(&at(&programs.newest, "ns", "w"), json!({"spec": {"size": 2}})).await.unwrap();
    older.merge(&widget, json!({"spec": {"size": 2}})).await.unwrap();
    assert_eq!(version(&programs.newest().await), written);
}

#[tokio::test]
async fn a_mark_for_deletion_keeps_them_and_a_patch_cannot_remove_what_is_not_seen() {
    let programs = Programs::new().await;
    let (older, widget) = (&programs.older, programs.older.widget("w"));
    let removal = json!([{"op": "remove", "path": "/spec/tint"}]);
    assert!(older.json(&widget, removal).await.is_err(), "the path does not exist");
    older.merge(&widget, json!({"spec": {"tint": null}, "metadata": {"finalizers": ["example.com/a"]}})).await.unwrap();
    older.api.delete(&widget, &DeleteOptions::default()).await.unwrap();
    let marked = programs.newest().await;
    assert!(marked["metadata"]["deletionTimestamp"].is_string());
    assert_eq!(unknown(&marked), json!([7, [["a", 1], ["b", 2]], null]));
}

/// A definition can be changed at run time, so that dropping is what its author asks for.
#[tokio::test]
async fn kinds_of_definitions_drop_unknown_fields() {
    let several = Several::new();
    let world = World::on(several.memory().clone(), several.server(Lag::None), Limits::default()).await;
    assert!(world.api.registry.remove(&world.widgets));
    let dropping = |kind: Kind| {
        kind.with(|_, _, binding| {
            binding.keeps_unknown = false;
            binding.policy = &Custom;
        })
    };
    let known = dropping(newer(&world.widgets.kind));
    let resource = world.api.registry.register([known]).expect("a kind");
    world.create(&resource, "ns", object()).await.unwrap();
    assert!(world.api.registry.remove(&resource));
    let older = world.api.registry.register([dropping(Kind::clone(&world.widgets.kind))]).expect("a kind");
    let request: Request = at(&older, "ns", "w");
    let patch = Patch::Merge(json!({"spec": {"size": 2}}).to_string().into());
    shown(world.api.patch(&request, patch, &PatchOptions::default()).await.unwrap());
    assert!(world.api.registry.remove(&older));
    let newest = world.api.registry.register([dropping(newer(&world.widgets.kind))]).expect("a kind");
    let seen = world.get(&at(&newest, "ns", "w")).await.unwrap();
    assert_eq!(seen["spec"].get("tint"), None);
}
