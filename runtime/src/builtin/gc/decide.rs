//! What is to be done about one object, given who depends on whom and the state of the moment. Changes nothing.
use super::{
    facts::{FOREGROUND, Facts, ORPHAN, Uid},
    graph::{Graph, Place, blocks},
};
use crate::meta::{OwnerReference, Revision, options::Propagation};

/// What is known of an owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// It is there, and keeps its dependents.
    Solid,
    /// It is there, but in foreground deletion: it waits until its dependents are gone.
    Waiting,
    /// There is no such object.
    Absent,
    /// There is, but in another namespace, where it cannot own anything of this one.
    Elsewhere,
    /// Its kind is not served, so that nobody knows.
    Unknown,
    /// Its kind lives in namespaces and the dependent in none, so that nobody can know which object is meant.
    Unresolvable,
}

/// The state of the moment.
pub(super) trait State {
    /// What an object says now, and its revision.
    fn facts(&self, place: &Place) -> Option<(Facts, Revision)>;

    /// What is known of an owner of an object.
    fn owner(&self, dependent: &Place, owner: &OwnerReference) -> Owner;
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Action {
    /// Nothing.
    Leave,
    /// Nothing before other kinds are served.
    AwaitKinds,
    /// Delete it.
    Delete(Propagation),
    /// Give it these owners.
    SetOwners(Vec<OwnerReference>),
    /// Give it these finalizers.
    SetFinalizers(Vec<String>),
    /// Take the object out of the owners of these.
    Orphan(Vec<(Uid, Place)>),
}

/// A decision about the object as it was at a revision.
#[derive(Clone, Debug)]
pub(super) struct Decision {
    /// What is to be done.
    pub action: Action,
    /// The revision at which that was so.
    pub at: Revision,
    /// Owners that cannot be its owners, which its user should be told.
    pub misplaced: Vec<OwnerReference>,
}

/// Decides about an object of the graph.
pub(super) fn decide(graph: &Graph, state: &impl State, uid: &Uid) -> Option<Decision> {
    let place = &graph.node(uid)?.place;
    let (facts, at) = state.facts(place)?;
    if facts.uid != *uid {
        return None;
    }
    let mut misplaced = Vec::new();
    let action = if facts.deleted {
        finish(graph, &facts)
    } else {
        let owners = facts.owners.iter().map(|owner| (owner, state.owner(place, owner))).collect::<Vec<_>>();
        let wrong = owners.iter().filter(|(_, found)| matches!(found, Owner::Elsewhere | Owner::Unresolvable));
        misplaced.extend(wrong.map(|(owner, _)| (*owner).clone()));
        collect(graph, &facts, &owners)
    };
    Some(Decision { action, at, misplaced })
}

/// What a deleted object waits for.
fn finish(graph: &Graph, facts: &Facts) -> Action {
    let without = |name: &str| {
        let stay = facts.finalizers.iter().filter(|finalizer| *finalizer != name);
        Action::SetFinalizers(stay.cloned().collect())
    };
    match facts.waits_for() {
        Some(Propagation::Orphan) => {
            let dependents: Vec<_> =
                graph.dependents(&facts.uid).map(|(uid, node)| (uid.clone(), node.place.clone())).collect();
            if dependents.is_empty() { without(ORPHAN) } else { Action::Orphan(dependents) }
        }
        // Dependents are looked at on their own; the last one that goes has this one looked at again.
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

/// Whether an object is kept by one of its owners.
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
        // Owners that wait are taken out, too, or they would wait for ever.
        return if solid.len() == owners.len() { Action::Leave } else { Action::SetOwners(solid) };
    }
    if any(Owner::Waiting) && graph.dependents(&facts.uid).next().is_some() {
        return in_foreground(graph, facts);
    }
    Action::Delete(facts.policy())
}

/// The object has dependents, and an owner that waits for it: they all go before it does. Where one of its dependents
/// waits, too, they may wait for each other in a ring, which is opened here.
fn in_foreground(graph: &Graph, facts: &Facts) -> Action {
    let waits = |uid: &Uid| graph.node(uid).is_some_and(|node| node.waits_for == Some(Propagation::Foreground));
    let ring = graph.dependents(&facts.uid).any(|(uid, _)| waits(uid));
    if !ring || !facts.owners.iter().any(blocks) {
        return Action::Delete(Propagation::Foreground);
    }
    open(facts)
}

/// Has an object no longer hold up its owners.
fn open(facts: &Facts) -> Action {
    let open = |owner: &OwnerReference| OwnerReference { block_owner_deletion: Some(false), ..owner.clone() };
    Action::SetOwners(facts.owners.iter().map(open).collect())
}
