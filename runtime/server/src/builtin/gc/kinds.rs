//! The watched kinds, and the current state as decisions need it.
use std::{cell::RefCell, collections::HashMap, sync::Arc};

use super::{
    super::followed::{Followed, Renewed},
    decide::{Owner, State},
    facts::Facts,
    graph::Place,
};
use crate::{
    kind::model::Scope,
    meta::{OwnerReference, Revision, options::Propagation},
    registry::Registered,
    verbs::Verbs,
};

/// The number of owners whose location is cached.
const REMEMBERED: usize = 10_000;

/// The watched kinds.
pub(super) struct Kinds {
    api: Arc<Verbs>,
    /// Their resources.
    pub followed: Followed,
    /// Maps the `apiVersion` and kind of owner references to positions. References may use any served version.
    names: HashMap<(String, String), usize>,
    /// Whether a missing owner exists in another namespace, by uid. That never changes.
    elsewhere: RefCell<HashMap<Box<str>, bool>>,
}

impl Kinds {
    /// An empty set.
    pub(super) fn new(api: Arc<Verbs>) -> Self {
        let followed = Followed::new(api.clone());
        Self { api, followed, names: HashMap::new(), elsewhere: RefCell::default() }
    }

    /// Updates the set from the registry.
    pub(super) fn renew(&mut self) -> Option<Renewed> {
        let renewed = self.followed.renew()?;
        self.names.clear();
        for (position, resource) in self.followed.iter() {
            for kind in resource.records.versions().iter().filter(|kind| kind.version.served) {
                self.names.insert((kind.group_version.to_string(), kind.names().kind.clone()), position);
            }
        }
        Some(renewed)
    }

    /// The kind that an owner reference names.
    fn of(&self, owner: &OwnerReference) -> Option<&Arc<Registered>> {
        self.followed.find(*self.names.get(&(owner.api_version.clone(), owner.kind.clone()))?)
    }

    /// True if an object of this kind, name and uid exists in another namespace.
    fn is_elsewhere(&self, served: &Registered, owner: &OwnerReference) -> bool {
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

/// The namespace of a key.
pub(super) fn namespace_of(key: &str) -> &str {
    key.split_once('/').map_or("", |(namespace, _)| namespace)
}

impl State for Kinds {
    fn facts(&self, place: &Place) -> Option<(Facts, Revision)> {
        let object = self.followed.at(place.kind).objects.snapshot().get(&place.key)?;
        Some((Facts::of(&object), object.revision()))
    }

    fn owner(&self, dependent: &Place, owner: &OwnerReference) -> Owner {
        let Some(served) = self.of(owner) else { return Owner::Unknown };
        let key = match (served.kind.shared.scope, namespace_of(&dependent.key)) {
            (Scope::Cluster, _) => owner.name.clone(),
            (Scope::Namespaced, "") => return Owner::Unresolvable,
            (Scope::Namespaced, namespace) => format!("{namespace}/{}", owner.name),
        };
        let found = served.objects.snapshot().get(&key);
        if found.as_ref().is_some_and(|object| object.unreadable().is_some()) {
            // The object in question is unreadable. While it exists, it keeps its possible dependents.
            return Owner::Solid;
        }
        match found.map(|object| Facts::of(&object)).filter(|facts| *facts.uid == *owner.uid) {
            Some(facts) if facts.waits_for() == Some(Propagation::Foreground) => Owner::Waiting,
            Some(_) => Owner::Solid,
            None if served.kind.shared.scope == Scope::Namespaced && self.is_elsewhere(served, owner) => {
                Owner::Elsewhere
            }
            None => Owner::Absent,
        }
    }
}
