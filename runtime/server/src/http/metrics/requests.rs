//! The metrics of requests, with the names and labels of kube-apiserver.

use std::{collections::BTreeMap, sync::Arc};

use super::{
    Counts,
    family::{Family, FamilyCollector, FamilySamples, NANOSECONDS, real},
};
use crate::{
    metrics::{Endpoint, Verb},
    verbs::Verbs,
};

static FAMILIES: [Family; 8] = [
    Family::counter(
        "apiserver_request_total",
        &["verb", "dry_run", "group", "version", "resource", "subresource", "scope", "component", "code"],
        "Requests that were answered, by verb, dry run, group, version, resource, subresource, scope, component and HTTP status code. \
     The code 0 stands for requests that went away before they were answered.",
    ),
    Family::counter(
        "apiserver_request_aborts_total",
        &["verb", "group", "version", "resource", "subresource", "scope"],
        "Requests that went away before they were answered.",
    ),
    Family::histogram(
        "apiserver_request_duration_seconds",
        &["verb", "dry_run", "group", "version", "resource", "subresource", "scope", "component"],
        "Time from the beginning of a request to the end of its answer, in seconds. A watch counts when it ends.",
    ),
    Family::histogram(
        "apiserver_response_sizes",
        &["verb", "group", "version", "resource", "subresource", "scope", "component"],
        "Size of the answers to GET and LIST, in bytes as they were sent.",
    ),
    Family::gauge(
        "apiserver_longrunning_requests",
        &["verb", "group", "version", "resource", "subresource", "scope", "component"],
        "Watches, connections and streamed texts that are open.",
    ),
    Family::counter(
        "apiserver_watch_events_total",
        &["group", "version", "resource"],
        "Events that were sent to watches.",
    ),
    Family::histogram(
        "apiserver_watch_events_sizes",
        &["group", "version", "resource"],
        "Size of the events that were sent to watches, in bytes.",
    ),
    Family::gauge(
        "apiserver_requested_deprecated_apis",
        &["group", "version", "resource", "subresource", "removed_release"],
        "Deprecated versions that were requested.",
    ),
];

/// The collector of these metrics.
pub(super) fn collector(api: &Arc<Verbs>, counts: &Arc<Counts>) -> FamilyCollector {
    let (requests, counts) = (api.registry.requests().clone(), counts.clone());
    FamilyCollector::new(&FAMILIES, move |samples| {
        for endpoint in requests.all().iter().chain(&counts.paths.0) {
            add(endpoint, samples);
        }
    })
}

fn add(endpoint: &Endpoint, samples: &mut [FamilySamples; 8]) {
    let [requests, all_aborts, durations, sizes, long_running, events, event_sizes, deprecated] = samples;
    let at @ [group, version, resource, subresource] =
        [&*endpoint.group, &*endpoint.version, &*endpoint.resource, &*endpoint.subresource];
    let (component, mut aborts) = (component(endpoint), BTreeMap::new());
    for (cell, series) in endpoint.all() {
        let (verb, scope, dry_run) = (cell.verb.as_str(), cell.scope.as_str(), cell.dry_run.as_str());
        for (code, count) in series.codes() {
            let text = code.to_string();
            let labels = [verb, dry_run, group, version, resource, subresource, scope, component, &text];
            requests.number(&labels, real(count));
            if code == 0 {
                *aborts.entry((verb, scope)).or_default() += count;
            }
        }
        let spent = series.durations();
        if spent.count() > 0 {
            let labels = [verb, dry_run, group, version, resource, subresource, scope, component];
            durations.histogram(&labels, &spent, NANOSECONDS);
        }
        let labels = [verb, group, version, resource, subresource, scope, component];
        let sent = series.sizes();
        if sent.count() > 0 {
            sizes.histogram(&labels, &sent, 1.0);
        }
        if matches!(cell.verb, Verb::Watch | Verb::Connect) {
            long_running.number(&labels, real(u64::try_from(series.active()).unwrap_or_default()));
        }
    }
    for ((verb, scope), count) in aborts.into_iter().filter(|(_, count)| *count > 0) {
        all_aborts.number(&[verb, group, version, resource, subresource, scope], real(count));
    }
    if let Some(sizes) = endpoint.events() {
        events.number(&at[..3], real(sizes.count()));
        event_sizes.histogram(&at[..3], &sizes, 1.0);
    }
    if endpoint.is_deprecated() {
        deprecated.number(&[group, version, resource, subresource, ""], 1.0);
    }
}

/// The label `component`. Like kube-apiserver's, it is empty for health checks and for paths that do not exist.
fn component(endpoint: &Endpoint) -> &'static str {
    match &*endpoint.subresource {
        "" | "/healthz" | "/livez" | "/readyz" if !endpoint.is_resource() => "",
        _ => "apiserver",
    }
}
