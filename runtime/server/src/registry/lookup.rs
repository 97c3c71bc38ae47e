//! Finds resources in the registry, now or when they are there.
use std::sync::{Arc, atomic::Ordering};

use super::{Registry, ResourceEntry, table::Table};
use crate::meta::GroupResource;

impl Registry {
    /// The kind served at a group, version and plural name.
    pub fn find(&self, group: &str, version: &str, plural: &str) -> Option<Arc<ResourceEntry>> {
        let table = self.table.load();
        let is_meant = |resource: &&Arc<ResourceEntry>| {
            let at = &resource.kind.group_version;
            at.group == group && at.version == version
        };
        table.places.get(plural)?.iter().find(is_meant).cloned()
    }

    /// The storage version of a resource, by group and plural name.
    pub fn resource(&self, of: &GroupResource) -> Option<Arc<ResourceEntry>> {
        self.table.load().resource(&of.group, &of.resource).cloned()
    }

    /// The storage version of the resource that the row with this key declares.
    pub fn declared_by(&self, row: &str) -> Option<Arc<ResourceEntry>> {
        let table = self.table.load();
        let declares = |resource: &&Arc<ResourceEntry>| {
            resource.definition_row.as_ref().is_some_and(|definition_row| &*definition_row.hold().key == row)
        };
        table.resources.iter().find(declares).cloned()
    }

    /// The resource that has replaced another one, in the same version; `None` if the other was not replaced.
    pub async fn successor(&self, of: &Arc<ResourceEntry>) -> Option<Arc<ResourceEntry>> {
        if !of.objects.has_ended() {
            return None;
        }
        // It ends an instant before the table has the other one.
        self.until(|| (!self.serves(of)).then_some(())).await;
        let at = &of.kind.group_version;
        self.find(&at.group, &at.version, &of.kind.names().plural)
    }

    /// Looks for something now, and after each change of a resource, until it is found.
    pub async fn until<T>(&self, mut look: impl FnMut() -> Option<T>) -> T {
        let mut changes = self.changes.subscribe();
        loop {
            if let Some(found) = look() {
                return found;
            }
            changes.changed().await.expect("the registry has the sender");
        }
    }

    /// The number of [`Registry::all`] when it is another one than this.
    pub async fn after(&self, generation: u64) -> u64 {
        let now = || Some(self.generation(&self.table.load())).filter(|now| *now != generation);
        self.until(now).await
    }

    /// True if a resource is served, and was neither removed nor replaced.
    pub fn serves(&self, resource: &Arc<ResourceEntry>) -> bool {
        self.table.load().has(resource.stored())
    }

    /// The kind of namespaces.
    pub fn namespaces(&self) -> Option<Arc<ResourceEntry>> {
        self.table.load().namespaces.clone()
    }

    /// All kinds in each served version, in the order of registration, and a number that increases when they change, or when one
    /// of them begins to be removed.
    pub fn all(&self) -> (Arc<Vec<Arc<ResourceEntry>>>, u64) {
        let table = self.table.load();
        (table.kinds.clone(), self.generation(&table))
    }

    /// Each resource once in the storage version, served or not, and the number of [`Registry::all`]. For code that
    /// works on stored objects.
    pub fn resources(&self) -> (Arc<Vec<Arc<ResourceEntry>>>, u64) {
        let table = self.table.load();
        (table.resources.clone(), self.generation(&table))
    }

    fn generation(&self, table: &Table) -> u64 {
        table.generation + self.endings.load(Ordering::SeqCst)
    }
}
