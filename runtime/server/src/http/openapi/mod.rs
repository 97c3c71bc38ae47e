//! The OpenAPI documents: one of version 3 for each group and version, and one of version 2 for everything, as JSON and in
//! the Protobuf form that kubectl asks for; and the Protobuf definitions of the kinds. With many kinds the documents take more
//! memory than all else, and clients that know their hashes do not ask for them again. So those of version 3 are rendered on
//! request, in about a millisecond; those of version 2, of which those of servers behind are a part, are kept for a minute; and the hashes of
//! documents of this server alone are kept. Whatever is rendered is rendered once for all requests that wait for it or read it, and
//! not on their threads.

mod behind;
mod definitions;
mod operations;
mod parameters;
mod proto;
mod protobuf;
mod render;

use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
    time::Duration,
};

use axum_core::response::Response;
use http::{
    HeaderValue, StatusCode,
    header::{EXPIRES, LOCATION},
};
use serde_json::{Map, Value, json};

use super::{
    cached::{self, Document, LastDocument, OnRequest},
    exchange::Exchange,
    negotiate, response,
    status::StatusError,
};
use crate::{
    aggregation::{Discovered, RemoteDocument},
    registry::ResourceEntry,
    schema::openapi::Version,
    tasks,
};
use render::Parts;

const JSON: &str = "application/json";
/// How kubectl asks for version 2 in Protobuf: an older and a newer name of the same.
const PROTOBUF_ASKED: [&str; 2] = [
    "application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
    "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
];
const PROTOBUF: HeaderValue = HeaderValue::from_static("application/com.github.proto-openapi.spec.v2.v1.0+protobuf");
/// A document asked for by its hash never changes.
const FOREVER: &str = "public, immutable";
const REVALIDATE: &str = "no-cache, private";

/// How long a rendered document of version 2 is kept.
const CACHED_FOR: Duration = Duration::from_mins(1);

/// The OpenAPI documents of one generation of the registry.
pub(super) struct Documents {
    kinds: Arc<Vec<Arc<ResourceEntry>>>,
    server_version: String,
    /// By `api/v1` or `apis/<group>/<version>`.
    v3: BTreeMap<String, Arc<Group>>,
    /// The paths of documents of servers behind, by group and version.
    remote: BTreeMap<String, String>,
    index: OnRequest<Document>,
    v2: CachedDocument,
    v2_protobuf: CachedDocument,
    proto: OnRequest<Arc<proto::Files>>,
}

/// The kinds of a group and version, and the hash of their document if it has been rendered.
#[derive(Default)]
struct Group {
    kinds: Vec<Arc<ResourceEntry>>,
    hash: OnceLock<String>,
    document: OnRequest<Document>,
    last: LastDocument,
}

/// A document that is rendered when it is requested, and kept for a while.
#[derive(Default)]
struct CachedDocument {
    hash: OnceLock<String>,
    document: OnRequest<Document>,
    last: LastDocument,
}

impl Group {
    fn render(&self, server_version: &str) -> Document {
        let document = self.last.get_or(|| {
            let kinds = self.kinds.iter().map(|served| &**served);
            Document::new(Parts::of(kinds, Version::V3).v3(server_version))
        });
        self.hash.get_or_init(|| document.hash().to_owned());
        document
    }

    /// True if the document of these is the same.
    fn has_same(&self, other: &Self) -> bool {
        self.kinds.len() == other.kinds.len()
            && self.kinds.iter().zip(&other.kinds).all(|(one, other)| one.number == other.number)
    }
}

