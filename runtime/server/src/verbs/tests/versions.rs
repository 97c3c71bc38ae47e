//! One kind in several versions: which versions form a resource, and how its objects are stored.
use std::sync::Arc;

use serde_json::{Value, json};

use super::fixture::{World, at, kind, value};
use crate::{
    cache::{Cache, Limits},
    kind::{Convert, Kind, by_resource, convert::Unchanged, model::Path, policy::Custom},
    registry::{Registry, ResourceEntry},
    schema::Document,
};

/// In the older version of a gear, its teeth are called cogs and are outside the spec. A gear with 13 teeth cannot be
/// converted to it, and one with 31 cogs cannot be converted to the storage version.
struct Cogs;

impl Convert for Cogs {
    fn write(&self, mut gear: Document) -> Result<Document, String> {
        let cogs = Path::from("cogs").take(&mut gear).unwrap_or_default();
        Path::from("cogs").put(&mut gear, None);
        if cogs == 31 {
            return Err("31 is too many".to_owned());
        }
        Path::from("spec.teeth").put(&mut gear, Some(cogs).filter(|cogs| !cogs.is_null()));
        Ok(gear)
    }

    fn read(&self, mut gear: Document) -> Result<Document, String> {
        let teeth = Path::from("spec.teeth").of(&gear).cloned();
        if teeth == Some(13.into()) {
            return Err("13 brings bad luck".to_owned());
        }
        Path::from("cogs").put(&mut gear, teeth);
        Ok(gear)
    }
}

/// The storage version.
pub(super) fn stored() -> Kind {
    let spec = json!({"type": "object", "properties": {
        "teeth": {"type": "integer", "minimum": 3, "default": 12},
        "color": {"type": "string", "maxLength": 10},
        "metal": {"type": "string", "default": "Zinc"},
    }});
    kind("example.com", "Gear", "gears", &json!({"type": "object", "properties": {"spec": spec}})).with(
        |_, version, binding| {
            binding.policy = &Custom;
            version.generation = true;
            version.selectable = vec![Path::from("spec.color"), Path::from("spec.metal")];
        },
    )
}

/// The older version.
pub(super) fn older() -> Kind {
    let from = json!({"type": "object", "properties": {
        "cogs": {"type": "integer", "maximum": 100, "default": 10},
        "spec": {"type": "object", "properties": {
            "color": {"type": "string"},
            "finish": {"type": "object", "properties": {"tone": {"type": "string", "default": "Matt"}}},
        }},
    }});
    let schema = kind("example.com", "Gear", "gears", &from).version.schema.clone();
    let selectable = vec![Path::from("cogs"), Path::from("spec.color")];
    version(
        "v1beta1",
        stored().with(|_, version, binding| {
            version.schema = schema;
            version.selectable = selectable;
            binding.conversion = Some(Arc::new(Cogs));
        }),
    )
}

fn version(name: &str, kind: Kind) -> Kind {
    kind.with(|_, version, _| name.clone_into(&mut version.name))
}

/// A version that differs from the storage version only in its name.
fn alias(name: &str) -> Kind {
    version(name, stored().with(|_, _, binding| binding.conversion = Some(Arc::new(Unchanged { fills: true }))))
}

/// Both versions of the gears, the storage version first.
pub(super) fn gears(world: &World) -> [Arc<ResourceEntry>; 2] {
    gears_with(world, stored())
}

/// The same with another storage version.
pub(super) fn gears_with(world: &World, stored: Kind) -> [Arc<ResourceEntry>; 2] {
    gears_of(world, stored, older())
}

/// These two versions.
pub(super) fn gears_of(world: &World, stored: Kind, older: Kind) -> [Arc<ResourceEntry>; 2] {
    let stored = world.api.registry.register([older, stored]).expect("two versions");
    [stored, world.api.registry.find("example.com", "v1beta1", "gears").expect("the older version")]
}

