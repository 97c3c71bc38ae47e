//! The metrics of requests, with the names and labels of kube-apiserver.

use std::{collections::BTreeMap, sync::Arc};

use super::{
    Counts,
    family::{Family, Filled, NANOSECONDS, Source, real},
};
use crate::{
    metrics::{Cell, Endpoint, Series, Verb},
    verbs::Verbs,
};

static REQUESTS: Family = Family::counter(
    "apiserver_request_total",
    &["verb", "dry_run", "group", "version", "resource", "subresource", "scope", "component", "code"],
    "Requests that were answered, by verb, dry run, group, version, resource, subresource, scope, component and HTTP status code. \
     The code 0 stands for requests that went away before they were answered.",
);
static ABORTS: Family = Family::counter(
    "apiserver_request_aborts_total",
    &["verb", "group", "version", "resource", "subresource", "scope"],
    "Requests that went away before they were answered.",
);
static DURATIONS: Family = Family::histogram(
    "apiserver_request_duration_seconds",
    &["verb", "dry_run", "group", "version", "resource", "subresource", "scope", "component"],
    "Time from the beginning of a request to the end of its answer, in seconds. A watch counts when it ends.",
);
static SIZES: Family = Family::histogram(
    "apiserver_response_sizes",
    &["verb", "group", "version", "resource", "subresource", "scope", "component"],
    "Size of the answers to GET and LIST, in bytes as they were sent.",
);
static LONG_RUNNING: Family = Family::gauge(
    "apiserver_longrunning_requests",
    &["verb", "group", "version", "resource", "subresource", "scope", "component"],
    "Watches, connections and streamed texts that are open.",
);
static EVENTS: Family = Family::counter(
    "apiserver_watch_events_total",
    &["group", "version", "resource"],
    "Events that were sent to watches.",
);
static EVENT_SIZES: Family = Family::histogram(
    "apiserver_watch_events_sizes",
    &["group", "version", "resource"],
    "Size of the events that were sent to watches, in bytes.",
);
static DEPRECATED: Family = Family::gauge(
    "apiserver_requested_deprecated_apis",
    &["group", "version", "resource", "subresource", "removed_release"],
    "Deprecated versions that were requested.",
);

/// The source of these metrics.
pub(super) fn source(api: &Arc<Verbs>, counts: &Arc<Counts>) -> Source {
    let families = [&REQUESTS, &ABORTS, &DURATIONS, &SIZES, &LONG_RUNNING, &EVENTS, &EVENT_SIZES, &DEPRECATED];
    let (requests, counts) = (api.registry.requests().clone(), counts.clone());
    Source::new(&families, move || {
        let mut page = Page::new();
        for endpoint in requests.all().iter().map(|endpoint| &**endpoint).chain(&counts.paths.0) {
            page.add(endpoint);
        }
        page.done()
    })
}

struct Page {
    requests: Filled,
    aborts: Filled,
    durations: Filled,
    sizes: Filled,
    long_running: Filled,
    events: Filled,
    event_sizes: Filled,
    deprecated: Filled,
}

impl Page {
    fn new() -> Self {
        Self {
            requests: REQUESTS.fill(),
            aborts: ABORTS.fill(),
            durations: DURATIONS.fill(),
            sizes: SIZES.fill(),
            long_running: LONG_RUNNING.fill(),
            events: EVENTS.fill(),
            event_sizes: EVENT_SIZES.fill(),
            deprecated: DEPRECATED.fill(),
        }
    }

    fn add(&mut self, endpoint: &Endpoint) {
        let at @ [group, version, resource, subresource] = names(endpoint);
        let mut aborts = BTreeMap::new();
        for (cell, series) in endpoint.all() {
            self.add_series(endpoint, cell, series);
            let aborted = series.codes().into_iter().filter(|(code, _)| *code == 0).map(|(_, count)| count);
            *aborts.entry((cell.verb.as_str(), cell.scope.as_str())).or_default() += aborted.sum::<u64>();
        }
        for ((verb, scope), count) in aborts.into_iter().filter(|(_, count)| *count > 0) {
            self.aborts.number(&[verb, group, version, resource, subresource, scope], real(count));
        }
        if let Some(sizes) = endpoint.events() {
            self.events.number(&at[..3], real(sizes.count()));
            self.event_sizes.histogram(&at[..3], &sizes, 1.0);
        }
        if endpoint.is_deprecated() {
            self.deprecated.number(&[group, version, resource, subresource, ""], 1.0);
        }
    }

    fn add_series(&mut self, endpoint: &Endpoint, cell: Cell, series: &Series) {
        let [group, version, resource, subresource] = names(endpoint);
        let (verb, scope, dry_run) = (cell.verb.as_str(), cell.scope.as_str(), cell.dry_run.as_str());
        let component = component(endpoint);
        for (code, count) in series.codes() {
            let code = code.to_string();
            let labels = [verb, dry_run, group, version, resource, subresource, scope, component, &code];
            self.requests.number(&labels, real(count));
        }
        let labels = [verb, group, version, resource, subresource, scope, component];
        let durations = series.durations();
        if durations.count() > 0 {
            let labels = [verb, dry_run, group, version, resource, subresource, scope, component];
            self.durations.histogram(&labels, &durations, NANOSECONDS);
        }
        let sizes = series.sizes();
        if sizes.count() > 0 {
            self.sizes.histogram(&labels, &sizes, 1.0);
        }
        if matches!(cell.verb, Verb::Watch | Verb::Connect) {
            self.long_running.number(&labels, real(u64::try_from(series.active()).unwrap_or_default()));
        }
    }

    fn done(self) -> Vec<Filled> {
        vec![
            self.requests,
            self.aborts,
            self.durations,
            self.sizes,
            self.long_running,
            self.events,
            self.event_sizes,
            self.deprecated,
        ]
    }
}

fn names(endpoint: &Endpoint) -> [&str; 4] {
    [&endpoint.group, &endpoint.version, &endpoint.resource, &endpoint.subresource]
}

/// The label `component`. Like kube-apiserver's, it is empty for health checks and for paths that do not exist.
fn component(endpoint: &Endpoint) -> &'static str {
    match &*endpoint.subresource {
        "" | "/healthz" | "/livez" | "/readyz" if !endpoint.is_resource() => "",
        _ => "apiserver",
    }
}
