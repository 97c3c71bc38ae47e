//! Which plugins and hooks are called, and with what.
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::task::yield_now;

use super::{
    fixture::{World, applier, at, below, merge_patch},
    force::{force, spoil},
    versions::{gears_of, older, stored},
};
use crate::{
    kind::{Kind, fixture::Hooks},
    meta::{
        Operation, Status,
        options::{PatchOptions, WriteOptions},
        refusal::{Refusal, Result},
    },
    schema::Document,
    verbs::{Admission, Attributes, DeleteResult, Error, Plugin, Subject, Verbs, write::Write},
};

/// The verbs of a world with a plugin.
fn with(world: &World, plugin: impl Admission) -> Arc<Verbs> {
    let (registry, cache) = (world.api.registry.clone(), world.api.cache.clone());
    Verbs::with_admission(registry, cache, world.store.clone(), vec![Plugin::new(plugin)])
}

/// A plugin that sets the number of replicas of a Scale.
struct Replicas(Value);

impl Admission for Replicas {
    async fn admit(&self, attributes: &Attributes<'_>, object: &mut Document) -> Result<()> {
        if attributes.kind == "Scale" {
            object["spec"] = self.0.clone();
        }
        Ok(())
    }
}

#[tokio::test]
async fn a_scale_that_a_plugin_has_changed_must_have_the_types_of_a_scale() {
    let patch = || merge_patch(&json!({"spec": {"replicas": 5}}));
    for (spec, why) in [
        (json!({"replicas": "9"}), "ScaleSpec.spec.replicas of type int32"),
        (json!({"replicas": 9.5}), "ScaleSpec.spec.replicas of type int32"),
        (json!(9), "Scale.spec of type v1.ScaleSpec"),
    ] {
        let world = World::new().await;
        world.create_widget(json!({"metadata": {"name": "w"}, "spec": {"replicas": 3, "size": 1}})).await;
        let api = with(&world, Replicas(spec));
        let refused = api.patch(&below(world.widget("w"), "scale"), patch(), &PatchOptions::default()).await;
        let Err(Error::Internal(message)) = refused else { panic!("{refused:?}") };
        assert!(message.starts_with("admission has left an invalid Scale: ") && message.contains(why), "{message}");
        assert_eq!(world.get(&world.widget("w")).await.unwrap()["spec"]["replicas"], 3, "nothing is written");
    }
}

/// A plugin that records what it decides about deletions.
#[derive(Default)]
struct Deletions(Mutex<Vec<(String, bool)>>);

impl Admission for Deletions {
    fn handles(&self, operation: Operation) -> bool {
        operation == Operation::Delete
    }

    async fn validate(&self, attributes: &Attributes<'_>, _: &Document) -> Result<()> {
        self.0.lock().unwrap().push((attributes.name.to_owned(), attributes.old.is_some()));
        Ok(())
    }
}

#[tokio::test]
async fn plugins_for_deletions_do_not_make_unchanged_applies_slower() {
    let world = World::new().await;
    let api = with(&world, Deletions::default());
    let config = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"k": "v"}});
    world.apply(&world.config("a"), "one", config.clone()).await.unwrap();
    let (request, options) = (world.config("a"), applier("one").write);
    let unchanged = api.apply_unchanged(&Write::of_body(&api, &request, &options, &[]), &config).await.unwrap();
    assert!(unchanged.is_some(), "answered without a copy of the object");
}

#[tokio::test]
async fn plugins_see_forced_deletions_only_of_objects_that_cannot_be_read() {
    let (world, plugin) = (World::new().await, Arc::new(Deletions::default()));
    let api = with(&world, plugin.clone());
    world.create_config(json!({"metadata": {"name": "a"}})).await;
    assert!(matches!(api.delete(&world.config("a"), &force()).await, Err(Error::Conflict(..))));
    assert!(matches!(api.delete(&world.config("none"), &force()).await, Err(Error::NotFound(..))));
    assert_eq!(*plugin.0.lock().unwrap(), [], "no plugin decides about what is refused anyway");
    spoil(&world, "ns/a").await;
    assert!(matches!(api.delete(&world.config("a"), &force()).await, Ok(DeleteResult::Forced)));
    assert_eq!(*plugin.0.lock().unwrap(), [("a".to_owned(), false)]);
}

