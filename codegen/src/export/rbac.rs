//! Roles for the kinds of a group: view, edit and admin, which Kubernetes' roles of these names take in by their aggregation labels.
//!
//! - `view` reads objects and subresources, but opens no connections, and reads no Secrets.
//! - `edit` also creates, changes and deletes objects, and uses subresources. It does not write the status, which is the controller's.
//! - `admin` may do everything.
//!
//! Kinds of the cluster get roles of their own without the labels. Kubernetes' roles are bound in namespaces, and must not grant more.

use std::collections::{BTreeMap, BTreeSet};

use kindsmith::kind::{Definition, Verb, model::Scope};
use kindsmith_model::codec::yaml;
use serde_json::{Value, json};

use super::{ExportFile, endpoints, group_name};

/// The label by which a role becomes part of Kubernetes' role.
const AGGREGATE: &str = "rbac.authorization.k8s.io/aggregate-to-";

/// What may be done.
#[derive(Clone, Copy, PartialEq)]
enum Level {
    View,
    Edit,
    Admin,
}

impl Level {
    const ALL: [(Self, &'static str); 3] = [(Self::View, "view"), (Self::Edit, "edit"), (Self::Admin, "admin")];

    /// True if a verb on an endpoint is allowed.
    fn allows(self, definition: &Definition, endpoint: &endpoints::Endpoint, verb: Verb) -> bool {
        let reads = matches!(verb, Verb::Get | Verb::List | Verb::Watch);
        let is_secret = definition.shared.group.is_empty() && definition.shared.names.plural == "secrets";
        let writes_status = !reads && matches!(endpoint.subresource.as_str(), "status" | "finalize");
        match self {
            Self::View => reads && !endpoint.connects && !is_secret,
            Self::Edit => !writes_status,
            Self::Admin => true,
        }
    }
}

/// The roles of each group, as a file each.
pub fn files<'d>(definitions: impl IntoIterator<Item = &'d Definition>) -> Vec<ExportFile> {
    let mut groups: BTreeMap<&str, Vec<&Definition>> = BTreeMap::new();
    for definition in definitions {
        groups.entry(&definition.shared.group).or_default().push(definition);
    }
    let files = groups.into_iter().map(|(group, definitions)| {
        let mut text = Vec::new();
        for role in roles(group, &definitions) {
            text.extend_from_slice(b"---\n");
            yaml::encode(&role, &mut text);
        }
        ExportFile::new(format!("{}.yaml", group_name(group)), String::from_utf8_lossy(&text))
    });
    files.collect()
}

/// The roles of a group: those for namespaced kinds, then those for kinds of the cluster.
fn roles(group: &str, definitions: &[&Definition]) -> Vec<Value> {
    let mut roles = Vec::new();
    for (scope, infix) in [(Scope::Namespaced, ""), (Scope::Cluster, "cluster-")] {
        let of_scope: Vec<_> = definitions.iter().copied().filter(|of| of.shared.scope == scope).collect();
        for (level, name) in Level::ALL {
            let rules = rules(group, &of_scope, level);
            if rules.is_empty() {
                continue;
            }
            let mut metadata = json!({"name": format!("{}-{infix}{name}", group_name(group))});
            if scope == Scope::Namespaced {
                metadata["labels"] = json!({format!("{AGGREGATE}{name}"): "true"});
            }
            roles.push(json!({
                "apiVersion": "rbac.authorization.k8s.io/v1",
                "kind": "ClusterRole",
                "metadata": metadata,
                "rules": rules,
            }));
        }
    }
    roles
}

/// The rules of a role. Resources with the same verbs share one.
fn rules(group: &str, definitions: &[&Definition], level: Level) -> Vec<Value> {
    let mut allowed: Vec<(String, BTreeSet<&str>)> = Vec::new();
    for definition in definitions {
        for version in definition.versions.iter().filter(|version| version.served) {
            for endpoint in endpoints::of(&definition.shared, version) {
                let plural = &definition.shared.names.plural;
                let resource = match endpoint.subresource.as_str() {
                    "" => plural.clone(),
                    subresource => format!("{plural}/{subresource}"),
                };
                let verbs = endpoint.verbs.iter().filter(|verb| level.allows(definition, &endpoint, **verb));
                let verbs: BTreeSet<&str> = verbs.map(|verb| verb.as_str()).collect();
                match allowed.iter_mut().find(|(known, _)| *known == resource) {
                    Some((_, known)) => known.extend(verbs),
                    None => allowed.push((resource, verbs)),
                }
            }
        }
    }
    let mut rules: Vec<(BTreeSet<&str>, Vec<String>)> = Vec::new();
    for (resource, verbs) in allowed.into_iter().filter(|(_, verbs)| !verbs.is_empty()) {
        match rules.iter_mut().find(|(known, _)| *known == verbs) {
            Some((_, resources)) => resources.push(resource),
            None => rules.push((verbs, vec![resource])),
        }
    }
    let rule = |(verbs, resources)| json!({"apiGroups": [group], "resources": resources, "verbs": verbs});
    rules.into_iter().map(rule).collect()
}
