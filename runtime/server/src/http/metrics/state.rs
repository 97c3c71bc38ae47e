//! The families of what the server holds: objects and their past, requests in flight, and how requests were let in.

use std::sync::{Arc, atomic::Ordering};

use super::{
    Counts,
    family::{Family, FamilyCollector, FamilySamples, real},
};
use crate::{registry::Registry, verbs::Verbs};

static FAMILIES: [Family; 9] = [
    Family::gauge(
        "apiserver_current_inflight_requests",
        &["request_kind"],
        "Short requests that are served now, by whether they read, write, or may wait for a conversion webhook.",
    ),
    Family::counter("authentication_attempts", &["result"], "Requests that were authenticated, by result."),
    Family::counter("authorization_attempts_total", &["result"], "Requests that were authorized, by result."),
    Family::gauge("apiserver_storage_objects", &["resource"], "Stored objects, by resource."),
    Family::gauge("apiserver_resource_objects", &["group", "resource"], "Stored objects, by group and resource."),
    Family::gauge(
        "kindsmith_watch_cache_changes",
        &["group", "resource"],
        "Changes of a resource that are in the watch cache.",
    ),
    Family::gauge(
        "kindsmith_watch_cache_bytes",
        &["group", "resource"],
        "Memory of the changes of a resource that are in the watch cache.",
    ),
    Family::gauge(
        "kindsmith_watch_cache_used_bytes",
        &[],
        "Memory of the changes of all resources that are in the watch cache.",
    ),
    Family::gauge(
        "kindsmith_watch_cache_capacity_bytes",
        &[],
        "Memory that the changes of all resources in the watch cache may take.",
    ),
];

/// What is shown of the server's state.
pub(super) fn collector(api: &Arc<Verbs>, counts: &Arc<Counts>) -> FamilyCollector {
    // Users may keep the registry of metrics, which must not keep the objects in memory.
    let (registry, cache, counts) = (Arc::downgrade(&api.registry), Arc::downgrade(&api.cache), counts.clone());
    FamilyCollector::new(
        &FAMILIES,
        move |[in_flight, authentication, authorization, of_resources @ .., used, capacity]| {
            let (Some(registry), Some(cache)) = (registry.upgrade(), cache.upgrade()) else { return };
            resources(&registry, of_resources);
            let (used_bytes, limit_bytes) = cache.history_bytes();
            used.number(&[], real(used_bytes as u64));
            capacity.number(&[], real(limit_bytes as u64));
            requests(&counts, [in_flight, authentication, authorization]);
        },
    )
}

fn resources(registry: &Registry, [stored, objects, changes, bytes]: &mut [FamilySamples; 4]) {
    for resource in registry.resources().0.iter() {
        let (kind, window) = (&resource.kind, resource.objects.window());
        let names = [kind.group_version.group.as_str(), kind.names().plural.as_str()];
        let count = real(resource.objects.snapshot().len() as u64);
        stored.number(&[&kind.group_resource().to_string()], count);
        objects.number(&names, count);
        changes.number(&names, real(window.changes as u64));
        bytes.number(&names, real(window.bytes as u64));
    }
}

fn requests(counts: &Counts, [in_flight, authentication, authorization]: [&mut FamilySamples; 3]) {
    let served = &counts.in_flight;
    let kinds = [("readOnly", &served.reading), ("mutating", &served.writing), ("converted", &served.converted)];
    for (kind, served) in kinds {
        in_flight.number(&[kind], real(served.load(Ordering::Relaxed) as u64));
    }
    let known = &counts.authentication;
    for (result, count) in [("success", &known.success), ("failure", &known.failure), ("error", &known.error)] {
        authentication.number(&[result], real(count.total()));
    }
    let decided = &counts.authorization;
    let decisions = [("allowed", &decided.allowed), ("denied", &decided.denied), ("no-opinion", &decided.no_opinion)];
    for (result, count) in decisions {
        authorization.number(&[result], real(count.total()));
    }
}
