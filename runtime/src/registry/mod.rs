//! The registry: the served kinds by group and version, and their objects in the cache. Resources may be added,
//! replaced and removed while the server runs; readers load the current table without a lock.
mod clashes;
pub(crate) mod index;
mod lookup;
mod prepared;
pub(crate) mod reader;
#[cfg(test)]
mod reader_tests;
pub(crate) mod record;
#[cfg(test)]
mod record_tests;
mod shown;
mod table;
mod view;
#[cfg(test)]
mod view_tests;

use std::{
    fmt,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
};

use arc_swap::ArcSwap;
pub(crate) use prepared::{Prepared, Preparer};
use tokio::sync::watch;
pub(crate) use view::View;

use crate::{
    cache,
    kind::{
        Kind, Versions,
        convert::{Answers, Question},
        endpoint::{self, Endpoint},
    },
    metrics,
    storage::Hold,
    webhook::Webhooks,
};
use reader::{Identity, KindReader, Transformer};
use table::Table;

/// The row of the store that declares a resource at runtime, with its revision. Every write of the resource's objects
/// is conditional on it, so that no write is stored after the row was changed or deleted, even if the same names are
/// declared again by then.
pub struct Declarer {
    hold: ArcSwap<Hold>,
    ends: AtomicBool,
}

impl Declarer {
    /// The condition on the row.
    pub fn hold(&self) -> Arc<Hold> {
        self.hold.load_full()
    }

    /// States that the resource is being removed: its objects may be changed and deleted, and no new ones are created. Call
    /// it before [`Registry::confirm`].
    pub fn end(&self) {
        self.ends.store(true, Ordering::SeqCst);
    }

    /// True if the resource is being removed: no objects are created any more. Read it after [`Declarer::hold`].
    pub fn ends(&self) -> bool {
        self.ends.load(Ordering::SeqCst)
    }
}

/// A kind in a version that is served or is the storage version, and its objects in the cache, which all versions of a
/// resource share.
#[derive(Clone)]
pub struct Registered {
    /// The kind.
    pub kind: Arc<Kind>,
    /// Its endpoints.
    pub endpoints: Vec<Endpoint>,
    /// The requests to each of the endpoints, in the same order.
    pub requests: Vec<Arc<metrics::Endpoint>>,
    /// Its objects, in the storage version.
    pub objects: Arc<cache::Resource>,
    /// Encodes stored records, and knows the storage version.
    pub records: Arc<KindReader>,
    /// Converts stored objects to this version; `None` in the storage version.
    pub view: Option<View>,
    /// The resource in the storage version; `None` in that version.
    pub stored: Option<Arc<Registered>>,
    /// The conversion webhooks; `None` if no version of the resource is converted by one.
    pub webhooks: Option<Arc<Webhooks>>,
    /// The definition; `None` if the program declares it.
    pub declarer: Option<Arc<Declarer>>,
    /// Unique for each kind and version in this process; never zero.
    pub number: u32,
}

/// An unused number.
fn next_number() -> u32 {
    static LAST: AtomicU32 = AtomicU32::new(0);
    LAST.fetch_add(1, Ordering::Relaxed) + 1
}

impl Registered {
    /// The resource in the storage version.
    pub fn stored(self: &Arc<Self>) -> &Arc<Self> {
        self.stored.as_ref().unwrap_or(self)
    }

    /// The endpoint of a subresource, or of the objects themselves for an empty name.
    pub fn endpoint(&self, subresource: &str) -> Option<&Endpoint> {
        self.endpoints.iter().find(|endpoint| &*endpoint.subresource == subresource)
    }
}

impl fmt::Debug for Registered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Registered({} {})", self.kind.group_version, self.kind.names().kind)
    }
}

/// What a resource may replace.
enum Replaces<'a> {
    Nothing,
    /// Another resource with its names, if the same row declares it.
    Any,
    /// This resource, if fewer of its objects are unread then.
    Unread(&'a Arc<Registered>),
}

/// Why a resource was not added.
enum Unput {
    Refused(String),
    /// Stored objects need these conversions.
    Open(Vec<Question>),
}

impl From<String> for Unput {
    fn from(why: String) -> Self {
        Self::Refused(why)
    }
}

/// The kinds that are served.
pub struct Registry {
    cache: Arc<cache::Cache>,
    transformer: Arc<dyn Transformer>,
    table: ArcSwap<Table>,
    /// Locked while the table is changed, so that two kinds with clashing names cannot both be added.
    changing: Mutex<()>,
    requests: Arc<metrics::Requests>,
    webhooks: Arc<Webhooks>,
    /// Signals that a resource was added, replaced, removed or confirmed.
    changes: watch::Sender<()>,
}

