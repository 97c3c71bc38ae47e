//! Discovery: the served groups, versions and resources, as single documents or aggregated; the server's version; and
//! the list of paths. Rendered once per generation of the registry.

mod documents;
mod groups;
mod resources;

use std::collections::BTreeMap;

use axum_core::response::Response;
use bytes::Bytes;
use http::{HeaderValue, StatusCode, header::HOST, request::Parts, uri::Authority};
use serde::Serialize;
use serde_json::json;

use super::{
    Site, cached,
    exchange::Exchange,
    headers,
    negotiate::{self, Offer},
    render, response,
    status::StatusError,
};
use crate::{aggregation::Discovered, codec::Encoding, kind::policy::Compiled};
use documents::{DiscoveryList, GroupEntry, GroupList, ResourceList, ServerAddress, VersionAnswer, Versions};
use groups::Group;

/// The discovery documents of one generation of the registry.
pub(super) struct Documents {
    /// By path.
    plain: BTreeMap<String, Bytes>,
    /// Aggregated discovery, by path and version of its API.
    aggregated: BTreeMap<(&'static str, &'static str), cached::Document>,
    core_versions: Vec<String>,
    /// The paths of versions that servers behind serve.
    remote_paths: Vec<String>,
}

/// Versions of the aggregated discovery API, newest first.
const AGGREGATED: [&str; 2] = ["v2", "v2beta1"];

/// Answers a discovery path; `None` for other paths. Fails with 406.
pub(super) async fn serve(exchange: &Exchange, path: &str) -> Result<Option<Response>, StatusError> {
    let site = &*exchange.site;
    let (kinds, generation) = site.backend.api.registry.all();
    let discovered = site.backend.aggregation.as_ref().map(|aggregation| aggregation.discovered());
    // Both only grow.
    let generation = generation + discovered.as_ref().map_or(0, Discovered::generation);
    let groups = move || match &discovered {
        Some(discovered) => groups::merged(&kinds, discovered),
        None => groups::of(&kinds),
    };
    let documents = site.discovery.get(generation, move |_| Documents::new(&groups())).await;
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
        let (mut core_versions, mut remote_paths) = (Vec::new(), Vec::new());
        for group in groups {
            let root = if group.name.is_empty() { "/api".to_owned() } else { format!("/apis/{}", group.name) };
            for version in &group.versions {
                let path = format!("{root}/{}", version.name);
                match version.remote {
                    Some(_) => remote_paths.push(path),
                    None => drop(plain.insert(path, bytes(&ResourceList::of(group, version)))),
                }
            }
            if group.name.is_empty() {
                core_versions = group.versions.iter().map(|version| version.name.clone()).collect();
            } else {
                plain.insert(root, bytes(&GroupEntry::alone(group)));
                named.push(GroupEntry::of(group));
            }
        }
        let list = GroupList { kind: "APIGroupList", api_version: "v1", groups: named };
        plain.insert("/apis".to_owned(), bytes(&list));
        let mut aggregated = BTreeMap::new();
        for version in AGGREGATED {
            for (path, core) in [("/api", true), ("/apis", false)] {
                let groups = groups.iter().filter(|group| group.name.is_empty() == core);
                let list = DiscoveryList::of(groups, version);
                let line = [&*bytes(&list), b"\n"].concat();
                aggregated.insert((path, version), cached::Document::new(line));
            }
        }
        Self { plain, aggregated, core_versions, remote_paths }
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
        let address = server_address(&exchange.parts);
        bytes(&Versions {
            kind: "APIVersions",
            versions: &self.core_versions,
            server_addresses: [ServerAddress { client_cidr: "0.0.0.0/0", server_address: &address }],
        })
    }
}

/// The address by which the client has reached the server, with a port as kube-apiserver has it.
fn server_address(parts: &Parts) -> String {
    let host = headers::text(&parts.headers, HOST);
    let host = host.or_else(|| parts.uri.authority().map(Authority::as_str)).unwrap_or_default();
    let is_whole = host.is_empty() || host.parse::<Authority>().is_ok_and(|host| host.port().is_some());
    match (is_whole, parts.uri.scheme_str()) {
        (true, _) => host.to_owned(),
        (false, Some("http")) => format!("{host}:80"),
        (false, _) => format!("{host}:443"),
    }
}

fn version(site: &Site) -> Bytes {
    let version = &site.backend.version;
    bytes(&VersionAnswer {
        major: &version.major,
        minor: &version.minor,
        git_version: &version.git_version,
        git_commit: "",
        git_tree_state: "",
        build_date: "",
        go_version: "",
        compiler: "",
        platform: &version.platform,
    })
}

fn paths(documents: &Documents) -> Bytes {
    let fixed = ["/api", "/healthz", "/livez", "/metrics", "/openapi/v2", "/openapi/v3", "/readyz", "/version"];
    let mut paths: Vec<&str> =
        documents.plain.keys().chain(&documents.remote_paths).map(String::as_str).chain(fixed).collect();
    paths.sort_unstable();
    bytes(&json!({"paths": paths}))
}

fn bytes(document: &impl Serialize) -> Bytes {
    serde_json::to_vec(document).expect("discovery is plain data").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_of_the_server_has_a_port() {
        for (host, uri, want) in [
            (Some("127.0.0.1:6443"), "/api", "127.0.0.1:6443"),
            (Some("[::1]:6443"), "/api", "[::1]:6443"),
            (Some("example.com"), "/api", "example.com:443"),
            (Some("[::1]"), "/api", "[::1]:443"),
            (None, "https://127.0.0.1:6443/api", "127.0.0.1:6443"),
            (None, "https://example.com/api", "example.com:443"),
            (None, "http://example.com/api", "example.com:80"),
            (None, "/api", ""),
        ] {
            let request = host.into_iter().fold(http::Request::get(uri), |request, host| request.header(HOST, host));
            let (parts, ()) = request.body(()).unwrap().into_parts();
            assert_eq!(server_address(&parts), want, "{host:?} {uri}");
        }
    }
}
