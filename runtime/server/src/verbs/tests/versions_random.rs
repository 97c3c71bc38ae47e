//! Random appliers in two versions of a kind, whichever way its objects are converted: every apply is answered, its fields are
//! the applier's in its version, and no other applier's value changes.
use std::{collections::BTreeMap, sync::Arc, task::Poll};

use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{
    fixture::{World, applier, at, shown},
    versions::{gears_of, older, stored},
};
use crate::{
    cache::Limits,
    kind::{
        Convert, Kind,
        convert::{Change, DeclaredConversion, Unchanged, Version, Webhook, typed},
        model::Path,
    },
    meta::options::{ListOptions, PatchOptions},
    registry::ResourceEntry,
    schema::Document,
    storage::{Expect, Memory, Op, Store as _, relay::Relay},
    verbs::{Error, Patch},
};

/// How the gears are converted between v1, which is stored, and v1beta1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Conversion {
    /// The strategy `None`: fields that the other version lacks are dropped.
    None,
    /// By declared changes.
    Declared,
    /// Between types in Rust, one of whose fields is required.
    Typed,
    /// By a webhook.
    Webhook,
}

/// A webhook in this process: it gets and gives what another server would.
struct StandIn(Arc<Webhook>);

impl StandIn {
    fn convert(mut gear: Document, [from, to]: [&str; 2]) -> Result<Document, String> {
        if gear["metadata"]["name"] != "g" {
            return Err("must have the same name".to_owned());
        }
        let value = Path::from(from).take(&mut gear).unwrap_or_default();
        Path::from(to).put(&mut gear, Some(value).filter(|value| !value.is_null()));
        Ok(gear)
    }
}

impl Convert for StandIn {
    fn write(&self, gear: Document) -> Result<Document, String> {
        Self::convert(gear, ["cogs", "spec.teeth"])
    }

    fn read(&self, gear: Document) -> Result<Document, String> {
        Self::convert(gear, ["spec.teeth", "cogs"])
    }

    fn fills(&self) -> bool {
        false
    }

    fn webhook(&self) -> Option<&Arc<Webhook>> {
        Some(&self.0)
    }
}

#[derive(Serialize, Deserialize)]
struct Stored {
    metadata: Value,
    spec: StoredSpec,
}

#[derive(Serialize, Deserialize)]
struct StoredSpec {
    color: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    teeth: Option<i64>,
}

#[derive(Serialize, Deserialize)]
struct Older {
    metadata: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cogs: Option<i64>,
    spec: OlderSpec,
}

#[derive(Serialize, Deserialize)]
struct OlderSpec {
    color: String,
}

impl From<Older> for Stored {
    fn from(Older { metadata, cogs, spec }: Older) -> Self {
        Self { metadata, spec: StoredSpec { color: spec.color, teeth: cogs } }
    }
}

impl From<Stored> for Older {
    fn from(Stored { metadata, spec }: Stored) -> Self {
        Self { metadata, cogs: spec.teeth, spec: OlderSpec { color: spec.color } }
    }
}

impl Conversion {
    fn of(self) -> Arc<dyn Convert> {
        match self {
            Self::None => Arc::new(Unchanged { fills: false }),
            Self::Typed => typed::<Older, Stored>(),
            Self::Webhook => Arc::new(StandIn(Arc::default())),
            Self::Declared => {
                let (here, stored) = (older(), stored());
                let [here, stored] =
                    [&here, &stored].map(|kind| Version { name: &kind.group_version, schema: &kind.version.schema });
                let changes = [
                    Change::Renamed("cogs".into(), "spec.teeth".into()),
                    Change::Added("spec.metal".into()),
                    Change::Removed("spec.finish".into()),
                ];
                Arc::new(DeclaredConversion::new(here, stored, &changes).expect("all differences"))
            }
        }
    }

    /// A write in any version keeps a field of another.
    fn keeps(self, path: &str) -> bool {
        match path {
            "cogs" | "spec.teeth" => self != Self::None,
            "spec.metal" | "spec.finish.tone" => self == Self::Declared,
            _ => true,
        }
    }
}

fn gears(world: &World, conversion: Conversion) -> [Arc<ResourceEntry>; 2] {
    let requiring = |kind: Kind| {
        kind.with(|_, version, _| {
            // What has no color cannot be read in v1beta1.
            if conversion == Conversion::Typed {
                let schema = Arc::make_mut(&mut version.schema);
                schema.required.push("spec".to_owned());
                let spec = schema.properties.get_mut("spec").expect("a spec");
                spec.required.push("color".to_owned());
            }
        })
    };
    let older = older().with(|_, _, binding| binding.conversion = Some(conversion.of()));
    gears_of(world, requiring(stored()), requiring(older))
}

