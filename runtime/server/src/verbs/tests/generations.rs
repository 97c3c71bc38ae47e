//! Objects of an older generation of their kind: whatever the current schema and hooks are, they can be read, released
//! and deleted, and fixed by a write that makes them fit.
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::fixture::{World, applier, at, below, causes, kind, shown, version};
use crate::{
    kind::{
        Kind, Policy, Versions,
        binding::{DocumentHooks, NoHooks},
        fixture::Hooks,
        hook,
        policy::{Compiled, Custom},
    },
    meta::{
        FieldError, FieldErrorKind, FieldPath,
        options::{DeleteOptions, ListOptions, PatchOptions, Propagation},
    },
    registry::{ResourceEntry, reader},
    storage::{Memory, Store},
    verbs::{DeleteResult, Error, Patch, Request},
};

/// The finalizer to be removed.
const HOLD: &str = "example.com/hold";

/// The type of the second generation's hooks.
#[derive(Serialize, Deserialize)]
struct Strict {
    spec: StrictSpec,
}

#[derive(Serialize, Deserialize)]
struct StrictSpec {
    owner: String,
}

/// The change of the kind.
#[derive(Clone, Copy, Debug)]
enum Second {
    /// A field is required.
    Required,
    /// Fewer values are allowed.
    Narrower,
    /// A field has another type.
    Retyped,
    /// A list has keys, which its items lack.
    Keyed,
    /// The schema is the same, but the hooks' type requires a field.
    HooksRequire,
    /// Both.
    Both,
    /// The object decodes, but the hooks report errors.
    HooksRefuse,
}

const ALL: [Second; 7] = [
    Second::Required,
    Second::Narrower,
    Second::Retyped,
    Second::Keyed,
    Second::HooksRequire,
    Second::Both,
    Second::HooksRefuse,
];

fn strict_hooks() -> Arc<dyn DocumentHooks> {
    hook::on_documents(hook::Functions::<Strict> {
        default: Some(|strict, _| strict.spec.owner.push('!')),
        validate: Some(|_, _| Vec::new()),
        on_delete: Some(|strict| strict.spec.owner.push('?')),
        ..hook::Functions::NONE
    })
}

fn refusing_hooks() -> Arc<dyn DocumentHooks> {
    Arc::new(Hooks {
        default: Some(|document, _| {
            document["spec"]["size"] = json!(0);
            Ok(())
        }),
        validate: Some(|_, context| {
            let refuse = |path: &str, why: &str| {
                FieldError::new(&FieldPath::new(path), FieldErrorKind::Forbidden, why.to_owned())
            };
            let mut errors = vec![refuse("spec", "no object of the first generation is allowed")];
            if context.user.name == "eve" {
                errors.push(refuse("metadata", "not by eve"));
            }
            Ok(errors)
        }),
        ..Hooks::default()
    })
}

fn generation(policy: &'static dyn Policy, second: Option<Second>) -> Kind {
    let mut schema = json!({"type": "object", "properties": {
        "spec": {"type": "object", "properties": {
            "size": {"type": "integer"}, "color": {"type": "string"}, "owner": {"type": "string"},
            "list": {"type": "array", "items": {"type": "object", "properties": {"v": {"type": "integer"}}}},
        }},
        "status": {"type": "object", "properties": {"phase": {"type": "string"}}},
    }});
    let spec = &mut schema["properties"]["spec"];
    let mut hooks: Arc<dyn DocumentHooks> = Arc::new(NoHooks);
    match second {
        None => {}
        Some(Second::Required) => spec["required"] = json!(["owner"]),
        Some(Second::Narrower) => spec["properties"]["color"]["enum"] = json!(["Red"]),
        Some(Second::Retyped) => spec["properties"]["size"] = json!({"type": "string"}),
        Some(Second::Keyed) => {
            spec["properties"]["list"] = json!({
                "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],
                "items": {"type": "object", "required": ["k"], "properties": {"k": {"type": "string"}, "v": {"type": "integer"}}},
            });
        }
        Some(Second::HooksRequire) => hooks = strict_hooks(),
        Some(Second::Both) => {
            spec["required"] = json!(["owner"]);
            hooks = strict_hooks();
        }
        Some(Second::HooksRefuse) => hooks = refusing_hooks(),
    }
    let kind = kind("example.com", "Gadget", "gadgets", &schema);
    kind.with(|_, version, binding| {
        binding.policy = policy;
        version.status = true;
        version.generation = true;
        version.update_without_version = policy.has_routes();
        binding.hooks = hooks;
    })
}

