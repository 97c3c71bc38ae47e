//! The table of served kinds: immutable, and replaced by each change.
use std::{collections::HashMap, sync::Arc};

use super::ResourceEntry;

/// The kinds at one moment.
#[derive(Default)]
pub(super) struct Table {
    /// Each served version, in the order of registration.
    pub(super) kinds: Arc<Vec<Arc<ResourceEntry>>>,
    /// Each resource in the storage version, served or not.
    pub(super) resources: Arc<Vec<Arc<ResourceEntry>>>,
    /// The kind whose objects are namespaces.
    pub(super) namespaces: Option<Arc<ResourceEntry>>,
    /// By plural name, which few kinds share, so that a lookup needs no allocated key.
    pub(super) places: HashMap<Arc<str>, Arc<[Arc<ResourceEntry>]>>,
    /// Increases with each change.
    pub(super) generation: u64,
}

impl Table {
    /// This table without one resource, and with another in its place or at the end.
    pub(super) fn with(
        &self,
        old: Option<&Arc<ResourceEntry>>,
        new: Option<(&[Arc<ResourceEntry>], &Arc<ResourceEntry>)>,
    ) -> Self {
        let is_old = |resource: &Arc<ResourceEntry>| old.is_some_and(|old| Arc::ptr_eq(resource.stored(), old));
        let (versions, stored) = new.unzip();
        let versions: Vec<_> =
            versions.unwrap_or_default().iter().filter(|version| version.kind.version.served).cloned().collect();
        let mut places = self.places.clone();
        if let Some(any) = old.or(stored) {
            let plural = any.kind.names().plural.as_str();
            let others = places.remove(plural);
            let others = others.iter().flat_map(|others| others.iter()).filter(|other| !is_old(other)).cloned();
            let all: Arc<[_]> = others.chain(versions.iter().cloned()).collect();
            if !all.is_empty() {
                places.insert(plural.into(), all);
            }
        }
        let kinds = spliced(&self.kinds, is_old, versions);
        let resources = spliced(&self.resources, is_old, stored.cloned().into_iter().collect());
        let namespaces = resources.iter().find(|resource| resource.kind.policy().contains_objects()).cloned();
        let (kinds, resources) = (Arc::new(kinds), Arc::new(resources));
        Self { namespaces, kinds, resources, places, generation: self.generation + 1 }
    }

    /// True if this is a resource in its storage version that is in the table, rather than one with the same names.
    pub(super) fn has(&self, stored: &Arc<ResourceEntry>) -> bool {
        self.resources.iter().any(|resource| Arc::ptr_eq(resource, stored))
    }

    pub(super) fn resource(&self, group: &str, plural: &str) -> Option<&Arc<ResourceEntry>> {
        let is_meant = |resource: &&Arc<ResourceEntry>| {
            resource.kind.group_version.group == group && resource.kind.names().plural == plural
        };
        self.resources.iter().find(is_meant)
    }
}

/// A list without old items, and with new ones in their place or at the end.
fn spliced<T: Clone>(list: &[T], is_old: impl Fn(&T) -> bool, new: Vec<T>) -> Vec<T> {
    let at = list.iter().position(&is_old).unwrap_or(list.len());
    let mut all = Vec::with_capacity(list.len() + new.len());
    all.extend_from_slice(&list[..at]);
    all.extend(new);
    all.extend(list[at..].iter().filter(|item| !is_old(item)).cloned());
    all
}
