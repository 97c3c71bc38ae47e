//! The cache: the newest state of every resource as rendered bytes, ordered snapshots, the window of past changes, and
//! the fan-out to watchers. Knows keys, bytes and indexes; never a kind.
//!
//! Guarantees: a commit that the store acknowledged is in the state (read your writes); a commit over several objects
//! is seen whole or not at all; a snapshot's revision is exactly that of its content; every watcher gets every matching
//! change once and in order, or is told that it fell behind. Readers take no lock; a slow watcher holds back nobody.

mod body;
mod change;
mod event;
mod fanout;
mod feeder;
mod history;
mod interest;
mod loading;
mod object;
mod packed;
mod reader;
mod renderings;
mod resource;
mod snapshot;
mod state;
mod tree;
mod waking;
mod watch;

#[cfg(test)]
mod tests;

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard},
    task::Waker,
};

pub use body::Body;
pub use event::Event;
pub use interest::Interest;
pub use loading::Loading;
pub use object::{EventType, FRAME_END, Object};
pub use packed::Texts;
pub use reader::{Reader, Reading, SharedReader};
pub use renderings::Renderings;
pub use resource::Resource;
pub use snapshot::{Objects, Snapshot};
pub use watch::Watch;

use crate::{
    meta::Revision,
    storage::{ReadError, Store},
};
use feeder::Feeder;
use state::{Shared, State, lock};

/// Whether an object is for a watcher; it must depend on nothing but the object.
pub type Filter = Arc<dyn Fn(&Object) -> bool + Send + Sync>;

/// Why a watch cannot begin or go on.
#[derive(Clone, Debug)]
pub enum WatchError {
    /// Changes of this resource after the asked revision are gone; the oldest revision to resume from is given.
    Expired(Revision),
    /// The watcher fell behind the window; the client resumes.
    Lagged,
    /// A change made an object unreadable: what it is now cannot be told.
    Unreadable {
        /// The object's key in the store.
        key: Box<str>,
        /// Why it cannot be decoded.
        reason: Box<str>,
    },
    /// History could not be read.
    Read(ReadError),
}

impl fmt::Display for WatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Expired(oldest) => write!(f, "changes up to revision {oldest} are gone"),
            Self::Lagged => f.write_str("the watcher fell behind"),
            Self::Unreadable { key, reason } => write!(f, "{key} cannot be decoded: {reason}"),
            Self::Read(error) => write!(f, "history could not be read: {error}"),
        }
    }
}

impl std::error::Error for WatchError {}

/// What the cache may keep.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Changes kept in memory for a resource.
    pub window: usize,
    /// Bytes of past bodies kept in memory for a resource's window.
    pub window_bytes: usize,
    /// Bytes of what was made of objects, in other encodings than JSON and in other versions, that are kept for further
    /// readers.
    pub rendering_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            window: 10_000,
            window_bytes: 64 << 20,
            // A list is kept where it takes a quarter of this at most: a page, or all of a small kind. Together with what
            // 64 clients that read long lists slowly hold, it stays below 64 MB.
            rendering_bytes: 16 << 20,
        }
    }
}

/// All resources, fed in revision order by the store.
pub struct Cache {
    shared: Arc<Shared>,
    feeder: Arc<Mutex<Feeder>>,
    renderings: Arc<Renderings>,
    /// Held while a resource is loaded: one at a time.
    registering: Mutex<()>,
}

impl Cache {
    /// A cache over a store: attaches itself as the store's sink.
    pub fn new(store: Arc<dyn Store>, limits: Limits) -> Arc<Self> {
        let head = store.head();
        let renderings = Arc::new(Renderings::new(limits.rendering_bytes));
        let shared = Arc::new(Shared::new(store, limits, head));
        let feeder = Arc::new(Mutex::new(Feeder::new(Arc::clone(&shared))));
        feeder::attach(&feeder, &*shared.store);
        Arc::new(Self { shared, feeder, renderings, registering: Mutex::new(()) })
    }

    /// Adds a resource: loads its objects from the store, then serves it. Blocks on the disk. A prefix that is
    /// registered already gives the same resource again.
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

    /// Loads a resource that is to be served in the place of the one under its prefix, or beside the others where there is
    /// none. The old one is fed and served meanwhile, and stays where the new one never is. Blocks on the disk.
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn load(&self, prefix: &str, reader: SharedReader) -> Result<Loading<'_>, ReadError> {
        self.begin(with_slash(prefix), reader, lock(&self.registering))
    }

    /// Serves a resource no longer: its watches end after what was committed, and those who hold it keep its last state.
    /// Nothing in the store changes. Does nothing where it has been removed or replaced already.
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
    ) -> Result<Loading<'c>, ReadError> {
        let resource = lock(&self.feeder).begin(prefix, reader);
        let mut loading = Loading { cache: self, resource, state: State::default(), served: false, one_at_a_time };
        loading.fill()?;
        Ok(loading)
    }

    /// Whether [`Cache::close`] was called.
    pub fn is_closed(&self) -> bool {
        lock(&self.feeder).is_closed()
    }

    /// What the layers above have made of objects.
    pub fn renderings(&self) -> &Arc<Renderings> {
        &self.renderings
    }

    /// The newest revision that readers see.
    pub fn revision(&self) -> Revision {
        self.shared.revision()
    }

    /// Waits until readers see a revision.
    pub async fn reached(&self, revision: Revision) {
        self.shared.reached(revision).await;
    }

    /// Ends every watch after what was committed; further watches end as soon.
    pub fn close(&self) {
        let mut wakers = Vec::new();
        let resources = lock(&self.feeder).close();
        for resource in resources {
            lock(&resource.feed).close(&mut wakers);
        }
        wakers.into_iter().for_each(Waker::wake);
    }
}

/// A prefix with the slash at its end.
fn with_slash(prefix: &str) -> Arc<str> {
    if prefix.ends_with('/') { prefix.into() } else { format!("{prefix}/").into() }
}

impl Drop for Cache {
    fn drop(&mut self) {
        self.close();
    }
}
