//! The conditions of a terminating namespace, with kube-apiserver's wording.
use serde_json::{Map, Value, json};

use super::content::RemainingContent;
use crate::{meta::Time, schema::Document};

/// A type of condition.
struct ConditionType {
    kind: &'static str,
    /// The reason and message if there is no problem.
    healthy: (&'static str, &'static str),
    /// The reason and message if there is a problem.
    problem: fn(&RemainingContent) -> Option<(&'static str, String)>,
}

const TYPES: [ConditionType; 5] = [
    ConditionType {
        kind: "NamespaceDeletionDiscoveryFailure",
        healthy: ("ResourcesDiscovered", "All resources successfully discovered"),
        // Discovery cannot fail, because all kinds are served by this server.
        problem: |_| None,
    },
    ConditionType {
        kind: "NamespaceDeletionGroupVersionParsingFailure",
        healthy: ("ParsedGroupVersions", "All legacy kube types successfully parsed"),
        problem: |_| None,
    },
    ConditionType {
        kind: "NamespaceDeletionContentFailure",
        healthy: ("ContentDeleted", "All content successfully deleted, may be waiting on finalization"),
        problem: |remaining| {
            let all: Vec<&str> = remaining.failures.iter().map(String::as_str).collect();
            let (count, all) = (all.len(), all.join(", "));
            let message = format!("Failed to delete all resource types, {count} remaining: {all}");
            (count > 0).then_some(("ContentDeletionFailed", message))
        },
    },
    ConditionType {
        kind: "NamespaceContentRemaining",
        healthy: ("ContentRemoved", "All content successfully removed"),
        problem: |remaining| {
            let each = remaining.resources.iter().map(|(name, count)| format!("{name} has {count} resource instances"));
            let each: Vec<String> = each.collect();
            let message = format!("Some resources are remaining: {}", each.join(", "));
            (!each.is_empty()).then_some(("SomeResourcesRemain", message))
        },
    },
    ConditionType {
        kind: "NamespaceFinalizersRemaining",
        healthy: ("ContentHasNoFinalizers", "All content-preserving finalizers finished"),
        problem: |remaining| {
            let each = remaining.finalizers.iter().map(|(name, count)| format!("{name} in {count} resource instances"));
            let each: Vec<String> = each.collect();
            let message = format!("Some content in the namespace has finalizers remaining: {}", each.join(", "));
            (!each.is_empty()).then_some(("SomeFinalizersRemain", message))
        },
    },
];

/// Sets the conditions. Returns true if they changed and must be written. A namespace that is empty at the first pass
/// gets none.
pub(super) fn update(namespace: &mut Document, remaining: &RemainingContent) -> bool {
    let old = namespace["status"]["conditions"].as_array().cloned().unwrap_or_default();
    if old.is_empty() && remaining.is_empty() {
        return false;
    }
    let mut new = old.clone();
    for known in &TYPES {
        let (status, reason, message) = match (known.problem)(remaining) {
            Some((reason, message)) => ("True", reason, message),
            None => ("False", known.healthy.0, known.healthy.1.to_owned()),
        };
        let at = new.iter().position(|condition| condition["type"] == known.kind);
        let before = at.map(|at| new[at].clone()).unwrap_or_default();
        let since = if before["status"] == status { before["lastTransitionTime"].clone() } else { Value::Null };
        let since = if since.is_null() { json!(Time::now()) } else { since };
        let condition = json!({
            "type": known.kind, "status": status, "lastTransitionTime": since, "reason": reason, "message": message,
        });
        match at {
            Some(at) => new[at] = condition,
            None => new.push(condition),
        }
    }
    if new == old {
        return false;
    }
    if !namespace["status"].is_object() {
        namespace["status"] = Value::Object(Map::new());
    }
    namespace["status"]["conditions"] = Value::Array(new);
    true
}