impl Registry {
    /// An empty registry over a cache.
    pub fn new(cache: Arc<cache::Cache>) -> Self {
        Self::with(cache, Arc::new(Identity), Arc::default())
    }

    /// An empty registry that stores objects through a transformer, and converts them by webhooks.
    pub fn with(cache: Arc<cache::Cache>, transformer: Arc<dyn Transformer>, webhooks: Arc<Webhooks>) -> Self {
        let (table, changing, requests) = (ArcSwap::default(), Mutex::new(()), Arc::default());
        Self { cache, transformer, table, changing, requests, webhooks, changes: watch::Sender::new(()) }
    }

    /// The conversion webhooks.
    pub fn webhooks(&self) -> &Arc<Webhooks> {
        &self.webhooks
    }

    /// Adds a kind in all of its versions: checks it, loads its objects, and serves it. Blocks on the disk. Returns its
    /// storage version, which need not be served.
    ///
    /// # Errors
    /// Versions that do not belong together, an invalid schema, names that clash with another kind's, or objects that
    /// could not be loaded. The text names both kinds.
    pub fn register(&self, versions: impl IntoIterator<Item = Kind>) -> Result<Arc<Registered>, String> {
        self.register_prepared(&self.preparer().prepare(versions)?)
    }

    /// The same for a kind whose objects may have been loaded before the cache was made.
    ///
    /// # Errors
    /// Like [`Registry::register`].
    pub fn register_prepared(&self, prepared: &Prepared) -> Result<Arc<Registered>, String> {
        self.put(prepared.clone(), None, &Replaces::Nothing)
    }

