//! Measures one request from its first byte to the last byte of its answer. Guarantees that each request is recorded once,
//! at its end: a watch when its stream ends, an aborted request with the code 0.

use std::{sync::Arc, time::Instant};

use http::{Method, StatusCode};

use crate::{
    http::{Site, methods, request_info::RequestInfo},
    kind::endpoint::Verb as Meaning,
    metrics::{Cell, DryRun, Endpoint, Scope, Series, Verb},
    registry::ResourceEntry,
};

/// A request that is measured, until this is dropped.
pub(crate) struct Measure {
    /// The server.
    pub site: Arc<Site>,
    /// The requested resource and verb, when they are known, and until the request is found to be long-running.
    pub info: Option<Arc<RequestInfo>>,
    start: Instant,
    method: Verb,
    /// Its answer has a body, which it does not for HEAD.
    has_body: bool,
    /// Zero until the request is answered.
    code: u16,
    bytes: u64,
    /// The counters of a watch or a connection. It may last indefinitely, so it does not hold the whole request.
    long: Option<RequestCounters<Arc<ResourceEntry>>>,
}

/// The counters of a request to a resource.
struct RequestCounters<R> {
    /// The resource.
    served: R,
    /// The number of the endpoint in it.
    at: usize,
    cell: Cell,
}

impl<R: AsRef<ResourceEntry>> RequestCounters<R> {
    fn series(&self) -> (&Endpoint, &Series) {
        let endpoint = &self.served.as_ref().requests[self.at];
        (endpoint, endpoint.series(self.cell))
    }
}

impl Measure {
    /// Starts measuring a request.
    pub(crate) fn begin(site: Arc<Site>, method: &Method) -> Self {
        let (start, has_body) = (Instant::now(), *method != Method::HEAD);
        Self { site, info: None, start, method: verb_of(method), has_body, code: 0, bytes: 0, long: None }
    }

    /// Records the status of the answer, whose body may still be sent.
    pub(crate) fn answered(&mut self, code: StatusCode) {
        self.code = code.as_u16();
    }

    /// Counts bytes of the answer.
    pub(crate) fn sent(&mut self, bytes: u64) {
        self.bytes += bytes;
    }

    /// Notes that the answer is sent later, which for a watch or a connection may take as long as it likes.
    pub(crate) fn goes_on(&mut self) {
        let long = self.info.as_ref().filter(|info| methods::is_long_running(info)).and_then(|info| counters_of(info));
        let Some(RequestCounters { served, at, cell }) = long else { return };
        let counters = RequestCounters { served: served.clone(), at, cell };
        counters.series().1.activate(1);
        (self.info, self.long) = (None, Some(counters));
    }

    fn record(&self, series: &Series, reads: bool) {
        let size = (reads && self.has_body && self.code != 0).then_some(self.bytes);
        series.record(self.code, self.start.elapsed(), size);
    }

    fn record_at<R: AsRef<ResourceEntry>>(&self, counters: &RequestCounters<R>, reads: bool) {
        let (endpoint, series) = counters.series();
        self.record(series, reads);
        if counters.served.as_ref().kind.version.deprecated.is_some() && !matches!(self.code, 0 | 401 | 403) {
            endpoint.note_deprecated();
        }
    }
}

impl Drop for Measure {
    fn drop(&mut self) {
        if let Some(counters) = &self.long {
            self.record_at(counters, false);
            counters.series().1.activate(-1);
            return;
        }
        let info = self.info.as_deref();
        let reads = info.is_some_and(|info| matches!(info.verb, Some(Meaning::Get | Meaning::List)));
        if let Some(counters) = info.and_then(counters_of) {
            return self.record_at(&counters, reads);
        }
        let paths = &self.site.backend.metrics.counts().paths;
        let (endpoint, dry_run) = match info {
            Some(info) if info.resource.is_none() => (paths.find(&info.path), dry_run(self.method, info)),
            Some(info) => (paths.unknown(), dry_run(self.method, info)),
            None => (paths.unknown(), DryRun::No),
        };
        self.record(endpoint.series(Cell { verb: self.method, scope: Scope::None, dry_run }), reads);
    }
}

/// The counters of a request to a resource that is served.
fn counters_of(info: &RequestInfo) -> Option<RequestCounters<&Arc<ResourceEntry>>> {
    let path = info.resource.as_ref().filter(|path| !path.excess)?;
    let served = info.served.as_ref()?;
    let at = served.endpoints.iter().position(|endpoint| *endpoint.subresource == path.subresource)?;
    let scope = match info.verb {
        _ if !path.name.is_empty() => Scope::Resource,
        Some(Meaning::Create) => Scope::Resource,
        _ if path.scoped => Scope::Namespace,
        _ => Scope::Cluster,
    };
    let verb = match info.verb {
        Some(Meaning::Watch) => Verb::Watch,
        _ if methods::is_long_running(info) => Verb::Connect,
        Some(Meaning::Get) => Verb::Get,
        Some(Meaning::List) => Verb::List,
        Some(Meaning::Create) => Verb::Post,
        Some(Meaning::Update) => Verb::Put,
        Some(Meaning::Patch) if info.applies => Verb::Apply,
        Some(Meaning::Patch) => Verb::Patch,
        Some(Meaning::Delete | Meaning::DeleteCollection) => Verb::Delete,
        None => Verb::Other,
    };
    Some(RequestCounters { served, at, cell: Cell { verb, scope, dry_run: dry_run(verb, info) } })
}

/// The verb of a request that is not about a resource.
fn verb_of(method: &Method) -> Verb {
    match *method {
        Method::GET | Method::HEAD => Verb::Get,
        Method::POST => Verb::Post,
        Method::PUT => Verb::Put,
        Method::PATCH => Verb::Patch,
        Method::DELETE => Verb::Delete,
        _ => Verb::Other,
    }
}

fn dry_run(verb: Verb, info: &RequestInfo) -> DryRun {
    // Reads ignore the parameter.
    if matches!(verb, Verb::Get | Verb::List | Verb::Watch | Verb::Connect) {
        return DryRun::No;
    }
    let (mut given, mut unknown) = (false, false);
    for value in info.query.all("dryRun") {
        given = true;
        unknown |= value != "All";
    }
    match (given, unknown) {
        (false, _) => DryRun::No,
        (true, false) => DryRun::All,
        (true, true) => DryRun::Invalid,
    }
}
