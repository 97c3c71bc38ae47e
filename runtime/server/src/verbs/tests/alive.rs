//! Resources that are replaced and removed while they are served, and the stored row that declares them.
use std::sync::Arc;

use serde_json::{Value, json};

use super::fixture::{World, at};
use crate::{
    kind::{Kind, convert::Unchanged, model::Names},
    meta::{GroupResource, Revision, options::ListOptions},
    registry::ResourceEntry,
    schema::fixture::schema,
    storage::{Expect, Hold, Op, Store},
    verbs::Error,
};

const ROW: &str = "/registry/definitions/gadgets.example.com";

/// A kind with the generation of its declaration in a default.
fn gadgets(world: &World, version: &str, generation: u64) -> Kind {
    let spec = json!({"type": "object", "default": {}, "properties": {
        "generation": {"type": "integer", "default": generation}, "text": {"type": "string"},
    }});
    Kind::clone(&world.configs.kind).with(|shared, data, binding| {
        shared.names = Names::new("Gadget", "gadgets");
        shared.group = "example.com".to_owned();
        version.clone_into(&mut data.name);
        data.schema = Arc::new(schema(&json!({"type": "object", "properties": {"spec": spec}})));
        binding.conversion = (version != "v1").then(|| Arc::new(Unchanged { fills: true }) as _);
    })
}

fn names() -> GroupResource {
    GroupResource { group: "example.com".to_owned(), resource: "gadgets".to_owned() }
}

impl World {
    /// Writes the row that declares gadgets.
    async fn declare(&self) -> Hold {
        let op = Op { key: ROW.into(), value: Some("{}".into()), expect: Expect::Any, lifetime: None };
        let revision = self.store.commit(vec![op].into()).await.unwrap()[0];
        Hold { key: ROW.into(), revision: Some(revision) }
    }

    async fn undeclare(&self) {
        let op = Op { key: ROW.into(), value: None, expect: Expect::Any, lifetime: None };
        self.store.commit(vec![op].into()).await.unwrap();
    }

    async fn serve_gadgets(&self, versions: &[&str], generation: u64) -> Arc<ResourceEntry> {
        let definition = self.declare().await;
        let versions = versions.iter().map(|version| gadgets(self, version, generation));
        self.api.registry.replace(versions, Some(definition)).unwrap()
    }

    fn stored_gadgets(&self) -> usize {
        self.store.range("/registry/example.com/gadgets/").unwrap().0.len()
    }
}

fn named(name: &str) -> Value {
    json!({"metadata": {"name": name}, "spec": {}})
}

fn is_unavailable<T>(given: Result<T, Error>) -> bool {
    matches!(given, Err(Error::Unavailable(message))
        if message == "the definition of gadgets.example.com has changed; please try again")
}

