//! Definitions of the OpenAPI documents: the shared types, and each kind with its list.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::{
    kind::{
        Kind,
        endpoint::{Answer, DocumentSchema, Endpoint},
    },
    meta::GroupVersion,
    schema::openapi::{self, Version},
};

/// Definitions by name.
pub(super) type Definitions = BTreeMap<String, Value>;

/// The prefix of the definitions that all kinds share.
pub(super) const META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1";
/// The definition of autoscaling/v1 Scale.
pub(super) const SCALE: &str = "io.k8s.api.autoscaling.v1.Scale";

const API_VERSION: &str = "The group and version of this document's schema. Servers convert what they know to the newest version and refuse what they do not know. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources";
const KIND: &str = "The kind of object that this document is, in CamelCase. It follows from the endpoint and cannot be changed. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds";
const METADATA: &str = "Standard object's metadata. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata";
const LIST_METADATA: &str = "Standard list metadata. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds";

/// The definitions that all kinds share.
pub(super) fn shared(version: Version) -> Definitions {
    let text = include_str!("definitions.json");
    let mut all: Definitions = serde_json::from_str(text).expect("the file of shared definitions is JSON");
    if version == Version::V3 {
        all.values_mut().for_each(to_v3);
    }
    all
}

/// Changes references to the location of definitions in OpenAPI 3. A reference with other members is wrapped, because
/// OpenAPI 3 ignores members beside a reference.
fn to_v3(value: &mut Value) {
    match value {
        Value::Object(members) => {
            let target = members.remove("$ref");
            members.values_mut().for_each(to_v3);
            if let Some(Value::String(at)) = target {
                let target = Version::V3.reference(at.trim_start_matches("#/definitions/"));
                if members.is_empty() {
                    *value = target;
                } else {
                    members.insert("allOf".to_owned(), json!([target]));
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(to_v3),
        _ => {}
    }
}

/// A reference with a description.
fn described(version: Version, name: &str, description: &str) -> Value {
    let mut value = json!({"$ref": format!("#/definitions/{name}"), "description": description});
    if version == Version::V3 {
        to_v3(&mut value);
    }
    value
}

/// The prefix of a kind's definitions, as kube-apiserver makes it: `com.example.library.v1` for `library.example.com/v1`,
/// `io.k8s.api.core.v1` for the kinds compiled into it.
fn prefix(at: &GroupVersion, package: Option<&str>) -> String {
    if let Some(group) = package {
        return format!("io.k8s.api.{group}.{}", at.version);
    }
    let reversed: Vec<&str> = at.group.split('.').rev().collect();
    format!("{}.{}", reversed.join("."), at.version)
}

/// The prefix of the definitions of a served kind.
fn prefix_of(kind: &Kind) -> String {
    prefix(&kind.group_version, kind.policy().package(&kind.group_version))
}

/// The name of a kind's definition.
pub(super) fn name(kind: &Kind) -> String {
    format!("{}.{}", prefix_of(kind), kind.names().kind)
}

/// The name of the definition of documents.
pub(super) fn document_name(of: &DocumentSchema) -> String {
    format!("{}.{}", prefix(&of.group_version, of.package.as_deref()), of.kind)
}

/// The name of the definition of a kind's list.
pub(super) fn list_name(kind: &Kind) -> String {
    format!("{}.{}", prefix_of(kind), kind.names().list_kind)
}

/// The `x-kubernetes-group-version-kind` of a kind.
fn group_version_kind(at: &GroupVersion, name: &str) -> Value {
    json!({"group": at.group, "kind": name, "version": at.version})
}

/// Adds the definitions of a kind, its list, its subresources' documents, and all definitions that these refer to.
pub(super) fn add_all(kind: &Kind, endpoints: &[Endpoint], version: Version, out: &mut Definitions) {
    add(&DocumentSchema::of(kind), version, out);
    let mut operations = endpoints.iter().flat_map(|endpoint| &endpoint.operations);
    if operations.any(|operation| matches!(operation.answer, Answer::List)) {
        out.insert(list_name(kind), list(kind, version));
    }
    for documents in endpoints.iter().flat_map(Endpoint::documents) {
        // A kind that has its own endpoints is added with them.
        if !out.contains_key(&document_name(documents)) {
            add(documents, version, out);
        }
    }
}

/// Adds a kind's definition and the definitions that it refers to.
fn add(of: &DocumentSchema, version: Version, out: &mut Definitions) {
    let prefix = prefix(&of.group_version, of.package.as_deref());
    let of_objects = Map::from_iter([
        ("apiVersion".to_owned(), json!({"type": "string", "description": API_VERSION})),
        ("kind".to_owned(), json!({"type": "string", "description": KIND})),
        ("metadata".to_owned(), described(version, &format!("{META}.ObjectMeta"), METADATA)),
    ]);
    let mut members = openapi::definitions(&prefix, &of.schema, version, &of_objects, out);
    members.insert("type".to_owned(), "object".into());
    members
        .insert("x-kubernetes-group-version-kind".to_owned(), json!([group_version_kind(&of.group_version, &of.kind)]));
    out.insert(document_name(of), Value::Object(members));
}

/// The definition of a kind's list.
fn list(kind: &Kind, version: Version) -> Value {
    json!({
        "description": format!("{} is a list of {}", kind.names().list_kind, kind.names().kind),
        "type": "object",
        "required": ["items"],
        "properties": {
            "apiVersion": {"type": "string", "description": API_VERSION},
            "kind": {"type": "string", "description": KIND},
            "metadata": described(version, &format!("{META}.ListMeta"), LIST_METADATA),
            "items": {
                "type": "array",
                "description": format!("The objects of kind {}.", kind.names().kind),
                "items": version.reference(&name(kind)),
            },
        },
        "x-kubernetes-group-version-kind": [group_version_kind(&kind.group_version, &kind.names().list_kind)],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn references(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Object(members) => {
                if let Some(Value::String(at)) = members.get("$ref") {
                    found.push(at.clone());
                }
                members.values().for_each(|member| references(member, found));
            }
            Value::Array(items) => items.iter().for_each(|item| references(item, found)),
            _ => {}
        }
    }

    #[test]
    fn shared_definitions_refer_to_each_other_only() {
        for (version, root) in [(Version::V2, "#/definitions/"), (Version::V3, "#/components/schemas/")] {
            let all = shared(version);
            let mut found = Vec::new();
            for definition in all.values() {
                references(definition, &mut found);
            }
            assert!(!found.is_empty());
            for at in found {
                let name = at.strip_prefix(root).unwrap_or_else(|| panic!("{at} is not below {root}"));
                assert!(all.contains_key(name), "{at} is missing");
            }
        }
    }

    #[test]
    fn a_reference_of_openapi_3_keeps_its_description() {
        let time = &shared(Version::V3)[&format!("{META}.ObjectMeta")]["properties"]["creationTimestamp"];
        assert_eq!(time["allOf"][0]["$ref"], format!("#/components/schemas/{META}.Time"));
        assert!(time["description"].is_string() && time.get("$ref").is_none());
    }
}
