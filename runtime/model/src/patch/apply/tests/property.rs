//! Random appliers and updaters in three versions against a simple model of ownership.
use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{
    EXTRA, LACKING, NARROW, RENAMED, VERSION, World,
    model::{Model, Path, SPEC, Shape, facts_of, is_named, lacks},
    object, rename,
};
use crate::patch::apply::ApplyError;

/// A change of the object.
#[derive(Clone, Debug)]
enum Act {
    Apply {
        manager: usize,
        version: &'static str,
        /// An object of the storage version.
        config: Value,
        force: bool,
    },
    /// Replaces the metadata, and the fields of the spec that the mask selects, with those of another.
    Put {
        manager: usize,
        version: &'static str,
        object: Value,
        mask: u16,
    },
    Reset,
    /// A hook adds missing fields, which are unowned.
    Fill(Value),
}

const APPLIERS: [&str; 4] = ["ann", "bob", "cat", "dan"];
const UPDATERS: [&str; 2] = ["upd", "ann"];

fn item() -> impl Strategy<Value = Map<String, Value>> {
    let text = || prop::option::of(prop::sample::select(vec!["1", "2"]));
    (text(), text(), prop::collection::btree_set(prop::sample::select(vec!["t", "u"]), 0..2)).prop_map(
        |(note, port, tags)| {
            let mut item = Map::new();
            note.map(|note| item.insert("note".to_owned(), note.into()));
            port.map(|port| item.insert("port".to_owned(), json!(port.parse::<i64>().expect("digits"))));
            if !tags.is_empty() {
                item.insert("tags".to_owned(), tags.into_iter().collect());
            }
            item
        },
    )
}

/// A spec without empty containers.
fn spec() -> impl Strategy<Value = Value> {
    let text = || prop::option::weighted(0.3, prop::sample::select(vec!["1", "2", "3"]));
    let entries = || {
        prop::collection::btree_map(
            prop::sample::select(vec!["k", "l", "m"]),
            prop::sample::select(vec!["1", "2"]),
            0..3,
        )
    };
    let scalars = (text(), text(), text(), text(), text(), text());
    let maps = (
        entries(),
        entries(),
        entries(),
        prop::collection::btree_map(prop::sample::select(vec!["e", "f"]), entries(), 0..3),
    );
    let names = || prop::sample::select(vec!["p", "q", "r"]);
    let list = prop::collection::btree_map(names(), item(), 0..3);
    let multi = prop::collection::btree_map((1..3i64, prop::option::of(Just("UDP"))), item(), 0..3);
    let sets = (prop::collection::btree_set(names(), 0..3), prop::collection::vec(names(), 0..3));
    (scalars, maps, list, multi, sets).prop_map(|((a, b, d, x, z, in_d), (map, fixed, whole, maps), list, multi, (set, seq))| {
        let maps: BTreeMap<_, Value> = maps
            .into_iter()
            .map(|(key, inner)| (key, json!({"m": inner.get("k"), "n": inner.get("l")})))
            .collect();
        let whole = json!({"p": whole.get("k"), "q": whole.get("l")});
        let list = list.into_iter().map(|(name, mut item)| {
            item.insert("name".to_owned(), name.into());
            item
        });
        let multi = multi.into_iter().map(|((port, protocol), mut item)| {
            item.insert("port".to_owned(), port.into());
            protocol.map(|protocol| item.insert("protocol".to_owned(), protocol.into()));
            item
        });
        let nested = json!({"x": x, "y": {"z": z}, "d": in_d});
        without_empty(json!({"a": a, "b": b.map(|b| b.parse::<i64>().expect("digits")), "d": d, "nested": nested, "whole": whole, "map": map, "maps": maps,
            "fixed": fixed, "set": set, "list": list.collect::<Vec<_>>(), "multi": multi.collect::<Vec<_>>(), "seq": seq}))
        .unwrap_or_else(|| json!({}))
    })
}

fn without_empty(value: Value) -> Option<Value> {
    match value {
        Value::Null => None,
        Value::Object(fields) => {
            let left: Map<_, _> =
                fields.into_iter().filter_map(|(name, value)| Some((name, without_empty(value)?))).collect();
            (!left.is_empty()).then_some(Value::Object(left))
        }
        Value::Array(items) => (!items.is_empty()).then_some(Value::Array(items)),
        scalar => Some(scalar),
    }
}

