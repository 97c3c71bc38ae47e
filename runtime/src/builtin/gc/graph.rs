//! Who depends on whom, by uid. Holds objects that have owners, and those that are deleted and wait for their dependents;
//! all others are only looked up where they are, when somebody names them as an owner. It is rebuilt from the state at
//! every start, and holds nothing that is not in the store.
use std::collections::{BTreeSet, HashMap, HashSet};

use super::facts::{Facts, Uid};
use crate::meta::{OwnerReference, options::Propagation};

/// Where an object is: the position of its kind among those that are followed, and its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// The position of the kind.
    pub kind: usize,
    /// The key below the resource's prefix.
    pub key: Box<str>,
}

/// An object that has owners, or waits for its dependents.
#[derive(Clone, Debug)]
pub(super) struct Node {
    /// Where it is.
    pub place: Place,
    /// Its owners.
    pub owners: Vec<OwnerReference>,
    /// What it waits for, being deleted.
    pub waits_for: Option<Propagation>,
}

/// Who depends on whom.
#[derive(Default)]
pub(super) struct Graph {
    nodes: HashMap<Uid, Node>,
    /// From an owner, known or not, to those that name it.
    dependents: HashMap<Uid, BTreeSet<Uid>>,
    /// The uid at each place, a map for each kind.
    places: Vec<HashMap<Box<str>, Uid>>,
}

impl Graph {
    /// An object that is in the graph.
    pub fn node(&self, uid: &str) -> Option<&Node> {
        self.nodes.get(uid)
    }

    /// Whether there is an object of the graph at a place.
    pub fn has_at(&self, kind: usize, key: &str) -> bool {
        self.places.get(kind).is_some_and(|places| places.contains_key(key))
    }

    /// Whether nobody depends on anybody.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Those that name an owner.
    pub fn dependents(&self, owner: &str) -> impl Iterator<Item = (&Uid, &Node)> {
        let uids = self.dependents.get(owner).into_iter().flatten();
        uids.filter_map(|uid| Some((uid, self.nodes.get(uid)?)))
    }

    /// Whether somebody holds up the owner's foreground deletion.
    pub fn is_blocked(&self, owner: &str) -> bool {
        let others = self.dependents(owner).filter(|(uid, _)| ***uid != *owner);
        others.into_iter().any(|(_, node)| node.owners.iter().any(|o| *o.uid == *owner && blocks(o)))
    }

    /// Whether an object in foreground deletion waits, by way of others, for itself: it holds up an owner in foreground
    /// deletion, and so on up to one that it waits for.
    pub fn is_in_ring(&self, uid: &str) -> bool {
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

    /// Takes in what an object says now. Gives the uids of those that are to be looked at.
    pub fn update(&mut self, place: Place, facts: Facts) -> Vec<Uid> {
        let mut due = Vec::new();
        // Another object in the same place: its predecessor is gone, although nobody said so.
        if let Some(before) = self.at(&place).filter(|uid| **uid != facts.uid).cloned() {
            due.extend(self.forget(&place, &before));
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
        if self.places.len() <= place.kind {
            self.places.resize_with(place.kind + 1, HashMap::new);
        }
        let places = &mut self.places[place.kind];
        if facts.owners.is_empty() && waits_for.is_none() {
            places.remove(&place.key);
        } else {
            places.insert(place.key.clone(), facts.uid.clone());
            self.nodes.insert(facts.uid, Node { place, owners: facts.owners, waits_for });
        }
        due
    }

    /// An object is gone. Gives the uids of those that are to be looked at: its dependents, and owners that waited for it.
    pub fn forget(&mut self, place: &Place, uid: &Uid) -> Vec<Uid> {
        if self.at(place) == Some(uid) {
            self.places[place.kind].remove(&place.key);
        }
        let mut due = Vec::new();
        if let Some(node) = self.nodes.remove(uid) {
            self.relink(uid, &node.owners, &[]);
            due = self.released(&node.owners, &[]);
        }
        due.extend(self.dependents.get(uid).into_iter().flatten().cloned());
        due
    }

    /// All objects of a kind are gone, or to be taken in anew. Gives the uids of those that are to be looked at, and of those
    /// that went.
    pub fn forget_kind(&mut self, kind: usize) -> (Vec<Uid>, Vec<Uid>) {
        let places = self.places.get_mut(kind).map(std::mem::take).unwrap_or_default();
        let mut due = Vec::new();
        for (key, uid) in &places {
            due.extend(self.forget(&Place { kind, key: key.clone() }, uid));
        }
        (due, places.into_values().collect())
    }

    fn at(&self, place: &Place) -> Option<&Uid> {
        self.places.get(place.kind)?.get(&place.key)
    }

    /// Makes an object the dependent of other owners than before.
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

    /// Owners in foreground deletion that a dependent no longer holds up.
    fn released(&self, old: &[OwnerReference], new: &[OwnerReference]) -> Vec<Uid> {
        let held = old.iter().filter(|owner| blocks(owner));
        let freed = held.filter(|owner| !new.iter().any(|still| still.uid == owner.uid && blocks(still)));
        let waiting = freed.filter_map(|owner| self.nodes.get_key_value(&*owner.uid));
        waiting.filter(|(_, node)| node.waits_for.is_some()).map(|(uid, _)| uid.clone()).collect()
    }
}

/// Whether the dependent holds up this owner's foreground deletion.
pub(super) fn blocks(owner: &OwnerReference) -> bool {
    owner.block_owner_deletion == Some(true)
}
