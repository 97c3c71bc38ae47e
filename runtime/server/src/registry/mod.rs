//! The registry: the served kinds by group and version, and their objects in the cache. Resources may be added,
//! replaced and removed while the server runs; readers load the current table without a lock.
mod clashes;
pub(crate) mod index;
mod lookup;
mod prepared;
mod put;
pub(crate) mod reader;
pub(crate) mod record;
mod shown;
mod table;
#[cfg(test)]
mod tests;
mod view;

use std::{
    fmt,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering},
    },
};

use arc_swap::ArcSwap;
pub(crate) use prepared::{PreparedKind, Preparer};
use put::Replaces;
use tokio::sync::{Semaphore, SemaphorePermit, watch as signal};
pub use view::View;

use crate::{
    cache,
    kind::{Kind, Versions, endpoint::Endpoint},
    metrics,
    storage::Hold,
    webhook::Webhooks,
};
use reader::{Identity, KindReader, Transformer};
use table::Table;

/// The row of the store that declares a resource at runtime, with its revision. Every write of the resource's objects
/// is conditional on it, so that no write is stored after the row was changed or deleted, even if the same names are
/// declared again by then.
pub struct DefinitionRow {
    hold: ArcSwap<Hold>,
    ends: AtomicBool,
    /// Permits for writes that wait until a changed row is read again.
    waiting: Semaphore,
}

/// The writes of a resource that may wait until its changed definition is read again: a quarter of all writes, since it may be a
/// webhook that it waits for.
const MOST_WAITING: usize = 50;

impl DefinitionRow {
    fn new(hold: Hold) -> Self {
        let (hold, ends) = (ArcSwap::from_pointee(hold), AtomicBool::new(false));
        Self { hold, ends, waiting: Semaphore::new(MOST_WAITING) }
    }

    /// The row of a resource that is being removed.
    fn of_ending(hold: Hold) -> Self {
        Self { ends: AtomicBool::new(true), ..Self::new(hold) }
    }

    /// A permit for a write that waits until the row is read again; `None` if too many others wait.
    pub(crate) fn waiting_permit(&self) -> Option<SemaphorePermit<'_>> {
        self.waiting.try_acquire().ok()
    }

    /// The condition on the row.
    pub fn hold(&self) -> Arc<Hold> {
        self.hold.load_full()
    }

    /// True if the resource is being removed: no objects are created any more. Read it after [`DefinitionRow::hold`].
    fn ends(&self) -> bool {
        self.ends.load(Ordering::SeqCst)
    }
}

/// A kind in a version that is served or is the storage version, and its objects in the cache, which all versions of a
/// resource share.
#[derive(Clone)]
pub struct ResourceEntry {
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
    pub stored: Option<Arc<ResourceEntry>>,
    /// The conversion webhooks; `None` if no version of the resource is converted by one.
    pub webhooks: Option<Arc<Webhooks>>,
    /// The definition; `None` if the program declares it.
    pub definition_row: Option<Arc<DefinitionRow>>,
    /// The warning in all answers, if the version is deprecated.
    pub deprecated: Option<Arc<str>>,
    /// Unique for each kind and version in this process; never zero.
    pub number: u32,
}

/// An unused number.
fn next_number() -> u32 {
    static LAST: AtomicU32 = AtomicU32::new(0);
    LAST.fetch_add(1, Ordering::Relaxed) + 1
}

impl ResourceEntry {
    /// The resource in the storage version.
    pub fn stored(self: &Arc<Self>) -> &Arc<Self> {
        self.stored.as_ref().unwrap_or(self)
    }

    /// True if the resource is being removed: no objects are created any more. Read it after [`DefinitionRow::hold`].
    pub fn is_ending(&self) -> bool {
        self.definition_row.as_ref().is_some_and(|row| row.ends())
    }

    /// The endpoint of a subresource, or of the objects themselves for an empty name.
    pub fn endpoint(&self, subresource: &str) -> Option<&Endpoint> {
        self.endpoints.iter().find(|endpoint| &*endpoint.subresource == subresource)
    }
}

impl fmt::Debug for ResourceEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ResourceEntry({} {})", self.kind.group_version, self.kind.names().kind)
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
    /// The number of resources that have begun to be removed.
    endings: AtomicU64,
    /// Signals that a resource was added, replaced, removed or confirmed.
    changes: signal::Sender<()>,
}

impl Registry {
    /// An empty registry over a cache.
    pub fn new(cache: Arc<cache::Cache>) -> Self {
        Self::with(cache, Arc::new(Identity), Arc::default())
    }

    /// An empty registry that stores objects through a transformer, and converts them by webhooks.
    pub fn with(cache: Arc<cache::Cache>, transformer: Arc<dyn Transformer>, webhooks: Arc<Webhooks>) -> Self {
        let (table, changing, requests) = (ArcSwap::default(), Mutex::new(()), Arc::default());
        let (endings, changes) = (AtomicU64::new(0), signal::Sender::new(()));
        Self { cache, transformer, table, changing, requests, webhooks, endings, changes }
    }

    /// The conversion webhooks.
    pub fn webhooks(&self) -> &Arc<Webhooks> {
        &self.webhooks
    }

