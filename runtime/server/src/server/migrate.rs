//! Storage migrations requested by `kindsmith store migrate` through the socket of the store.

use std::sync::{Arc, Weak};

use tokio::{runtime::Handle, sync::mpsc};

use crate::{
    meta::Status,
    registry::ResourceEntry,
    storage::{
        Embedded,
        migration::{Migration, Report, Reports},
    },
    verbs::Verbs,
};

/// The number of reports buffered for the client. Progress is dropped when the buffer is full.
const WAITING: usize = 16;

/// Serves migrations of a store from now on, in tasks of the current runtime.
pub(super) fn serve(store: &Embedded, api: &Arc<Verbs>) {
    let (api, runtime) = (Arc::downgrade(api), Handle::current());
    store.serve_migrations(move |names| begin(&api, &runtime, &names));
}

fn begin(api: &Weak<Verbs>, runtime: &Handle, names: &[String]) -> Option<Reports> {
    let api = api.upgrade()?;
    let (reports, taken) = mpsc::channel(WAITING);
    let found = find(&api, names);
    runtime.spawn(async move {
        tokio::select! {
            biased;
            () = reports.closed() => tracing::info!("a storage migration was cut off"),
            last = run(&api, found, &reports) => drop(reports.send(last).await),
        }
    });
    Some(taken)
}

/// Finds the resources with these names, or all whose objects are stored.
fn find(api: &Verbs, names: &[String]) -> Result<Vec<Arc<ResourceEntry>>, String> {
    let (all, _) = api.registry.resources();
    let mut stored = all.iter().filter(|served| served.kind.shared.stored);
    if names.is_empty() {
        return Ok(stored.cloned().collect());
    }
    let name_of = |served: &ResourceEntry| served.kind.group_resource().to_string();
    let one = |name: &String| {
        stored.clone().find(|served| name_of(served) == *name).cloned().ok_or_else(|| {
            let known: Vec<_> = stored.by_ref().map(|served| name_of(served)).collect();
            format!("it does not store the resource {name:?}; it stores {}", known.join(", "))
        })
    };
    names.iter().map(one).collect()
}

/// Migrates one resource after the other; returns the last report.
async fn run(api: &Verbs, found: Result<Vec<Arc<ResourceEntry>>, String>, reports: &mpsc::Sender<Report>) -> Report {
    let resources = match found {
        Ok(resources) => resources,
        Err(unknown) => return Report::Failed(unknown),
    };
    for served in resources {
        let progress = |migration: &Migration| {
            if migration.left > 0 {
                let reasons = Vec::new();
                // The next report says more than this one.
                let _ = reports.try_send(Report::Progress(Migration { reasons, ..migration.clone() }));
            }
        };
        match api.migrate(&served, progress).await {
            Ok(migration) => {
                tracing::info!(
                    resource = migration.resource,
                    rewritten = migration.rewritten,
                    skipped = migration.skipped,
                    "stored objects were migrated",
                );
                // If the client is gone, the caller ends the migration.
                let _ = reports.send(Report::Progress(migration)).await;
            }
            Err(error) => {
                let resource = served.kind.group_resource();
                return Report::Failed(format!("{resource}: {}", Status::from(error).message));
            }
        }
    }
    Report::Done
}
