//! What discovery says of a kind: its resources and the verbs on them, in the forms of both discovery APIs.

use base64::Engine;
use ring::digest::{SHA256, digest};
use serde::Serialize;

use crate::{
    http::methods::{has_delete_collection, has_finalize},
    kind::{
        Kind,
        model::{Scope, Style},
    },
};

/// Verbs in the order in which the reference lists them for custom resources.
const CUSTOM: [&str; 8] = ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"];
/// Verbs in the order in which the reference lists them for its own kinds.
const BUILTIN: [&str; 8] = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];
const SUBRESOURCE: [&str; 3] = ["get", "patch", "update"];

/// One resource of an APIResourceList.
#[derive(Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Resource {
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

/// A subresource: its name, the group and version of its documents (`None` for the kind's own), their kind, its verbs.
struct Sub<'k> {
    name: &'static str,
    foreign: Option<(&'k str, &'k str)>,
    kind: &'k str,
    verbs: Vec<&'static str>,
}

fn subresources(kind: &Kind) -> Vec<Sub<'_>> {
    let mut found = Vec::new();
    let own = |name, verbs: &[&'static str]| Sub { name, foreign: None, kind: &kind.kind, verbs: verbs.to_vec() };
    if has_finalize(kind) {
        found.push(own("finalize", &["update"]));
    }
    if kind.status {
        found.push(own("status", &SUBRESOURCE));
    }
    if kind.scale.is_some() {
        found.push(Sub { foreign: Some(("autoscaling", "v1")), kind: "Scale", ..own("scale", &SUBRESOURCE) });
    }
    found.extend(kind.subresources.iter().map(|sub| {
        let at = &sub.group_version;
        let foreign = (*at != kind.group_version).then_some((at.group.as_str(), at.version.as_str()));
        Sub { name: sub.name, foreign, kind: &sub.kind, verbs: sub.verbs() }
    }));
    found
}

/// The verbs on a kind's objects.
pub fn verbs(kind: &Kind) -> Vec<&'static str> {
    if !kind.stored {
        return vec!["create"];
    }
    let all = match kind.style {
        Style::Custom => CUSTOM,
        Style::Builtin => BUILTIN,
    };
    all.into_iter().filter(|verb| *verb != "deletecollection" || has_delete_collection(kind)).collect()
}

/// A kind's entries in the APIResourceList of its group and version.
pub fn of(kind: &Kind) -> Vec<Resource> {
    let namespaced = kind.scope == Scope::Namespaced;
    let whole = Resource {
        name: kind.plural.clone(),
        singular_name: kind.singular.clone(),
        namespaced,
        group: String::new(),
        version: String::new(),
        kind: kind.kind.clone(),
        verbs: verbs(kind),
        short_names: kind.short_names.clone(),
        categories: kind.categories.clone(),
        storage_version_hash: if kind.stored { storage_version_hash(kind) } else { String::new() },
    };
    let parts = subresources(kind).into_iter().map(|sub| {
        let (group, version) = sub.foreign.unwrap_or_default();
        Resource {
            name: format!("{}/{}", kind.plural, sub.name),
            singular_name: String::new(),
            namespaced,
            group: group.to_owned(),
            version: version.to_owned(),
            kind: sub.kind.to_owned(),
            verbs: sub.verbs,
            short_names: Vec::new(),
            categories: Vec::new(),
            storage_version_hash: String::new(),
        }
    });
    std::iter::once(whole).chain(parts).collect()
}

/// Stands for the version in which objects are stored; clients compare it and read nothing out of it.
fn storage_version_hash(kind: &Kind) -> String {
    let at = &kind.group_version;
    let hash = digest(&SHA256, format!("{}/{}/{}", at.group, at.version, kind.kind).as_bytes());
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
pub struct Discovered {
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
    subresource: &'static str,
    response_kind: ResponseKind,
    verbs: Vec<&'static str>,
}

/// A kind's entry in aggregated discovery.
pub fn discovered(kind: &Kind) -> Discovered {
    let at = &kind.group_version;
    let of = |(group, version): (&str, &str), kind: &str| ResponseKind {
        group: group.to_owned(),
        version: version.to_owned(),
        kind: kind.to_owned(),
    };
    let own = (at.group.as_str(), at.version.as_str());
    let subresources = subresources(kind)
        .into_iter()
        .map(|sub| DiscoveredSub {
            subresource: sub.name,
            response_kind: of(sub.foreign.unwrap_or(own), sub.kind),
            verbs: sub.verbs,
        })
        .collect();
    Discovered {
        resource: kind.plural.clone(),
        response_kind: of(own, &kind.kind),
        scope: if kind.scope == Scope::Namespaced { "Namespaced" } else { "Cluster" },
        singular_resource: kind.singular.clone(),
        verbs: verbs(kind),
        short_names: kind.short_names.clone(),
        categories: kind.categories.clone(),
        subresources,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::http::sample;

    fn listed(kind: &Kind) -> Value {
        serde_json::to_value(of(kind)).expect("plain data")
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
        assert_eq!(listed(&sample::widget()), want);
    }

    #[test]
    fn namespaces_cannot_be_deleted_all_at_once() {
        let all = listed(&sample::namespace());
        assert_eq!(all[0]["verbs"], json!(["create", "delete", "get", "list", "patch", "update", "watch"]));
        assert_eq!(all[1]["name"], "namespaces/finalize");
        assert_eq!(all[1]["verbs"], json!(["update"]));
    }

    #[test]
    fn aggregated() {
        let one = serde_json::to_value(discovered(&sample::widget())).expect("plain data");
        assert_eq!(one["scope"], "Namespaced");
        assert_eq!(one["responseKind"], json!({"group": "conformance.example.com", "version": "v1", "kind": "Widget"}));
        assert_eq!(one["subresources"][1]["responseKind"]["kind"], "Scale");
    }
}
