//! Groups and their versions, as discovery orders them.

use std::{cmp::Ordering, sync::Arc};

use crate::kind::registry::Served;

/// A group with its versions, the preferred one first.
pub struct Group {
    /// The name; empty for the core group.
    pub name: String,
    /// The versions.
    pub versions: Vec<Version>,
}

/// A version of a group and its kinds.
pub struct Version {
    /// Such as `v1`.
    pub name: String,
    /// The kinds: those compiled in by name, declared ones as they were registered.
    pub kinds: Vec<Arc<Served>>,
}

/// The groups of all kinds: the core group first, the others as they were registered.
pub fn of(served: &[Arc<Served>]) -> Vec<Group> {
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
        group.versions.sort_by(|a, b| preference(&a.name, &b.name));
        for version in &mut group.versions {
            if version.kinds.iter().all(|served| served.kind.policy.lists_by_name()) {
                version.kinds.sort_by(|a, b| a.kind.plural.cmp(&b.kind.plural));
            }
        }
    }
    groups.sort_by_key(|group| !group.name.is_empty());
    groups
}

/// Which of two versions clients prefer: stable before beta before alpha, then the higher number; other names last.
pub fn preference(a: &str, b: &str) -> Ordering {
    match (rank(a), rank(b)) {
        (Some(a), Some(b)) => b.cmp(&a),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => a.cmp(b),
    }
}

/// Stability, major number and number within the stability.
fn rank(version: &str) -> Option<(u8, u32, u32)> {
    let rest = version.strip_prefix('v')?;
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (major, rest) = (rest[..digits].parse().ok()?, &rest[digits..]);
    if rest.is_empty() {
        return Some((2, major, 0));
    }
    let (stability, minor) = match (rest.strip_prefix("beta"), rest.strip_prefix("alpha")) {
        (Some(minor), _) => (1, minor),
        (_, Some(minor)) => (0, minor),
        _ => return None,
    };
    Some((stability, major, minor.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stable_versions_come_first() {
        let mut versions = [
            "v1alpha1",
            "foo10",
            "v2",
            "v1",
            "v10",
            "v11beta2",
            "v3beta1",
            "foo1",
            "v12alpha1",
            "v10beta3",
            "v11alpha2",
        ];
        versions.sort_by(|a, b| preference(a, b));
        let want = [
            "v10",
            "v2",
            "v1",
            "v11beta2",
            "v10beta3",
            "v3beta1",
            "v12alpha1",
            "v11alpha2",
            "v1alpha1",
            "foo1",
            "foo10",
        ];
        assert_eq!(versions, want);
    }
}
