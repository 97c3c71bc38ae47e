//! Gates: keep the creation of objects in a namespace and the namespace's deletion apart.
//!
//! Creation looks at the namespace, then commits. Between the two the namespace could be marked, emptied and removed,
//! and the new object would be left behind in nothing. So creation holds the namespace's gate, shared with other
//! creations, from the look to the end of the commit, and the write that marks a namespace holds it alone. Hence every
//! object whose creation saw the namespace active is stored before the mark is; the mark is durable and every reader
//! sees it before it is acknowledged; and who empties the namespace lists after that: nothing can be left behind. A
//! creation that its client gives up lets go of the gate early, but its commit is in the store's queue by then, and the
//! mark is queued behind it.
//!
//! A process holds the only way to its store; where several servers share one (etcd), the look must be a
//! precondition of the commit instead.
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

use tokio::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};

/// How many gates there are. Namespaces that share one wait for each other's deletions, which are rare and short.
const GATES: usize = 64;

/// The gates, shared among namespaces by hash.
pub(super) struct Gates(Vec<RwLock<()>>);

impl Default for Gates {
    fn default() -> Self {
        Self((0..GATES).map(|_| RwLock::new(())).collect())
    }
}

impl Gates {
    /// For a creation in a namespace; held until its commit is done.
    pub async fn enter(&self, namespace: &str) -> RwLockReadGuard<'_, ()> {
        self.of(namespace).read().await
    }

    /// For marking or removing a namespace: waits for the creations under way.
    pub async fn close(&self, namespace: &str) -> RwLockWriteGuard<'_, ()> {
        self.of(namespace).write().await
    }

    fn of(&self, namespace: &str) -> &RwLock<()> {
        let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(namespace);
        &self.0[usize::try_from(hash % GATES as u64).expect("below the number of gates")]
    }
}
