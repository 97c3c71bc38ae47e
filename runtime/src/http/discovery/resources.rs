//! A kind in discovery: its resources and their verbs, for both discovery APIs.

use base64::Engine;
use ring::digest::{SHA256, digest};
use serde_json::{Value, json};

use crate::{
    kind::{
        Kind,
        endpoint::{Endpoint, Verb},
        model::{Names, Scope},
    },
    meta::GroupVersion,
};

/// The verbs of an endpoint, in kube-apiserver's order.
fn verbs(kind: &Kind, endpoint: &Endpoint) -> Vec<&'static str> {
    let all = if endpoint.subresource.is_empty() { kind.policy().verbs() } else { Verb::BY_NAME };
    all.into_iter().filter(|verb| endpoint.operation(*verb).is_some()).map(Verb::as_str).collect()
}

/// A kind's entries in the APIResourceList of its group and version, including the storage version.
pub(super) fn of(kind: &Kind, stored: &GroupVersion, endpoints: &[Endpoint]) -> Vec<Value> {
    endpoints.iter().map(|endpoint| resource(kind, stored, endpoint)).collect()
}

fn resource(kind: &Kind, stored: &GroupVersion, endpoint: &Endpoint) -> Value {
    let (names, at) = (kind.names(), &endpoint.group_version);
    let mut entry = json!({
        "name": names.plural,
        "singularName": "",
        "namespaced": kind.shared.scope == Scope::Namespaced,
        "kind": endpoint.kind,
        "verbs": verbs(kind, endpoint),
    });
    if *at != kind.group_version {
        entry["version"] = json!(at.version);
        if !at.group.is_empty() {
            entry["group"] = json!(at.group);
        }
    }
    if !endpoint.subresource.is_empty() {
        entry["name"] = format!("{}/{}", names.plural, endpoint.subresource).into();
        return entry;
    }
    entry["singularName"] = json!(names.singular);
    if kind.shared.stored {
        entry["storageVersionHash"] = storage_version_hash(kind, stored).into();
    }
    add_names(&mut entry, names);
    entry
}

/// Adds the short names and the categories of a resource, if it has any.
fn add_names(entry: &mut Value, names: &Names) {
    for (member, list) in [("shortNames", &names.short_names), ("categories", &names.categories)] {
        if !list.is_empty() {
            entry[member] = json!(list);
        }
    }
}

/// Identifies the storage version; clients only compare it.
fn storage_version_hash(kind: &Kind, stored: &GroupVersion) -> String {
    let hash = digest(&SHA256, format!("{}/{}/{}", stored.group, stored.version, kind.names().kind).as_bytes());
    base64::engine::general_purpose::STANDARD.encode(&hash.as_ref()[..8])
}

/// The group, version and kind that an endpoint answers with, in aggregated discovery.
fn response_kind(endpoint: &Endpoint) -> Value {
    let at = &endpoint.group_version;
    json!({"group": at.group, "version": at.version, "kind": endpoint.kind})
}

/// A kind's entry in aggregated discovery; `None` for a kind without endpoints.
pub(super) fn discovered(kind: &Kind, endpoints: &[Endpoint]) -> Option<Value> {
    let (whole, parts) = endpoints.split_first()?;
    let mut entry = json!({
        "resource": kind.names().plural,
        "responseKind": response_kind(whole),
        "scope": if kind.shared.scope == Scope::Namespaced { "Namespaced" } else { "Cluster" },
        "singularResource": kind.names().singular,
        "verbs": verbs(kind, whole),
    });
    add_names(&mut entry, kind.names());
    if !parts.is_empty() {
        let part = |endpoint: &Endpoint| {
            let (subresource, verbs) = (&*endpoint.subresource, verbs(kind, endpoint));
            json!({"subresource": subresource, "responseKind": response_kind(endpoint), "verbs": verbs})
        };
        entry["subresources"] = parts.iter().map(part).collect();
    }
    Some(entry)
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
