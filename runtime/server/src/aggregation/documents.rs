//! What servers behind serve: their discovery documents, and where their OpenAPI documents are. Read when a service changes, and
//! every minute. What was read last stays when a server does not answer, and is marked as stale.
use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Weak},
    time::Duration,
};

use hyper::header::CONTENT_TYPE;
use serde_json::{Value, json};
use tokio::{
    task::JoinSet,
    time::{Instant, sleep, sleep_until},
};

use super::{Aggregation, Entry, RemoteServer, Table};
use crate::{cache::Subscription, tasks};

/// How often documents are read again.
const PERIOD: Duration = Duration::from_mins(1);
/// The delay after a failure.
const DELAY: Duration = Duration::from_secs(5);
/// The maximum size of a document.
const MOST_BYTES: usize = 8 << 20;
/// The maximum number of servers that are asked at a time.
const AT_ONCE: usize = 16;
/// Both forms of discovery, the aggregated one first.
const DISCOVERY: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,\
                         application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";
const JSON: &str = "application/json";

/// What was read of a service.
struct Documents {
    /// The service as it was then. Any change of its object makes this old.
    entry: Arc<Entry>,
    at: Instant,
    is_fresh: bool,
    resources: Value,
    /// The path of its OpenAPI document of version 3.
    openapi: Option<String>,
}

/// What was read of all services, by the names of their objects.
#[derive(Default)]
pub(super) struct Fetched {
    /// Grows with each change.
    generation: u64,
    services: HashMap<String, Arc<Documents>>,
}

/// A version that a server behind serves, for discovery.
#[derive(Clone, Debug)]
pub(crate) struct RemoteVersion {
    /// The resources in the form of aggregated discovery.
    pub resources: Value,
    /// False if the server is unavailable, or did not say what it serves now.
    pub is_fresh: bool,
}

/// The OpenAPI document of version 2 of a server behind.
pub(crate) struct RemoteDocument {
    /// The paths of the versions that are served through this server: `/apis/<group>/<version>`.
    pub roots: Vec<String>,
    pub document: Value,
}

/// What discovery shows of services.
pub(crate) struct Discovered {
    table: Arc<Table>,
    fetched: Arc<Fetched>,
}

impl Discovered {
    /// Grows with each change.
    pub(crate) fn generation(&self) -> u64 {
        self.table.generation + self.fetched.generation
    }

    /// The services.
    pub(crate) fn table(&self) -> &Table {
        &self.table
    }

    /// What the server of a service serves.
    pub(crate) fn version(&self, entry: &Entry) -> RemoteVersion {
        let known = self.fetched.services.get(&entry.name);
        RemoteVersion {
            resources: known.map_or_else(|| json!([]), |known| known.resources.clone()),
            is_fresh: entry.is_available && known.is_some_and(|known| known.is_fresh),
        }
    }

    /// The paths of the OpenAPI documents of available servers, by `apis/<group>/<version>`.
    pub(crate) fn openapi(&self) -> BTreeMap<String, String> {
        let known = self.table.remotes().filter(|(entry, _)| entry.is_available).filter_map(|(entry, _)| {
            let url = self.fetched.services.get(&entry.name)?.openapi.clone()?;
            Some((entry.path()[1..].to_owned(), url))
        });
        known.collect()
    }

    /// Reads the OpenAPI documents of version 2 of available servers. A server without a document, or without an answer, is left out.
    pub(crate) async fn openapi_v2(&self) -> Vec<RemoteDocument> {
        let mut servers: Vec<(&Arc<RemoteServer>, Vec<String>)> = Vec::new();
        for (entry, server) in self.table.remotes().filter(|(entry, _)| entry.is_available) {
            match servers.iter_mut().find(|(known, _)| Arc::ptr_eq(known, server)) {
                Some((_, roots)) => roots.push(entry.path()),
                None => servers.push((server, vec![entry.path()])),
            }
        }
        let mut read = Vec::new();
        for some in servers.chunks(AT_ONCE) {
            let mut reading = JoinSet::new();
            for (server, roots) in some {
                let (server, roots) = ((*server).clone(), roots.clone());
                reading.spawn(tasks::boxed(async move {
                    let (code, _, body) = server.get("/openapi/v2", JSON, MOST_BYTES).await.ok()?;
                    let document = (code == 200).then(|| serde_json::from_slice(&body).ok()).flatten()?;
                    Some(RemoteDocument { roots, document })
                }));
            }
            while let Some(document) = reading.join_next().await {
                read.extend(document.ok().flatten());
            }
        }
        // In one order, so that the same documents are merged alike.
        read.sort_by(|a, b| a.roots.cmp(&b.roots));
        read
    }
}