/// An object with metadata that is owned, too.
fn things() -> impl Strategy<Value = Value> {
    let entries = || {
        let values = prop::sample::select(vec!["1", "2"]);
        prop::collection::btree_map(prop::sample::select(vec!["k", "l", "e.com/m"]), values, 0..3)
    };
    let finalizers = prop::collection::btree_set(prop::sample::select(vec!["e.com/f", "e.com/g"]), 0..2);
    let owners = prop::collection::btree_map(prop::sample::select(vec!["u1", "u2"]), any::<bool>(), 0..2);
    (spec(), prop::option::of((entries(), entries(), finalizers, owners))).prop_map(|(spec, metadata)| {
        let mut thing = object(&spec);
        let Some((labels, annotations, finalizers, owners)) = metadata else { return thing };
        let owner = |(uid, controller)| json!({"apiVersion": "v1", "kind": "Owner", "name": "o", "uid": uid, "controller": controller});
        let owners: Vec<Value> = owners.into_iter().map(owner).collect();
        let given =
            json!({"labels": labels, "annotations": annotations, "finalizers": finalizers, "ownerReferences": owners});
        let Some(Value::Object(given)) = without_empty(given) else { return thing };
        thing["metadata"].as_object_mut().expect("metadata").extend(given);
        thing
    })
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let version = || prop_oneof![3 => Just(VERSION), 2 => Just(RENAMED), 2 => Just(NARROW)];
    let apply = (0..APPLIERS.len(), version(), things(), prop::bool::weighted(0.3))
        .prop_map(|(manager, version, config, force)| Act::Apply { manager, version, config, force });
    let put = (0..UPDATERS.len(), version(), things(), any::<u16>())
        .prop_map(|(manager, version, object, mask)| Act::Put { manager, version, object, mask });
    let fill = spec().prop_map(Act::Fill);
    prop::collection::vec(prop_oneof![8 => apply, 4 => put, 1 => fill, 1 => Just(Act::Reset)], 1..14)
}

fn masked(live: &Value, other: &Value, mask: u16) -> Value {
    let Shape::Struct(fields) = SPEC else { unreachable!("the spec is a struct") };
    let from = |at: usize| if mask >> at & 1 == 1 { other } else { live };
    let taken =
        fields.iter().enumerate().filter_map(|(at, (name, _))| Some((name.to_string(), from(at).get(*name)?.clone())));
    Value::Object(taken.collect())
}

fn fill(live: &mut Value, other: &Value) {
    if let (Value::Object(live), Value::Object(other)) = (live, other) {
        for (name, value) in other {
            live.entry(name.as_str()).and_modify(|live| fill(live, value)).or_insert_with(|| value.clone());
        }
    }
}

/// An object in a version, with the field that only the narrow one has.
fn in_version(world: &mut World, version: &'static str, object: &Value) -> Value {
    let mut object = object.clone();
    world.version = version;
    object["apiVersion"] = version.into();
    match version {
        RENAMED => rename(&mut object["spec"], false),
        NARROW => {
            let spec = &mut object["spec"];
            for path in LACKING {
                remove(spec, path);
            }
            *spec = without_empty(spec.take()).unwrap_or_else(|| json!({}));
            if let Some(a) = spec.get("a").cloned() {
                spec[EXTRA] = a;
            }
        }
        _ => {}
    }
    object
}

/// Removes a field; of lists, from each item.
fn remove(value: &mut Value, path: &[&str]) {
    match (value, path) {
        (Value::Array(items), path) => items.iter_mut().for_each(|item| remove(item, path)),
        (Value::Object(fields), [name]) => drop(fields.remove(*name)),
        (Value::Object(fields), [name, below @ ..]) => {
            if let Some(at) = fields.get_mut(*name) {
                remove(at, below);
            }
        }
        _ => {}
    }
}

/// The content of an object of a version.
fn facts_in(version: &str, object: &Value) -> super::model::Facts {
    let mut object = object.clone();
    if version == RENAMED {
        rename(&mut object["spec"], true);
    }
    facts_of(&object)
}

fn run(acts: &[Act]) {
    let (mut world, mut model) = (World::default(), Model::default());
    for act in acts {
        match act {
            Act::Apply { manager, version, config, force } => {
                apply(&mut world, &mut model, (APPLIERS[*manager], version), config, *force);
            }
            Act::Put { manager, version, object, mask } => {
                world.version = version;
                let mut new = in_version(&mut world, version, object);
                if let Some(mut live) = world.read() {
                    if *version == RENAMED {
                        rename(&mut live["spec"], true);
                        rename(&mut new["spec"], true);
                    }
                    let mut spec = masked(&live["spec"], &new["spec"], *mask);
                    if *version == RENAMED {
                        rename(&mut spec, false);
                    }
                    new["spec"] = spec;
                    new["metadata"]["managedFields"] = live["metadata"]["managedFields"].take();
                    new["metadata"].as_object_mut().expect("metadata").retain(|_, value| !value.is_null());
                }
                world.add_defaults(&mut new);
                world.put_object(UPDATERS[*manager], new.clone());
                model.put(UPDATERS[*manager], version, facts_in(version, &new));
                check_defaults(&world, &mut model);
                model.check(&world);
            }
            Act::Reset => {
                let Some(live) = &mut world.live else { continue };
                live["metadata"].as_object_mut().expect("metadata").remove("managedFields");
                model.owners.clear();
            }
            Act::Fill(spec) => {
                let Some(live) = &mut world.live else { continue };
                fill(&mut live["spec"], spec);
                model.facts = facts_of(live);
            }
        }
    }
}

