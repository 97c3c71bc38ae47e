//! The cache: the newest state of every resource as rendered bytes, ordered snapshots, the window of past changes, and
//! the fan-out to watchers. Knows keys, bytes and indexes; never a kind.

mod object;
mod packed;

pub use object::{EventType, FRAME_END, Object};

use bytes::Bytes;
use std::sync::Arc;

/// What the kind layer reads out of a stored value for the cache.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    /// The canonical body: a JSON object without kind, apiVersion and resourceVersion, beginning with
    /// `{"metadata":{"` (metadata comes first and is never empty); other keys are sorted.
    pub body: Bytes,
    /// `metadata.labels`.
    pub labels: Vec<(Box<str>, Box<str>)>,
    /// Values of the kind's selectable fields beyond metadata.name and metadata.namespace, in the order in which the
    /// kind declares them; absent ones are empty.
    pub fields: Vec<Box<str>>,
    /// Why the value could not be decoded; it is kept, marked and never dropped.
    pub unreadable: Option<String>,
}

/// Reads stored values of one resource; given to the cache by the kind layer when a resource is registered.
pub trait Reader: Send + Sync {
    /// The resource's type meta as JSON members, with the comma: `"kind":"ConfigMap","apiVersion":"v1",`.
    fn type_meta(&self) -> &str;

    /// Names of the selectable fields that [`Reading::fields`] holds, such as `spec.color`.
    fn selectable(&self) -> &[String];

    /// Reads a value at commit and at load.
    fn read(&self, key: &str, value: &Bytes) -> Reading;
}

/// A reader shared by the cache's parts.
pub type SharedReader = Arc<dyn Reader>;

use crate::{
    meta::Revision,
    storage::{Change, ReadError, Sink, Store},
};
use std::task::{Context, Poll};

/// A resource's objects at one revision, in key order; cheap to take, to clone and to keep for a while.
#[derive(Clone)]
pub struct Snapshot {
    _todo: (),
}

impl Snapshot {
    /// The revision at which this is the state.
    pub fn revision(&self) -> Revision {
        todo!()
    }
    /// One object by key.
    pub fn get(&self, _key: &str) -> Option<Arc<Object>> {
        todo!()
    }
    /// Objects whose key has the prefix (empty for all, `ns/` for a namespace) and is after `after`, in order.
    pub fn range<'a>(
        &'a self,
        _prefix: &'a str,
        _after: Option<&'a str>,
    ) -> impl Iterator<Item = &'a Arc<Object>> + 'a {
        std::iter::empty()
    }
    /// How many objects `range` would give; O(log n) where it can be.
    pub fn count(&self, _prefix: &str, _after: Option<&str>) -> usize {
        todo!()
    }
}

/// Which part of a resource a watch looks at; wake-ups are indexed by it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Interest {
    /// Every object.
    All,
    /// Objects of a namespace.
    Namespace(Box<str>),
    /// The object with this key.
    Key(Box<str>),
    /// Objects whose selectable field (by position) has, or had, this value.
    Field(usize, Box<str>),
}

/// Whether an object is for a watcher; it must depend on nothing but the object.
pub type Filter = Arc<dyn Fn(&Object) -> bool + Send + Sync>;

/// What a watcher is told; the object is old body with new revision where it left the filter or was deleted.
#[derive(Clone, Debug)]
pub enum Event {
    /// The object came to be, or entered the filter.
    Added(Arc<Object>),
    /// The object changed.
    Modified(Arc<Object>),
    /// The object was deleted, or left the filter.
    Deleted(Arc<Object>),
}

impl Event {
    /// The type on the wire.
    pub fn event_type(&self) -> EventType {
        match self {
            Self::Added(_) => EventType::Added,
            Self::Modified(_) => EventType::Modified,
            Self::Deleted(_) => EventType::Deleted,
        }
    }

    /// The object.
    pub fn object(&self) -> &Arc<Object> {
        let (Self::Added(object) | Self::Modified(object) | Self::Deleted(object)) = self;
        object
    }

