//! Kinds that are added while others are served.
use serde_json::json;

use super::fixture::{World, at};
use crate::kind::{Kind, model::Names};

/// The compiled kind under other names.
fn named(world: &World, kind: &str, plural: &str) -> Kind {
    Kind::clone(&world.configs.kind).with(|shared, _, _| shared.names = Names::new(kind, plural))
}

fn in_group(group: &str, kind: Kind) -> Kind {
    kind.with(|shared, _, _| group.clone_into(&mut shared.group))
}

#[tokio::test]
async fn a_kind_is_served_as_soon_as_it_is_registered() {
    let world = World::new().await;
    let (before, first) = world.api.registry.all();
    assert!(world.api.registry.find("", "v1", "things").is_none());
    let things = world.api.registry.register([named(&world, "Thing", "things")]).unwrap();
    let (after, second) = world.api.registry.all();
    assert_eq!((after.len(), second > first), (before.len() + 1, true), "and discovery has something new to tell");
    assert_eq!(before.len(), 3, "who holds the table of before keeps it");
    assert!(after.last().is_some_and(|last| last.kind.names().plural == "things"), "in the order of registration");

    world.create(&things, "ns", json!({"metadata": {"name": "t"}})).await.unwrap();
    let found = world.api.registry.find("", "v1", "things").unwrap();
    assert!(world.get(&at(&found, "ns", "t")).await.is_ok());
    for resource in after.iter() {
        let kind = &resource.kind;
        let version = &kind.group_version;
        let found = world.api.registry.find(&version.group, &version.version, &kind.names().plural).unwrap();
        assert_eq!(found.kind.names().kind, kind.names().kind);
    }
}

#[tokio::test]
async fn names_within_a_group_are_unique() {
    let world = World::new().await;
    let registry = &world.api.registry;
    let short = |short: &str| {
        named(&world, "Thing", "things").with(|shared, _, _| shared.names.short_names = vec![short.to_owned()])
    };
    for (kind, taken) in [
        (named(&world, "ConfigMap", "others"), "ConfigMap"),
        (named(&world, "ConfigMapList", "others"), "ConfigMapList"),
        (named(&world, "Thing", "configmaps"), "configmaps"),
        (named(&world, "Thing", "configmap"), "configmap"),
        (short("configmaps"), "configmaps"),
    ] {
        let Err(refused) = registry.register([kind]) else { panic!("{taken} is taken") };
        assert!(refused.contains(taken), "{refused}");
    }
    let elsewhere = in_group("other.example.com", named(&world, "ConfigMap", "configmaps"));
    assert!(registry.register([elsewhere]).is_ok(), "another group has names of its own");
}

#[tokio::test]
async fn a_group_named_as_a_plural_of_the_core_is_refused() {
    let world = World::new().await;
    let inside = in_group("configmaps", named(&world, "Thing", "things"));
    let Err(refused) = world.api.registry.register([inside]) else { panic!("objects of both would share keys") };
    assert!(refused.contains("things.configmaps") || refused.contains("Thing.configmaps"), "{refused}");
    assert!(refused.contains("\"/registry/configmaps/things/\""), "{refused}");
    // In the other order.
    let first = in_group("others", named(&world, "Thing", "things"));
    assert!(world.api.registry.register([first]).is_ok());
    assert!(world.api.registry.register([named(&world, "Other", "others")]).is_err());
}

#[tokio::test]
async fn stored_objects_are_there_when_the_kind_is_served_again() {
    let world = World::new().await;
    world.create_config(json!({"metadata": {"name": "a"}, "data": {"k": "v"}})).await;
    let before = world.get(&world.config("a")).await.unwrap();
    let cache = crate::cache::Cache::new(world.store.clone(), crate::cache::Limits::default());
    let registry = crate::registry::Registry::new(cache);
    let configs = registry.register([Kind::clone(&world.configs.kind)]).unwrap();
    let object = configs.objects.snapshot().get("ns/a").unwrap();
    assert_eq!(super::fixture::value(&object), before);
}
