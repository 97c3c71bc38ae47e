//! Discovery: the served groups, versions and resources, as single documents or aggregated; the server's version; and
//! the list of paths. Rendered once per generation of the registry.

mod groups;
mod resources;

use std::{collections::BTreeMap, sync::Arc};

use axum_core::response::Response;
use bytes::Bytes;
use http::{HeaderValue, StatusCode, header::HOST};
use serde_json::{Value, json};

use super::{
    Site, cached,
    dispatch::Exchange,
    negotiate::{self, Offer},
    render, response,
    status::Refused,
};
use crate::{codec::Encoding, kind::policy::Compiled, registry::Registered};
use groups::{Group, Version};

/// The discovery documents of one generation of the registry.
pub(super) struct Documents {
    /// By path.
    plain: BTreeMap<String, Bytes>,
    /// Aggregated discovery, by path and version of its API.
    aggregated: BTreeMap<(&'static str, &'static str), cached::Document>,
    core_versions: Vec<String>,
}

/// Versions of the aggregated discovery API, newest first.
const AGGREGATED: [&str; 2] = ["v2", "v2beta1"];

/// Answers a discovery path; `None` for other paths. Fails with 406.
pub(super) async fn serve(site: &Site, exchange: &Exchange, path: &str) -> Result<Option<Response>, Refused> {
    let (kinds, generation) = site.backend.api.registry.all();
    let documents = site.discovery.get(generation, move |_| Documents::new(&groups::of(&kinds))).await;
    let documents = &documents.1;
    if let Some(answer) = documents.aggregated(exchange, path) {
        return Ok(Some(answer));
    }
    let body = match path {
        "/version" => version(site),
        "/api" => documents.versions(exchange),
        "/" => paths(documents),
        _ => match documents.plain.get(path) {
            Some(document) => document.clone(),
            None => return Ok(None),
        },
    };
    if path == "/" || path == "/version" {
        return Ok(Some(response::json_for(StatusCode::OK, body, true)));
    }
    let offer = Offer { protobuf: true, stream: false, shapeless: true };
    let form = exchange.negotiate(offer, &Compiled)?;
    Ok(Some(match form.encoding {
        Encoding::Json => response::json_for(StatusCode::OK, body, form.pretty),
        _ => response::document(StatusCode::OK, &render::read(&body), form),
    }))
}

impl Documents {
    fn new(groups: &[Group]) -> Self {
        let mut plain = BTreeMap::new();
        let mut named = Vec::new();
        let mut core_versions = Vec::new();
        for group in groups {
            let root = if group.name.is_empty() { "/api".to_owned() } else { format!("/apis/{}", group.name) };
            for version in &group.versions {
                let entries = |served: &Arc<Registered>| {
                    resources::of(&served.kind, &served.records.stored().group_version, &served.endpoints)
                };
                let list = json!({
                    "kind": "APIResourceList",
                    "apiVersion": "v1",
                    "groupVersion": group_version(&group.name, &version.name),
                    "resources": version.kinds.iter().flat_map(entries).collect::<Vec<_>>(),
                });
                plain.insert(format!("{root}/{}", version.name), bytes(&list));
            }
            if group.name.is_empty() {
                core_versions = group.versions.iter().map(|version| version.name.clone()).collect();
            } else {
                let mut alone = group_entry(group);
                named.push(alone.clone());
                (alone["kind"], alone["apiVersion"]) = ("APIGroup".into(), "v1".into());
                plain.insert(root, bytes(&alone));
            }
        }
        let list = json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": named});
        plain.insert("/apis".to_owned(), bytes(&list));
        let mut aggregated = BTreeMap::new();
        for version in AGGREGATED {
            for (path, core) in [("/api", true), ("/apis", false)] {
                let list = aggregate(groups.iter().filter(|group| group.name.is_empty() == core), version);
                aggregated.insert((path, version), cached::Document::new(bytes(&list)));
            }
        }
        Self { plain, aggregated, core_versions }
    }

    /// Answers with aggregated discovery if the client prefers it.
    fn aggregated(&self, exchange: &Exchange, path: &str) -> Option<Response> {
        for clause in negotiate::clauses(exchange.accept()?) {
            if !clause.covers("application/json") {
                continue;
            }
            let version = match (clause.param("g"), clause.param("v"), clause.param("as")) {
                (Some("apidiscovery.k8s.io"), Some(version), Some("APIGroupDiscoveryList")) => version,
                (None, None, None) => return None,
                _ => continue,
            };
            let version = AGGREGATED.into_iter().find(|known| *known == version);
            let found = version.and_then(|version| Some((version, self.aggregated.get(&(path, version))?)));
            if let Some((version, document)) = found {
                let media_type = format!("application/json;g=apidiscovery.k8s.io;v={version};as=APIGroupDiscoveryList");
                let media_type = HeaderValue::from_str(&media_type).expect("a media type is a header value");
                return Some(document.respond(&exchange.parts.headers, media_type, "public"));
            }
        }
        None
    }

    fn versions(&self, exchange: &Exchange) -> Bytes {
        let host = exchange.header(&HOST).or_else(|| exchange.parts.uri.host()).unwrap_or_default();
        let document = json!({
            "kind": "APIVersions",
            "versions": self.core_versions,
            "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": host}],
        });
        bytes(&document)
    }
}

fn version(site: &Site) -> Bytes {
    let version = &site.backend.version;
    bytes(&json!({
        "major": version.major,
        "minor": version.minor,
        "gitVersion": version.git_version,
        "gitCommit": "",
        "gitTreeState": "",
        "buildDate": "",
        "goVersion": "",
        "compiler": "",
        "platform": version.platform,
    }))
}

fn paths(documents: &Documents) -> Bytes {
    let fixed = ["/api", "/healthz", "/livez", "/metrics", "/openapi/v2", "/openapi/v3", "/readyz", "/version"];
    let mut paths: Vec<&str> = documents.plain.keys().map(String::as_str).chain(fixed).collect();
    paths.sort_unstable();
    bytes(&json!({"paths": paths}))
}

fn bytes(document: &Value) -> Bytes {
    document.to_string().into()
}

fn group_version(group: &str, version: &str) -> String {
    if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") }
}

/// A group in discovery.
fn group_entry(group: &Group) -> Value {
    let version =
        |version: &Version| json!({"groupVersion": group_version(&group.name, &version.name), "version": version.name});
    let versions: Vec<Value> = group.versions.iter().map(version).collect();
    json!({"name": group.name, "preferredVersion": versions.first(), "versions": versions})
}

fn aggregate<'g>(groups: impl Iterator<Item = &'g Group>, api_version: &str) -> Value {
    let items: Vec<Value> = groups
        .map(|group| {
            let versions: Vec<Value> = group
                .versions
                .iter()
                .map(|version| {
                    let kinds = version.kinds.iter();
                    let kinds: Vec<Value> =
                        kinds.filter_map(|served| resources::discovered(&served.kind, &served.endpoints)).collect();
                    json!({"version": version.name, "resources": kinds, "freshness": "Current"})
                })
                .collect();
            let metadata = if group.name.is_empty() { json!({}) } else { json!({"name": group.name}) };
            json!({"metadata": metadata, "versions": versions})
        })
        .collect();
    json!({
        "kind": "APIGroupDiscoveryList",
        "apiVersion": format!("apidiscovery.k8s.io/{api_version}"),
        "metadata": {},
        "items": items,
    })
}