    /// The event as JSON with a newline, as a watch sends it; shared with all other watchers where it can be.
    pub fn frame(&self) -> Bytes {
        self.object().frame_as(self.event_type())
    }
}

/// Why a watch cannot begin or go on.
#[derive(Clone, Debug)]
pub enum WatchError {
    /// Changes of this resource after the asked revision are gone; the oldest revision to resume from is given.
    Expired(Revision),
    /// The watcher fell behind the window, or the server is stopping; the client resumes.
    Lagged,
    /// History could not be read.
    Read(ReadError),
}

/// A watch: a position and a filter. Gives every matching change after its position once and in order.
pub struct Watch {
    _todo: (),
}

impl Watch {
    /// The next event, or `None` when the cache is closed.
    pub fn poll_next(&mut self, _cx: &mut Context<'_>) -> Poll<Option<Result<Event, WatchError>>> {
        todo!()
    }
    /// As many events as are ready, at most `max`, appended to `events`. Ready where at least one was appended, or
    /// where the watch has ended (`None`, or an error) and none was.
    pub fn poll_events(
        &mut self,
        _cx: &mut Context<'_>,
        _max: usize,
        _events: &mut Vec<Event>,
    ) -> Poll<Option<Result<(), WatchError>>> {
        todo!()
    }
    /// The next event; a convenience over `poll_next`.
    pub async fn next(&mut self) -> Option<Result<Event, WatchError>> {
        std::future::poll_fn(|cx| self.poll_next(cx)).await
    }
    /// The revision up to which everything has been given: what a bookmark may say. It moves on with the cache's
    /// revision while the watch is idle.
    pub fn position(&self) -> Revision {
        todo!()
    }
}

/// One resource in the cache.
pub struct Resource {
    _todo: (),
}

impl Resource {
    /// The prefix of its keys in the store.
    pub fn prefix(&self) -> &str {
        todo!()
    }
    /// The newest state; no lock, O(1).
    pub fn snapshot(&self) -> Snapshot {
        todo!()
    }
    /// The state at a revision: a past snapshot that is still kept, or rebuilt from the store's change log.
    /// # Errors
    /// [`ReadError`].
    pub async fn snapshot_at(&self, _revision: Revision) -> Result<Snapshot, ReadError> {
        todo!()
    }
    /// Keeps a snapshot for a while, since more pages of it will be asked for with [`Resource::snapshot_at`].
    pub fn keep(&self, _snapshot: &Snapshot) {
        todo!()
    }
    /// Watches from strictly after a revision (which may be in the future: nothing is given until it has passed).
    /// # Errors
    /// [`WatchError`].
    pub async fn watch(
        &self,
        _after: Revision,
        _interest: Interest,
        _filter: Option<Filter>,
    ) -> Result<Watch, WatchError> {
        todo!()
    }
}

/// All resources, fed in revision order by the store.
pub struct Cache {
    _todo: (),
}

impl Cache {
    /// A cache over a store: attaches itself as the store's sink.
    pub fn new(_store: Arc<dyn Store>, _limits: Limits) -> Arc<Self> {
        todo!()
    }
    /// Adds a resource: loads its objects and the tail of its history from the store, then serves it. Blocks on the disk.
    /// # Errors
    /// [`ReadError`].
    pub fn register(&self, _prefix: &str, _reader: SharedReader) -> Result<Arc<Resource>, ReadError> {
        todo!()
    }
    /// The newest revision that readers see.
    pub fn revision(&self) -> Revision {
        todo!()
    }
    /// Waits until readers see a revision.
    pub async fn reached(&self, _revision: Revision) {
        todo!()
    }
    /// Ends every watch after what it has been given; further watches end at once.
    pub fn close(&self) {
        todo!()
    }
}

/// What the cache may keep.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Changes kept in memory for a resource.
    pub window: usize,
    /// Bytes of past bodies kept in memory for a resource's window.
    pub window_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { window: 10_000, window_bytes: 64 << 20 }
    }
}

#[allow(unused)]
fn seams(_: Change, _: Sink) {}
