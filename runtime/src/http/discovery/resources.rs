//! A kind in discovery: its resources and their verbs, for both discovery APIs.

use base64::Engine;
use ring::digest::{SHA256, digest};
use serde::Serialize;

use crate::{
    kind::{
        Kind,
        endpoint::{Endpoint, Verb},
        model::Scope,
    },
    meta::GroupVersion,
};

/// One resource of an APIResourceList.
#[derive(Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Resource {
    name: String,
    singular_name: String,
    namespaced: bool,
    #[serde(skip_serializing_if = "String::is_empty")]
    group: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    version: String,
    kind: String,
    verbs: Vec<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    short_names: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    categories: Vec<String>,
    #[serde(skip_serializing_if = "String::is_empty")]
    storage_version_hash: String,
}

/// The verbs of an endpoint, in kube-apiserver's order.
fn verbs(kind: &Kind, endpoint: &Endpoint) -> Vec<&'static str> {
    let all = if endpoint.subresource.is_empty() { kind.policy().verbs() } else { Verb::BY_NAME };
    all.into_iter().filter(|verb| endpoint.operation(*verb).is_some()).map(Verb::as_str).collect()
}

/// A kind's entries in the APIResourceList of its group and version, including the storage version.
pub(super) fn of(kind: &Kind, stored: &GroupVersion, endpoints: &[Endpoint]) -> Vec<Resource> {
    endpoints.iter().map(|endpoint| resource(kind, stored, endpoint)).collect()
}

fn resource(kind: &Kind, stored: &GroupVersion, endpoint: &Endpoint) -> Resource {
    let at = &endpoint.group_version;
    let (group, version) = if *at == kind.group_version { ("", "") } else { (&*at.group, &*at.version) };
    let resource = Resource {
        name: kind.names().plural.clone(),
        singular_name: String::new(),
        namespaced: kind.shared.scope == Scope::Namespaced,
        group: group.to_owned(),
        version: version.to_owned(),
        kind: endpoint.kind.clone(),
        verbs: verbs(kind, endpoint),
        short_names: Vec::new(),
        categories: Vec::new(),
        storage_version_hash: String::new(),
    };
    if !endpoint.subresource.is_empty() {
        return Resource { name: format!("{}/{}", kind.names().plural, endpoint.subresource), ..resource };
    }
    Resource {
        singular_name: kind.names().singular.clone(),
        short_names: kind.names().short_names.clone(),
        categories: kind.names().categories.clone(),
        storage_version_hash: if kind.shared.stored { storage_version_hash(kind, stored) } else { String::new() },
        ..resource
    }
}

/// Identifies the storage version; clients only compare it.
fn storage_version_hash(kind: &Kind, stored: &GroupVersion) -> String {
    let hash = digest(&SHA256, format!("{}/{}/{}", stored.group, stored.version, kind.names().kind).as_bytes());
    base64::engine::general_purpose::STANDARD.encode(&hash.as_ref()[..8])
}

/// A group, version and kind of aggregated discovery.
#[derive(Debug, Serialize)]
struct ResponseKind {
    group: String,
    version: String,
    kind: String,
}

/// One resource of aggregated discovery.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Discovered {
    resource: String,
    response_kind: ResponseKind,
    scope: &'static str,
    singular_resource: String,
    verbs: Vec<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    short_names: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    categories: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    subresources: Vec<DiscoveredSub>,
}

/// A subresource of aggregated discovery.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct DiscoveredSub {
    subresource: String,
    response_kind: ResponseKind,
    verbs: Vec<&'static str>,
}

impl ResponseKind {
    fn of(endpoint: &Endpoint) -> Self {
        let at = &endpoint.group_version;
        Self { group: at.group.clone(), version: at.version.clone(), kind: endpoint.kind.clone() }
    }
}

/// A kind's entry in aggregated discovery; `None` for a kind without endpoints.
pub(super) fn discovered(kind: &Kind, endpoints: &[Endpoint]) -> Option<Discovered> {
    let (whole, parts) = endpoints.split_first()?;
    let subresources = parts
        .iter()
        .map(|endpoint| DiscoveredSub {
            subresource: endpoint.subresource.to_string(),
            response_kind: ResponseKind::of(endpoint),
            verbs: verbs(kind, endpoint),
        })
        .collect();
    Some(Discovered {
        resource: kind.names().plural.clone(),
        response_kind: ResponseKind::of(whole),
        scope: if kind.shared.scope == Scope::Namespaced { "Namespaced" } else { "Cluster" },
        singular_resource: kind.names().singular.clone(),
        verbs: verbs(kind, whole),
        short_names: kind.names().short_names.clone(),
        categories: kind.names().categories.clone(),
        subresources,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{Resource, builtin::Namespace, kind::endpoint, widget::Widget};

    fn listed(kind: &Kind) -> Value {
        serde_json::to_value(of(kind, &kind.group_version, &endpoint::of(kind))).expect("plain data")
    }

    #[test]
    fn a_declared_kind_as_recorded() {
        let subresource = json!(["get", "patch", "update"]);
        let want = json!([
            {"name": "widgets", "singularName": "widget", "namespaced": true, "kind": "Widget",
             "verbs": ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"],
             "shortNames": ["wd"], "categories": ["all"], "storageVersionHash": "ymGBWOX53mo="},
            {"name": "widgets/status", "singularName": "", "namespaced": true, "kind": "Widget", "verbs": subresource},
            {"name": "widgets/scale", "singularName": "", "namespaced": true, "group": "autoscaling", "version": "v1",
             "kind": "Scale", "verbs": subresource},
        ]);
        assert_eq!(listed(&Widget::kind()), want);
    }

    #[test]
    fn namespaces_cannot_be_deleted_all_at_once() {
        let all = listed(&Namespace::kind());
        assert_eq!(all[0]["verbs"], json!(["create", "delete", "get", "list", "patch", "update", "watch"]));
        assert_eq!(all[1]["name"], "namespaces/finalize");
        assert_eq!(all[1]["verbs"], json!(["update"]));
    }

    #[test]
    fn aggregated() {
        let widget = Widget::kind();
        let one = serde_json::to_value(discovered(&widget, &endpoint::of(&widget))).expect("plain data");
        assert_eq!(one["scope"], "Namespaced");
        assert_eq!(one["responseKind"], json!({"group": "conformance.example.com", "version": "v1", "kind": "Widget"}));
        assert_eq!(one["subresources"][1]["responseKind"]["kind"], "Scale");
    }
}
