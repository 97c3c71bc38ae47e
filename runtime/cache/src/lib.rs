//! Part of [`kindsmith`](https://docs.rs/kindsmith), on which programs depend instead: the cache. The newest state of every resource as rendered bytes, ordered snapshots, the window of past changes, and
//! the fan-out to watchers. Knows keys, bytes and indexes; never a kind.
//!
//! Guarantees:
//!
//! - A commit that the store acknowledged is in the state (read your writes).
//! - A commit over several objects is visible completely or not at all.
//! - A snapshot's revision is exactly that of its content.
//! - Every watcher gets every matching change once and in order, or an error that it fell behind.
//! - Readers take no lock, and a slow watcher blocks no other.

mod body;
mod btree;
mod budget;
mod change;
mod channel;
mod fanout;
mod feeder;
mod history;
mod index;
mod indexing;
mod object;
mod pending_resource;
mod preload;
mod reader;
mod renderings;
mod resource;
mod search;
mod snapshot;
mod state;
mod subscription;
mod texts;
mod tree;
mod wakeups;
mod watch;
mod window;

use kindsmith_meta as meta;
use kindsmith_storage as storage;

#[cfg(test)]
mod tests;

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard},
    task::Waker,
};

pub use body::Body;
pub use change::Event;
pub use index::{Condition, Term};
pub use object::{EventType, FRAME_END, Object};
pub use pending_resource::PendingResource;
pub use preload::Preload;
pub use reader::SharedReader;
pub use reader::{DecodedValue, Reader};
pub use renderings::Renderings;
pub use resource::Resource;
pub use search::Scope;
pub use snapshot::{Objects, Snapshot};
pub use subscription::Subscription;
pub use texts::Texts;
pub use watch::Watch;

use crate::{
    meta::Revision,
    storage::{ReadError, Store},
};
use feeder::Feeder;
use preload::PreloadedTrees;
use state::{SharedState, State, lock};

/// Selects the objects of a watcher. The result must depend on the object only.
pub type Filter = Arc<dyn Fn(&Object) -> bool + Send + Sync>;

/// Why a watch cannot start or continue.
#[derive(Clone, Debug)]
pub enum WatchError {
    /// Changes of this resource after the requested revision are gone. The oldest revision to resume from is given.
    Expired(Revision),
    /// The watcher fell behind the window. The client must resume.
    Lagged,
    /// A change made an object unreadable, so its event cannot be produced.
    Unreadable {
        /// The object's key in the store.
        key: Box<str>,
        /// Why it cannot be decoded.
        reason: Box<str>,
    },
    /// History could not be read.
    Read(ReadError),
    /// The webhook that converts objects to the watched version has failed.
    Unconverted(Box<str>),
}

impl fmt::Display for WatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Expired(oldest) => write!(f, "changes up to revision {oldest} are gone"),
            Self::Lagged => f.write_str("the watcher fell behind"),
            Self::Unreadable { key, reason } => write!(f, "{key} cannot be decoded: {reason}"),
            Self::Read(error) => write!(f, "history could not be read: {error}"),
            Self::Unconverted(reason) => f.write_str(reason),
        }
    }
}

impl std::error::Error for WatchError {}

/// Limits of the cache.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The maximum memory of past changes of all resources together, in bytes. Watches resume from these changes, and
    /// lists at past revisions are made from them. Beyond it the oldest change is dropped.
    pub history_bytes: usize,
    /// The maximum size of kept renderings in bytes: objects in other encodings than JSON and in other versions.
    pub rendering_bytes: usize,
    /// The maximum size of all indexes of fields and labels in bytes.
    pub index_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            history_bytes: 128 << 20,
            // A list rendering is kept if it takes at most a quarter of this: a page, or a whole small kind. Together
            // with the buffers of 64 slow readers of long lists this stays below 64 MB.
            rendering_bytes: 16 << 20,
            // Three indexes of all of a million objects.
            index_bytes: 64 << 20,
        }
    }
}

/// How much of a resource's past is in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowSize {
    /// Changes in the window.
    pub changes: usize,
    /// Their memory, in bytes.
    pub bytes: usize,
}

/// All resources. The store feeds them in revision order.
pub struct Cache {
    shared: Arc<SharedState>,
    feeder: Arc<Mutex<Feeder>>,
    renderings: Arc<Renderings>,
    /// Locked while a resource is loaded, so that only one loads at a time.
    registering: Mutex<()>,
    /// Objects loaded for resources that are not registered yet.
    preloaded: Mutex<PreloadedTrees>,
}

impl Cache {
    /// Creates a cache over a store, and attaches it as the store's sink.
    pub fn new(store: Arc<dyn Store>, limits: Limits) -> Arc<Self> {
        Self::with(store, limits, PreloadedTrees::default())
    }