#[tokio::test]
async fn hooks_of_the_requested_version_and_of_the_storage_version_decide_about_deletions() {
    fn refuse(operation: Operation, small: bool, why: &str) -> Result<()> {
        if operation == Operation::Delete && small { Err(Refusal::forbidden(why)) } else { Ok(()) }
    }
    let in_beta = Hooks {
        admit: Some(|gear, context| {
            let same = context.old == Some(gear);
            refuse(context.operation, same && gear["cogs"] == 20, "twenty cogs stay")
        }),
        ..Hooks::default()
    };
    let in_v1 = Hooks {
        admit: Some(|gear, context| refuse(context.operation, gear["spec"]["teeth"] == 21, "21 teeth stay")),
        ..Hooks::default()
    };
    let world = World::new().await;
    let hooked = |kind: Kind, hooks: Hooks| kind.with(|_, _, binding| binding.hooks = Arc::new(hooks));
    let [v1, beta] = gears_of(&world, hooked(stored(), in_v1), hooked(older(), in_beta));
    for teeth in [20, 21, 22] {
        let body = json!({"metadata": {"name": format!("g{teeth}")}, "spec": {"teeth": teeth}});
        world.create(&v1, "ns", body).await.unwrap();
    }
    let delete = async |resource, name| {
        let refused = world.delete(&at(resource, "ns", name)).await;
        refused.err().map(|error| Status::from(error).message.rsplit(": ").next().unwrap_or_default().to_owned())
    };
    assert_eq!(delete(&beta, "g20").await.as_deref(), Some("twenty cogs stay"));
    assert_eq!(delete(&beta, "g21").await.as_deref(), Some("21 teeth stay"));
    assert_eq!(delete(&v1, "g21").await.as_deref(), Some("21 teeth stay"));
    assert_eq!(delete(&beta, "g22").await, None);
    assert_eq!(delete(&v1, "g20").await, None, "hooks of other versions do not run");
}

#[tokio::test]
async fn hooks_see_the_operation_and_the_subresource_of_a_handlers_document() {
    let world = World::new().await;
    let default: fn(&mut Document, &crate::kind::binding::HookContext<'_>) -> std::result::Result<(), String> =
        |thing, context| {
            thing["data"] = json!({"seen": format!("{} {}", context.operation.as_str(), context.subresource)});
            Ok(())
        };
    let things = world.things(Hooks { default: Some(default), ..Hooks::default() });
    let subject = Subject { subresource: "twist".into(), operation: Operation::Update, old: None };
    let body = json!({"metadata": {"name": "a"}});
    let request = world.config("a");
    let prepared = world.api.prepare(&request, &things.kind, body, &WriteOptions::default(), Some(&subject)).await;
    assert_eq!(prepared.unwrap().0["data"]["seen"], "UPDATE twist");
}

/// A plugin that waits, so that many writers are in it at the same time.
struct Slow;

impl Admission for Slow {
    async fn admit(&self, _: &Attributes<'_>, _: &mut Document) -> Result<()> {
        for _ in 0..5 {
            yield_now().await;
        }
        Ok(())
    }
}

#[tokio::test]
async fn no_writer_starves_among_many_of_one_object_whose_plugins_wait() {
    let world = World::new().await;
    let api = with(&world, Slow);
    world.create_config(json!({"metadata": {"name": "hot"}})).await;
    let writers: Vec<_> = (0..150)
        .map(|number| {
            let (api, request) = (api.clone(), world.config("hot"));
            let patch = merge_patch(&json!({"data": {format!("k{number}"): "v"}}));
            tokio::spawn(async move { api.patch(&request, patch, &PatchOptions::default()).await })
        })
        .collect();
    for writer in writers {
        writer.await.unwrap().expect("it has its turn");
    }
    let hot = world.get(&world.config("hot")).await.unwrap();
    assert_eq!(hot["data"].as_object().unwrap().len(), 150);
}
