//! A simple model of ownership: the content of an object by path in one map, and a set of paths for each owner.
//!
//! The model's paths are those of the storage version; a write sees and stores only the fields that its version has. It has no
//! trees and no three steps of removal. A field that an apply omits is removed, with its content, if the applier owned it and no other manager owns
//! it or anything in it.
use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::{EXTRA, LACKING, NAMES, NARROW, RENAMED, VERSION, World};

/// A path in the format of FieldsV1: `["f:list", "k:{\"name\":\"p\"}", "f:port"]`.
pub(super) type Path = Vec<String>;
/// The content of an object: containers without a value, and values that are owned as a whole.
pub(super) type Facts = BTreeMap<Path, Option<Value>>;

/// The shape of a value, redefined for the model.
pub(super) enum Shape {
    Leaf,
    Struct(&'static [(&'static str, Shape)]),
    Entries(&'static Shape),
    Set,
    Items(&'static [(&'static str, Option<&'static str>)]),
    /// Items that are owned as a whole.
    Wholes(&'static str),
}

const ITEM: &[(&str, Shape)] = &[
    ("name", Shape::Leaf),
    ("port", Shape::Leaf),
    ("protocol", Shape::Leaf),
    ("note", Shape::Leaf),
    ("tags", Shape::Set),
];
pub(super) const SPEC: Shape = Shape::Struct(&[
    ("a", Shape::Leaf),
    ("b", Shape::Leaf),
    ("d", Shape::Leaf),
    ("nested", Shape::Struct(&[("x", Shape::Leaf), ("d", Shape::Leaf), ("y", Shape::Struct(&[("z", Shape::Leaf)]))])),
    ("whole", Shape::Leaf),
    ("map", Shape::Entries(&Shape::Leaf)),
    ("maps", Shape::Entries(&Shape::Struct(&[("m", Shape::Leaf), ("n", Shape::Leaf)]))),
    ("fixed", Shape::Leaf),
    ("set", Shape::Set),
    ("list", Shape::Items(&[("name", None)])),
    ("multi", Shape::Items(&[("port", None), ("protocol", Some("TCP"))])),
    ("seq", Shape::Leaf),
    (EXTRA, Shape::Leaf),
]);
const METADATA: [(&str, Shape); 4] = [
    ("labels", Shape::Entries(&Shape::Leaf)),
    ("annotations", Shape::Entries(&Shape::Leaf)),
    ("finalizers", Shape::Set),
    ("ownerReferences", Shape::Wholes("uid")),
];

fn facts(shape: &Shape, value: &Value, path: &mut Path, all: &mut Facts) {
    let mut below = |name: String, shape: &Shape, value: &Value| {
        path.push(name);
        facts(shape, value, path, all);
        path.pop();
    };
    match (shape, value) {
        (_, Value::Null) => return,
        (Shape::Struct(fields), Value::Object(given)) => {
            for (name, shape) in *fields {
                below(format!("f:{name}"), shape, given.get(*name).unwrap_or(&Value::Null));
            }
        }
        (Shape::Entries(shape), Value::Object(given)) => {
            given.iter().for_each(|(name, value)| below(format!("f:{name}"), shape, value));
        }
        (Shape::Set, Value::Array(items)) => {
            for item in items {
                below(format!("v:{item}"), &Shape::Leaf, &json!(true));
            }
        }
        (Shape::Items(keys), Value::Array(items)) => {
            for item in items {
                let given = |(key, default): &(&str, Option<&str>)| {
                    item.get(*key).cloned().or(default.map(Value::from)).map(|value| (key.to_string(), value))
                };
                let keys: Map<String, Value> = keys.iter().filter_map(given).collect();
                below(format!("k:{}", Value::Object(keys)), &Shape::Struct(ITEM), item);
            }
        }
        (Shape::Wholes(key), Value::Array(items)) => {
            for item in items {
                below(format!("k:{}", json!({*key: item[key]})), &Shape::Leaf, item);
            }
        }
        _ => {
            all.insert(path.clone(), Some(value.clone()));
            return;
        }
    }
    all.insert(path.clone(), None);
}

pub(super) fn facts_of(object: &Value) -> Facts {
    let mut all = Facts::new();
    facts(&SPEC, &object["spec"], &mut vec!["f:spec".to_owned()], &mut all);
    for (name, shape) in &METADATA {
        facts(shape, &object["metadata"][name], &mut vec!["f:metadata".to_owned(), format!("f:{name}")], &mut all);
    }
    all
}

/// A version lacks the field at a path.
pub(super) fn lacks(version: &str, path: &[String]) -> bool {
    let names: Vec<&str> = path.iter().skip(1).filter_map(|element| element.strip_prefix("f:")).collect();
    let narrow = version == NARROW;
    path[0] == "f:spec"
        && if names.first() == Some(&EXTRA) {
            !narrow
        } else {
            narrow && LACKING.iter().any(|path| names.starts_with(path))
        }
}

/// A container in the schema, as opposed to an item or an entry: owned by every owner of its content.
pub(super) fn is_named(path: &[String], facts: &Facts) -> bool {
    let inside = |name: &str| path.len() == 3 && path[1] == name;
    facts.get(path) == Some(&None) && path.last().is_some_and(|last| last.starts_with("f:")) && !inside("f:maps")
}

/// A manager, its operation, and for updates the version in which it wrote.
pub(super) type Who = (String, &'static str, &'static str);

#[derive(Clone, Default)]
pub(super) struct Model {
    pub(super) facts: Facts,
    pub(super) owners: BTreeMap<Who, BTreeSet<Path>>,
    exists: bool,
    /// The version of each applier's last apply.
    applied_in: BTreeMap<String, &'static str>,
}

impl Model {
    /// The effect of a change on all managers except the writer.
    fn lose(&mut self, but: Option<&Who>, lost: &BTreeSet<Path>) {
        for (who, owned) in &mut self.owners {
            if Some(who) != but {
                owned.retain(|path| !lost.contains(path));
            }
        }
        self.owners.retain(|_, owned| !owned.is_empty());
    }

    /// Hides the fields that a version lacks.
    fn see(&mut self, version: &str) {
        self.facts.retain(|path, _| !lacks(version, path));
    }

    /// Replaces the object with another one in a version.
    pub(super) fn put(&mut self, manager: &str, version: &'static str, new: Facts) {
        self.see(version);
        let changed: BTreeSet<Path> = new
            .iter()
            .filter(|(path, value)| self.facts.get(*path) != Some(*value))
            .map(|(path, _)| path.clone())
            .collect();
        let removed: BTreeSet<Path> = self.facts.keys().filter(|path| !new.contains_key(*path)).cloned().collect();
        if !self.owners.is_empty() || !self.exists {
            let who = (manager.to_owned(), "Update", version);
            let kept = self.owners.get(&who).cloned().unwrap_or_default();
            self.lose(None, &changed);
            self.lose(None, &removed);
            let mut owned: BTreeSet<Path> = kept.difference(&removed).cloned().collect();
            owned.extend(changed);
            if !owned.is_empty() {
                self.owners.insert(who, owned);
            }
        }
        self.facts = new;
        self.see(VERSION);
        self.exists = true;
    }

    /// Applies; returns the conflicts, if there are any.
    pub(super) fn apply(
        &mut self,
        manager: &str,
        version: &'static str,
        given: Facts,
        force: bool,
    ) -> Result<(), usize> {
        let before = self.clone();
        self.see(version);
        if self.exists && self.owners.is_empty() {
            let all = self.facts.keys().cloned().collect();
            self.owners.insert(("before-first-apply".to_owned(), "Update", version), all);
        }
        let who = (manager.to_owned(), "Apply", "");
        let empty = |path: &Path| !given.keys().any(|other| other.len() > path.len() && other.starts_with(path));
        let named: BTreeSet<Path> =
            given.keys().filter(|path| !is_named(path, &given) || (empty(path) && path.len() == 1)).cloned().collect();
        let changed: BTreeSet<Path> = given
            .iter()
            .filter(|(path, value)| self.facts.get(*path) != Some(*value))
            .map(|(path, _)| path.clone())
            .collect();
        let others = || self.owners.iter().filter(|(other, _)| **other != who);
        let conflicts = others().map(|(_, owned)| owned.intersection(&changed).count()).sum();
        if conflicts > 0 && !force {
            *self = before;
            return Err(conflicts);
        }
        let last = self.owners.get(&who).cloned().unwrap_or_default();
        self.facts.extend(given);
        let removed = self.removed(&who, &last, &named);
        self.owners.insert(who.clone(), named);
        self.lose(Some(&who), &changed);
        self.lose(Some(&who), &removed);
        let left =
            |facts: &Facts, path: &Path| facts.keys().any(|other| other.len() > path.len() && other.starts_with(path));
        let full: BTreeSet<Path> = self.facts.keys().filter(|path| left(&self.facts, path)).cloned().collect();
        self.facts.retain(|path, _| !removed.contains(path));
        // A container that has lost all its content is removed, its own container is not.
        let emptied: Vec<Path> =
            full.into_iter().filter(|path| self.facts.contains_key(path) && !left(&self.facts, path)).collect();
        self.facts.retain(|path, _| !emptied.contains(path));
        // Conversions drop an empty container of metadata, with its owners: all of them if the object was pruned in another version,
        // otherwise those of other versions.
        let pruned_here = self.applied_in.insert(manager.to_owned(), version) == Some(version);
        for ((_, _, wrote), owned) in &mut self.owners {
            let keeps = pruned_here && *wrote == version;
            owned.retain(|path| keeps || path[0] != "f:metadata" || !emptied.contains(path));
        }
        self.owners.retain(|_, owned| !owned.is_empty());
        self.see(VERSION);
        self.exists = true;
        Ok(())
    }

    /// The fields that are removed because the applier omits them.
    fn removed(&self, who: &Who, last: &BTreeSet<Path>, named: &BTreeSet<Path>) -> BTreeSet<Path> {
        let others = self.owners.iter().filter(|(other, _)| *other != who).flat_map(|(_, owned)| owned);
        let owned = self.with_named(others.chain(named));
        let gone: Vec<Path> = self.with_named(last.iter()).difference(&owned).cloned().collect();
        self.facts.keys().filter(|path| gone.iter().any(|gone| path.starts_with(gone))).cloned().collect()
    }

    fn with_named<'p>(&self, paths: impl Iterator<Item = &'p Path>) -> BTreeSet<Path> {
        let mut all = BTreeSet::new();
        for path in paths {
            all.insert(path.clone());
            all.extend(
                (1..path.len()).map(|length| path[..length].to_vec()).filter(|above| is_named(above, &self.facts)),
            );
        }
        all
    }

    pub(super) fn check(&self, world: &World) {
        let mut stored = BTreeMap::new();
        for entry in world.entries() {
            let version = [VERSION, RENAMED, NARROW].into_iter().find(|version| entry["apiVersion"] == **version);
            let version = version.expect("a version");
            let (operation, of_update) =
                if entry["operation"] == "Apply" { ("Apply", "") } else { ("Update", version) };
            let mut paths = BTreeSet::new();
            paths_of(&entry["fieldsV1"], &mut Vec::new(), &mut paths);
            if version == RENAMED {
                paths = paths.into_iter().map(renamed_back).collect();
            }
            stored.insert((entry["manager"].as_str().expect("a manager").to_owned(), operation, of_update), paths);
        }
        assert_eq!(stored, self.owners, "owners of {:?}", world.live);
    }
}

fn renamed_back(path: Path) -> Path {
    let back = |element: String| {
        let found = NAMES.iter().find(|(_, other)| element.strip_prefix("f:") == Some(*other));
        found.map_or(element, |(first, _)| format!("f:{first}"))
    };
    path.into_iter().map(back).collect()
}

fn paths_of(fields: &Value, path: &mut Path, all: &mut BTreeSet<Path>) {
    let members = fields.as_object().expect("an object");
    if members.is_empty() && !path.is_empty() || members.contains_key(".") {
        all.insert(path.clone());
    }
    for (name, inner) in members.iter().filter(|(name, _)| *name != ".") {
        path.push(name.clone());
        paths_of(inner, path, all);
        path.pop();
    }
}