/// A world in the second generation, with objects of the first.
struct Later {
    world: World,
    gadgets: Arc<ResourceEntry>,
    invalid_objects: Option<reader::InvalidObjects>,
}

impl Later {
    /// With these objects, each with a finalizer that `applier` has applied.
    async fn new(policy: &'static dyn Policy, second: Second, names: &[&str]) -> Self {
        let store = Arc::new(Memory::new());
        let first = World::over(store.clone()).await;
        let gadgets = first.api.registry.register([generation(policy, None)]).unwrap();
        for name in names {
            let spec = json!({"size": 3, "color": "Mauve", "list": [{"v": 1}, {"v": 2}]});
            let body = json!({"metadata": {"name": name, "labels": {"x": "y"}}, "spec": spec});
            first.create(&gadgets, "ns", body).await.unwrap();
            let config = json!({"apiVersion": "example.com/v1", "kind": "Gadget",
                "metadata": {"name": name, "finalizers": [HOLD]}});
            first.apply(&at(&gadgets, "ns", name), "applier", config).await.unwrap();
        }
        Self::over(store, policy, second).await
    }

    async fn over(store: Arc<Memory>, policy: &'static dyn Policy, second: Second) -> Self {
        let world = World::over(store).await;
        let kind = generation(policy, Some(second));
        let gadgets = world.api.registry.register([kind.clone()]).unwrap();
        // The registry counts them at startup and only logs the number.
        let reader = reader::KindReader::new(Versions::new([kind]).unwrap(), Arc::new(reader::Identity));
        for entry in world.store.range(gadgets.objects.prefix()).unwrap().0 {
            let value = entry.value.as_ref().expect("nothing is damaged");
            crate::cache::Reader::read(&reader, &entry.key, value);
        }
        Self { world, gadgets, invalid_objects: reader.take_invalid_objects() }
    }

    /// The state after a restart.
    async fn reopened(&self, policy: &'static dyn Policy, second: Second) -> Self {
        Self::over(self.world.store.clone(), policy, second).await
    }

    fn at(&self, name: &str) -> Request {
        at(&self.gadgets, "ns", name)
    }

    async fn is_gone(&self, name: &str) -> bool {
        matches!(self.world.get(&self.at(name)).await, Err(Error::NotFound(..)))
    }

    /// Removes the finalizer.
    async fn release(&self, name: &str, way: &str) -> Result<Value, Error> {
        let (world, request) = (&self.world, self.at(name));
        match way {
            "put" => {
                let mut object = world.get(&request).await?;
                object["metadata"].as_object_mut().unwrap().remove("finalizers");
                world.update(&request, object).await
            }
            "json" => world.json(&request, json!([{"op": "remove", "path": "/metadata/finalizers/0"}])).await,
            "merge" => world.merge(&request, json!({"metadata": {"finalizers": null}})).await,
            "strategic" => {
                let patch = json!({"metadata": {"$deleteFromPrimitiveList/finalizers": [HOLD]}});
                let patch = Patch::Strategic(patch.to_string().into());
                world.api.patch(&request, patch, &PatchOptions::default()).await.map(shown)
            }
            _ => {
                let config = json!({"apiVersion": "example.com/v1", "kind": "Gadget", "metadata": {"name": name}});
                world.apply_with(&request, config, &applier("applier")).await.map(shown)
            }
        }
    }

    /// Makes the object with the name of the way fit.
    async fn mend(&self, way: &str) -> Result<Value, Error> {
        let (world, request) = (&self.world, self.at(way));
        let fits = json!({"owner": "o", "color": "Red"});
        let mut patch = fits.clone();
        (patch["size"], patch["list"]) = (Value::Null, Value::Null);
        match way {
            "put" => {
                let mut object = world.get(&request).await?;
                object["spec"] = fits;
                world.update(&request, object).await
            }
            "json" => world.json(&request, json!([{"op": "replace", "path": "/spec", "value": fits}])).await,
            "merge" => world.merge(&request, json!({"spec": patch})).await,
            "strategic" => {
                let patch = Patch::Strategic(json!({"spec": patch}).to_string().into());
                world.api.patch(&request, patch, &PatchOptions::default()).await.map(shown)
            }
            _ => {
                let config = json!({"apiVersion": "example.com/v1", "kind": "Gadget", "metadata": {"name": way},
                    "spec": fits});
                let options = PatchOptions { force: true, ..applier("mender") };
                world.apply_with(&request, config, &options).await.map(shown)
            }
        }
    }
}