#[derive(Clone, Debug)]
struct Act {
    manager: &'static str,
    /// In v1beta1.
    older: bool,
    force: bool,
    /// A patch by an updater instead.
    patches: bool,
    labels: BTreeMap<&'static str, &'static str>,
    annotations: BTreeMap<&'static str, &'static str>,
    teeth: Option<i64>,
    color: Option<&'static str>,
    /// The field that only this version has.
    own: Option<&'static str>,
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let texts = || {
        let values = prop::sample::select(vec!["1", "2"]);
        prop::collection::btree_map(prop::sample::select(vec!["k", "l"]), values, 0..3)
    };
    let who = (prop::sample::select(vec!["ann", "bob", "cat"]), any::<bool>(), prop::bool::weighted(0.4));
    let fields = (
        prop::option::of(20..22_i64),
        prop::option::weighted(0.7, prop::sample::select(vec!["red", "blue"])),
        prop::option::of(prop::sample::select(vec!["Tin", "Iron"])),
    );
    let act = (who, prop::bool::weighted(0.2), texts(), texts(), fields).prop_map(
        |((manager, older, force), patches, labels, annotations, (teeth, color, own))| Act {
            manager,
            older,
            force,
            patches,
            labels,
            annotations,
            teeth,
            color,
            own,
        },
    );
    prop::collection::vec(act, 1..10)
}

impl Act {
    /// The paths that it sets, and their values.
    fn fields(&self) -> Vec<(String, Value)> {
        let (teeth, own) = if self.older { ("cogs", "spec.finish.tone") } else { ("spec.teeth", "spec.metal") };
        let mut fields: Vec<(String, Value)> = Vec::new();
        for (map, texts) in [("labels", &self.labels), ("annotations", &self.annotations)] {
            fields.extend(texts.iter().map(|(key, text)| (format!("metadata.{map}.{key}"), json!(text))));
        }
        fields.extend(self.teeth.map(|value| (teeth.to_owned(), json!(value))));
        fields.extend(self.color.map(|value| ("spec.color".to_owned(), json!(value))));
        fields.extend(self.own.map(|value| (own.to_owned(), json!(value))));
        fields
    }

    fn config(&self, version: &str) -> Value {
        let mut config = json!({"apiVersion": version, "kind": "Gear", "metadata": {"name": "g"}});
        for (path, value) in self.fields() {
            Path::from(&*path).put(&mut config, Some(value));
        }
        config
    }

    fn owned(&self) -> Value {
        let mut owned = Value::Object(Map::new());
        for (path, _) in self.fields() {
            let mut at = &mut owned;
            for name in path.split('.') {
                at = &mut at[format!("f:{name}")];
            }
            *at = json!({});
        }
        owned
    }
}

/// The values that appliers own, by manager and path, each in the applier's version.
async fn owned_values(world: &World, versions: &[Arc<ResourceEntry>; 2]) -> BTreeMap<(String, String), Value> {
    let mut owned = BTreeMap::new();
    for resource in versions {
        let Ok(object) = world.get(&at(resource, "ns", "g")).await else { continue };
        let version = resource.kind.group_version.to_string();
        for entry in object["metadata"]["managedFields"].as_array().into_iter().flatten() {
            if entry["operation"] != "Apply" || entry["apiVersion"] != *version {
                continue;
            }
            let mut open = vec![(String::new(), &entry["fieldsV1"], &object)];
            while let Some((path, fields, value)) = open.pop() {
                let members = fields.as_object().unwrap();
                if members.is_empty() {
                    owned.insert((entry["manager"].to_string(), path.clone()), value.clone());
                }
                for (name, below) in members.iter().filter(|(name, _)| *name != ".") {
                    let name = name.strip_prefix("f:").unwrap();
                    let dot = if path.is_empty() { "" } else { "." };
                    open.push((format!("{path}{dot}{name}"), below, &value[name]));
                }
            }
        }
    }
    owned
}