impl Documents {
    /// The documents of these kinds. The hashes of documents that are the same as before are kept.
    fn new(
        kinds: Arc<Vec<Arc<ResourceEntry>>>,
        remote: BTreeMap<String, String>,
        server_version: String,
        before: Option<&Self>,
    ) -> Self {
        let mut groups: BTreeMap<String, Group> = BTreeMap::new();
        for served in kinds.iter() {
            let at = &served.kind.group_version;
            let group_path = match at.group.as_str() {
                "" => format!("api/{}", at.version),
                group => format!("apis/{group}/{}", at.version),
            };
            groups.entry(group_path).or_default().kinds.push(served.clone());
        }
        let unchanged = |group_path: &String, group: &Group| {
            before?.v3.get(group_path).filter(|group_before| group_before.has_same(group)).cloned()
        };
        let v3 = groups.into_iter().map(|(group_path, group)| {
            let group = unchanged(&group_path, &group).unwrap_or_else(|| Arc::new(group));
            (group_path, group)
        });
        Self {
            v3: v3.collect(),
            kinds,
            server_version,
            remote,
            index: OnRequest::default(),
            v2: CachedDocument::default(),
            v2_protobuf: CachedDocument::default(),
            proto: OnRequest::default(),
        }
    }

    /// The places of the documents of version 3 with their hashes. The first one renders all of them.
    fn index(&self) -> Document {
        let url = |(group_path, group): (&String, &Arc<Group>)| {
            let hash =
                group.hash.get().cloned().unwrap_or_else(|| group.render(&self.server_version).hash().to_owned());
            (group_path.clone(), json!({"serverRelativeURL": url(group_path, &hash)}))
        };
        let remote =
            self.remote.iter().map(|(group_path, url)| (group_path.clone(), json!({"serverRelativeURL": url})));
        let paths: Map<String, Value> = self.v3.iter().map(url).chain(remote).collect();
        Document::new(json!({"paths": paths}).to_string())
    }

    /// Version 2 as JSON or as Protobuf.
    fn v2(&self, protobuf: bool) -> &CachedDocument {
        if protobuf { &self.v2_protobuf } else { &self.v2 }
    }

    fn render_v2(&self, protobuf: bool, behind: &[RemoteDocument]) -> Vec<u8> {
        let mut parts = Parts::of(self.kinds.iter().map(|served| &**served), Version::V2);
        behind::add_all(&mut parts, behind);
        if protobuf { protobuf::document(parts, &self.server_version) } else { parts.v2(&self.server_version) }
    }
}

fn url(group_path: &str, hash: &str) -> String {
    format!("/openapi/v3/{group_path}?hash={hash}")
}

/// Answers a path below `/openapi/`; `None` for one that is no document. Fails with 400 for a query that repeats the
/// hash.
pub(super) async fn serve(exchange: &Exchange, path: &str) -> Result<Option<Response>, StatusError> {
    let hash = exchange.info.query.single("hash")?.filter(|hash| !hash.is_empty());
    Ok(answer(exchange, path, hash).await)
}

async fn answer(exchange: &Exchange, path: &str, hash: Option<&str>) -> Option<Response> {
    let site = &exchange.site;
    let (kinds, generation) = site.backend.api.registry.all();
    let server_version = site.backend.version.git_version.clone();
    let discovered = site.backend.aggregation.as_ref().map(|aggregation| aggregation.discovered());
    // Both only grow.
    let generation = generation + discovered.as_ref().map_or(0, Discovered::generation);
    let make = move |before: Option<&Documents>| {
        let remote = discovered.map(|discovered| discovered.openapi()).unwrap_or_default();
        Documents::new(kinds, remote, server_version, before)
    };
    let made = site.openapi.get(generation, make).await;
    let headers = &exchange.parts.headers;
    match path.strip_prefix("/openapi/")? {
        "v2" => Some(serve_v2(&made, exchange).await),
        "v3" => {
            let documents = made.clone();
            let (index, _) = made.1.index.get(move || documents.1.index()).await;
            Some(index.respond(headers, json_type(), REVALIDATE))
        }
        "proto" => Some(proto(&made).await.index.respond(headers, json_type(), REVALIDATE)),
        group_path => {
            if let Some(file) = group_path.strip_prefix("proto/") {
                let text = HeaderValue::from_static("text/plain; charset=utf-8");
                return Some(proto(&made).await.files.get(file)?.respond(headers, text, REVALIDATE));
            }
            let group_path = group_path.strip_prefix("v3/")?;
            let group = made.1.v3.get(group_path)?.clone();
            Some(serve_v3(made, group, exchange, group_path, hash).await)
        }
    }
}