#[test]
fn kinds_are_joined_by_group_and_plural_in_their_given_order() {
    let elsewhere = kind("other.example.com", "Gear", "gears", &json!({"type": "object"}));
    let wheels = kind("example.com", "Wheel", "wheels", &json!({"type": "object"}));
    let found = by_resource([older(), wheels, stored(), elsewhere, alias("v1alpha1")]);
    let names = |kinds: &Vec<Kind>| {
        kinds.iter().map(|kind| format!("{} {}", kind.names().plural, kind.group_version)).collect()
    };
    let found: Vec<Vec<String>> = found.iter().map(names).collect();
    let gears = ["v1beta1", "v1", "v1alpha1"].map(|version| format!("gears example.com/{version}"));
    assert_eq!(found, [&gears[..], &["wheels example.com/v1".to_owned()], &["gears other.example.com/v1".to_owned()]]);
}

#[tokio::test]
async fn versions_that_do_not_belong_together_are_refused() {
    let world = World::new().await;
    let cases: [(Vec<Kind>, &str); 8] = [
        (vec![], "a kind without a version"),
        (vec![older()], "every version of Gear.example.com is converted to another: add the version that is stored"),
        (vec![stored(), version("v2", stored())], "would be stored in version v1 and in version v2"),
        (vec![stored(), alias("v1")], "Gear.example.com is declared twice in version v1"),
        (
            vec![stored(), older().with(|shared, _, _| shared.names.kind = "Cog".to_owned())],
            "version v1 of Gear.example.com and version v1beta1 of Cog.example.com differ in what",
        ),
        (
            vec![stored(), older().with(|shared, _, _| shared.names.short_names = vec!["g".to_owned()])],
            "version v1 of Gear.example.com and version v1beta1 of Gear.example.com differ",
        ),
        (
            vec![
                stored().with(|_, version, _| version.served = false),
                older().with(|_, version, _| version.served = false),
            ],
            "no version of Gear.example.com is served",
        ),
        (
            vec![stored().with(|shared, _, _| shared.scope = crate::kind::model::Scope::Cluster), older()],
            "version v1 of Gear.example.com and version v1beta1 of Gear.example.com differ",
        ),
    ];
    for (versions, want) in cases {
        let Err(refused) = world.api.registry.register(versions) else { panic!("not refused: {want}") };
        assert!(refused.contains(want), "{refused}");
    }
    let (kinds, _) = world.api.registry.all();
    assert!(kinds.iter().all(|resource| resource.kind.names().plural != "gears"), "no refused version is served");
}

#[tokio::test]
async fn each_served_version_is_found_and_each_resource_once() {
    let world = World::new().await;
    let hidden = stored().with(|_, version, _| version.served = false);
    let registered = world.api.registry.register([older(), hidden, alias("v1alpha1")]).unwrap();
    assert_eq!((registered.kind.group_version.version.as_str(), registered.kind.version.served), ("v1", false));
    let found = |version: &str| world.api.registry.find("example.com", version, "gears");
    let [beta, alpha] = ["v1beta1", "v1alpha1"].map(|version| found(version).expect("a served version"));
    assert!(found("v1").is_none(), "it is not served");
    assert!(Arc::ptr_eq(&beta.objects, &registered.objects) && Arc::ptr_eq(&beta.records, &alpha.records));
    assert_ne!(beta.number, alpha.number);
    let of_gears = |all: &[Arc<ResourceEntry>]| -> Vec<String> {
        let gears = all.iter().filter(|resource| resource.kind.names().plural == "gears");
        gears.map(|resource| resource.kind.group_version.version.clone()).collect()
    };
    assert_eq!(of_gears(&world.api.registry.all().0), ["v1beta1", "v1alpha1"]);
    assert_eq!(of_gears(&world.api.registry.resources().0), ["v1"]);
}