const WAYS: [&str; 5] = ["put", "json", "merge", "strategic", "apply"];

/// Every change of the kind, with both policies.
fn cases() -> impl Iterator<Item = (&'static dyn Policy, Second)> {
    [&Custom as &dyn Policy, &Compiled]
        .into_iter()
        .flat_map(|policy| ALL.into_iter().map(move |second| (policy, second)))
}

#[tokio::test]
async fn every_way_of_removing_a_finalizer_works_before_and_after_the_deletion() {
    for (policy, second) in cases() {
        let later = Later::new(policy, second, &WAYS).await;
        for way in WAYS {
            let before = later.world.get(&later.at(way)).await.unwrap();
            let free = later.release(way, way).await.unwrap_or_else(|e| panic!("{policy:?} {second:?} {way}: {e:?}"));
            assert!(free["metadata"]["finalizers"].is_null(), "{free}");
            assert_eq!(free["spec"], before["spec"], "{policy:?} {second:?} {way}: nothing else has changed");
            assert_eq!(free["metadata"]["generation"], before["metadata"]["generation"]);
            assert!(matches!(later.world.delete(&later.at(way)).await.unwrap(), DeleteResult::Gone { .. }));
        }
        let later = Later::new(policy, second, &WAYS).await;
        for way in WAYS {
            assert!(matches!(later.world.delete(&later.at(way)).await.unwrap(), DeleteResult::Marked(_)));
            later.release(way, way).await.unwrap_or_else(|e| panic!("{policy:?} {second:?} {way}, marked: {e:?}"));
            assert!(later.is_gone(way).await, "{policy:?} {second:?} {way}");
        }
    }
}

#[tokio::test]
async fn all_kinds_of_deletions_succeed() {
    for (policy, second) in cases() {
        let later = Later::new(policy, second, &["a", "b", "c"]).await;
        for propagation in [Propagation::Foreground, Propagation::Orphan, Propagation::Background] {
            let options = DeleteOptions { propagation: Some(propagation), ..DeleteOptions::default() };
            later.world.api.delete(&later.at("a"), &options).await.unwrap();
        }
        let all = at(&later.gadgets, "ns", "");
        let options = DeleteOptions::default();
        let listed = later.world.api.delete_collection(&all, &ListOptions::default(), &options).await.unwrap();
        assert_eq!(listed.items.len(), 3, "{policy:?} {second:?}");
        for name in ["a", "b", "c"] {
            later.release(name, "merge").await.unwrap();
            assert!(later.is_gone(name).await, "{policy:?} {second:?} {name}");
        }
    }
}

#[tokio::test]
async fn labels_annotations_and_owners_can_be_changed() {
    for (policy, second) in cases() {
        let later = Later::new(policy, second, &["a"]).await;
        let owners = json!([{"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": "u"}]);
        let patch = json!({"metadata": {"labels": {"x": null}, "annotations": {"a": "b"}, "ownerReferences": owners}});
        let changed = later.world.merge(&later.at("a"), patch).await;
        let changed = changed.unwrap_or_else(|error| panic!("{policy:?} {second:?}: {error:?}"));
        assert_eq!(changed["metadata"]["ownerReferences"], owners);
        let none = json!({"metadata": {"ownerReferences": null, "annotations": null}});
        later.world.merge(&later.at("a"), none).await.unwrap();
    }
}

#[tokio::test]
async fn objects_that_do_not_fit_are_counted_at_startup_until_they_are_fixed() {
    for policy in [&Custom as &dyn Policy, &Compiled] {
        for second in [Second::Required, Second::Narrower, Second::Retyped, Second::Keyed] {
            let later = Later::new(policy, second, &["a", "b"]).await;
            let example = "/registry/example.com/gadgets/ns/a".to_owned();
            assert_eq!(later.invalid_objects, Some(reader::InvalidObjects { count: 2, example }), "{second:?}");
            later.release("a", "merge").await.unwrap();
            later.world.delete(&later.at("b")).await.unwrap();
            let again = later.reopened(policy, second).await;
            assert_eq!(
                again.invalid_objects.as_ref().unwrap().count,
                2,
                "{second:?}: what was written since still does not fit"
            );

            let fits = json!({"spec": {"owner": "o", "color": "Red", "size": null, "list": null}});
            again.world.merge(&again.at("a"), fits).await.unwrap_or_else(|error| panic!("{second:?}: {error:?}"));
            again.release("b", "merge").await.unwrap();
            let mended = again.reopened(policy, second).await;
            assert_eq!(mended.invalid_objects, None, "{second:?}");
        }
    }
}

