//! The families of the store: how commits are grouped, how long the disk takes, and how the store is.

use std::sync::Arc;

use super::family::{Family, NANOSECONDS, Source, real};
use crate::verbs::Verbs;

static GROUPS: Family = Family::histogram(
    "kindsmith_store_commit_group_size",
    &[],
    "Commits that were written together. The count is that of the groups, the sum that of the commits.",
);
static COMMITS: Family = Family::histogram(
    "kindsmith_store_commit_duration_seconds",
    &[],
    "Time to write a group of commits, make it durable and publish it, in seconds.",
);
static SYNCS: Family =
    Family::histogram("kindsmith_store_fsync_duration_seconds", &[], "Time of a sync of the store's file, in seconds.");
static QUEUED: Family = Family::gauge("kindsmith_store_queue_length", &[], "Commits that wait to be written.");
static REVISION: Family = Family::gauge("kindsmith_store_revision", &[], "Newest durable revision.");
static COMPACTED: Family = Family::gauge(
    "kindsmith_store_compacted_revision",
    &[],
    "Revision up to which history is compacted; zero while it is whole.",
);
static REFUSING: Family =
    Family::gauge("kindsmith_store_refuses_writes", &[], "Whether writes are refused at present: 1, or 0.");
static DAMAGED: Family =
    Family::gauge("kindsmith_store_damaged_values", &[], "Stored values that are known to be damaged.");

/// What is shown of the store.
pub(super) fn source(api: &Arc<Verbs>) -> Source {
    let families = [&GROUPS, &COMMITS, &SYNCS, &QUEUED, &REVISION, &COMPACTED, &REFUSING, &DAMAGED];
    // Users may keep the registry of metrics, which must not keep the store open.
    let store = Arc::downgrade(&api.store);
    Source::new(families, move |[groups, commits, syncs, queued, others @ ..]| {
        let Some(store) = store.upgrade() else { return };
        let health = store.health();
        let refuses = u64::from(health.refuses_writes.is_some());
        let values = [store.head().0, store.compacted().0, refuses, health.damage.count as u64];
        for (family, value) in others.iter_mut().zip(values) {
            family.number(&[], real(value));
        }
        if let Some(metrics) = store.metrics() {
            groups.histogram(&[], &metrics.groups.totals(), 1.0);
            commits.histogram(&[], &metrics.commits.totals(), NANOSECONDS);
            syncs.histogram(&[], &metrics.syncs.totals(), NANOSECONDS);
            queued.number(&[], real(metrics.queued() as u64));
        }
    })
}
