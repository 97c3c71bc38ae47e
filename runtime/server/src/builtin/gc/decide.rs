//! Decides what to do about one object, given the graph and the current state. Changes nothing.
use super::{
    facts::{FOREGROUND, Facts, ORPHAN, Uid},
    graph::{Graph, ObjectRef, blocks},
};
use crate::meta::{OwnerReference, Revision, options::Propagation};

/// The state of an owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// The owner exists and keeps its dependents.
    Solid,
    /// The owner is in foreground deletion and waits for its dependents.
    Waiting,
    /// The owner does not exist.
    Absent,
    /// The owner is in another namespace, where it cannot own this object.
    Elsewhere,
    /// The owner's kind is not served, so its state is unknown.
    Unknown,
    /// The owner's kind is namespaced and the dependent is cluster-scoped, so the owner is ambiguous.
    Unresolvable,
}

/// The current state.
pub(super) trait State {
    /// An object's current facts and revision.
    fn facts(&self, object_ref: &ObjectRef) -> Option<(Facts, Revision)>;

    /// The state of an owner of an object.
    fn owner(&self, dependent: &ObjectRef, owner: &OwnerReference) -> Owner;
}

/// What to do.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Action {
    /// Do nothing.
    Leave,
    /// Do nothing until other kinds are served.
    AwaitKinds,
    /// Delete the object.
    Delete(Propagation),
    /// Replace the owners.
    SetOwners(Vec<OwnerReference>),
    /// Replace the finalizers.
    SetFinalizers(Vec<String>),
    /// Remove the object from the owners of these dependents.
    Orphan(Vec<(Uid, ObjectRef)>),
}

/// A decision about an object at a revision.
#[derive(Clone, Debug)]
pub(super) struct Decision {
    /// What to do.
    pub action: Action,
    /// The revision on which the decision is based.
    pub at: Revision,
    /// Owners that cannot own the object. Its user gets a warning.
    pub misplaced: Vec<OwnerReference>,
}

/// Decides what to do about an object of the graph.
pub(super) fn decide(graph: &Graph, state: &impl State, uid: &Uid) -> Option<Decision> {
    let object_ref = &graph.node(uid)?.object_ref;
    let (facts, at) = state.facts(object_ref)?;
    if facts.uid != *uid {
        return None;
    }
    let mut misplaced = Vec::new();
    let action = if facts.deleted {
        finish(graph, &facts)
    } else {
        let owners = facts.owners.iter().map(|owner| (owner, state.owner(object_ref, owner))).collect::<Vec<_>>();
        let wrong = owners.iter().filter(|(_, found)| matches!(found, Owner::Elsewhere | Owner::Unresolvable));
        misplaced.extend(wrong.map(|(owner, _)| (*owner).clone()));
        collect(graph, &facts, &owners)
    };
    Some(Decision { action, at, misplaced })
}

/// Handles a deleted object with a finalizer of the collector.
fn finish(graph: &Graph, facts: &Facts) -> Action {
    let without = |name: &str| {
        let stay = facts.finalizers.iter().filter(|finalizer| *finalizer != name);
        Action::SetFinalizers(stay.cloned().collect())
    };
    match facts.waits_for() {
        Some(Propagation::Orphan) => {
            let dependents: Vec<_> =
                graph.dependents(&facts.uid).map(|(uid, node)| (uid.clone(), node.object_ref.clone())).collect();
            if dependents.is_empty() { without(ORPHAN) } else { Action::Orphan(dependents) }
        }
        // Dependents are handled separately; when the last one is gone, this object is examined again.
        Some(Propagation::Foreground) if graph.is_blocked(&facts.uid) => {
            if graph.is_in_ring(&facts.uid) {
                open(facts)
            } else {
                Action::Leave
            }
        }
        Some(Propagation::Foreground) => without(FOREGROUND),
        Some(Propagation::Background) | None => Action::Leave,
    }
}

/// Deletes an object unless one of its owners keeps it.
fn collect(graph: &Graph, facts: &Facts, owners: &[(&OwnerReference, Owner)]) -> Action {
    let any = |which: Owner| owners.iter().any(|(_, found)| *found == which);
    if owners.is_empty() || any(Owner::Unresolvable) {
        return Action::Leave;
    }
    if any(Owner::Unknown) {
        return Action::AwaitKinds;
    }
    if any(Owner::Solid) {
        let solid = owners.iter().filter(|(_, found)| *found == Owner::Solid).map(|(owner, _)| (*owner).clone());
        let solid: Vec<_> = solid.collect();
        // Waiting owners are removed, too, or they would wait for ever.
        return if solid.len() == owners.len() { Action::Leave } else { Action::SetOwners(solid) };
    }
    if any(Owner::Waiting) && graph.dependents(&facts.uid).next().is_some() {
        return in_foreground(graph, facts);
    }
    Action::Delete(facts.policy())
}

/// The object has dependents and an owner that waits for it, so the dependents are deleted before it. If a dependent
/// waits, too, they may form a cycle, which is broken here.
fn in_foreground(graph: &Graph, facts: &Facts) -> Action {
    let waits = |uid: &Uid| graph.node(uid).is_some_and(|node| node.waits_for == Some(Propagation::Foreground));
    let ring = graph.dependents(&facts.uid).any(|(uid, _)| waits(uid));
    if !ring || !facts.owners.iter().any(blocks) {
        return Action::Delete(Propagation::Foreground);
    }
    open(facts)
}

/// Stops an object from blocking the deletion of its owners.
fn open(facts: &Facts) -> Action {
    let open = |owner: &OwnerReference| OwnerReference { block_owner_deletion: Some(false), ..owner.clone() };
    Action::SetOwners(facts.owners.iter().map(open).collect())
}
