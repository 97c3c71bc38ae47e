//! Measures one request from its first byte to the last byte of its answer. Guarantees that each request is recorded once,
//! at its end: a watch when its stream ends, an aborted request with the code 0.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use http::{Method, StatusCode};

use crate::{
    http::{Site, asked::Asked, methods},
    kind::endpoint::Verb as Meaning,
    metrics::{Cell, DryRun, Endpoint, Scope, Series, Verb},
};

/// A request that is measured, until this is dropped.
pub(crate) struct Measure {
    /// The server.
    pub site: Arc<Site>,
    /// The requested resource and verb, when they are known.
    pub asked: Option<Arc<Asked>>,
    start: Instant,
    method: Verb,
    /// Its answer has a body, which it does not for HEAD.
    has_body: bool,
    /// Zero until the request is answered.
    code: u16,
    bytes: u64,
    /// True for a watch or a connection, which may last indefinitely.
    is_long: bool,
}

impl Measure {
    /// Starts measuring a request.
    pub(crate) fn begin(site: Arc<Site>, method: &Method) -> Self {
        let (start, has_body) = (Instant::now(), *method != Method::HEAD);
        Self { site, asked: None, start, method: verb_of(method), has_body, code: 0, bytes: 0, is_long: false }
    }

    /// Records the status of the answer, whose body may still be sent.
    pub(crate) fn answered(&mut self, code: StatusCode) {
        self.code = code.as_u16();
    }

    /// Counts bytes of the answer.
    pub(crate) fn sent(&mut self, bytes: u64) {
        self.bytes += bytes;
    }

    /// Marks the request as long-running.
    pub(crate) fn goes_on(&mut self) {
        self.is_long = self.asked.as_ref().is_some_and(|asked| methods::is_long_running(asked));
        if self.is_long {
            self.place(|_, series| series.activate(1));
        }
    }

    /// Finds the counters of the request.
    fn place(&self, count: impl FnOnce(&Endpoint, &Series)) {
        let paths = &self.site.backend.metrics.counts().paths;
        let nowhere = |endpoint, dry_run| (endpoint, Cell { verb: self.method, scope: Scope::None, dry_run });
        let (endpoint, cell) = match &self.asked {
            None => nowhere(paths.unknown(), DryRun::No),
            Some(asked) => found(asked).unwrap_or_else(|| {
                let endpoint = if asked.resource.is_none() { paths.find(&asked.path) } else { paths.unknown() };
                nowhere(endpoint, dry_run(self.method, asked))
            }),
        };
        count(endpoint, endpoint.series(cell));
    }

    fn record(&self, endpoint: &Endpoint, series: &Series, elapsed: Duration) {
        let reads = self.asked.as_ref().is_some_and(|asked| matches!(asked.verb, Some(Meaning::Get | Meaning::List)));
        series.record(self.code, elapsed, (reads && self.has_body && self.code != 0).then_some(self.bytes));
        if self.is_long {
            series.activate(-1);
        }
        let served = self.asked.as_ref().and_then(|asked| asked.served.as_ref());
        if served.is_some_and(|served| served.kind.version.deprecated.is_some()) && !matches!(self.code, 0 | 401 | 403)
        {
            endpoint.note_deprecated();
        }
    }
}

impl Drop for Measure {
    fn drop(&mut self) {
        let elapsed = self.start.elapsed();
        self.place(|endpoint, series| self.record(endpoint, series, elapsed));
    }
}

/// The endpoint of a request, if it is served.
fn found(asked: &Asked) -> Option<(&Endpoint, Cell)> {
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
    Some((served.requests.get(at)?, Cell { verb, scope, dry_run: dry_run(verb, asked) }))
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
