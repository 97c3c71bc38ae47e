//! Requests, by what they ask for. The labels of a series are resolved when a kind is registered; a request finds its series by
//! small numbers. Guarantees that requests make no labels: their number is bounded by what is served.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicI64, Ordering},
    },
    time::Duration,
};

use super::{
    cells::{self, Cells, Histogram, Totals, milliseconds, width},
    labels, nanoseconds,
};

labels! {
    /// The label `verb`: methods as kube-apiserver counts them.
    Verb {
        /// An object is read.
        Get = "GET",
        /// A collection is read.
        List = "LIST",
        /// A collection is watched.
        Watch = "WATCH",
        /// An object is created.
        Post = "POST",
        /// An object is replaced.
        Put = "PUT",
        /// An object is patched.
        Patch = "PATCH",
        /// An object is applied.
        Apply = "APPLY",
        /// An object or a collection is deleted.
        Delete = "DELETE",
        /// A connection to an object, or text that streams from it.
        Connect = "CONNECT",
        /// Any other method.
        Other = "other",
    }
}

labels! {
    /// The label `scope`: how much a request is about.
    Scope {
        /// No resource.
        None = "",
        /// One object.
        Resource = "resource",
        /// The objects of a namespace.
        Namespace = "namespace",
        /// All objects.
        Cluster = "cluster",
    }
}

labels! {
    /// The label `dry_run`.
    DryRun {
        /// The request is served for good.
        No = "",
        /// Nothing is stored.
        All = "All",
        /// The parameter has another value.
        Invalid = "invalid",
    }
}

/// Which series of an endpoint a request belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The verb.
    pub verb: Verb,
    /// The scope.
    pub scope: Scope,
    /// The dry run parameter.
    pub dry_run: DryRun,
}

impl Cell {
    const COUNT: usize = Verb::ALL.len() * Scope::ALL.len() * DryRun::ALL.len();

    const fn index(self) -> usize {
        (self.verb as usize * Scope::ALL.len() + self.scope as usize) * DryRun::ALL.len() + self.dry_run as usize
    }

    fn at(index: usize) -> Self {
        let (rest, dry_run) = (index / DryRun::ALL.len(), DryRun::ALL[index % DryRun::ALL.len()]);
        Self { verb: Verb::ALL[rest / Scope::ALL.len()], scope: Scope::ALL[rest % Scope::ALL.len()], dry_run }
    }
}

/// Buckets of a request's duration, as kube-apiserver has them.
const DURATIONS: [u64; 23] = milliseconds([
    5, 25, 50, 100, 200, 400, 600, 800, 1_000, 1_250, 1_500, 2_000, 3_000, 4_000, 5_000, 6_000, 8_000, 10_000, 15_000,
    20_000, 30_000, 45_000, 60_000,
]);
/// Buckets of an answer's size, in bytes.
const SIZES: [u64; 7] = [1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000];
/// Buckets of the size of a watch's event, in bytes.
const EVENTS: [u64; 8] = [1 << 10, 2 << 10, 4 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10, 128 << 10];

/// The codes that the server itself answers with, the usual ones first. Zero stands for a request that went away unanswered.
const CODES: [u16; 24] = [
    200, 201, 404, 409, 403, 401, 422, 400, 429, 0, 101, 202, 204, 304, 405, 406, 408, 410, 413, 415, 431, 500, 503,
    504,
];
const DURATIONS_AT: usize = CODES.len();
const SIZES_AT: usize = DURATIONS_AT + width(&DURATIONS);

/// The requests with the same labels.
pub struct Series {
    cells: Cells,
    /// Codes that only users' own code answers with.
    rare: Mutex<BTreeMap<u16, u64>>,
    active: AtomicI64,
}

impl Series {
    fn new() -> Self {
        Self { cells: Cells::new(SIZES_AT + width(&SIZES)), rare: Mutex::default(), active: AtomicI64::new(0) }
    }

    /// A request was answered, or went away; the size of its answer counts where it read.
    pub fn record(&self, code: u16, duration: Duration, size: Option<u64>) {
        let copy = self.cells.copy();
        match CODES.iter().position(|known| *known == code) {
            Some(at) => cells::count(&copy[at]),
            None => *self.rare.lock().unwrap_or_else(PoisonError::into_inner).entry(code).or_default() += 1,
        }
        cells::observe(&copy[DURATIONS_AT..], &DURATIONS, nanoseconds(duration));
        if let Some(size) = size {
            cells::observe(&copy[SIZES_AT..], &SIZES, size);
        }
    }

    /// A long-running request begins (1) or ends (-1).
    pub fn activate(&self, change: i64) {
        self.active.fetch_add(change, Ordering::Relaxed);
    }

    /// The long-running requests that are open.
    pub fn active(&self) -> i64 {
        self.active.load(Ordering::Relaxed)
    }

    /// Number of requests by code, without codes that never occurred.
    pub fn codes(&self) -> Vec<(u16, u64)> {
        let known = CODES.iter().enumerate().map(|(at, code)| (*code, self.cells.total(at)));
        let rare = self.rare.lock().unwrap_or_else(PoisonError::into_inner);
        known.filter(|(_, count)| *count > 0).chain(rare.iter().map(|(code, count)| (*code, *count))).collect()
    }

    /// Durations in nanoseconds.
    pub fn durations(&self) -> Totals {
        self.cells.totals(&DURATIONS, DURATIONS_AT)
    }

    /// Sizes in bytes.
    pub fn sizes(&self) -> Totals {
        self.cells.totals(&SIZES, SIZES_AT)
    }
}

