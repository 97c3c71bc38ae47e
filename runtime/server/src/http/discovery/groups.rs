//! Groups and their versions in discovery order.

use std::sync::Arc;

use crate::{meta::version, registry::ResourceEntry};

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
}

/// The groups of all kinds: the core group first, the others in the order of registration.
pub(super) fn of(served: &[Arc<ResourceEntry>]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for served in served {
        let at = &served.kind.group_version;
        let found = groups.iter().position(|group| group.name == at.group).unwrap_or_else(|| {
            groups.push(Group { name: at.group.clone(), versions: Vec::new() });
            groups.len() - 1
        });
        let versions = &mut groups[found].versions;
        let found = versions.iter().position(|version| version.name == at.version).unwrap_or_else(|| {
            versions.push(Version { name: at.version.clone(), kinds: Vec::new() });
            versions.len() - 1
        });
        versions[found].kinds.push(served.clone());
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
