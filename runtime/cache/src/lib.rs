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
//!
//! The files, from the bottom; each imports only those before it:
//!
//! - `lock` and `limits`; `texts`, `body`, `reader` and `object`: one object, rendered; `btree`, `index`, `tree`, `snapshot` and
//!   `search`: the objects of a resource; `keyspace` and `routes`: their keys in the store.
//! - `budget`, `subscription`, `change`, `runs`, `window`, `channels` and `feed`: the past changes of a resource, and who waits for more;
//!   `eviction`: the order in which resources give them up.
//! - `state`: what is published; `replica`: one resource as the store has it; `wakeups` and `feeder`: how changes arrive.
//! - `history`, `watch`, `demand`, `resource` and `indexing`: what readers get.
//! - `preload` and `pending_resource`: how resources are added. `renderings` is for other layers.

mod body;
mod btree;
mod budget;
mod change;
mod channels;
mod demand;
mod eviction;
mod feed;
mod feeder;
mod history;
mod index;
mod indexing;
mod keyspace;
mod limits;
mod lock;
mod object;
mod pending_resource;
mod preload;
mod reader;
mod renderings;
mod replica;
mod resource;
mod routes;
mod runs;
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
    sync::{Arc, Mutex},
    task::Waker,
};

pub use body::Body;
pub use change::Event;
pub use index::{Condition, Term};
pub use limits::Limits;
pub use object::{EventType, FRAME_END, Object};
pub use pending_resource::PendingResource;
pub use preload::Preload;
pub use reader::{DecodedValue, Reader, SharedReader};
pub use renderings::Renderings;
pub use resource::Resource;
pub use runs::Frames;
pub use search::Scope;
pub use snapshot::{Objects, Snapshot};
pub use subscription::Subscription;
pub use texts::Texts;
pub use watch::{Filter, Watch, WatchError};
pub use window::WindowSize;

use crate::{
    meta::Revision,
    storage::{ReadError, Store},
};
use feeder::Feeder;
use history::History;
use keyspace::Keyspace;
use lock::lock;
use preload::PreloadedTrees;
use state::SharedState;

/// All resources. The store feeds them in revision order.
pub struct Cache {
    shared: Arc<SharedState>,
    feeder: Arc<Mutex<Feeder>>,
    history: Arc<History>,
    renderings: Arc<Renderings>,
    /// Locked while a resource is loaded, so that only one loads at a time.
    loading: Mutex<()>,
    /// Objects of resources that are not loaded yet.
    preloaded: Mutex<PreloadedTrees>,
}

impl Cache {
    /// Creates a cache over a store, and attaches it as the store's sink.
    pub fn new(store: Arc<dyn Store>, limits: Limits) -> Arc<Self> {
        Self::with(store, limits, PreloadedTrees::default())
    }

    /// The same, with objects that a scan of the store gave at a revision. A resource loaded with the reader of its
    /// preload is loaded again only if the store has changed since.
    pub fn preloaded(store: Arc<dyn Store>, limits: Limits, preload: Preload, at: Revision) -> Arc<Self> {
        Self::with(store, limits, preload.finish(at))
    }

    fn with(store: Arc<dyn Store>, limits: Limits, preloaded: PreloadedTrees) -> Arc<Self> {
        let head = store.head();
        let renderings = Arc::new(Renderings::new(limits.rendering_bytes));
        let shared = Arc::new(SharedState::new(store, limits, head));
        let feeder = Arc::new(Mutex::new(Feeder::new(Arc::clone(&shared))));
        feeder::attach(&feeder, &*shared.store);
        let history = Arc::new(History::new(Arc::clone(&shared), &feeder));
        let (loading, preloaded) = (Mutex::new(()), Mutex::new(preloaded));
        Arc::new(Self { shared, feeder, history, renderings, loading, preloaded })
    }

    /// Loads a resource that will be added to the others, or will replace the one under its prefix. The old resource is served
    /// meanwhile, and stays if the new one is never served. Blocks on the disk.
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn load(&self, prefix: &str, reader: SharedReader) -> Result<PendingResource<'_>, ReadError> {
        PendingResource::load(self, Keyspace::new(prefix, reader))
    }

    /// Stops serving a resource. Its watches end after the changes committed so far, and holders of the resource keep
    /// its last state. The store is not changed. Does nothing if the resource was removed or replaced already.
    pub fn remove(&self, resource: &Resource) {
        let _one_at_a_time = lock(&self.loading);
        let wakers = lock(&self.feeder).remove(&resource.replica);
        wakers.into_iter().for_each(Waker::wake);
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
        let history = Arc::clone(&self.history);
        async move { history.fill_all().await }
    }

    /// The memory of past changes in bytes, and its limit.
    pub fn history_bytes(&self) -> (usize, usize) {
        (self.shared.budget.used_bytes(), self.shared.budget.limit_bytes)
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
        self.history.close();
        let replicas = lock(&self.feeder).close();
        for replica in replicas {
            lock(&replica.feed).close(&mut wakers);
        }
        wakers.into_iter().for_each(Waker::wake);
    }
}

impl Drop for Cache {
    fn drop(&mut self) {
        self.close();
    }
}
