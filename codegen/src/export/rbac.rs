//! Roles for the kinds of a group, as the server has them for the kinds that it declares.

use kindsmith::kind::Definition;
use kindsmith_formats::roles::{self, AGGREGATE_TO, Role};
use kindsmith_model::codec::yaml;
use serde_json::{Value, json};

use super::{ExportFile, group_name};

/// The roles of each group, as a file each.
pub fn files<'d>(definitions: impl IntoIterator<Item = &'d Definition>) -> Vec<ExportFile> {
    let served = definitions.into_iter().flat_map(|definition| {
        let versions = definition.versions.iter().filter(|version| version.served);
        versions.map(|version| (&*definition.shared, &**version))
    });
    let files = roles::of(served).into_iter().map(|(group, roles)| {
        let mut text = Vec::new();
        for role in roles {
            text.extend_from_slice(b"---\n");
            yaml::encode(&manifest(&role), &mut text);
        }
        ExportFile::new(format!("{}.yaml", group_name(group)), String::from_utf8_lossy(&text))
    });
    files.collect()
}

fn manifest(role: &Role) -> Value {
    let mut metadata = json!({"name": role.name});
    if let Some(whole) = role.part_of {
        metadata["labels"] = json!({format!("{AGGREGATE_TO}{whole}"): "true"});
    }
    let rules = role.rules.iter();
    let rules: Vec<Value> = rules
        .map(|rule| json!({"apiGroups": [rule.group], "resources": rule.resources, "verbs": rule.verbs}))
        .collect();
    json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": metadata, "rules": rules})
}
