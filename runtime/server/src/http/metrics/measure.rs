//! Measures one request from its first byte to the last byte of its answer. Guarantees that each request is recorded once,
//! at its end: a watch when its stream ends, an aborted request with the code 0.

use std::{sync::Arc, time::Instant};

use http::{Method, StatusCode};

use crate::{
    http::{Site, asked::Asked, methods},
    kind::endpoint::Verb as Meaning,
    metrics::{Cell, DryRun, Endpoint, Scope, Series, Verb},
    registry::Registered,
};

/// A request that is measured, until this is dropped.
pub(crate) struct Measure {
    /// The server.
    pub site: Arc<Site>,
    /// The requested resource and verb, when they are known, and until the request is found to be long-running.
    pub asked: Option<Arc<Asked>>,
    start: Instant,
    method: Verb,
    /// Its answer has a body, which it does not for HEAD.
    has_body: bool,
    /// Zero until the request is answered.
    code: u16,
    bytes: u64,
    /// The counters of a watch or a connection. It may last indefinitely, so it does not hold the whole request.
    long: Option<Place<Arc<Registered>>>,
}

/// The counters of a request to a resource.
struct Place<R> {
    /// The resource.
    served: R,
    /// The number of the endpoint in it.
    at: usize,
    cell: Cell,
}

impl<R: AsRef<Registered>> Place<R> {
    fn series(&self) -> (&Endpoint, &Series) {
        let endpoint = &self.served.as_ref().requests[self.at];
        (endpoint, endpoint.series(self.cell))
    }
}

impl Measure {
    /// Starts measuring a request.
    pub(crate) fn begin(site: Arc<Site>, method: &Method) -> Self {
        let (start, has_body) = (Instant::now(), *method != Method::HEAD);
        Self { site, asked: None, start, method: verb_of(method), has_body, code: 0, bytes: 0, long: None }
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
        let long = self.asked.as_ref().filter(|asked| methods::is_long_running(asked)).and_then(|asked| found(asked));
        let Some(Place { served, at, cell }) = long else { return };
        let place = Place { served: served.clone(), at, cell };
        place.series().1.activate(1);
        (self.asked, self.long) = (None, Some(place));
    }

    fn record(&self, series: &Series, reads: bool) {
        let size = (reads && self.has_body && self.code != 0).then_some(self.bytes);
        series.record(self.code, self.start.elapsed(), size);
    }

    fn record_at<R: AsRef<Registered>>(&self, place: &Place<R>, reads: bool) {
        let (endpoint, series) = place.series();
        self.record(series, reads);
        if place.served.as_ref().kind.version.deprecated.is_some() && !matches!(self.code, 0 | 401 | 403) {
            endpoint.note_deprecated();
        }
    }
}

impl Drop for Measure {
    fn drop(&mut self) {
        if let Some(place) = &self.long {
            self.record_at(place, false);
            place.series().1.activate(-1);
            return;
        }
        let asked = self.asked.as_deref();
        let reads = asked.is_some_and(|asked| matches!(asked.verb, Some(Meaning::Get | Meaning::List)));
        if let Some(place) = asked.and_then(found) {
            return self.record_at(&place, reads);
        }
        let paths = &self.site.backend.metrics.counts().paths;
        let (endpoint, dry_run) = match asked {
            Some(asked) if asked.resource.is_none() => (paths.find(&asked.path), dry_run(self.method, asked)),
            Some(asked) => (paths.unknown(), dry_run(self.method, asked)),
            None => (paths.unknown(), DryRun::No),
        };
        self.record(endpoint.series(Cell { verb: self.method, scope: Scope::None, dry_run }), reads);
    }
}

/// The counters of a request to a resource that is served.
fn found(asked: &Asked) -> Option<Place<&Arc<Registered>>> {
    let path = asked.resource.as_ref().filter(|path| !path.excess)?;
    let served = asked.served.as_ref()?;
    let at = served.endpoints.iter().position(|endpoint| *endpoint.subresource == path.subresource)?;
    let scope = match asked.verb {
        _ if !path.name.is_empty() => Scope::Resource,
        Some(Meaning::Create) => Scope::Resource,
        _ if path.scoped => Scope::Namespace,
        _ => Scope::Cluster,
    };
    let verb = match asked.verb {
        Some(Meaning::Watch) => Verb::Watch,
        _ if methods::is_long_running(asked) => Verb::Connect,
        Some(Meaning::Get) => Verb::Get,
        Some(Meaning::List) => Verb::List,
        Some(Meaning::Create) => Verb::Post,
        Some(Meaning::Update) => Verb::Put,
        Some(Meaning::Patch) if asked.applies => Verb::Apply,
        Some(Meaning::Patch) => Verb::Patch,
        Some(Meaning::Delete | Meaning::DeleteCollection) => Verb::Delete,
        None => Verb::Other,
    };
    Some(Place { served, at, cell: Cell { verb, scope, dry_run: dry_run(verb, asked) } })
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

fn dry_run(verb: Verb, asked: &Asked) -> DryRun {
    // Reads ignore the parameter.
    if matches!(verb, Verb::Get | Verb::List | Verb::Watch | Verb::Connect) {
        return DryRun::No;
    }
    let (mut given, mut unknown) = (false, false);
    for value in asked.query.all("dryRun") {
        given = true;
        unknown |= value != "All";
    }
    match (given, unknown) {
        (false, _) => DryRun::No,
        (true, false) => DryRun::All,
        (true, true) => DryRun::Invalid,
    }
}