impl Aggregation {
    /// What discovery shows as of now.
    pub(crate) fn discovered(&self) -> Discovered {
        Discovered { table: self.table(), fetched: self.fetched.load_full() }
    }

    /// Reads the documents that are old, and forgets those of services that have gone. Returns when to look again.
    async fn fetch_due(&self) -> Instant {
        let (table, known, now) = (self.table(), self.fetched.load_full(), Instant::now());
        let due_at = |documents: &Documents| documents.at + if documents.is_fresh { PERIOD } else { DELAY };
        let is_due = |entry: &Arc<Entry>| {
            let same = known.services.get(&entry.name).filter(|documents| Arc::ptr_eq(&documents.entry, entry));
            same.is_none_or(|documents| due_at(documents) <= now)
        };
        let due: Vec<_> = table.remotes().filter(|(entry, _)| entry.is_available && is_due(entry)).collect();
        let mut read = Vec::new();
        for some in due.chunks(AT_ONCE) {
            let mut reading = JoinSet::new();
            for (entry, server) in some {
                let (entry, server) = ((*entry).clone(), (*server).clone());
                reading.spawn(tasks::boxed(async move { fetch(entry, &server).await }));
            }
            while let Some(documents) = reading.join_next().await {
                read.extend(documents);
            }
        }
        self.keep(&table, read);
        let fetched = self.fetched.load();
        let available = table.remotes().filter(|(entry, _)| entry.is_available);
        let next =
            available.filter_map(|(entry, _)| fetched.services.get(&entry.name).map(|known| due_at(known))).min();
        next.unwrap_or(now + PERIOD).max(now + Duration::from_millis(100))
    }

    fn keep(&self, table: &Table, read: Vec<Result<Documents, Arc<Entry>>>) {
        let known = self.fetched.load_full();
        let is_there = |name: &String| table.remotes().any(|(entry, _)| entry.name == *name);
        let kept = known.services.iter().filter(|(name, _)| is_there(name));
        let mut services: HashMap<_, _> = kept.map(|(name, documents)| (name.clone(), documents.clone())).collect();
        let mut has_changed = services.len() < known.services.len();
        for result in read {
            let documents = result.unwrap_or_else(|entry| {
                let last = known.services.get(&entry.name);
                Documents {
                    at: Instant::now(),
                    is_fresh: false,
                    resources: last.map_or_else(|| json!([]), |last| last.resources.clone()),
                    openapi: last.and_then(|last| last.openapi.clone()),
                    entry,
                }
            });
            let before = services.get(&documents.entry.name);
            has_changed |= before.is_none_or(|before| {
                (before.is_fresh, &before.resources, &before.openapi)
                    != (documents.is_fresh, &documents.resources, &documents.openapi)
            });
            services.insert(documents.entry.name.clone(), Arc::new(documents));
        }
        let generation = known.generation + u64::from(has_changed);
        self.fetched.store(Arc::new(Fetched { generation, services }));
    }
}

/// Reads documents until the cache is closed, or the server has gone.
pub(super) async fn follow(aggregation: Weak<Aggregation>) {
    while let Some(current) = aggregation.upgrade() {
        let snapshot = current.objects.snapshot();
        let Ok(mut changes) = current.objects.watch(snapshot.revision(), Subscription::All, None).await else {
            drop(current);
            sleep(DELAY).await;
            continue;
        };
        let mut next = current.fetch_due().await;
        drop(current);
        loop {
            tokio::select! {
                change = changes.next() => match change {
                    Some(Ok(_)) => {}
                    Some(Err(_)) => break,
                    None => return,
                },
                () = sleep_until(next) => {}
            }
            let Some(current) = aggregation.upgrade() else { return };
            next = current.fetch_due().await;
        }
    }
}

/// Reads what the server of a service serves. Fails if it does not say.
async fn fetch(entry: Arc<Entry>, server: &Arc<RemoteServer>) -> Result<Documents, Arc<Entry>> {
    let Some(resources) = resources(&entry, server).await else {
        tracing::debug!(name = entry.name, "the discovery document of a server behind could not be read");
        return Err(entry);
    };
    let openapi = openapi(&entry, server).await;
    Ok(Documents { at: Instant::now(), is_fresh: true, resources, openapi, entry })
}

