//! The registry: which kinds are served, under which group and version, and where each one's objects are cached.
//! Kinds may be added while the server runs; readers take the table of the moment without a lock.
use std::sync::Arc;

use super::Kind;
use crate::cache;

/// A kind that is served, and its place in the cache.
pub struct Served {
    /// The kind.
    pub kind: Arc<Kind>,
    /// Its objects.
    pub objects: Arc<cache::Resource>,
}

/// The kinds that are served.
pub struct Registry {
    _todo: (),
}

impl Registry {
    /// An empty registry over a cache.
    pub fn new(_cache: Arc<cache::Cache>) -> Self {
        todo!()
    }

    /// Adds a kind: checks it, loads its objects, and serves it. Blocks on the disk.
    ///
    /// # Errors
    /// A kind whose names clash with another's, or whose objects could not be loaded; the text names both.
    pub fn register(&self, _kind: Kind) -> Result<Arc<Served>, String> {
        todo!()
    }

    /// The kind served at a group, version and plural name.
    pub fn find(&self, _group: &str, _version: &str, _plural: &str) -> Option<Arc<Served>> {
        todo!()
    }

    /// All kinds, in the order in which they were registered, and a number that changes when they do.
    pub fn all(&self) -> (Arc<Vec<Arc<Served>>>, u64) {
        todo!()
    }
}
