//! What roles and bindings must be, with kube-apiserver's messages.
use serde_json::{Value, json};

use super::declared::AggregationRule;
use crate::{
    auth::roles::{GROUP, PolicyRule, RoleRef, Subject},
    meta::{FieldError, FieldErrorKind, FieldPath, go, selector::Labels, validate},
};

/// The errors of rules. Those of a namespace are about its resources only.
pub(super) fn rules(rules: &[PolicyRule], namespaced: bool) -> Vec<FieldError> {
    let path = FieldPath::new("rules");
    rules.iter().enumerate().flat_map(|(index, one)| rule(one, namespaced, &path.index(index))).collect()
}

fn rule(rule: &PolicyRule, namespaced: bool, path: &FieldPath) -> Vec<FieldError> {
    let required = |name: &str, why: &str| FieldError::new(&path.child(name), FieldErrorKind::Required, why);
    let mut errors = Vec::new();
    if rule.verbs.is_empty() {
        errors.push(required("verbs", "verbs must contain at least one value"));
    }
    let groups_and_resources = [&rule.api_groups, &rule.resources, &rule.resource_names];
    if !rule.non_resource_urls.is_empty() {
        let mut refuse = |why| errors.push(invalid(&path.child("nonResourceURLs"), json!(rule.non_resource_urls), why));
        if namespaced {
            refuse("namespaced rules cannot apply to non-resource URLs");
        }
        if groups_and_resources.iter().any(|some| !some.is_empty()) {
            refuse("rules cannot apply to both regular resources and non-resource URLs");
        }
        return errors;
    }
    if rule.api_groups.is_empty() {
        errors.push(required("apiGroups", "resource rules must supply at least one api group"));
    }
    if rule.resources.is_empty() {
        errors.push(required("resources", "resource rules must supply at least one resource"));
    }
    errors
}

/// The errors of an aggregation rule.
pub(super) fn aggregation(rule: &AggregationRule) -> Vec<FieldError> {
    let path = FieldPath::new("aggregationRule.clusterRoleSelectors");
    if rule.cluster_role_selectors.is_empty() {
        let why = "at least one clusterRoleSelector required if aggregationRule is non-nil";
        return vec![FieldError::new(&path, FieldErrorKind::Required, why)];
    }
    let mut errors = Vec::new();
    for (index, selector) in rule.cluster_role_selectors.iter().enumerate() {
        let path = path.index(index);
        errors.extend(validate::label_selector(selector, &path));
        if Labels::from_field(selector).is_err() {
            errors.push(invalid(&path, Value::Null, "invalid label selector."));
        }
    }
    errors
}

/// The errors of a binding, whose role is of one of these kinds, and does not change.
pub(super) fn binding(subjects: &[Subject], role: &RoleRef, old: Option<&RoleRef>, kinds: &[&str]) -> Vec<FieldError> {
    let path = FieldPath::new("roleRef");
    let mut errors = Vec::new();
    errors.extend(one_of(&path.child("apiGroup"), &role.api_group, &[GROUP]));
    errors.extend(one_of(&path.child("kind"), &role.kind, kinds));
    let name = path.child("name");
    if role.name.is_empty() {
        errors.push(FieldError::new(&name, FieldErrorKind::Required, ""));
    } else {
        let wrong = validate::path_segment(&role.name, false);
        errors.extend(wrong.iter().map(|why| invalid(&name, json!(role.name), why)));
    }
    let namespaced = kinds.contains(&"Role");
    let path_of_all = FieldPath::new("subjects");
    for (index, one) in subjects.iter().enumerate() {
        errors.extend(subject(one, namespaced, &path_of_all.index(index)));
    }
    if old.is_some_and(|old| old != role) {
        // The names of the fields in Go.
        let given = json!({"APIGroup": role.api_group, "Kind": role.kind, "Name": role.name});
        errors.push(invalid(&path, given, "cannot change roleRef"));
    }
    errors
}

fn subject(subject: &Subject, namespaced: bool, path: &FieldPath) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let name = path.child("name");
    if subject.name.is_empty() {
        errors.push(FieldError::new(&name, FieldErrorKind::Required, ""));
    }
    match &*subject.kind {
        "ServiceAccount" => {
            if !subject.name.is_empty() {
                let wrong = validate::subdomain(&subject.name, false);
                errors.extend(wrong.iter().map(|why| invalid(&name, json!(subject.name), why)));
            }
            errors.extend(one_of(&path.child("apiGroup"), &subject.api_group, &[""]));
            if !namespaced && subject.namespace.is_empty() {
                errors.push(FieldError::new(&path.child("namespace"), FieldErrorKind::Required, ""));
            }
        }
        "User" | "Group" => errors.extend(one_of(&path.child("apiGroup"), &subject.api_group, &[GROUP])),
        other => errors.extend(one_of(&path.child("kind"), other, &["ServiceAccount", "User", "Group"])),
    }
    errors
}

/// The error of a value that is not supported.
fn one_of(path: &FieldPath, given: &str, supported: &[&str]) -> Option<FieldError> {
    if supported.contains(&given) {
        return None;
    }
    let supported = supported.iter().copied().map(go::quoted).collect();
    Some(FieldError::new(path, FieldErrorKind::NotSupported { given: json!(given), supported }, ""))
}

fn invalid(path: &FieldPath, given: Value, why: &str) -> FieldError {
    FieldError::new(path, FieldErrorKind::Invalid(given), why)
}
