//! Definitions that another server of the store has begun to serve. This server has their rows as soon as readers have what the
//! store has acknowledged, and serves them moments later.
use std::time::Duration;

use tokio::time::timeout;

use super::{names::is_true, read};
use crate::{
    schema::Document,
    verbs::{Error, Verbs},
};

/// How long a request waits for a resource that is defined and not served yet: as long as reads wait for what is acknowledged.
const SERVED_WITHIN: Duration = Duration::from_secs(3);

/// Waits for a resource that is not served, if its stored definition is established. Returns whether it is served now. A client that
/// saw the definition established on one server thus finds the resource on all.
///
/// # Errors
/// [`Error::Timeout`] if the newest definitions could not be read, and [`Error::Unavailable`] if the resource is defined and not served
/// in time. Clients would take 404 for the end of the resource.
pub(crate) async fn appears(api: &Verbs, group: &str, version: &str, plural: &str) -> Result<bool, Error> {
    if !api.store.is_shared() {
        return Ok(false);
    }
    let definitions = api.registry.find("apiextensions.k8s.io", "v1", "customresourcedefinitions");
    let Some(definitions) = definitions else { return Ok(false) };
    api.confirm().await?;
    let name = format!("{plural}.{group}");
    let stored = definitions.objects.snapshot().get(&name);
    let Some(definition) = stored.and_then(|object| read(&object)) else { return Ok(false) };
    if !is_true(&definition["status"], "Established") || !serves(&definition, version) {
        return Ok(false);
    }
    let found = api.registry.until(|| api.registry.find(group, version, plural).map(drop));
    let late =
        |_| Error::Unavailable(format!("{name} is defined, and this server does not serve it yet; please try again"));
    timeout(SERVED_WITHIN, found).await.map(|()| true).map_err(late)
}

/// True if a definition says that a version is served.
fn serves(definition: &Document, version: &str) -> bool {
    let mut versions = definition["spec"]["versions"].as_array().into_iter().flatten();
    versions.any(|defined| defined["name"] == version && defined["served"] == true)
}
