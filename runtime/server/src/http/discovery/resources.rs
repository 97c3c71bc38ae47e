//! A kind in discovery: its resources and their verbs, for both discovery APIs. Members are in kube-apiserver's order, because
//! people and some clients read discovery as text.

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

/// A resource in the list of a group and version.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Resource<'k> {
    name: String,
    singular_name: &'k str,
    namespaced: bool,
    /// The group and version of the documents, if they are others than those of the list.
    #[serde(skip_serializing_if = "str::is_empty")]
    group: &'k str,
    #[serde(skip_serializing_if = "str::is_empty")]
    version: &'k str,
    kind: &'k str,
    verbs: Vec<&'static str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    short_names: &'k [String],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    categories: &'k [String],
    #[serde(skip_serializing_if = "String::is_empty")]
    storage_version_hash: String,
}

/// A resource with its subresources in aggregated discovery.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DiscoveredResource<'k> {
    resource: &'k str,
    response_kind: ResponseKind<'k>,
    scope: &'static str,
    singular_resource: &'k str,
    verbs: Vec<&'static str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    short_names: &'k [String],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    categories: &'k [String],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    subresources: Vec<DiscoveredSubresource<'k>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct DiscoveredSubresource<'k> {
    subresource: &'k str,
    response_kind: ResponseKind<'k>,
    verbs: Vec<&'static str>,
}

/// The group, version and kind that an endpoint answers with.
#[derive(Serialize)]
struct ResponseKind<'k> {
    group: &'k str,
    version: &'k str,
    kind: &'k str,
}

/// The verbs of an endpoint, in kube-apiserver's order. Objects of a resource that is being removed are not written.
fn verbs(kind: &Kind, endpoint: &Endpoint, is_ending: bool) -> Vec<&'static str> {
    let is_whole = endpoint.subresource.is_empty();
    let all = if is_whole { kind.policy().verbs() } else { Verb::BY_NAME };
    let writes = |verb: &Verb| matches!(verb, Verb::Create | Verb::Patch | Verb::Update);
    let is_listed = |verb: &Verb| endpoint.operation(*verb).is_some() && !(is_whole && is_ending && writes(verb));
    all.into_iter().filter(is_listed).map(Verb::as_str).collect()
}

/// A kind's entries in the APIResourceList of its group and version, including the storage version.
pub(super) fn of<'k>(
    kind: &'k Kind,
    stored: &GroupVersion,
    endpoints: &'k [Endpoint],
    is_ending: bool,
) -> Vec<Resource<'k>> {
    endpoints.iter().map(|endpoint| resource(kind, stored, endpoint, is_ending)).collect()
}

fn resource<'k>(kind: &'k Kind, stored: &GroupVersion, endpoint: &'k Endpoint, is_ending: bool) -> Resource<'k> {
    let (names, at, is_whole) = (kind.names(), &endpoint.group_version, endpoint.subresource.is_empty());
    let (group, version) = if *at == kind.group_version { ("", "") } else { (&*at.group, &*at.version) };
    let is_stored = is_whole && kind.shared.stored;
    Resource {
        name: if is_whole { names.plural.clone() } else { format!("{}/{}", names.plural, endpoint.subresource) },
        singular_name: if is_whole { &names.singular } else { "" },
        namespaced: kind.shared.scope == Scope::Namespaced,
        group,
        version,
        kind: &endpoint.kind,
        verbs: verbs(kind, endpoint, is_ending),
        short_names: if is_whole { &names.short_names } else { &[] },
        categories: if is_whole { &names.categories } else { &[] },
        storage_version_hash: if is_stored { storage_version_hash(kind, stored) } else { String::new() },
    }
}

/// Identifies the storage version; clients only compare it.
fn storage_version_hash(kind: &Kind, stored: &GroupVersion) -> String {
    let hash = digest(&SHA256, format!("{}/{}/{}", stored.group, stored.version, kind.names().kind).as_bytes());
    base64::engine::general_purpose::STANDARD.encode(&hash.as_ref()[..8])
}

fn response_kind(endpoint: &Endpoint) -> ResponseKind<'_> {
    let GroupVersion { group, version } = &endpoint.group_version;
    ResponseKind { group, version, kind: &endpoint.kind }
}

/// A kind's entry in aggregated discovery; `None` for a kind without endpoints.
pub(super) fn discovered<'k>(
    kind: &'k Kind,
    endpoints: &'k [Endpoint],
    is_ending: bool,
) -> Option<DiscoveredResource<'k>> {
    let (whole, parts) = endpoints.split_first()?;
    let names = kind.names();
    let part = |endpoint: &'k Endpoint| DiscoveredSubresource {
        subresource: &endpoint.subresource,
        response_kind: response_kind(endpoint),
        verbs: verbs(kind, endpoint, is_ending),
    };
    Some(DiscoveredResource {
        resource: &names.plural,
        response_kind: response_kind(whole),
        scope: if kind.shared.scope == Scope::Namespaced { "Namespaced" } else { "Cluster" },
        singular_resource: &names.singular,
        verbs: verbs(kind, whole, is_ending),
        short_names: &names.short_names,
        categories: &names.categories,
        subresources: parts.iter().map(part).collect(),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{Resource, builtin::Namespace, kind::endpoint, widget::Widget};

    fn listed(kind: &Kind) -> Value {
        serde_json::to_value(of(kind, &kind.group_version, &endpoint::of(kind), false)).expect("plain data")
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
        let one = serde_json::to_value(discovered(&widget, &endpoint::of(&widget), false)).expect("plain data");
        assert_eq!(one["scope"], "Namespaced");
        assert_eq!(one["responseKind"], json!({"group": "conformance.example.com", "version": "v1", "kind": "Widget"}));
        assert_eq!(one["subresources"][1]["responseKind"]["kind"], "Scale");
    }

    #[test]
    fn members_are_in_the_order_of_kube_apiserver() {
        let (widget, endpoints) = (Widget::kind(), endpoint::of(&Widget::kind()));
        let whole = of(&widget, &widget.group_version, &endpoints, false);
        let text = serde_json::to_string(&whole[0]).expect("plain data");
        let verbs = r#"["delete","deletecollection","get","list","patch","create","update","watch"]"#;
        assert_eq!(
            text,
            format!(
                r#"{{"name":"widgets","singularName":"widget","namespaced":true,"kind":"Widget","verbs":{verbs},"shortNames":["wd"],"categories":["all"],"storageVersionHash":"ymGBWOX53mo="}}"#
            )
        );
        let scale = serde_json::to_string(&whole[2]).expect("plain data");
        assert!(scale.contains(r#""namespaced":true,"group":"autoscaling","version":"v1","kind":"Scale","verbs":"#));
        let one = serde_json::to_string(&discovered(&widget, &endpoints, false)).expect("plain data");
        let start = r#"{"resource":"widgets","responseKind":{"group":"conformance.example.com","version":"v1","kind":"Widget"},"scope":"Namespaced","singularResource":"widget","verbs":["#;
        assert!(one.starts_with(start), "{one}");
    }

    #[test]
    fn a_resource_that_is_being_removed_is_not_written_and_its_subresources_are() {
        let (widget, endpoints) = (Widget::kind(), endpoint::of(&Widget::kind()));
        let kept = ["delete", "deletecollection", "get", "list", "watch"];
        let listed = of(&widget, &widget.group_version, &endpoints, true);
        assert_eq!(listed[0].verbs, kept);
        assert_eq!(listed[1].verbs, ["get", "patch", "update"]);
        let found = discovered(&widget, &endpoints, true).expect("it has endpoints");
        assert_eq!(found.verbs, kept);
    }
}