    fn preparer(&self) -> Preparer<'_> {
        Preparer { transformer: &self.transformer, webhooks: &self.webhooks }
    }

    /// Replaces the resource with the same group and plural by a kind in all of its versions, or adds it. The old
    /// resource is served until the objects are loaded again. Running requests continue with the old one, its watches
    /// end after the changes committed so far, and resumed watches continue on the new one. `declarer` is the row of
    /// the store that declares the kind, unless the program does. Blocks on the disk.
    ///
    /// # Errors
    /// Like [`Registry::register`], and if another row, or the program, declares the old resource; which then stays.
    pub fn replace(
        &self,
        versions: impl IntoIterator<Item = Kind>,
        declarer: Option<Hold>,
    ) -> Result<Arc<Registered>, String> {
        let declarer =
            declarer.map(|hold| Arc::new(Declarer { hold: ArcSwap::from_pointee(hold), ends: AtomicBool::new(false) }));
        self.put(self.preparer().prepare(versions)?, declarer.as_ref(), &Replaces::Any)
    }

    /// Reads the objects of a resource again, if a conversion webhook could not convert all of them when they were read. The
    /// resource is replaced if more can be read now. Blocks on the disk and the webhook.
    pub fn reread(&self, served: &Arc<Registered>) -> Option<Arc<Registered>> {
        let prepared = self.preparer().with(served.records.versions().clone());
        self.put(prepared, served.declarer.as_ref(), &Replaces::Unread(served)).ok()
    }

    /// Stops serving a resource: its watches end after what was committed. Requests that began before continue, and their
    /// writes are stored as long as the row that declares the resource is unchanged: change or delete that before. Stored
    /// objects stay. Returns false if the resource was removed or replaced before. Blocks while another resource is loaded.
    pub fn remove(&self, served: &Arc<Registered>) -> bool {
        let _one_at_a_time = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let (table, old) = (self.table.load(), served.stored());
        let is_served = table.has(old);
        if is_served {
            self.table.store(Arc::new(table.with(Some(old), None)));
            self.cache.remove(&old.objects);
            if old.webhooks.is_some() {
                self.webhooks.forget(&old.kind.group_resource().to_string());
            }
            self.changes.send_replace(());
        }
        is_served
    }

    /// Confirms that the row that declares a resource was written again, and still declares the same. Writes that were
    /// waiting for this continue. Returns false if no row declares the resource, or it was removed or replaced before. Call it
    /// only where the resource is also removed and replaced: it does not wait for these.
    pub fn confirm(&self, served: &Arc<Registered>, declarer: Hold) -> bool {
        let known = served.declarer.as_ref().filter(|_| self.table.load().has(served.stored()));
        let confirmed = known.inspect(|known| known.hold.store(Arc::new(declarer))).is_some();
        self.changes.send_replace(());
        confirmed
    }

    fn put(
        &self,
        mut prepared: Prepared,
        declarer: Option<&Arc<Declarer>>,
        replaces: &Replaces<'_>,
    ) -> Result<Arc<Registered>, String> {
        let mut answers = Answers::default();
        for attempt in 0.. {
            match self.try_put(&prepared, declarer, replaces, &mut answers) {
                Ok(done) => return Ok(done),
                Err(Unput::Refused(why)) => return Err(why),
                // Not under the lock, because webhooks may be slow.
                Err(Unput::Open(open)) => self.webhooks.answer_blocking(open, &mut answers, attempt),
            }
            // The next reader counts again.
            prepared = self.preparer().with(prepared.records.versions().clone());
        }
        unreachable!("what is asked is answered")
    }

    /// The same if the conversions of stored objects were answered.
    fn try_put(
        &self,
        Prepared { records }: &Prepared,
        declarer: Option<&Arc<Declarer>>,
        replaces: &Replaces<'_>,
        answers: &mut Answers,
    ) -> Result<Arc<Registered>, Unput> {
        let _one_at_a_time = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let kind = records.stored().clone();
        let table = self.table.load_full();
        let old = table
            .resource(&kind.group_version.group, &kind.names().plural)
            .filter(|_| !matches!(replaces, Replaces::Nothing));
        check(&table, old, records.versions(), declarer, replaces)?;
        let load = || self.cache.load(&kind.shared.prefix(), records.clone());
        // Objects of another version are converted to the storage version.
        let loading = answers.attempt(load).map_err(Unput::Open)?;
        let loading =
            loading.map_err(|error| format!("cannot load the objects of {}: {error}", kind.group_resource()))?;
        if let Replaces::Unread(before) = replaces
            && records.unread() >= before.records.unread()
        {
            return Err(format!("the objects of {} cannot be converted yet", kind.group_resource()).into());
        }
        if let Some(misfits) = records.take_misfits() {
            tracing::warn!(
                resource = %kind.group_resource(), count = misfits.count, example = misfits.example,
                "stored objects do not fit the schema of their kind: they are served, can be deleted, and can be written \
                 as far as that changes only what fits",
            );
        }
        let served = |kind: &Arc<Kind>| {
            let endpoints = endpoint::of(kind);
            Registered {
                requests: endpoints.iter().map(|endpoint| self.measured(kind, endpoint)).collect(),
                kind: kind.clone(),
                endpoints,
                objects: loading.resource().clone(),
                records: records.clone(),
                view: None,
                stored: None,
                webhooks: records.versions().wait().then(|| self.webhooks.clone()),
                declarer: declarer.cloned(),
                number: next_number(),
            }
        };
        let stored = Arc::new(served(&kind));
        let in_version = |version: &Arc<Kind>| {
            if Arc::ptr_eq(version, &kind) {
                return stored.clone();
            }
            let served = served(version);
            let view = View::new(version.clone(), self.cache.renderings().clone(), served.number);
            Arc::new(Registered { view: Some(view), stored: Some(stored.clone()), ..served })
        };
        let versions: Vec<Arc<Registered>> = records.versions().iter().map(in_version).collect();
        let table = Arc::new(table.with(old, Some((&versions, &stored))));
        loading.serve(|| self.table.store(table));
        self.changes.send_replace(());
        Ok(stored)
    }

    /// The counters of the requests to an endpoint.
    fn measured(&self, kind: &Kind, endpoint: &Endpoint) -> Arc<metrics::Endpoint> {
        let at = &kind.group_version;
        self.requests.endpoint(&at.group, &at.version, &kind.names().plural, &endpoint.subresource)
    }

    /// The requests to the endpoints of all kinds that are or were served.
    pub fn requests(&self) -> &Arc<metrics::Requests> {
        &self.requests
    }
}

/// Checks that a kind may be added, or replace a resource.
fn check(
    table: &Table,
    old: Option<&Arc<Registered>>,
    versions: &Versions,
    declarer: Option<&Arc<Declarer>>,
    replaces: &Replaces<'_>,
) -> Result<(), String> {
    let (kind, definition) = (versions.stored(), versions.definition());
    if let Replaces::Unread(before) = replaces
        && !old.is_some_and(|old| Arc::ptr_eq(old, before.stored()))
    {
        return Err(format!("{} was replaced or removed", kind.group_resource()));
    }
    let row = |declarer: Option<&Arc<Declarer>>| declarer.map(|declarer| declarer.hold.load().key.clone());
    if let Some(old) = old
        && row(old.declarer.as_ref()) != row(declarer)
    {
        return Err(format!("{} is declared elsewhere already", kind.group_resource()));
    }
    let prefix = kind.shared.prefix();
    for other in table.resources.iter().filter(|other| old.is_none_or(|old| !Arc::ptr_eq(old, other))) {
        clashes::check_names(definition, other.records.versions().definition())?;
        clashes::check_keys((&kind.shared, &prefix), (&other.kind.shared, other.objects.prefix()))?;
    }
    Ok(())
}
