//! The kinds that are followed, and the state of the moment as decisions ask for it.
use std::{cell::RefCell, collections::HashMap, sync::Arc};

use super::{
    decide::{Owner, State},
    facts::Facts,
    graph::Place,
};
use crate::{
    kind::{model::Scope, registry::Served},
    meta::{OwnerReference, Revision, options::Propagation},
    verbs::Api,
};

/// How many owners' whereabouts are remembered.
const REMEMBERED: usize = 10_000;

/// The kinds that are followed. A kind keeps its position.
pub(super) struct Kinds {
    api: Arc<Api>,
    followed: Vec<Arc<Served>>,
    /// From `apiVersion` and kind, as owners are named, to positions.
    names: HashMap<(String, String), usize>,
    /// Of which moment of the registry they are.
    generation: u64,
    /// Whether an owner that is not where it should be is in another namespace, by uid. That does not change.
    elsewhere: RefCell<HashMap<Box<str>, bool>>,
}

impl Kinds {
    /// None yet.
    pub fn new(api: Arc<Api>) -> Self {
        Self { api, followed: Vec::new(), names: HashMap::new(), generation: 0, elsewhere: RefCell::default() }
    }

    /// The kind at a position.
    pub fn at(&self, position: usize) -> &Arc<Served> {
        &self.followed[position]
    }

    /// Takes in kinds that have come, and gives their positions. Each resource is followed once, in the version in which its
    /// objects are stored; owners name it in any that is served. What is not stored is not followed: nobody knows which of
    /// its objects there are.
    pub fn renew(&mut self) -> Option<std::ops::Range<usize>> {
        let (resources, generation) = self.api.registry.resources();
        if generation == self.generation {
            return None;
        }
        self.generation = generation;
        let before = self.followed.len();
        for resource in resources.iter().filter(|resource| resource.kind.stored) {
            if self.followed.iter().any(|known| Arc::ptr_eq(known, resource)) {
                continue;
            }
            for kind in resource.records.versions().iter().filter(|kind| kind.served) {
                self.names.insert((kind.group_version.to_string(), kind.kind.clone()), self.followed.len());
            }
            self.followed.push(resource.clone());
        }
        Some(before..self.followed.len())
    }

    /// The kind that an owner says it is of.
    fn of(&self, owner: &OwnerReference) -> Option<&Arc<Served>> {
        let position = self.names.get(&(owner.api_version.clone(), owner.kind.clone()))?;
        self.followed.get(*position)
    }

    /// Whether an object of this kind, name and uid is in any other namespace.
    fn is_elsewhere(&self, served: &Served, owner: &OwnerReference) -> bool {
        if let Some(known) = self.elsewhere.borrow().get(&*owner.uid) {
            return *known;
        }
        let Some(namespaces) = self.api.registry.namespaces() else { return false };
        let (namespaces, objects) = (namespaces.objects.snapshot(), served.objects.snapshot());
        let found = namespaces.range("", None).any(|namespace| {
            let object = objects.get(&format!("{}/{}", namespace.key(), owner.name));
            object.is_some_and(|object| *Facts::of(&object).uid == *owner.uid)
        });
        let mut elsewhere = self.elsewhere.borrow_mut();
        if elsewhere.len() >= REMEMBERED {
            elsewhere.clear();
        }
        elsewhere.insert(owner.uid.as_str().into(), found);
        found
    }
}

/// The namespace in a key.
pub(super) fn namespace_of(key: &str) -> &str {
    key.split_once('/').map_or("", |(namespace, _)| namespace)
}

impl State for Kinds {
    fn facts(&self, place: &Place) -> Option<(Facts, Revision)> {
        let object = self.at(place.kind).objects.snapshot().get(&place.key)?;
        Some((Facts::of(&object), object.revision()))
    }

    fn owner(&self, dependent: &Place, owner: &OwnerReference) -> Owner {
        let Some(served) = self.of(owner) else { return Owner::Unknown };
        let key = match (served.kind.scope, namespace_of(&dependent.key)) {
            (Scope::Cluster, _) => owner.name.clone(),
            (Scope::Namespaced, "") => return Owner::Unresolvable,
            (Scope::Namespaced, namespace) => format!("{namespace}/{}", owner.name),
        };
        let found = served.objects.snapshot().get(&key);
        if found.as_ref().is_some_and(|object| object.unreadable().is_some()) {
            // Nobody knows which object that is: as long as it is there, it keeps what may be its own.
            return Owner::Solid;
        }
        match found.map(|object| Facts::of(&object)).filter(|facts| *facts.uid == *owner.uid) {
            Some(facts) if facts.waits_for() == Some(Propagation::Foreground) => Owner::Waiting,
            Some(_) => Owner::Solid,
            None if served.kind.scope == Scope::Namespaced && self.is_elsewhere(served, owner) => Owner::Elsewhere,
            None => Owner::Absent,
        }
    }
}
