//! An APIService for each group and version that this server serves itself, as kube-apiserver has them. The label says that it is
//! the server's: those of Kubernetes' groups are written at each start and may be changed or deleted until the next one, those of
//! other groups are kept as they should be while the group is served.
use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use super::{Aggregation, priority};
use crate::{
    ObjectMeta,
    builtin::{
        APIService,
        api_services::{APIServiceSpec, APIServiceStatus, GROUP},
    },
    cache::Subscription,
    handlers::Client,
    meta::{
        options::{DeleteOptions, Preconditions},
        refusal::{Refusal, Result},
    },
    registry::Registry,
};

/// The label of the server's objects, and its values.
const LABEL: &str = "kube-aggregator.kubernetes.io/automanaged";
const ON_START: &str = "onstart";
const ALWAYS: &str = "true";
/// The wait after a failure.
const WAIT: Duration = Duration::from_secs(1);

impl Aggregation {
    /// Writes objects until it must stop, or until the cache is closed.
    pub(crate) async fn register_local(&self, registry: &Registry, client: &Client, stop: impl Future<Output = ()>) {
        tokio::select! {
            biased;
            () = stop => {}
            () = self.register_all(registry, client) => {}
        }
    }

    async fn register_all(&self, registry: &Registry, client: &Client) {
        let mut is_start = true;
        loop {
            let snapshot = self.objects.snapshot();
            let (wanted, generation) = wanted(registry);
            let objects =
                snapshot.range("", None).filter_map(|object| serde_json::from_slice(object.json_bytes()).ok());
            let objects: Vec<APIService> = objects.collect();
            let Ok(mut changes) = self.objects.watch(snapshot.revision(), Subscription::All, None).await else {
                tokio::time::sleep(WAIT).await;
                continue;
            };
            match write(&wanted, &objects, is_start, client).await {
                Ok(()) => is_start = false,
                Err(error) => {
                    tracing::warn!(%error, "the APIServices of local groups could not be written");
                    tokio::time::sleep(WAIT).await;
                    continue;
                }
            }
            tokio::select! {
                change = changes.next() => if change.is_none() { return },
                _ = registry.after(generation) => {}
            }
        }
    }
}

/// The objects that there should be, by name, and the generation of the registry that they reflect.
fn wanted(registry: &Registry) -> (BTreeMap<String, APIService>, u64) {
    let (kinds, generation) = registry.all();
    let versions: BTreeSet<_> =
        kinds.iter().map(|kind| (&kind.kind.group_version.group, &kind.kind.group_version.version)).collect();
    let versions = versions.into_iter().filter(|(group, _)| *group != GROUP);
    let services = versions.map(|(group, version)| {
        let ((group_priority_minimum, version_priority), is_known) = priority::of_local(group, version);
        let name = format!("{version}.{group}");
        let mut metadata = ObjectMeta::named(&name);
        metadata.labels.insert(LABEL.to_owned(), if is_known { ON_START } else { ALWAYS }.to_owned());
        let (group, version) = (group.clone(), version.clone());
        let spec =
            APIServiceSpec { group, version, group_priority_minimum, version_priority, ..APIServiceSpec::default() };
        (name, APIService { metadata, spec, status: APIServiceStatus::default() })
    });
    (services.collect(), generation)
}

fn label(service: &APIService) -> &str {
    service.metadata.labels.get(LABEL).map(String::as_str).unwrap_or_default()
}

/// Makes the server's objects what they should be.
async fn write(
    wanted: &BTreeMap<String, APIService>,
    objects: &[APIService],
    is_start: bool,
    client: &Client,
) -> Result<()> {
    let services = client.of::<APIService>("");
    // One that is refused does not keep the others from being written.
    let mut first = Ok(());
    for (name, service) in wanted {
        if label(service) == ON_START && !is_start {
            continue;
        }
        let written = match objects.iter().find(|object| object.metadata.name == *name) {
            None => services.create(service).await.map(drop),
            Some(found) if label(found).is_empty() || found.spec == service.spec => Ok(()),
            Some(found) => {
                let changed = APIService { spec: service.spec.clone(), ..found.clone() };
                services.replace(name, &changed).await.map(drop)
            }
        };
        first = first.and(ignore_races(written));
    }
    let is_stale = |object: &&APIService| match label(object) {
        ALWAYS => !wanted.contains_key(&object.metadata.name),
        ON_START => is_start && !wanted.contains_key(&object.metadata.name),
        _ => false,
    };
    for object in objects.iter().filter(is_stale) {
        let preconditions = Preconditions { uid: Some(object.metadata.uid.clone()), ..Preconditions::default() };
        let options = DeleteOptions { preconditions, ..DeleteOptions::default() };
        first = first.and(ignore_races(services.delete(&object.metadata.name, &options).await.map(drop)));
    }
    first
}

/// If someone else was faster, the change that they made is seen next.
fn ignore_races(written: Result<()>) -> Result<()> {
    let is_race = |error: &Refusal| matches!(error.status().code, 404 | 409);
    written.or_else(|error| if is_race(&error) { Ok(()) } else { Err(error) })
}