    /// The same, with objects that a scan of the store gave at a revision. A resource registered with the reader of its
    /// preload is loaded again only if the store has changed since.
    pub fn preloaded(store: Arc<dyn Store>, limits: Limits, preload: Preload, at: Revision) -> Arc<Self> {
        Self::with(store, limits, preload.finish(at))
    }

    fn with(store: Arc<dyn Store>, limits: Limits, preloaded: PreloadedTrees) -> Arc<Self> {
        let head = store.head();
        let renderings = Arc::new(Renderings::new(limits.rendering_bytes));
        let shared = Arc::new(SharedState::new(store, limits, head));
        let feeder = Arc::new_cyclic(|this| Mutex::new(Feeder::new(Arc::clone(&shared), this.clone())));
        feeder::attach(&feeder, &*shared.store);
        let (registering, preloaded) = (Mutex::new(()), Mutex::new(preloaded));
        Arc::new(Self { shared, feeder, renderings, registering, preloaded })
    }

    /// Adds a resource: loads its objects from the store and serves it. Blocks on the disk. Returns the existing
    /// resource if the prefix is already registered.
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn register(&self, prefix: &str, reader: SharedReader) -> Result<Arc<Resource>, ReadError> {
        let prefix = with_slash(prefix);
        let one_at_a_time = lock(&self.registering);
        let found = lock(&self.feeder).find(&prefix);
        match found {
            Some(found) => Ok(found),
            None => Ok(self.begin(prefix, reader, one_at_a_time)?.serve(|| ())),
        }
    }

    /// Loads a resource that will replace the one under its prefix, or will be added to the others. The old resource
    /// is served meanwhile, and stays if the new one is never served. Blocks on the disk.
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn load(&self, prefix: &str, reader: SharedReader) -> Result<PendingResource<'_>, ReadError> {
        self.begin(with_slash(prefix), reader, lock(&self.registering))
    }

    /// Stops serving a resource. Its watches end after the changes committed so far, and holders of the resource keep
    /// its last state. The store is not changed. Does nothing if the resource was removed or replaced already.
    pub fn remove(&self, resource: &Resource) {
        let _one_at_a_time = lock(&self.registering);
        let wakers = lock(&self.feeder).remove(resource);
        wakers.into_iter().for_each(Waker::wake);
    }

    fn begin<'c>(
        &'c self,
        prefix: Arc<str>,
        reader: SharedReader,
        one_at_a_time: MutexGuard<'c, ()>,
    ) -> Result<PendingResource<'c>, ReadError> {
        let resource = lock(&self.feeder).begin(prefix, reader);
        let mut pending =
            PendingResource { cache: self, resource, state: State::default(), served: false, one_at_a_time };
        pending.fill()?;
        Ok(pending)
    }

    /// True after [`Cache::close`].
    pub fn is_closed(&self) -> bool {
        lock(&self.feeder).is_closed()
    }

    /// Renderings that other layers made of objects.
    pub fn renderings(&self) -> &Arc<Renderings> {
        &self.renderings
    }

    /// Fills the windows of past changes from the store's log, in one pass for all resources that were added since the
    /// last one. A watch or a list that needs history waits for a pass, and begins one if none has been made since its
    /// resource was added.
    ///
    /// # Errors
    /// [`ReadError`]. The next call tries again.
    pub fn fill_history(&self) -> impl Future<Output = Result<(), ReadError>> + Send + use<> {
        let shared = Arc::clone(&self.shared);
        async move { history::fill_all(&shared).await }
    }

    /// The memory of past changes in bytes, and its limit.
    pub fn history_bytes(&self) -> (usize, usize) {
        (self.shared.budget.used_bytes(), self.shared.budget.limit_bytes())
    }

    /// The newest revision that readers see.
    pub fn revision(&self) -> Revision {
        self.shared.revision()
    }

    /// Waits until a revision is visible to readers.
    pub async fn reached(&self, revision: Revision) {
        self.shared.reached(revision).await;
    }

    /// Ends every watch after the changes committed so far. Later watches end at once.
    pub fn close(&self) {
        let mut wakers = Vec::new();
        self.shared.backfill_queue.close();
        let resources = lock(&self.feeder).close();
        for resource in resources {
            lock(&resource.feed).close(&mut wakers);
        }
        wakers.into_iter().for_each(Waker::wake);
    }
}

/// A prefix that ends with a slash.
fn with_slash(prefix: &str) -> Arc<str> {
    if prefix.ends_with('/') { prefix.into() } else { format!("{prefix}/").into() }
}

impl Drop for Cache {
    fn drop(&mut self) {
        self.close();
    }
}
