//! The OpenAPI documents: one of version 3 for each group and version, and one of version 2 for everything, as JSON and in
//! the Protobuf form that kubectl asks for; and the Protobuf definitions of the kinds. Rendered at first use, once a
//! generation of the registry.

mod definitions;
mod operations;
mod parameters;
mod proto;
mod protobuf;
mod render;

use std::{collections::BTreeMap, sync::Arc, sync::OnceLock};

use axum::{
    http::{
        HeaderValue, StatusCode,
        header::{EXPIRES, LOCATION},
    },
    response::Response,
};
use serde_json::{Map, Value, json};

use super::{
    Site,
    cached::{self, Document},
    dispatch::Exchange,
    negotiate, response,
    status::Refused,
};
use crate::registry::Registered;

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

/// The OpenAPI documents of one generation of the registry.
pub(super) struct Documents {
    kinds: Arc<Vec<Arc<Registered>>>,
    server_version: String,
    /// By `api/v1` or `apis/<group>/<version>`.
    v3: BTreeMap<String, Document>,
    index: Document,
    v2: OnceLock<(Document, Document)>,
    proto: OnceLock<proto::Files>,
}

impl Documents {
    fn new(kinds: Arc<Vec<Arc<Registered>>>, server_version: &str) -> Self {
        let mut groups: BTreeMap<String, Vec<&Registered>> = BTreeMap::new();
        for served in kinds.iter() {
            let at = &served.kind.group_version;
            let place = match at.group.as_str() {
                "" => format!("api/{}", at.version),
                group => format!("apis/{group}/{}", at.version),
            };
            groups.entry(place).or_default().push(served);
        }
        let v3: BTreeMap<String, Document> = groups
            .into_iter()
            .map(|(place, kinds)| {
                let document = render::v3(&kinds, server_version);
                (place, Document::new(document.to_string()))
            })
            .collect();
        let index: Map<String, Value> = v3
            .iter()
            .map(|(place, document)| (place.clone(), json!({"serverRelativeURL": url(place, &document.hash)})))
            .collect();
        let index = Document::new(json!({"paths": index}).to_string());
        Self {
            kinds,
            server_version: server_version.to_owned(),
            v3,
            index,
            v2: OnceLock::new(),
            proto: OnceLock::new(),
        }
    }

    /// Version 2, as JSON and as Protobuf.
    fn v2(&self) -> &(Document, Document) {
        self.v2.get_or_init(|| {
            let document = render::v2(&self.kinds, &self.server_version);
            (Document::new(document.to_string()), Document::new(protobuf::document(&document)))
        })
    }

    /// The Protobuf definitions.
    fn proto(&self) -> &proto::Files {
        self.proto.get_or_init(|| proto::Files::of(self.kinds.iter().map(|served| &*served.kind)))
    }
}

fn url(place: &str, hash: &str) -> String {
    format!("/openapi/v3/{place}?hash={hash}")
}

/// Answers a path below `/openapi/`; `None` for one that is no document.
///
/// # Errors
/// 400 for a query that repeats the hash.
pub(super) async fn serve(site: &Site, exchange: &Exchange, path: &str) -> Result<Option<Response>, Refused> {
    let hash = exchange.asked.query.single("hash")?.filter(|hash| !hash.is_empty());
    Ok(answer(site, exchange, path, hash).await)
}

async fn answer(site: &Site, exchange: &Exchange, path: &str, hash: Option<&str>) -> Option<Response> {
    let (kinds, generation) = site.backend.api.registry.all();
    let server_version = site.backend.version.git_version.clone();
    let made = site.openapi.get(generation, move || Documents::new(kinds, &server_version)).await;
    let documents = &made.1;
    match path.strip_prefix("/openapi/")? {
        "v2" => {
            if documents.v2.get().is_none() {
                let made = made.clone();
                cached::apart(move || _ = made.1.v2()).await;
            }
            Some(serve_v2(documents, exchange))
        }
        "v3" => Some(documents.index.respond(&exchange.parts.headers, json_type(), REVALIDATE)),
        "proto" => Some(documents.proto().index.respond(&exchange.parts.headers, json_type(), REVALIDATE)),
        place => {
            if let Some(file) = place.strip_prefix("proto/") {
                let text = HeaderValue::from_static("text/plain; charset=utf-8");
                return Some(documents.proto().files.get(file)?.respond(&exchange.parts.headers, text, REVALIDATE));
            }
            let place = place.strip_prefix("v3/")?;
            Some(serve_v3(documents.v3.get(place)?, exchange, place, hash))
        }
    }
}

fn json_type() -> HeaderValue {
    HeaderValue::from_static(JSON)
}

fn serve_v2(documents: &Documents, exchange: &Exchange) -> Response {
    let offers = [JSON, PROTOBUF_ASKED[0], PROTOBUF_ASKED[1]];
    let headers = &exchange.parts.headers;
    match negotiate::first(exchange.accept(), &offers) {
        Some(JSON) => documents.v2().0.respond(headers, json_type(), REVALIDATE),
        Some(_) => documents.v2().1.respond(headers, PROTOBUF, REVALIDATE),
        None => response::text(StatusCode::NOT_ACCEPTABLE, ""),
    }
}

fn serve_v3(document: &Document, exchange: &Exchange, place: &str, hash: Option<&str>) -> Response {
    if negotiate::first(exchange.accept(), &[JSON]).is_none() {
        return response::text(StatusCode::NOT_ACCEPTABLE, "");
    }
    match hash {
        None => document.respond(&exchange.parts.headers, json_type(), REVALIDATE),
        Some(hash) if hash == document.hash => {
            let mut answer = document.respond(&exchange.parts.headers, json_type(), FOREVER);
            answer.headers_mut().insert(EXPIRES, in_a_year());
            answer
        }
        Some(_) => {
            let mut answer = response::text(StatusCode::MOVED_PERMANENTLY, "");
            let target = HeaderValue::from_str(&url(place, &document.hash)).expect("group and version are names");
            answer.headers_mut().insert(LOCATION, target);
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