/// A server that stores gears in the storage version, over objects stored as `before` by an earlier server.
async fn taken_over(before: Kind, body: Value) -> (Arc<crate::cache::Object>, World, Arc<ResourceEntry>) {
    let world = World::new().await;
    let first = world.api.registry.register([before]).unwrap();
    world.create(&first, "ns", body).await.unwrap();
    let then = World::over(world.store.clone()).await;
    let [gears, _] = gears(&then);
    (gears.objects.snapshot().get("ns/g").unwrap(), then, gears)
}

#[tokio::test]
async fn objects_stored_in_another_version_are_defaulted_there_and_converted() {
    let before = older().with(|_, _, binding| binding.conversion = None);
    let body = json!({"metadata": {"name": "g", "labels": {"a": "b"}}, "spec": {"color": "red"}});
    let (object, _, _) = taken_over(before, body).await;
    let shown = value(&object);
    assert_eq!(shown["apiVersion"], "example.com/v1");
    assert_eq!(shown["spec"], json!({"teeth": 10, "color": "red", "metal": "Zinc"}));
    assert_eq!((shown.get("cogs"), &shown["metadata"]["labels"]), (None, &json!({"a": "b"})));
    assert!(object.is_renewed(), "the next write stores it in the storage version");
    let fields: Vec<&str> = object.fields().collect();
    assert_eq!(fields, ["red", "Zinc", "10", "red"], "of the stored version, then of the other");
}

#[tokio::test]
async fn objects_that_cannot_be_converted_to_the_storage_version_are_marked() {
    let before = older().with(|_, _, binding| binding.conversion = None);
    let (object, world, gears) = taken_over(before, json!({"metadata": {"name": "g"}, "cogs": 31})).await;
    assert_eq!(object.unreadable(), Some("31 is too many"));
    assert!(world.get(&at(&gears, "ns", "g")).await.is_err());
}

#[tokio::test]
async fn objects_of_an_unknown_version_are_read_as_the_storage_version() {
    let (object, _, _) = taken_over(version("v0", stored()), json!({"metadata": {"name": "g"}})).await;
    assert_eq!(value(&object)["spec"], Value::Null, "nothing fills in a spec");
    assert!(object.is_renewed());
}

#[tokio::test]
async fn values_of_each_version_are_stored_beside_the_object() {
    let world = World::new().await;
    let [gears, beta] = gears(&world);
    world.create(&gears, "ns", json!({"metadata": {"name": "g"}, "spec": {"color": "red", "teeth": 5}})).await.unwrap();
    world.create(&gears, "ns", json!({"metadata": {"name": "odd"}, "spec": {"teeth": 13}})).await.unwrap();
    let [first, second] =
        [&gears, &beta].map(|resource| resource.records.first_field(&resource.kind.group_version.version));
    assert_eq!((first, second), (0, 2));
    let fields = |cache: &Arc<crate::cache::Resource>, name: &str| {
        let object = cache.snapshot().get(name).unwrap();
        assert!(!object.is_renewed());
        object.fields().map(str::to_owned).collect::<Vec<_>>()
    };
    let of = |objects: &Arc<crate::cache::Resource>| [fields(objects, "ns/g"), fields(objects, "ns/odd")];
    let want = [["red", "Zinc", "5", "red"], ["", "Zinc", "", ""]];
    assert_eq!(of(&gears.objects), want, "an object that cannot be converted to a version has no values there");
    let again = Registry::new(Cache::new(world.store.clone(), Limits::default()));
    assert_eq!(of(&again.register([stored(), older()]).unwrap().objects), want, "as they were stored");
    let later = alias("v1alpha1").with(|_, version, _| version.selectable = vec![Path::from("spec.metal")]);
    let again = Registry::new(Cache::new(world.store.clone(), Limits::default()));
    let found = again.register([stored(), later]).unwrap();
    assert_eq!(
        fields(&found.objects, "ns/g"),
        ["red", "Zinc", "Zinc"],
        "the values of a new version are read when objects are loaded"
    );
}