    /// Adds a kind in all of its versions: checks it, loads its objects, and serves it. Blocks on the disk. Calls no webhook:
    /// objects that one has to convert are unread until they are [read again](Registry::reread). Returns its storage version,
    /// which need not be served.
    ///
    /// # Errors
    /// Versions that do not belong together, an invalid schema, names that clash with another kind's, or objects that
    /// could not be loaded. The text names both kinds.
    pub fn register(&self, versions: impl IntoIterator<Item = Kind>) -> Result<Arc<ResourceEntry>, String> {
        self.register_prepared(&self.preparer().prepare(versions)?)
    }

    /// The same for a kind whose objects may have been loaded before the cache was made.
    ///
    /// # Errors
    /// Like [`Registry::register`].
    pub fn register_prepared(&self, prepared: &PreparedKind) -> Result<Arc<ResourceEntry>, String> {
        self.put(prepared, None, &Replaces::Nothing)
    }

    fn preparer(&self) -> Preparer<'_> {
        Preparer { transformer: &self.transformer, webhooks: &self.webhooks }
    }

    /// Replaces the resource with the same group and plural by a kind in all of its versions, or adds it. The old
    /// resource is served until the objects are loaded again. Running requests continue with the old one, its watches
    /// end after the changes committed so far, and resumed watches continue on the new one. `definition_row` is the row of
    /// the store that declares the kind, unless the program does. Blocks on the disk. Calls no webhook, like
    /// [`Registry::register`].
    ///
    /// # Errors
    /// Like [`Registry::register`], and if another row, or the program, declares the old resource; which then stays.
    pub fn replace(
        &self,
        versions: impl IntoIterator<Item = Kind>,
        definition_row: Option<Hold>,
    ) -> Result<Arc<ResourceEntry>, String> {
        let definition_row = definition_row.map(|hold| DefinitionRow::new(hold).into());
        self.put(&self.preparer().prepare(versions)?, definition_row.as_ref(), &Replaces::Any)
    }

    /// The same for a resource that is being removed: no objects are created at any time.
    ///
    /// # Errors
    /// Like [`Registry::replace`].
    pub fn replace_ending(
        &self,
        versions: impl IntoIterator<Item = Kind>,
        definition_row: Hold,
    ) -> Result<Arc<ResourceEntry>, String> {
        let definition_row = DefinitionRow::of_ending(definition_row).into();
        self.put(&self.preparer().prepare(versions)?, Some(&definition_row), &Replaces::Any)
    }

    /// [`Registry::replace`], with objects that a webhook has to convert: the old resource is served until the webhook has converted them, or
    /// has failed. If the signal comes while the webhook is called, nothing is replaced.
    ///
    /// # Errors
    /// Like [`Registry::replace`], and if the signal came.
    pub async fn replace_converted(
        self: &Arc<Self>,
        versions: Vec<Kind>,
        definition_row: Hold,
        stop: signal::Receiver<bool>,
    ) -> Result<Arc<ResourceEntry>, String> {
        self.put_converted(
            Versions::new(versions)?,
            Some(DefinitionRow::new(definition_row).into()),
            Replaces::Any,
            stop,
        )
        .await
    }

    /// Reads the objects of a resource again, if a conversion webhook could not convert all of them when they were read. The
    /// resource is replaced if more can be read now, and the signal has not come.
    pub async fn reread(
        self: &Arc<Self>,
        resource: &Arc<ResourceEntry>,
        stop: signal::Receiver<bool>,
    ) -> Option<Arc<ResourceEntry>> {
        let (versions, definition_row) = (resource.records.versions().clone(), resource.definition_row.clone());
        self.put_converted(versions, definition_row, Replaces::Unread(resource.clone()), stop).await.ok()
    }

    /// Stops serving a resource: its watches end after what was committed. Requests that began before continue, and their
    /// writes are stored as long as the row that declares the resource is unchanged: change or delete that before. Stored
    /// objects stay. Returns false if the resource was removed or replaced before. Blocks while another resource is loaded.
    pub fn remove(&self, resource: &Arc<ResourceEntry>) -> bool {
        let _one_at_a_time = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let (table, old) = (self.table.load(), resource.stored());
        let is_served = table.has(old);
        if is_served {
            self.table.store(Arc::new(table.with(Some(old), None)));
            self.cache.remove(&old.objects);
            if old.webhooks.is_some() {
                self.webhooks.forget_others(&old.kind.group_resource().to_string(), None);
            }
            self.changes.send_replace(());
        }
        is_served
    }

    /// States that a resource is being removed: its objects may be changed and deleted, and no new ones are created. Call it
    /// before [`Registry::confirm`].
    pub fn end(&self, resource: &ResourceEntry) {
        let Some(definition_row) = &resource.definition_row else { return };
        if !definition_row.ends.swap(true, Ordering::SeqCst) {
            self.endings.fetch_add(1, Ordering::SeqCst);
            self.changes.send_replace(());
        }
    }

    /// Confirms that the row that declares a resource was written again, and still declares the same. Writes that were
    /// waiting for this continue. Returns false if no row declares the resource, or it was removed or replaced before. Call it
    /// only where the resource is also removed and replaced: it does not wait for these.
    pub fn confirm(&self, resource: &Arc<ResourceEntry>, definition_row: Hold) -> bool {
        let current = resource.definition_row.as_ref().filter(|_| self.table.load().has(resource.stored()));
        let confirmed = current.inspect(|row| row.hold.store(Arc::new(definition_row))).is_some();
        self.changes.send_replace(());
        confirmed
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
