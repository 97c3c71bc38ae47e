//! The watched kinds, and the current state as decisions need it.
use std::{cell::RefCell, collections::HashMap, sync::Arc};

use super::{
    super::watched_resources::{ResourceChanges, WatchedResources},
    decide::{Owner, State},
    facts::Facts,
    graph::ObjectRef,
};
use crate::{
    kind::model::Scope,
    meta::{OwnerReference, Revision, options::Propagation},
    registry::ResourceEntry,
    verbs::Verbs,
};

/// The number of owners whose location is cached.
const REMEMBERED: usize = 10_000;

/// The watched kinds.
pub(super) struct Kinds {
    api: Arc<Verbs>,
    /// Their resources.
    pub watched: WatchedResources,
    /// Maps the `apiVersion` and kind of owner references to positions. References may use any served version.
    names: HashMap<(String, String), usize>,
    /// Whether a missing owner exists in another namespace, by uid. That never changes.
    elsewhere: RefCell<HashMap<Box<str>, bool>>,
}

impl Kinds {
    /// An empty set.
    pub(super) fn new(api: Arc<Verbs>) -> Self {
        let watched = WatchedResources::new(api.clone());
        Self { api, watched, names: HashMap::new(), elsewhere: RefCell::default() }
    }

    /// Updates the set from the registry.
    pub(super) fn renew(&mut self) -> Option<ResourceChanges> {
        let changes = self.watched.renew()?;
        self.names.clear();
        for (position, resource) in self.watched.iter() {
            for kind in resource.records.versions().iter().filter(|kind| kind.version.served) {
                self.names.insert((kind.group_version.to_string(), kind.names().kind.clone()), position);
            }
        }
        Some(changes)
    }

    /// The kind that an owner reference names.
    fn of(&self, owner: &OwnerReference) -> Option<&Arc<ResourceEntry>> {
        self.watched.find(*self.names.get(&(owner.api_version.clone(), owner.kind.clone()))?)
    }

    /// True if an object of this kind, name and uid exists in another namespace.
    fn is_elsewhere(&self, resource: &ResourceEntry, owner: &OwnerReference) -> bool {
        if let Some(known) = self.elsewhere.borrow().get(&*owner.uid) {
            return *known;
        }
        let Some(namespaces) = self.api.registry.namespaces() else { return false };
        let (namespaces, objects) = (namespaces.objects.snapshot(), resource.objects.snapshot());
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
    fn facts(&self, object_ref: &ObjectRef) -> Option<(Facts, Revision)> {
        let object = self.watched.at(object_ref.kind).objects.snapshot().get(&object_ref.key)?;
        Some((Facts::of(&object), object.revision()))
    }

    fn owner(&self, dependent: &ObjectRef, owner: &OwnerReference) -> Owner {
        let Some(resource) = self.of(owner) else { return Owner::Unknown };
        let key = match (resource.kind.shared.scope, namespace_of(&dependent.key)) {
            (Scope::Cluster, _) => owner.name.clone(),
            (Scope::Namespaced, "") => return Owner::Unresolvable,
            (Scope::Namespaced, namespace) => format!("{namespace}/{}", owner.name),
        };
        let found = resource.objects.snapshot().get(&key);
        if found.as_ref().is_some_and(|object| object.unreadable().is_some()) {
            // The object in question is unreadable. While it exists, it keeps its possible dependents.
            return Owner::Solid;
        }
        match found.map(|object| Facts::of(&object)).filter(|facts| *facts.uid == *owner.uid) {
            Some(facts) if facts.waits_for() == Some(Propagation::Foreground) => Owner::Waiting,
            Some(_) => Owner::Solid,
            None if resource.kind.shared.scope == Scope::Namespaced && self.is_elsewhere(resource, owner) => {
                Owner::Elsewhere
            }
            None => Owner::Absent,
        }
    }
}