/// The resources of a version: from aggregated discovery, or from the document of the version alone.
async fn resources(entry: &Entry, server: &Arc<RemoteServer>) -> Option<Value> {
    let root = if entry.group.is_empty() { "/api" } else { "/apis" };
    let (code, headers, body) = server.get(root, DISCOVERY, MOST_BYTES).await.ok()?;
    let media_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if code == 200 && media_type.contains("as=APIGroupDiscoveryList") {
        let all: Value = serde_json::from_slice(&body).ok()?;
        let named = |items: &Value, found: &dyn Fn(&Value) -> bool| -> Option<Value> {
            items.as_array()?.iter().find(|item| found(item)).cloned()
        };
        let group = |item: &Value| item["metadata"]["name"].as_str().unwrap_or_default() == entry.group;
        let version = |item: &Value| item["version"] == *entry.version;
        let found = named(&all["items"], &group).and_then(|group| named(&group["versions"], &version));
        return Some(found.map_or_else(|| json!([]), |version| version["resources"].clone()));
    }
    let (code, _, body) = server.get(&entry.path(), JSON, MOST_BYTES).await.ok()?;
    (code == 200).then(|| serde_json::from_slice(&body).ok()).flatten().map(|list| aggregated(&list, entry))
}

/// The resources of an APIResourceList in the form of aggregated discovery.
fn aggregated(list: &Value, entry: &Entry) -> Value {
    let all = list["resources"].as_array().map_or(&[][..], Vec::as_slice);
    let text = |resource: &Value, name: &str| resource[name].as_str().unwrap_or_default().to_owned();
    let response_kind = |resource: &Value| {
        let own = |name: &str, other: &str| {
            Some(text(resource, name)).filter(|own| !own.is_empty()).unwrap_or(other.to_owned())
        };
        json!({"group": own("group", &entry.group), "version": own("version", &entry.version), "kind": resource["kind"]})
    };
    let mut resources: Vec<Value> = Vec::new();
    for resource in all.iter().filter(|resource| !text(resource, "name").contains('/')) {
        let mut found = json!({
            "resource": resource["name"],
            "responseKind": response_kind(resource),
            "scope": if resource["namespaced"] == true { "Namespaced" } else { "Cluster" },
            "singularResource": text(resource, "singularName"),
            "verbs": resource["verbs"],
        });
        for list in ["shortNames", "categories"].into_iter().filter(|list| resource[*list].is_array()) {
            found[list] = resource[list].clone();
        }
        resources.push(found);
    }
    for resource in all {
        let name = text(resource, "name");
        let Some((parent, subresource)) = name.split_once('/') else { continue };
        let Some(parent) = resources.iter_mut().find(|known| known["resource"] == *parent) else { continue };
        let found =
            json!({"subresource": subresource, "responseKind": response_kind(resource), "verbs": resource["verbs"]});
        match parent["subresources"].as_array_mut() {
            Some(subresources) => subresources.push(found),
            None => parent["subresources"] = json!([found]),
        }
    }
    Value::Array(resources)
}

/// The path of the OpenAPI document of version 3, on this server as on the one behind.
async fn openapi(entry: &Entry, server: &Arc<RemoteServer>) -> Option<String> {
    let (code, _, body) = server.get("/openapi/v3", JSON, MOST_BYTES).await.ok()?;
    let index: Value = (code == 200).then(|| serde_json::from_slice(&body).ok()).flatten()?;
    let path = entry.path();
    let url = index["paths"][&path[1..]]["serverRelativeURL"].as_str()?;
    let is_own = url.split('?').next() == Some(&*format!("/openapi/v3{path}"));
    is_own.then(|| url.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_a_version_in_the_form_of_aggregated_discovery() {
        let list = json!({"resources": [
            {"name": "things", "singularName": "thing", "namespaced": true, "kind": "Thing", "verbs": ["get"], "shortNames": ["t"]},
            {"name": "things/scale", "singularName": "", "namespaced": true, "group": "autoscaling", "version": "v1",
             "kind": "Scale", "verbs": ["get", "update"]},
            {"name": "lost/status", "kind": "Lost", "verbs": []},
            {"name": "nodes", "kind": "Node", "verbs": ["list"]},
        ]});
        let found = aggregated(&list, &Entry::local("example.com", "v2"));
        assert_eq!(
            found,
            json!([
                {"resource": "things", "responseKind": {"group": "example.com", "version": "v2", "kind": "Thing"},
                 "scope": "Namespaced", "singularResource": "thing", "verbs": ["get"], "shortNames": ["t"],
                 "subresources": [{"subresource": "scale", "verbs": ["get", "update"],
                                   "responseKind": {"group": "autoscaling", "version": "v1", "kind": "Scale"}}]},
                {"resource": "nodes", "responseKind": {"group": "example.com", "version": "v2", "kind": "Node"},
                 "scope": "Cluster", "singularResource": "", "verbs": ["list"]},
            ])
        );
    }
}