/// The requests to an endpoint: a resource in a version, one of its subresources, or a path that is no resource.
pub struct Endpoint {
    /// The group; empty for the core group.
    pub group: String,
    /// The version.
    pub version: String,
    /// The plural name of the resource.
    pub resource: String,
    /// The subresource; of what is no resource the path.
    pub subresource: String,
    /// By [`Cell::index`], made when a request comes.
    series: OnceLock<Box<[OnceLock<Box<Series>>]>>,
    events: OnceLock<Histogram>,
    deprecated: AtomicBool,
}

impl Endpoint {
    /// An endpoint without requests.
    pub fn new(group: &str, version: &str, resource: &str, subresource: &str) -> Self {
        Self {
            group: group.to_owned(),
            version: version.to_owned(),
            resource: resource.to_owned(),
            subresource: subresource.to_owned(),
            series: OnceLock::new(),
            events: OnceLock::new(),
            deprecated: AtomicBool::new(false),
        }
    }

    /// Whether it belongs to a resource.
    pub fn is_resource(&self) -> bool {
        !self.resource.is_empty()
    }

    /// The requests with these labels.
    pub fn series(&self, cell: Cell) -> &Series {
        let all = self.series.get_or_init(|| (0..Cell::COUNT).map(|_| OnceLock::new()).collect());
        all[cell.index()].get_or_init(|| Box::new(Series::new()))
    }

    /// The series that there are.
    pub fn all(&self) -> impl Iterator<Item = (Cell, &Series)> {
        let all = self.series.get().map_or(&[][..], |all| all).iter().enumerate();
        all.filter_map(|(index, series)| Some((Cell::at(index), &**series.get()?)))
    }

    /// A watch was sent events of these sizes.
    pub fn sent_events(&self, sizes: impl Iterator<Item = usize>) {
        self.events.get_or_init(|| Histogram::new(&EVENTS)).observe_all(sizes.map(|size| size as u64));
    }

    /// The sizes of the events that watches were sent, in bytes; `None` where there were none.
    pub fn events(&self) -> Option<Totals> {
        self.events.get().map(Histogram::totals)
    }

    /// Notes a request to a deprecated version.
    pub fn note_deprecated(&self) {
        if !self.deprecated.load(Ordering::Relaxed) {
            self.deprecated.store(true, Ordering::Relaxed);
        }
    }

    /// True if it was requested after its deprecation.
    pub fn is_deprecated(&self) -> bool {
        self.deprecated.load(Ordering::Relaxed)
    }
}

type Names = [String; 4];

/// The endpoints of all kinds that are or were served. A kind that is replaced goes on with the numbers that it had.
/// The endpoints of removed kinds are dropped once they outnumber the others and are at least a thousand.
#[derive(Default)]
pub struct Requests(Mutex<Endpoints>);

#[derive(Default)]
struct Endpoints {
    all: BTreeMap<Names, Arc<Endpoint>>,
    /// The number of endpoints in use when the others were last dropped.
    used: usize,
}

impl Requests {
    /// The endpoint of a group, version, resource and subresource.
    pub fn endpoint(&self, group: &str, version: &str, resource: &str, subresource: &str) -> Arc<Endpoint> {
        let names = [group, version, resource, subresource].map(str::to_owned);
        let Endpoints { all, used } = &mut *self.endpoints();
        if !all.contains_key(&names) && all.len() >= *used * 2 + 1_000 {
            all.retain(|_, endpoint| Arc::strong_count(endpoint) > 1);
            *used = all.len();
        }
        all.entry(names).or_insert_with(|| Arc::new(Endpoint::new(group, version, resource, subresource))).clone()
    }

    /// All of them, in the order of their names.
    pub fn all(&self) -> Vec<Arc<Endpoint>> {
        self.endpoints().all.values().cloned().collect()
    }

    fn endpoints(&self) -> MutexGuard<'_, Endpoints> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_found_under_its_own_labels_only() {
        let endpoint = Endpoint::new("", "v1", "pods", "");
        for index in 0..Cell::COUNT {
            assert_eq!(Cell::at(index).index(), index);
            endpoint.series(Cell::at(index)).record(200, Duration::from_millis(u64::try_from(index).unwrap()), None);
        }
        assert_eq!(endpoint.all().count(), Cell::COUNT);
        for (cell, series) in endpoint.all() {
            assert_eq!(series.codes(), [(200, 1)], "{cell:?}");
            assert_eq!(series.durations().sum, cell.index() as u64 * 1_000_000, "{cell:?}");
            assert_eq!(series.sizes().count(), 0);
        }
    }

    #[test]
    fn codes_that_the_server_does_not_know_are_counted_too() {
        let series = Series::new();
        for code in [200, 418, 0, 418, 200, 200] {
            series.record(code, Duration::from_secs(61), Some(1_000));
        }
        assert_eq!(series.codes(), [(200, 3), (0, 1), (418, 2)]);
        assert_eq!(series.durations().buckets.last(), Some(&6));
        assert_eq!(series.sizes().buckets.first(), Some(&6));
    }

    #[test]
    fn a_kind_that_is_replaced_goes_on_with_its_numbers() {
        let requests = Requests::default();
        let first = requests.endpoint("", "v1", "pods", "log");
        assert!(Arc::ptr_eq(&first, &requests.endpoint("", "v1", "pods", "log")));
        assert!(!Arc::ptr_eq(&first, &requests.endpoint("", "v1", "pods", "")));
        assert_eq!(requests.all().len(), 2);
        for at in 0..5_000 {
            requests.endpoint("example.com", "v1", &at.to_string(), "");
        }
        assert!(requests.all().len() <= 1_100, "kinds that come and go do not fill the memory");
        assert!(Arc::ptr_eq(&first, &requests.endpoint("", "v1", "pods", "log")), "one that is served stays");
    }
}
