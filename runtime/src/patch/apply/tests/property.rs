//! Random appliers and updaters in two versions against a simple model of ownership.
use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{
    RENAMED, VERSION, World,
    model::{Model, Path, SPEC, Shape, facts_of, is_named},
    rename,
};
use crate::patch::apply::ApplyError;

/// A change of the object.
#[derive(Clone, Debug)]
enum Act {
    Apply {
        manager: usize,
        /// In the version with other names.
        renamed: bool,
        spec: Value,
        force: bool,
    },
    /// Replaces the fields of the spec that the mask selects with those of another.
    Put {
        manager: usize,
        renamed: bool,
        spec: Value,
        mask: u16,
    },
    Reset,
    /// A hook adds missing fields, which are unowned.
    Fill(Value),
}

const APPLIERS: [&str; 4] = ["ann", "bob", "cat", "dan"];
const UPDATERS: [&str; 3] = ["upd", "vic", "ann"];

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

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let renamed = || prop::bool::weighted(0.4);
    let apply = (0..APPLIERS.len(), renamed(), spec(), prop::bool::weighted(0.3))
        .prop_map(|(manager, renamed, spec, force)| Act::Apply { manager, renamed, spec, force });
    let put = (0..UPDATERS.len(), renamed(), spec(), any::<u16>())
        .prop_map(|(manager, renamed, spec, mask)| Act::Put { manager, renamed, spec, mask });
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

/// Converts a spec to a version.
fn in_version(world: &mut World, renamed: bool, spec: &Value) -> Value {
    let mut spec = spec.clone();
    world.version = if renamed { RENAMED } else { VERSION };
    if renamed {
        rename(&mut spec, false);
    }
    spec
}

fn run(acts: &[Act]) {
    let (mut world, mut model) = (World::default(), Model::default());
    for act in acts {
        match act {
            Act::Apply { manager, renamed, spec, force } => {
                let manager = APPLIERS[*manager];
                let before = (world.live.clone(), model.clone());
                let config = in_version(&mut world, *renamed, spec);
                let done = world.apply_object(manager, &world.object(&config), *force);
                match (done, model.apply(manager, world.version, spec, *force)) {
                    (Ok(()), Ok(())) => {}
                    (Err(ApplyError::Conflicts { reported: told, .. }), Err(expected)) => {
                        assert_eq!(told.len(), expected, "{told:?}");
                        assert!(world.live == before.0, "a conflict changes nothing");
                        continue;
                    }
                    (done, expected) => panic!("{done:?}, and not {expected:?}: {spec}"),
                }
                check_defaults(&world, &mut model);
                model.check(&world);
                let once = world.live.clone();
                world.apply(manager, &config).expect("applied before");
                assert_eq!(world.live, once, "an apply again is no change");
                let owns = !world.owned(manager).is_null();
                assert!(!owns || world.is_noop(manager, &world.object(&config)), "a look is enough to tell: {spec}");
                check_kept(&before.1, &world, manager, *force);
            }
            Act::Put { manager, renamed, spec, mask } => {
                let new = match &world.live {
                    Some(live) => masked(&live["spec"], spec, *mask),
                    None => spec.clone(),
                };
                let new = in_version(&mut world, *renamed, &new);
                world.put(UPDATERS[*manager], &new);
                model.put(UPDATERS[*manager], world.version, facts_of(world.spec()));
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
                model.facts = facts_of(&live["spec"]);
            }
        }
    }
}

/// Besides the model's fields there are only defaults, which are unowned.
fn check_defaults(world: &World, model: &mut Model) {
    let stored = facts_of(world.spec());
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
    let after = facts_of(world.spec());
    for (who, owned) in before.owners.iter().filter(|(who, _)| !force && **who != (manager.to_owned(), "Apply", "")) {
        for path in owned.iter().filter(|path| before.facts.contains_key(*path)) {
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
