//! Definitions that another server of the store has begun to serve. This server has their rows as soon as readers have what the
//! store has acknowledged, and serves them moments later.
use std::time::Duration;

use tokio::time::timeout;

use super::{names::is_true, read};
use crate::{schema::Document, verbs::Verbs};

/// How long a request waits for a resource that is defined and not served yet: as long as reads wait for what is acknowledged.
const SERVED_WITHIN: Duration = Duration::from_secs(3);

/// Waits for a resource that is not served, if its stored definition is established. Returns whether it is served now. A client that
/// saw the definition established on one server thus finds the resource on all.
pub(crate) async fn appears(api: &Verbs, group: &str, version: &str, plural: &str) -> bool {
    if !api.has_peers {
        return false;
    }
    let definitions = api.registry.find("apiextensions.k8s.io", "v1", "customresourcedefinitions");
    let (Some(definitions), Ok(())) = (definitions, api.confirm().await) else { return false };
    let stored = definitions.objects.snapshot().get(&format!("{plural}.{group}"));
    let Some(definition) = stored.and_then(|object| read(&object)) else { return false };
    if !is_true(&definition["status"], "Established") || !serves(&definition, version) {
        return false;
    }
    let found = api.registry.until(|| api.registry.find(group, version, plural).map(drop));
    timeout(SERVED_WITHIN, found).await.is_ok()
}

/// True if a definition says that a version is served.
fn serves(definition: &Document, version: &str) -> bool {
    let mut versions = definition["spec"]["versions"].as_array().into_iter().flatten();
    versions.any(|defined| defined["name"] == version && defined["served"] == true)
}
