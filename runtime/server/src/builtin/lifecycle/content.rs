//! Deletes the content of a namespace, and counts what remains.
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use serde::Deserialize;
use tokio::task::JoinSet;

use crate::{
    auth::User,
    kind::model::Scope,
    meta::options::{DeleteOptions, Propagation},
    registry::ResourceEntry,
    tasks,
    verbs::{Error, Request, Verbs},
};

/// The maximum number of concurrent deletions: enough to share the store's fsync, few enough not to delay other
/// clients.
const AT_ONCE: usize = 32;

/// The remaining content of a namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RemainingContent {
    /// The number of objects by resource, as `<resource>.<group>`.
    pub resources: BTreeMap<String, usize>,
    /// The number of objects by the finalizer that holds them.
    pub finalizers: BTreeMap<String, usize>,
    /// The failed deletions and their reasons.
    pub failures: BTreeSet<String>,
}

impl RemainingContent {
    /// True if the namespace is empty.
    pub(super) fn is_empty(&self) -> bool {
        self.resources.is_empty() && self.failures.is_empty()
    }
}

/// The namespaced kinds.
pub(super) fn kinds(api: &Verbs) -> Vec<Arc<ResourceEntry>> {
    let (resources, _) = api.registry.resources();
    resources.iter().filter(|resource| resource.kind.shared.scope == Scope::Namespaced).cloned().collect()
}

/// Deletes everything in a namespace that can be deleted, and returns what remains. Objects that are already marked are
/// deleted again, without propagation finalizers, which may be all that holds them.
pub(super) async fn delete_all(api: &Arc<Verbs>, user: &Arc<User>, namespace: &str) -> RemainingContent {
    let prefix = format!("{namespace}/");
    let mut remaining = RemainingContent::default();
    for resource in kinds(api) {
        let snapshot = resource.objects.snapshot();
        let mut deletions = JoinSet::new();
        for object in snapshot.range(&prefix, None) {
            if deletions.len() >= AT_ONCE {
                remaining.record(&resource, deletions.join_next().await);
            }
            let (api, request) = (api.clone(), Request::for_all(user, &resource).at(object.key()));
            deletions.spawn(tasks::boxed(async move {
                let options = DeleteOptions { propagation: Some(Propagation::Background), ..DeleteOptions::default() };
                api.delete(&request, &options).await.map(drop)
            }));
        }
        while let Some(done) = deletions.join_next().await {
            remaining.record(&resource, Some(done));
        }
        remaining.count(&resource, &prefix);
    }
    remaining
}

/// The result of a deletion task.
type Done = Result<Result<(), Error>, tokio::task::JoinError>;

impl RemainingContent {
    fn record(&mut self, resource: &ResourceEntry, done: Option<Done>) {
        match done {
            None | Some(Ok(Ok(()) | Err(Error::NotFound(..) | Error::NotServed))) => {}
            Some(Ok(Err(error))) => {
                self.failures.insert(format!("{}: {error:?}", resource.kind.group_resource()));
            }
            Some(Err(broken)) => {
                self.failures.insert(format!("{}: {broken}", resource.kind.group_resource()));
            }
        }
    }

    fn count(&mut self, resource: &ResourceEntry, prefix: &str) {
        #[derive(Default, Deserialize)]
        struct Metadata {
            #[serde(default)]
            finalizers: Vec<String>,
        }
        let snapshot = resource.objects.snapshot();
        let mut objects = 0;
        for object in snapshot.range(prefix, None) {
            objects += 1;
            let metadata: Metadata = serde_json::from_slice(object.metadata_bytes()).unwrap_or_default();
            for finalizer in metadata.finalizers {
                *self.finalizers.entry(finalizer).or_default() += 1;
            }
        }
        if objects > 0 {
            // kube-apiserver writes the dot for the core group, too.
            let name = format!("{}.{}", resource.kind.names().plural, resource.kind.group_version.group);
            self.resources.insert(name, objects);
        }
    }
}
