//! Compares what rules grant: users may give away only what they have.
use std::collections::BTreeSet;

use super::rule::{PolicyRule, has, has_or_all, resource_covers, url_covers};

/// What `granted` allows and `held` does not, in kube-apiserver's form for messages, sorted; empty if nothing.
pub(crate) fn missing(held: &[PolicyRule], granted: &[PolicyRule]) -> Vec<String> {
    let missing = uncovered(held, granted);
    let shown: BTreeSet<String> = compact(missing).iter().map(ToString::to_string).collect();
    shown.into_iter().collect()
}

/// The parts of `granted` that no rule of `held` covers. Each has one verb.
pub(crate) fn uncovered(held: &[PolicyRule], granted: &[PolicyRule]) -> Vec<PolicyRule> {
    let parts = granted.iter().flat_map(parts);
    parts.filter(|part| !held.iter().any(|rule| part.is_covered_by(rule))).map(Part::into_rule).collect()
}

/// One verb on one resource, object or URL.
#[derive(Clone, Copy)]
struct Part<'a> {
    verb: &'a str,
    on: On<'a>,
}

#[derive(Clone, Copy)]
enum On<'a> {
    Resource { group: &'a str, resource: &'a str, name: Option<&'a str> },
    Url(&'a str),
}

impl Part<'_> {
    fn is_covered_by(&self, rule: &PolicyRule) -> bool {
        if !has_or_all(&rule.verbs, self.verb) {
            return false;
        }
        match self.on {
            On::Url(url) => rule.non_resource_urls.iter().any(|owned| url_covers(owned, url)),
            On::Resource { group, resource, name } => {
                let (of, sub) = resource.split_once('/').unwrap_or((resource, ""));
                has_or_all(&rule.api_groups, group)
                    && rule.resources.iter().any(|owned| resource_covers(owned, of, sub))
                    && (rule.resource_names.is_empty() || name.is_some_and(|name| has(&rule.resource_names, name)))
            }
        }
    }

    fn into_rule(self) -> PolicyRule {
        let one = |text: &str| vec![text.to_owned()];
        let verbs = one(self.verb);
        match self.on {
            On::Url(url) => PolicyRule { verbs, non_resource_urls: one(url), ..PolicyRule::default() },
            On::Resource { group, resource, name } => PolicyRule {
                verbs,
                api_groups: one(group),
                resources: one(resource),
                resource_names: name.map(one).unwrap_or_default(),
                ..PolicyRule::default()
            },
        }
    }
}

/// The parts of a rule: groups, resources, verbs, names, and then URLs, each in its order.
fn parts(rule: &PolicyRule) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    for group in &rule.api_groups {
        for resource in &rule.resources {
            for verb in &rule.verbs {
                let mut add = |name| parts.push(Part { verb, on: On::Resource { group, resource, name } });
                if rule.resource_names.is_empty() {
                    add(None);
                }
                rule.resource_names.iter().for_each(|name| add(Some(name)));
            }
        }
    }
    for url in &rule.non_resource_urls {
        parts.extend(rule.verbs.iter().map(|verb| Part { verb, on: On::Url(url) }));
    }
    parts
}

/// Joins the verbs on one resource or object. URLs stay apart, as in kube-apiserver.
fn compact(parts: Vec<PolicyRule>) -> Vec<PolicyRule> {
    let mut rules: Vec<PolicyRule> = Vec::new();
    for part in parts {
        let is_same = |rule: &&mut PolicyRule| {
            part.non_resource_urls.is_empty()
                && rule.non_resource_urls.is_empty()
                && (&rule.api_groups, &rule.resources, &rule.resource_names)
                    == (&part.api_groups, &part.resources, &part.resource_names)
        };
        match rules.iter_mut().find(is_same) {
            Some(rule) => rule.verbs.extend(part.verbs),
            None => rules.push(part),
        }
    }
    rules
}
