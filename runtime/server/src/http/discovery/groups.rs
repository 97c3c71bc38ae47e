//! Groups and their versions in discovery order.

use std::{cmp::Reverse, sync::Arc};

use crate::{
    aggregation::{self, Discovered, Priority, RemoteVersion},
    meta::version,
    registry::ResourceEntry,
};

/// A group with its versions, the preferred one first.
pub(super) struct Group {
    /// The name; empty for the core group.
    pub name: String,
    pub versions: Vec<Version>,
}

/// A version of a group and its kinds.
pub(super) struct Version {
    /// Such as `v1`.
    pub name: String,
    /// The kinds: compiled ones by name, declared ones in the order of registration.
    pub kinds: Vec<Arc<ResourceEntry>>,
    /// What a server behind serves, if this server does not.
    pub remote: Option<RemoteVersion>,
}

/// The groups of all kinds: the core group first, the others in the order of registration.
pub(super) fn of(served: &[Arc<ResourceEntry>]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for served in served {
        let at = &served.kind.group_version;
        version_of(&mut groups, &at.group, &at.version).kinds.push(served.clone());
    }
    for group in &mut groups {
        group.versions.sort_by(|a, b| version::by_priority(&a.name, &b.name));
        for version in &mut group.versions {
            if version.kinds.iter().all(|served| served.kind.policy().lists_by_name()) {
                version.kinds.sort_by(|a, b| a.kind.names().plural.cmp(&b.kind.names().plural));
            }
        }
    }
    groups.sort_by_key(|group| !group.name.is_empty());
    groups
}

/// The version of a group, added if it is missing.
fn version_of<'g>(groups: &'g mut Vec<Group>, group: &str, version: &str) -> &'g mut Version {
    let found = groups.iter().position(|known| known.name == group).unwrap_or_else(|| {
        groups.push(Group { name: group.to_owned(), versions: Vec::new() });
        groups.len() - 1
    });
    let versions = &mut groups[found].versions;
    let found = versions.iter().position(|known| known.name == version).unwrap_or_else(|| {
        versions.push(Version { name: version.to_owned(), kinds: Vec::new(), remote: None });
        versions.len() - 1
    });
    &mut versions[found]
}

/// The groups of all kinds and of servers behind, in the order of the priorities that APIServices give them.
pub(super) fn merged(served: &[Arc<ResourceEntry>], discovered: &Discovered) -> Vec<Group> {
    let mut groups = of(served);
    for (entry, _) in discovered.table().remotes() {
        let version = version_of(&mut groups, &entry.group, &entry.version);
        version.kinds.clear();
        version.remote = Some(discovered.version(entry));
    }
    let priority = |group: &str, version: &str| -> Priority {
        let entry = discovered.table().find(group, version);
        entry.map_or_else(|| aggregation::of_local(group, version).0, |entry| entry.priority)
    };
    for Group { name, versions } in &mut groups {
        versions.sort_by(|a, b| {
            let priority = |version: &Version| Reverse(priority(name, &version.name).1);
            priority(a).cmp(&priority(b)).then_with(|| version::by_priority(&a.name, &b.name))
        });
    }
    // Groups of the same priority are sorted by the names of the objects that have it.
    groups.sort_by_cached_key(|Group { name, versions }| {
        let keys = versions
            .iter()
            .map(|version| (Reverse(priority(name, &version.name).0), format!("{}.{name}", version.name)));
        (!name.is_empty(), keys.min())
    });
    groups
}