async fn run(conversion: Conversion, acts: &[Act]) {
    let world = World::new().await;
    let versions = gears(&world, conversion);
    for act in acts {
        let resource = &versions[usize::from(act.older)];
        let version = resource.kind.group_version.to_string();
        let (request, config) = (at(resource, "ns", "g"), act.config(&version));
        let options = PatchOptions { force: act.force, ..applier(act.manager) };
        if act.patches {
            let patch = Patch::Merge(config.to_string().into());
            let patched = world.api.patch(&request, patch, &applier("upd")).await;
            assert!(matches!(patched, Ok(_) | Err(Error::NotFound(..))), "{conversion:?} {config}: {patched:?}");
            continue;
        }
        let before = owned_values(&world, &versions).await;
        let made = match world.apply_with(&request, config.clone(), &options).await {
            Ok(written) => shown(written),
            Err(Error::Conflicts(..)) if !act.force => continue,
            // Its type requires a color.
            Err(Error::Invalid(..)) if conversion == Conversion::Typed => continue,
            Err(error) => panic!("{conversion:?} {config}: {error:?}"),
        };
        check(conversion, act, &version, &made);
        let after = owned_values(&world, &versions).await;
        for ((manager, path), value) in
            before.iter().filter(|((manager, _), _)| manager.trim_matches('"') != act.manager)
        {
            let now = after.get(&(manager.clone(), path.clone()));
            let kept = now == Some(value) || act.force && now.is_none();
            assert!(kept || !conversion.keeps(path), "{conversion:?} {config}: {path} of {manager}: {value} {now:?}");
        }
        let again = world.apply_with(&request, config.clone(), &applier(act.manager)).await.map(shown);
        check(conversion, act, &version, &again.unwrap_or_else(|error| panic!("{conversion:?} {config}: {error:?}")));
    }
}

/// The applier has what it applied.
fn check(conversion: Conversion, act: &Act, version: &str, made: &Value) {
    let entries = made["metadata"]["managedFields"].as_array().map_or(&[][..], Vec::as_slice);
    let of_applier: Vec<_> = entries
        .iter()
        .filter(|entry| entry["manager"] == act.manager && entry["operation"] == "Apply")
        .map(|entry| (&entry["apiVersion"], &entry["fieldsV1"]))
        .collect();
    let (version, owned) = (json!(version), act.owned());
    let expected = if act.fields().is_empty() { vec![] } else { vec![(&version, &owned)] };
    assert_eq!(of_applier, expected, "{conversion:?} {made}");
    for (path, value) in act.fields().iter().filter(|(path, _)| conversion.keeps(path)) {
        assert_eq!(Path::from(&**path).of(made), Some(value), "{conversion:?} {path} of {made}");
    }
}

fn blocking(work: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn appliers_are_answered_in_every_version(acts in acts()) {
        for conversion in [Conversion::None, Conversion::Declared, Conversion::Typed, Conversion::Webhook] {
            blocking(run(conversion, &acts));
        }
    }
}

#[tokio::test]
async fn converted_events_of_one_revision_come_together() {
    let store = Arc::new(Relay::default());
    let world = World::on(Arc::new(Memory::new()), store.clone(), Limits::default()).await;
    let [v1, older] =
        gears_of(&world, stored(), older().with(|_, _, binding| binding.conversion = Some(Conversion::Webhook.of())));
    world.create(&v1, "ns", json!({"metadata": {"name": "g"}, "spec": {}})).await.unwrap();
    let mut ops = Vec::new();
    for entry in store.range("/registry/example.com/gears/ns/g").unwrap().0 {
        for number in 0..9 {
            let key = format!("{}{number}", entry.key).into();
            ops.push(Op { key, value: entry.value.clone().ok(), expect: Expect::Any, lifetime: None });
        }
    }
    let options = ListOptions { resource_version: Some(store.head()), ..ListOptions::default() };
    let mut watch = world.api.watch(&at(&older, "ns", ""), &options).await.unwrap().watch;
    store.join();
    store.commit(ops.into()).await.unwrap();
    let mut events = Vec::new();
    let polled = std::future::poll_fn(|cx| match watch.poll_events(cx, 2, &mut events) {
        Poll::Ready(Some(Ok(()))) => Poll::Ready(true),
        Poll::Ready(_) => Poll::Ready(false),
        Poll::Pending => Poll::Pending,
    });
    assert!(polled.await);
    assert_eq!(events.len(), 9, "a client could not resume between them");
}

#[test]
fn what_a_conversion_keeps_in_an_annotation_does_not_go_with_the_annotations_of_an_applier() {
    let nothing = Act {
        manager: "cat",
        older: false,
        force: false,
        patches: false,
        labels: BTreeMap::new(),
        annotations: BTreeMap::new(),
        teeth: None,
        color: None,
        own: None,
    };
    let annotated = Act { older: true, annotations: BTreeMap::from([("k", "1")]), ..nothing.clone() };
    blocking(Box::pin(run(Conversion::Declared, &[annotated, Act { own: Some("Tin"), ..nothing }])));
}
