//! Definitions of the OpenAPI documents: the shared types, and each kind with its list.

use std::{
    collections::BTreeMap,
    sync::{Arc, LazyLock},
};

use serde_json::{Value, json};

use crate::{
    kind::{
        Kind,
        endpoint::{Answer, DocumentSchema, Endpoint},
    },
    meta::GroupVersion,
    schema::openapi::{
        Definitions, Version, define,
        json::{Json, Members},
    },
};

/// The prefix of the definitions that all kinds share.
pub(super) const META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1";
/// The definition of autoscaling/v1 Scale.
pub(super) const SCALE: &str = "io.k8s.api.autoscaling.v1.Scale";

const API_VERSION: &str = "Group and version of this document's schema. The server converts documents of the versions that it serves, and refuses those of others. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources";
const KIND: &str = "Kind of this document, in CamelCase, such as `ConfigMap`. It cannot be changed. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds";
const METADATA: &str = "Metadata of the object. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata";
const LIST_METADATA: &str = "Metadata of the list. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds";

/// The definitions that all kinds share.
pub(super) fn shared(version: Version) -> Definitions {
    static ALL: LazyLock<[Definitions; 2]> = LazyLock::new(|| [Version::V2, Version::V3].map(read_shared));
    ALL[usize::from(version == Version::V3)].clone()
}

fn read_shared(version: Version) -> Definitions {
    let text = include_str!("definitions.json");
    let mut all: BTreeMap<String, Value> = serde_json::from_str(text).expect("the file of shared definitions is JSON");
    if version == Version::V3 {
        all.values_mut().for_each(to_v3);
    }
    all.into_iter().map(|(name, definition)| (name, definition.to_string().into_bytes().into())).collect()
}

/// Changes references to the location of definitions in OpenAPI 3. A reference with other members is wrapped, because
/// OpenAPI 3 ignores members beside a reference.
fn to_v3(value: &mut Value) {
    match value {
        Value::Object(members) => {
            let target = members.remove("$ref");
            members.values_mut().for_each(to_v3);
            if let Some(Value::String(at)) = target {
                let target = json!({"$ref": Version::V3.location(at.trim_start_matches("#/definitions/"))});
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
fn described(version: Version, name: &str, description: &str, out: &mut Json) {
    out.object(|out| {
        out.put("description", description);
        match version {
            Version::V2 => out.put("$ref", &version.location(name)),
            Version::V3 => out.with("allOf", |out| out.list([name], |out, name| version.reference(name, out))),
        }
    });
}

/// The properties that say the type of a document, as JSON.
fn type_meta() -> [(&'static str, Arc<[u8]>); 2] {
    [("apiVersion", API_VERSION), ("kind", KIND)].map(|(name, description)| {
        (name, json!({"type": "string", "description": description}).to_string().into_bytes().into())
    })
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
    add(&DocumentSchema::of(kind), &selectable(kind), version, out);
    let mut operations = endpoints.iter().flat_map(|endpoint| &endpoint.operations);
    if operations.any(|operation| matches!(operation.answer, Answer::List)) {
        out.insert(list_name(kind), list(kind, version).into());
    }
    for documents in endpoints.iter().flat_map(Endpoint::documents) {
        // A kind that has its own endpoints is added with them.
        if !out.contains_key(&document_name(documents)) {
            add(documents, &[], version, out);
        }
    }
}

/// The selectable fields of a kind, as kube-apiserver publishes those of custom resources.
fn selectable(kind: &Kind) -> Vec<Value> {
    if kind.policy().package(&kind.group_version).is_some() {
        return Vec::new();
    }
    kind.version.selectable.iter().map(|path| json!({"fieldPath": path.to_string()})).collect()
}

fn put_selectable(fields: &[Value], out: &mut Members<'_>) {
    if !fields.is_empty() {
        out.put("x-kubernetes-selectable-fields", fields);
    }
}

/// Adds a kind's definition and the definitions that it refers to.
fn add(of: &DocumentSchema, selectable: &[Value], version: Version, out: &mut Definitions) {
    let prefix = prefix(&of.group_version, of.package.as_deref());
    let members = of_objects(version);
    let also = |out: &mut Members<'_>| {
        out.put("x-kubernetes-group-version-kind", &[group_version_kind(&of.group_version, &of.kind)]);
        put_selectable(selectable, out);
    };
    define((&prefix, &document_name(of)), &of.schema, (version, of.package.is_none()), &members, also, out);
}

/// The properties of all objects.
fn of_objects(version: Version) -> Vec<(&'static str, Arc<[u8]>)> {
    let mut metadata = Json::default();
    described(version, &format!("{META}.ObjectMeta"), METADATA, &mut metadata);
    type_meta().into_iter().chain([("metadata", metadata.finish().into())]).collect()
}

/// The definition of a kind's list.
fn list(kind: &Kind, version: Version) -> Vec<u8> {
    let names = kind.names();
    let mut json = Json::default();
    json.object(|out| {
        out.put("description", &format!("{} is a list of {}", names.list_kind, names.kind));
        out.put("type", "object");
        out.put("required", &["items"]);
        out.with("properties", |out| {
            out.object(|out| {
                for (name, property) in type_meta() {
                    out.with(name, |out| out.text(&property));
                }
                out.with("metadata", |out| described(version, &format!("{META}.ListMeta"), LIST_METADATA, out));
                out.with("items", |out| {
                    out.object(|out| {
                        out.put("type", "array");
                        out.put("description", &format!("The objects of kind {}.", names.kind));
                        out.with("items", |out| version.reference(&name(kind), out));
                    });
                });
            });
        });
        out.put("x-kubernetes-group-version-kind", &[group_version_kind(&kind.group_version, &names.list_kind)]);
        put_selectable(&selectable(kind), out);
    });
    json.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(version: Version) -> BTreeMap<String, Value> {
        shared(version).into_iter().map(|(name, text)| (name, serde_json::from_slice(&text).unwrap())).collect()
    }

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
            let all = read(version);
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
    fn each_shared_type_and_field_has_a_description() {
        for (name, definition) in read(Version::V3) {
            assert!(definition["description"].is_string(), "{name}");
            for (field, property) in definition["properties"].as_object().into_iter().flatten() {
                assert!(property["description"].is_string(), "{name}.{field}");
            }
        }
    }

    #[test]
    fn metadata_is_described_like_the_type_that_kinds_declare() {
        let (all, metadata) = (read(Version::V3), &*crate::schema::METADATA);
        let items = |name: &str| metadata.properties[name].items.as_deref().expect("a list");
        for declared in [metadata, items("ownerReferences"), items("managedFields")] {
            let published = &all[&format!("{META}.{}", declared.name.as_deref().expect("a name"))];
            assert_eq!(published["description"], *declared.description);
            for (field, property) in &declared.properties {
                assert_eq!(published["properties"][field]["description"], *property.description, "{field}");
            }
        }
    }

    #[test]
    fn a_reference_of_openapi_3_keeps_its_description() {
        let time = &read(Version::V3)[&format!("{META}.ObjectMeta")]["properties"]["creationTimestamp"];
        assert_eq!(time["allOf"][0]["$ref"], format!("#/components/schemas/{META}.Time"));
        assert!(time["description"].is_string() && time.get("$ref").is_none());
    }
}
