//! The roles for the kinds that the program declares: `view`, `edit` and `admin` gather them.
use super::super::kinds;
use crate::{
    auth::roles::{
        PolicyRule,
        defaults::{DefaultRole, on},
    },
    meta::GroupResource,
    registry::Registry,
    roles::{self, Rule},
};

/// The roles for each group of declared kinds. The default roles name the built-in kinds.
pub(super) fn roles(registry: &Registry) -> Vec<DefaultRole> {
    let built_in: Vec<GroupResource> = kinds().iter().map(crate::kind::Kind::group_resource).collect();
    let (all, _) = registry.all();
    let declared =
        all.iter().filter(|entry| entry.definition_row.is_none() && !built_in.contains(&entry.kind.group_resource()));
    let served = declared.map(|entry| (&*entry.kind.shared, &*entry.kind.version));
    let role = |role: roles::Role| DefaultRole {
        name: role.name.into(),
        rules: role.rules.iter().map(rule).collect(),
        gathers: false,
        gathered_by: role.part_of.unwrap_or_default(),
    };
    roles::of(served).into_values().flatten().map(role).collect()
}

fn rule(rule: &Rule) -> PolicyRule {
    let resources: Vec<&str> = rule.resources.iter().map(String::as_str).collect();
    on(&rule.verbs, &[&rule.group], &resources)
}