#[tokio::test]
async fn a_resource_is_replaced_in_all_versions_at_once() {
    let world = World::new().await;
    let first = world.serve_gadgets(&["v1", "v2"], 1).await;
    let before = world.api.registry.all();
    let a = world.create(&first, "ns", named("a")).await.unwrap();
    assert_eq!(a["spec"]["generation"], 1);
    let second = world.serve_gadgets(&["v1", "v3"], 2).await;
    let (after, generation) = world.api.registry.all();
    let versions = |all: &[Arc<ResourceEntry>]| {
        all.iter().map(|resource| resource.kind.group_version.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(versions(&before.0[3..]), ["example.com/v1", "example.com/v2"]);
    assert_eq!(versions(&after[3..]), ["example.com/v1", "example.com/v3"]);
    assert_eq!((after[3].number == first.number, generation), (false, before.1 + 1));
    assert!(world.api.registry.find("example.com", "v2", "gadgets").is_none());
    assert!(Arc::ptr_eq(&world.api.registry.resource(&names()).unwrap(), &second));
    // Stored objects are kept, and new ones belong to the new generation.
    assert_eq!(world.get(&at(&second, "ns", "a")).await.unwrap(), a);
    assert_eq!(world.create(&second, "ns", named("b")).await.unwrap()["spec"]["generation"], 2);
    // Requests that began before the replacement read the old state.
    assert_eq!(world.get(&at(&first, "ns", "a")).await.unwrap(), a);
    assert!(matches!(world.get(&at(&first, "ns", "b")).await, Err(Error::NotFound(..))));
}

#[tokio::test]
async fn another_resource_keeps_its_names_and_one_that_is_refused_changes_nothing() {
    let world = World::new().await;
    let first = world.serve_gadgets(&["v1"], 1).await;
    let taken = gadgets(&world, "v1", 2).with(|shared, _, _| {
        shared.names.short_names = vec!["gadgets".to_owned()];
        shared.names.plural = "others".to_owned();
    });
    assert!(world.api.registry.replace([taken], None).is_err_and(|refused| refused.contains("Gadget")));
    assert!(
        world.api.registry.register([gadgets(&world, "v1", 2)]).is_err(),
        "only a replacement may have its own names"
    );
    assert!(world.api.registry.replace([gadgets(&world, "v2", 2)], None).is_err(), "no version is stored");
    assert!(Arc::ptr_eq(&world.api.registry.resource(&names()).unwrap(), &first));
    assert!(!first.objects.has_ended());
    // Its own names do not clash, and are free after its removal.
    let renamed = gadgets(&world, "v1", 2).with(|shared, _, _| {
        shared.names.kind = "Other".to_owned();
        shared.names.list_kind = "OtherList".to_owned();
    });
    let elsewhere = world.api.registry.replace([renamed.clone()], None);
    assert!(elsewhere.is_err_and(|refused| refused == "gadgets.example.com is declared elsewhere already"));
    let declared = world.declare().await;
    let second = world.api.registry.replace([renamed], Some(declared)).unwrap();
    assert!(!world.api.registry.remove(&first), "it was replaced");
    assert!(world.api.registry.remove(&second));
    assert!(!world.api.registry.remove(&second));
    assert!(world.api.registry.register([gadgets(&world, "v1", 2)]).is_ok());
}

#[tokio::test]
async fn what_a_row_declares_is_found_after_its_replacement_and_takes_no_new_objects_while_it_ends() {
    let world = World::new().await;
    let first = world.serve_gadgets(&["v1"], 1).await;
    let kept = world.create(&first, "ns", named("a")).await.unwrap();
    let registry = &world.api.registry;
    let before = registry.all().1;
    assert!(!first.is_ending());
    registry.end(&first);
    let ended = registry.all().1;
    assert!(first.is_ending() && ended > before, "discovery shows it");
    registry.end(&first);
    assert_eq!(registry.all().1, ended);
    assert!(registry.declared_by(ROW).is_some_and(|resource| Arc::ptr_eq(&resource, &first)));
    let definition_row = first.definition_row.as_ref().unwrap().hold();
    let second = registry.replace_ending([gadgets(&world, "v1", 1)], Hold::clone(&definition_row)).unwrap();
    assert!(registry.declared_by(ROW).is_some_and(|resource| Arc::ptr_eq(&resource, &second)));
    assert!(registry.declared_by("/registry/definitions/others.example.com").is_none());
    let refused = world.create(&second, "ns", named("b")).await;
    let why = "create not allowed while custom resource definition is terminating";
    assert!(matches!(refused, Err(Error::Forbidden { message, name, .. }) if message == why && name == "b"));
    assert_eq!(world.get(&at(&second, "ns", "a")).await.unwrap(), kept);
    assert!(registry.remove(&second) && registry.declared_by(ROW).is_none());
}

#[tokio::test]
async fn no_write_is_stored_once_the_definition_has_changed() {
    let world = World::new().await;
    let first = world.serve_gadgets(&["v1", "v2"], 1).await;
    let second_version = world.api.registry.find("example.com", "v2", "gadgets").unwrap();
    world.create(&first, "ns", named("a")).await.unwrap();
    let changed = json!({"spec": {"text": "x"}});
    let declared = world.declare().await;
    assert!(is_unavailable(world.create(&first, "ns", named("b")).await));
    assert!(is_unavailable(world.merge(&at(&first, "ns", "a"), changed.clone()).await));
    for resource in [&first, &second_version] {
        assert!(is_unavailable(world.delete(&at(resource, "ns", "a")).await));
    }
    assert!(world.merge(&at(&first, "ns", "a"), json!({})).await.is_ok(), "nothing is stored by what changes nothing");
    // The row is unchanged.
    assert!(world.api.registry.confirm(&second_version, declared));
    assert!(!first.objects.has_ended());
    assert!(world.create(&first, "ns", named("b")).await.is_ok());
    assert!(world.merge(&at(&first, "ns", "a"), changed.clone()).await.is_ok());
    // The row has changed.
    let second = world.serve_gadgets(&["v1"], 2).await;
    assert!(is_unavailable(world.create(&first, "ns", named("c")).await));
    assert!(is_unavailable(world.merge(&at(&first, "ns", "a"), json!({"spec": {"text": "y"}})).await));
    for resource in [&first, &second_version] {
        assert!(is_unavailable(world.delete(&at(resource, "ns", "b")).await));
    }
    assert!(world.delete(&at(&second, "ns", "b")).await.is_ok());
    // The row is deleted, and then the resource.
    world.undeclare().await;
    assert!(is_unavailable(world.create(&second, "ns", named("c")).await));
    assert_eq!(world.api.remove_resource(&second).await.unwrap(), 1);
    assert!(matches!(world.create(&second, "ns", named("c")).await, Err(Error::NotServed)));
    assert!(matches!(world.delete(&at(&second, "ns", "a")).await, Err(Error::NotFound(..))));
    assert!(!world.api.registry.confirm(&second, Hold { key: ROW.into(), revision: None }));
    // The row is created again: no earlier object exists or returns.
    let third = world.serve_gadgets(&["v1"], 3).await;
    for late in [&first, &second] {
        assert!(is_unavailable(world.create(late, "ns", named("late")).await));
    }
    assert_eq!(world.stored_gadgets(), 0);
    assert!(third.objects.snapshot().is_empty());
}

#[tokio::test]
async fn a_write_without_a_row_that_lost_a_race_is_refused_if_the_resource_was_replaced() {
    let world = World::new().await;
    let first = world.api.registry.replace([gadgets(&world, "v1", 1)], None).unwrap();
    world.create(&first, "ns", named("a")).await.unwrap();
    let second = world.api.registry.replace([gadgets(&world, "v1", 2)], None).unwrap();
    assert!(world.merge(&at(&second, "ns", "a"), json!({"spec": {"text": "x"}})).await.is_ok());
    assert!(is_unavailable(world.merge(&at(&first, "ns", "a"), json!({"spec": {"text": "y"}})).await));
    assert!(!world.api.registry.confirm(&second, Hold { key: ROW.into(), revision: None }));
}

#[tokio::test]
async fn a_late_removal_leaves_the_resource_that_replaced_the_old_one() {
    let world = World::new().await;
    let first = world.serve_gadgets(&["v1", "v2"], 1).await;
    let second = world.serve_gadgets(&["v1"], 2).await;
    world.create(&second, "ns", named("a")).await.unwrap();
    assert_eq!(world.api.remove_resource(&first).await.unwrap(), 0);
    let row = Hold { key: ROW.into(), revision: None };
    assert!(!world.api.registry.confirm(&first, row), "its row is not that of the resource that is served");
    world.api.registry.end(&first);
    assert!(Arc::ptr_eq(&world.api.registry.resource(&names()).unwrap(), &second));
    assert!(world.get(&at(&second, "ns", "a")).await.is_ok() && !second.objects.has_ended());
    assert!(world.create(&second, "ns", named("b")).await.is_ok());
}

#[tokio::test]
async fn a_removal_deletes_all_stored_objects_and_watches_see_it() {
    let world = World::new().await;
    let gadgets = world.serve_gadgets(&["v1"], 1).await;
    for n in 0..600 {
        let held = json!({"metadata": {"name": format!("g{n}"), "finalizers": ["example.com/held"]}, "spec": {}});
        world.create(&gadgets, "ns", held).await.unwrap();
    }
    world.create_config(json!({"metadata": {"name": "other"}})).await;
    let from = gadgets.objects.snapshot().revision();
    let options = ListOptions { resource_version: Some(from), ..ListOptions::default() };
    let mut watch_result = world.api.watch(&at(&gadgets, "ns", ""), &options).await.unwrap();
    world.undeclare().await;
    assert_eq!(world.api.remove_resource(&gadgets).await.unwrap(), 600);
    let mut deleted = 0;
    while let Some(event) = watch_result.watch.next().await {
        assert_eq!(event.unwrap().event_type.as_str(), "DELETED");
        deleted += 1;
    }
    assert_eq!((deleted, world.stored_gadgets()), (600, 0));
    assert_eq!(watch_result.watch.position(), Revision(from.0 + 601));
    assert_eq!(world.api.remove_resource(&gadgets).await.unwrap(), 0);
    assert!(world.get(&world.config("other")).await.is_ok());
}