fn apply(world: &mut World, model: &mut Model, (manager, version): (&str, &'static str), config: &Value, force: bool) {
    let before = (world.live.clone(), model.clone());
    let config = in_version(world, version, config);
    let done = world.apply_object(manager, &config, force);
    match (done, model.apply(manager, version, facts_in(version, &config), force)) {
        (Ok(()), Ok(())) => {}
        (Err(ApplyError::Conflicts { reported: told, .. }), Err(expected)) => {
            assert_eq!(told.len(), expected, "{told:?}");
            assert!(world.live == before.0, "a conflict changes nothing");
            return;
        }
        (done, expected) => panic!("{done:?}, and not {expected:?}: {config}"),
    }
    check_defaults(world, model);
    model.check(world);
    check_kept(&before.1, world, manager, force);
    // Fields that are not stored are applied each time.
    if config["spec"].get(EXTRA).is_none() {
        let once = world.live.clone();
        world.apply_object(manager, &config, false).expect("applied before");
        assert_eq!(world.live, once, "an apply again is no change");
        let owns = !world.owned(manager).is_null();
        assert!(!owns || world.is_noop(manager, &config), "a look is enough to tell: {config}");
    }
}

/// Besides the model's fields there are only defaults, which are unowned.
fn check_defaults(world: &World, model: &mut Model) {
    let stored = facts_of(world.live.as_ref().expect("an object"));
    let is_default = |path: &Path, value: &Option<Value>| match path.last().map(String::as_str) {
        Some("f:d") => value.as_ref().is_some_and(|value| *value == "filled" || *value == "in"),
        Some("f:protocol") => *value == Some(json!("TCP")),
        _ => false,
    };
    for (path, value) in &stored {
        let expected = model.facts.get(path);
        assert!(expected == Some(value) || expected.is_none() && is_default(path, value), "{path:?} of {stored:?}");
    }
    let lost: Vec<_> = model.facts.keys().filter(|path| !stored.contains_key(*path)).collect();
    assert!(lost.is_empty(), "{lost:?} of {stored:?}");
    model.facts = stored;
}

/// Without force no field of another owner changes, and none is removed except with an item or entry of the applier.
fn check_kept(before: &Model, world: &World, manager: &str, force: bool) {
    let after = facts_of(world.live.as_ref().expect("an object"));
    for (who, owned) in before.owners.iter().filter(|(who, _)| !force && **who != (manager.to_owned(), "Apply", "")) {
        let seen = |path: &&Path| before.facts.contains_key(*path) && !lacks(world.version, path);
        for path in owned.iter().filter(seen) {
            let whole_owned = (1..path.len()).all(|length| {
                let above = &path[..length];
                is_named(above, &before.facts) || owned.contains(above)
            });
            assert!(
                !whole_owned || before.facts[path].is_none() || after.get(path) == Some(&before.facts[path]),
                "{who:?} has lost {path:?}"
            );
        }
    }
}

proptest! {

    #[test]
    fn owners_are_those_of_the_model(acts in acts()) {
        run(&acts);
    }

    #[test]
    fn unrelated_appliers_may_come_in_any_order(specs in prop::collection::vec(spec(), 2..4), parts in any::<u16>()) {
        // Each applier has separate fields of the spec.
        let share = |at: usize| {
            let mask = if at == 0 { parts } else if at == 1 { !parts & 0x5555 } else { !parts & 0xaaaa };
            masked(&json!({}), &specs[at], mask)
        };
        let mut end = None;
        for order in [vec![0, 1, 2], vec![2, 1, 0], vec![1, 2, 0]] {
            let mut world = World::default();
            for at in order.into_iter().filter(|at| *at < specs.len()) {
                world.apply(APPLIERS[at], &share(at)).expect("no conflict");
            }
            let owned: Vec<Value> = (0..specs.len()).map(|at| world.owned(APPLIERS[at]).clone()).collect();
            let found = (world.spec().clone(), owned);
            prop_assert_eq!(end.get_or_insert_with(|| found.clone()), &found);
        }
    }
}
