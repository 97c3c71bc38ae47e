//! The roles for the kinds that the program declares: `view`, `edit` and `admin` gather them.
use std::collections::BTreeMap;

use super::PolicyRule;
use crate::{
    auth::roles::{
        GROUP,
        defaults::{DefaultRole, on},
    },
    kind::endpoint::{Endpoint, Verb},
    registry::{Registry, ResourceEntry},
};

/// Groups whose kinds the default roles name.
const BUILTIN: [&str; 8] = [
    "",
    GROUP,
    "apiextensions.k8s.io",
    "apiregistration.k8s.io",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "coordination.k8s.io",
    "events.k8s.io",
];

/// A role that gives what reads the declared kinds, and one that gives what writes them. The status is written by controllers only.
pub(super) fn roles(registry: &Registry) -> [DefaultRole; 2] {
    let (all, _) = registry.all();
    let is_declared = |entry: &&std::sync::Arc<ResourceEntry>| {
        entry.definition_row.is_none() && !BUILTIN.contains(&&*entry.kind.group_version.group)
    };
    let (mut reading, mut writing) = (Rules::default(), Rules::default());
    for entry in all.iter().filter(is_declared) {
        for endpoint in &entry.endpoints {
            let (reads, writes) = verbs(endpoint);
            reading.add(entry, endpoint, reads);
            if &*endpoint.subresource != "status" {
                writing.add(entry, endpoint, writes);
            }
        }
    }
    let role = |name, gathered_by, rules: Rules| DefaultRole {
        name,
        rules: rules.into_rules(),
        gathered_by,
        ..DefaultRole::default()
    };
    [role("kindsmith:aggregate-to-edit", "edit", writing), role("kindsmith:aggregate-to-view", "view", reading)]
}

/// The verbs of an endpoint that read, and those that write.
fn verbs(endpoint: &Endpoint) -> (Vec<&'static str>, Vec<&'static str>) {
    let mut verbs: Vec<Verb> = endpoint.operations.iter().map(|operation| operation.verb).collect();
    verbs.sort_by_key(|verb| verb.as_str());
    verbs.dedup();
    let reads = |verb: &Verb| matches!(verb, Verb::Get | Verb::List | Verb::Watch);
    // A connection runs something, by whatever verb.
    let connects = endpoint.operations.iter().any(|operation| operation.connects);
    let (reading, writing): (Vec<Verb>, Vec<Verb>) = verbs.into_iter().partition(|verb| !connects && reads(verb));
    let names = |verbs: Vec<Verb>| verbs.into_iter().map(Verb::as_str).collect();
    (names(reading), names(writing))
}

/// Resources by their group and verbs.
#[derive(Default)]
struct Rules(BTreeMap<(String, Vec<&'static str>), Vec<String>>);

impl Rules {
    fn add(&mut self, entry: &ResourceEntry, endpoint: &Endpoint, verbs: Vec<&'static str>) {
        if verbs.is_empty() {
            return;
        }
        let plural = &entry.kind.names().plural;
        let resource = match &*endpoint.subresource {
            "" => plural.clone(),
            subresource => format!("{plural}/{subresource}"),
        };
        let resources = self.0.entry((entry.kind.group_version.group.clone(), verbs)).or_default();
        if !resources.contains(&resource) {
            resources.push(resource);
        }
    }

    fn into_rules(self) -> Vec<PolicyRule> {
        let rule = |((group, verbs), mut resources): ((String, Vec<&'static str>), Vec<String>)| {
            resources.sort();
            let resources: Vec<&str> = resources.iter().map(String::as_str).collect();
            on(&verbs, &[&group], &resources)
        };
        self.0.into_iter().map(rule).collect()
    }
}
