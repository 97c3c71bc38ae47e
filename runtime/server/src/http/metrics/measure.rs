//! Measures one request from its first byte to the last byte of its answer. Guarantees that each request is recorded once,
//! at its end: a watch when its stream ends, an aborted request with the code 0.

use std::{sync::Arc, time::Instant};

use http::{Method, StatusCode};

use super::Metrics;
use crate::{
    http::{methods, request_info::RequestInfo},
    kind::endpoint::Verb as RequestVerb,
    metrics::{Cell, DryRun, Endpoint, Scope, Verb},
};

/// A request that is measured, until this is dropped.
pub(crate) struct Measure {
    /// The counters: of the path, or of the endpoint of a resource.
    endpoint: Arc<Endpoint>,
    /// Which of them.
    cell: Cell,
    start: Instant,
    /// The sizes of its answers are counted.
    reads: bool,
    /// Its version of the resource is deprecated.
    is_deprecated: bool,
    lifetime: Lifetime,
    /// Zero until the request is answered.
    code: u16,
    bytes: u64,
}

/// How long a request lasts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lifetime {
    /// Until its answer was sent.
    Short,
    /// Without a time limit, as a watch or a connection, unless it is refused.
    Long,
    /// The same, and it counts among the active ones.
    Active,
}

impl Measure {
    /// Starts measuring a request.
    pub(crate) fn begin(metrics: &Metrics, method: &Method) -> Self {
        Self {
            endpoint: metrics.counts.paths.unknown().clone(),
            cell: Cell { verb: verb_of(method), scope: Scope::None, dry_run: DryRun::No },
            start: Instant::now(),
            reads: false,
            is_deprecated: false,
            lifetime: Lifetime::Short,
            code: 0,
            bytes: 0,
        }
    }

    /// Notes what the request asks for, which decides where it is counted. The last note holds.
    pub(crate) fn count_as(&mut self, info: &RequestInfo, metrics: &Metrics) {
        if methods::is_long_running(info) {
            self.lifetime = Lifetime::Long;
        }
        self.reads = matches!(info.verb, Some(RequestVerb::Get | RequestVerb::List)) && info.method != Method::HEAD;
        if let Some((endpoint, cell)) = self.counters(info) {
            (self.endpoint, self.cell) = (endpoint.clone(), cell);
            self.is_deprecated = info.served.as_ref().is_some_and(|served| served.kind.version.deprecated.is_some());
            return;
        }
        if info.resource.is_none() {
            self.endpoint = metrics.counts.paths.find(&info.path).clone();
        }
        self.cell.dry_run = dry_run(self.cell.verb, info);
    }

    /// The counters of a request to a resource that is served.
    fn counters<'i>(&self, info: &'i RequestInfo) -> Option<(&'i Arc<Endpoint>, Cell)> {
        let path = info.resource.as_ref().filter(|path| !path.excess)?;
        let served = info.served.as_ref()?;
        let at = served.endpoints.iter().position(|endpoint| *endpoint.subresource == path.subresource)?;
        let scope = match info.verb {
            _ if !path.name.is_empty() => Scope::Resource,
            Some(RequestVerb::Create) => Scope::Resource,
            _ if path.scoped => Scope::Namespace,
            _ => Scope::Cluster,
        };
        let verb = match info.verb {
            Some(RequestVerb::Watch) => Verb::Watch,
            _ if self.lifetime == Lifetime::Long => Verb::Connect,
            Some(RequestVerb::Get) => Verb::Get,
            Some(RequestVerb::List) => Verb::List,
            Some(RequestVerb::Create) => Verb::Post,
            Some(RequestVerb::Update) => Verb::Put,
            Some(RequestVerb::Patch) if info.applies => Verb::Apply,
            Some(RequestVerb::Patch) => Verb::Patch,
            Some(RequestVerb::Delete | RequestVerb::DeleteCollection) => Verb::Delete,
            None => Verb::Other,
        };
        Some((&served.requests[at], Cell { verb, scope, dry_run: dry_run(verb, info) }))
    }

    /// Records the status of the answer, whose body may still be sent.
    pub(crate) fn answered(&mut self, code: StatusCode) {
        self.code = code.as_u16();
    }

    /// Counts bytes of the answer.
    pub(crate) fn sent(&mut self, bytes: u64) {
        self.bytes += bytes;
    }

    /// Notes that the answer is sent later, for a watch or a connection without a time limit.
    pub(crate) fn goes_on(&mut self) {
        if self.lifetime == Lifetime::Long {
            self.lifetime = Lifetime::Active;
            self.endpoint.series(self.cell).activate(1);
        }
    }
}

impl Drop for Measure {
    fn drop(&mut self) {
        let series = self.endpoint.series(self.cell);
        let is_active = self.lifetime == Lifetime::Active;
        if is_active {
            series.activate(-1);
        }
        let size = (self.reads && !is_active && self.code != 0).then_some(self.bytes);
        series.record(self.code, self.start.elapsed(), size);
        if self.is_deprecated && !matches!(self.code, 0 | 401 | 403) {
            self.endpoint.note_deprecated();
        }
    }
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