/// The Protobuf definitions.
async fn proto(made: &Arc<(u64, Documents)>) -> Arc<proto::Files> {
    let documents = made.clone();
    let make = move || Arc::new(proto::Files::of(documents.1.kinds.iter().map(|served| &*served.kind)));
    made.1.proto.get(make).await.0
}

fn json_type() -> HeaderValue {
    HeaderValue::from_static(JSON)
}

async fn serve_v2(made: &Arc<(u64, Documents)>, exchange: &Exchange) -> Response {
    let offers = [JSON, PROTOBUF_ASKED[0], PROTOBUF_ASKED[1]];
    let headers = &exchange.parts.headers;
    let (protobuf, content_type) = match negotiate::first(exchange.accept(), &offers) {
        Some(JSON) => (false, json_type()),
        Some(_) => (true, PROTOBUF),
        None => return response::text(StatusCode::NOT_ACCEPTABLE, ""),
    };
    let discovered = exchange.site.backend.aggregation.as_ref().map(|aggregation| aggregation.discovered());
    // What a server behind says may be another time than this one, without a change that is known here.
    let is_alone = discovered.as_ref().is_none_or(|discovered| discovered.table().remotes().next().is_none());
    if let Some(hash) = made.1.v2(protobuf).hash.get().filter(|_| is_alone)
        && let Some(answer) = cached::not_modified(headers, hash, REVALIDATE)
    {
        return answer;
    }
    let documents = made.clone();
    let render = async move {
        let behind = match discovered {
            Some(discovered) => discovered.openapi_v2().await,
            None => Vec::new(),
        };
        let render = move || {
            let render = || Document::new(documents.1.render_v2(protobuf, &behind));
            documents.1.v2(protobuf).last.get_or(render)
        };
        tasks::blocking_or_panic(render).await
    };
    let entry = made.1.v2(protobuf);
    let (document, fresh) = entry.document.get_by(render).await;
    entry.hash.get_or_init(|| document.hash().to_owned());
    if fresh {
        let documents = Arc::downgrade(made);
        tasks::spawn(async move {
            tokio::time::sleep(CACHED_FOR).await;
            if let Some(documents) = documents.upgrade() {
                documents.1.v2(protobuf).document.forget();
            }
        });
    }
    document.respond(headers, content_type, REVALIDATE)
}

async fn serve_v3(
    made: Arc<(u64, Documents)>,
    group: Arc<Group>,
    exchange: &Exchange,
    group_path: &str,
    hash: Option<&str>,
) -> Response {
    if negotiate::first(exchange.accept(), &[JSON]).is_none() {
        return response::text(StatusCode::NOT_ACCEPTABLE, "");
    }
    let headers = &exchange.parts.headers;
    let known = group.hash.get().filter(|known| hash.is_none_or(|hash| hash == *known));
    let cache = if hash.is_some() { FOREVER } else { REVALIDATE };
    if let Some(known) = known
        && let Some(answer) = cached::not_modified(headers, known, cache)
    {
        return answer;
    }
    let rendered = group.clone();
    let (document, fresh) = group.document.get(move || rendered.render(&made.1.server_version)).await;
    if fresh {
        group.document.forget();
    }
    match hash {
        Some(hash) if hash != document.hash() => {
            let mut answer = response::text(StatusCode::MOVED_PERMANENTLY, "");
            let target = HeaderValue::from_str(&url(group_path, document.hash())).expect("group and version are names");
            answer.headers_mut().insert(LOCATION, target);
            answer
        }
        hash => {
            let mut answer = document.respond(headers, json_type(), cache);
            if hash.is_some() {
                answer.headers_mut().insert(EXPIRES, in_a_year());
            }
            answer
        }
    }
}

/// A year from now as HTTP writes dates.
fn in_a_year() -> HeaderValue {
    let at = jiff::Timestamp::now().saturating_add(jiff::SignedDuration::from_hours(365 * 24)).unwrap_or_default();
    let text = at.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
    HeaderValue::from_str(&text).expect("a date is a header value")
}

#[cfg(test)]
mod tests;
