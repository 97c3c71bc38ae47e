//! The families of the store: how commits are grouped, how long the disk takes, and how the store is.

use std::sync::Arc;

use super::family::{Family, FamilyCollector, NANOSECONDS, real};
use crate::verbs::Verbs;

static FAMILIES: [Family; 8] = [
    Family::histogram(
        "kindsmith_store_commit_group_size",
        &[],
        "Commits that were written together. The count is that of the groups, the sum that of the commits.",
    ),
    Family::histogram(
        "kindsmith_store_commit_duration_seconds",
        &[],
        "Time to write a group of commits, make it durable and publish it, in seconds.",
    ),
    Family::histogram("kindsmith_store_fsync_duration_seconds", &[], "Time of a sync of the store's file, in seconds."),
    Family::gauge("kindsmith_store_queue_length", &[], "Commits that wait to be written."),
    Family::gauge("kindsmith_store_revision", &[], "Newest durable revision."),
    Family::gauge(
        "kindsmith_store_compacted_revision",
        &[],
        "Revision up to which history is compacted; zero while it is whole.",
    ),
    Family::gauge("kindsmith_store_refuses_writes", &[], "Whether writes are refused at present: 1, or 0."),
    Family::gauge("kindsmith_store_damaged_values", &[], "Stored values that are known to be damaged."),
];

/// What is shown of the store.
pub(super) fn collector(api: &Arc<Verbs>) -> FamilyCollector {
    // Users may keep the registry of metrics, which must not keep the store open.
    let store = Arc::downgrade(&api.store);
    FamilyCollector::new(&FAMILIES, move |[groups, commits, syncs, queued, others @ ..]| {
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
