//! The dependency graph, by uid. It holds the objects with owners, and the deleted objects that wait for their
//! dependents. All other objects are looked up in the state when an object names them as its owner. The graph is
//! rebuilt from the state at every start, and holds nothing that is not in the store.
use std::collections::{BTreeSet, HashMap, HashSet};

use super::facts::{Facts, Uid};
use crate::meta::{OwnerReference, options::Propagation};

/// A reference to an object: the position of its kind among the watched ones, and its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ObjectRef {
    /// The position of its kind.
    pub kind: usize,
    /// The key below the resource's prefix.
    pub key: Box<str>,
}

/// An object that has owners or waits for its dependents.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub object_ref: ObjectRef,
    pub owners: Vec<OwnerReference>,
    /// The collector's work that it waits for, if it is deleted.
    pub waits_for: Option<Propagation>,
}

/// The dependency graph.
#[derive(Default)]
pub(super) struct Graph {
    nodes: HashMap<Uid, Node>,
    /// Maps an owner, known or not, to the objects that name it.
    dependents: HashMap<Uid, BTreeSet<Uid>>,
    /// The uids by key, one map per kind.
    uids: Vec<HashMap<Box<str>, Uid>>,
}

impl Graph {
    /// An object in the graph.
    pub(super) fn node(&self, uid: &str) -> Option<&Node> {
        self.nodes.get(uid)
    }

    /// True if an object of the graph has this kind and key.
    pub(super) fn has_at(&self, kind: usize, key: &str) -> bool {
        self.uids.get(kind).is_some_and(|uids| uids.contains_key(key))
    }

    /// True if no object is in the graph.
    pub(super) fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The objects that name an owner.
    pub(super) fn dependents(&self, owner: &str) -> impl Iterator<Item = (&Uid, &Node)> {
        let uids = self.dependents.get(owner).into_iter().flatten();
        uids.filter_map(|uid| Some((uid, self.nodes.get(uid)?)))
    }

    /// True if a dependent blocks the owner's foreground deletion.
    pub(super) fn is_blocked(&self, owner: &str) -> bool {
        let others = self.dependents(owner).filter(|(uid, _)| ***uid != *owner);
        others.into_iter().any(|(_, node)| node.owners.iter().any(|o| *o.uid == *owner && blocks(o)))
    }

    /// True if an object in foreground deletion waits for itself through others: it blocks an owner in foreground
    /// deletion, and so on up to an owner that it waits for.
    pub(super) fn is_in_ring(&self, uid: &str) -> bool {
        let mut seen = HashSet::new();
        let mut next: Vec<&str> = vec![uid];
        while let Some(at) = next.pop() {
            let held = self.nodes.get(at).into_iter().flat_map(|node| node.owners.iter().filter(|owner| blocks(owner)));
            for owner in held.map(|owner| owner.uid.as_str()).filter(|owner| *owner != at) {
                if owner == uid {
                    return true;
                }
                let waits = self.nodes.get(owner).is_some_and(|node| node.waits_for == Some(Propagation::Foreground));
                if waits && seen.insert(owner) {
                    next.push(owner);
                }
            }
        }
        false
    }

    /// Updates an object's facts. Returns the uids to examine.
    pub(super) fn update(&mut self, object_ref: ObjectRef, facts: Facts) -> Vec<Uid> {
        let mut due = Vec::new();
        // Another object with the same kind and key: its predecessor was deleted without a recorded event.
        if let Some(before) = self.at(&object_ref).filter(|uid| **uid != facts.uid).cloned() {
            due.extend(self.forget(&object_ref, &before));
        }
        let waits_for = facts.waits_for();
        let old = self.nodes.remove(&facts.uid);
        let (old_owners, old_waits) = old.map_or_else(Default::default, |node| (node.owners, node.waits_for));
        if old_owners != facts.owners {
            self.relink(&facts.uid, &old_owners, &facts.owners);
            due.extend(self.released(&old_owners, &facts.owners));
            due.push(facts.uid.clone());
        }
        if waits_for.is_some() && waits_for != old_waits {
            due.push(facts.uid.clone());
            if waits_for == Some(Propagation::Foreground) {
                due.extend(self.dependents.get(&facts.uid).into_iter().flatten().cloned());
            }
        }
        if self.uids.len() <= object_ref.kind {
            self.uids.resize_with(object_ref.kind + 1, HashMap::new);
        }
        let uids = &mut self.uids[object_ref.kind];
        if facts.owners.is_empty() && waits_for.is_none() {
            uids.remove(&object_ref.key);
        } else {
            uids.insert(object_ref.key.clone(), facts.uid.clone());
            self.nodes.insert(facts.uid, Node { object_ref, owners: facts.owners, waits_for });
        }
        due
    }

    /// Removes a deleted object. Returns the uids to examine: its dependents, and owners that waited for it.
    pub(super) fn forget(&mut self, object_ref: &ObjectRef, uid: &Uid) -> Vec<Uid> {
        if self.at(object_ref) == Some(uid) {
            self.uids[object_ref.kind].remove(&object_ref.key);
        }
        let mut due = Vec::new();
        if let Some(node) = self.nodes.remove(uid) {
            self.relink(uid, &node.owners, &[]);
            due = self.released(&node.owners, &[]);
        }
        due.extend(self.dependents.get(uid).into_iter().flatten().cloned());
        due
    }

    /// Removes all objects of a kind, for good or before they are read again. Returns the uids to examine, and the
    /// removed uids.
    pub(super) fn forget_kind(&mut self, kind: usize) -> (Vec<Uid>, Vec<Uid>) {
        let uids = self.uids.get_mut(kind).map(std::mem::take).unwrap_or_default();
        let mut due = Vec::new();
        for (key, uid) in &uids {
            due.extend(self.forget(&ObjectRef { kind, key: key.clone() }, uid));
        }
        (due, uids.into_values().collect())
    }

    fn at(&self, object_ref: &ObjectRef) -> Option<&Uid> {
        self.uids.get(object_ref.kind)?.get(&object_ref.key)
    }

    /// Updates the links from an object's owners.
    fn relink(&mut self, uid: &Uid, old: &[OwnerReference], new: &[OwnerReference]) {
        for owner in old {
            if let Some(dependents) = self.dependents.get_mut(&*owner.uid) {
                dependents.remove(uid);
                if dependents.is_empty() {
                    self.dependents.remove(&*owner.uid);
                }
            }
        }
        for owner in new {
            self.dependents.entry(owner.uid.as_str().into()).or_default().insert(uid.clone());
        }
    }

    /// Owners in foreground deletion that a dependent no longer blocks.
    fn released(&self, old: &[OwnerReference], new: &[OwnerReference]) -> Vec<Uid> {
        let held = old.iter().filter(|owner| blocks(owner));
        let freed = held.filter(|owner| !new.iter().any(|still| still.uid == owner.uid && blocks(still)));
        let waiting = freed.filter_map(|owner| self.nodes.get_key_value(&*owner.uid));
        waiting.filter(|(_, node)| node.waits_for.is_some()).map(|(uid, _)| uid.clone()).collect()
    }
}

/// True if the dependent blocks this owner's foreground deletion.
pub(super) fn blocks(owner: &OwnerReference) -> bool {
    owner.block_owner_deletion == Some(true)
}