#[tokio::test]
async fn a_status_can_be_written_beside_a_spec_that_does_not_fit() {
    for second in ALL {
        let later = Later::new(&Custom, second, &["a"]).await;
        let status = below(later.at("a"), "status");
        let written = later.world.merge(&status, json!({"status": {"phase": "Ending"}})).await.unwrap();
        assert_eq!(written["status"]["phase"], "Ending", "{second:?}");
        let wrong = later.world.merge(&status, json!({"status": {"phase": 7}})).await.unwrap_err();
        assert!(causes(&wrong)[0].starts_with("status.phase: "), "what is written is checked: {wrong:?}");
    }
}

#[tokio::test]
async fn every_kind_of_write_can_fix_an_object() {
    for (policy, second) in cases().filter(|(_, second)| !matches!(second, Second::HooksRefuse)) {
        let later = Later::new(policy, second, &WAYS).await;
        for way in WAYS {
            let mended = later.mend(way).await.unwrap_or_else(|e| panic!("{policy:?} {second:?} {way}: {e:?}"));
            assert_eq!(mended["spec"]["color"], "Red", "{policy:?} {second:?} {way}");
        }
        // An apply removes nothing that others have written, and may leave it alone.
        later.world.merge(&later.at("apply"), json!({"spec": {"size": null, "list": null}})).await.unwrap();
        assert_eq!(later.reopened(policy, second).await.invalid_objects, None, "{policy:?} {second:?}");
    }
}

#[tokio::test]
async fn a_value_is_written_beside_one_that_does_not_fit() {
    for policy in [&Custom as &dyn Policy, &Compiled] {
        for (second, spec) in [
            (Second::Narrower, json!({"size": 4})),
            (Second::Retyped, json!({"color": "Red"})),
            (Second::Keyed, json!({"color": "Red"})),
        ] {
            let later = Later::new(policy, second, &["a"]).await;
            let written = later.world.merge(&later.at("a"), json!({"spec": spec})).await;
            written.unwrap_or_else(|error| panic!("{policy:?} {second:?}: {error:?}"));
            let invalid_objects = later.reopened(policy, second).await.invalid_objects.unwrap();
            assert_eq!(invalid_objects.count, 1, "{second:?}: it still does not fit");
            let mut put = later.world.get(&later.at("a")).await.unwrap();
            put["spec"]["owner"] = json!("o");
            later.world.update(&later.at("a"), put).await.unwrap();
        }
    }
}

#[tokio::test]
async fn a_change_of_more_than_metadata_is_checked() {
    let later = Later::new(&Custom, Second::Required, &["a"]).await;
    let refused = later.world.merge(&later.at("a"), json!({"spec": {"color": "Red"}})).await.unwrap_err();
    assert_eq!(causes(&refused), ["spec.owner: Required value"]);
    let wrong = json!({"metadata": {"labels": {"x": "no label!"}}});
    assert!(causes(&later.world.merge(&later.at("a"), wrong).await.unwrap_err())[0].starts_with("metadata.labels"));

    let later = Later::new(&Compiled, Second::HooksRequire, &["a"]).await;
    let refused = later.world.merge(&later.at("a"), json!({"spec": {"color": "Red"}})).await.unwrap_err();
    let told = "<nil>: Invalid value: \"object\": the kind's hooks cannot decode the object: missing field `owner`";
    assert_eq!(causes(&refused), [told]);
    let mended = later.world.merge(&later.at("a"), json!({"spec": {"owner": "o"}})).await.unwrap();
    assert_eq!(mended["spec"]["owner"], "o", "a default hook that cannot know what changes is not run");
    let after = later.world.merge(&later.at("a"), json!({"spec": {"size": 4}})).await.unwrap();
    assert_eq!(after["spec"]["owner"], "o!", "the next write is like any other");
}

#[tokio::test]
async fn errors_of_a_hook_about_the_writer_still_count() {
    let later = Later::new(&Custom, Second::HooksRefuse, &["a"]).await;
    let user = Arc::new(crate::auth::User { name: "eve".to_owned(), ..crate::auth::User::default() });
    let request = Request { user, ..later.at("a") };
    let refused = later.world.merge(&request, json!({"metadata": {"finalizers": null}})).await.unwrap_err();
    assert_eq!(causes(&refused), ["metadata: Forbidden: not by eve"]);
    let object = later.world.get(&later.at("a")).await.unwrap();
    assert!(!version(&object).is_empty(), "it is there");
}
