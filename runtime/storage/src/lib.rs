//! Part of [`kindsmith`](https://docs.rs/kindsmith), on which programs depend instead: the store. Keys, bytes and revisions, and the engines that keep them.
//!
//! Guarantees that an acknowledged commit is durable, that its operations are atomic, and that changes are delivered
//! once and in revision order. Knows neither kinds nor JSON. This is the only layer that names an engine.

pub mod budget;
mod change;
pub mod counters;
#[cfg(any(test, feature = "test-support"))]
pub mod delayed_store;
pub mod embedded;
mod errors;
#[cfg(feature = "etcd")]
pub mod etcd;
mod foreign;
pub mod memory;
mod metrics;
pub mod migration;
pub mod private;
#[cfg(any(test, feature = "test-support"))]
pub mod ramdisk;
#[cfg(any(test, feature = "test-support"))]
pub mod relay;
#[cfg(any(test, feature = "test-support"))]
pub mod several;
#[cfg(test)]
mod suite;
#[cfg(any(test, feature = "tools"))]
pub mod tools;

pub use change::{Change, Previous};
pub use embedded::{Disk, Embedded, OpenError, Options};
pub use errors::{CommitError, Damage, ReadError};
#[cfg(feature = "etcd")]
pub use etcd::{Etcd, EtcdError, EtcdOptions};
pub use foreign::Foreign;
pub use memory::Memory;
pub use metrics::Metrics;
pub use private::FileError;

use std::{future::Future, pin::Pin, sync::Arc, time::Duration};

use bytes::Bytes;

use kindsmith_meta::{self as meta, Revision};

/// The precondition of an operation on a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// No condition.
    Any,
    /// The key does not exist.
    Absent,
    /// The key's newest value was written at exactly this revision.
    At(Revision),
}

impl Expect {
    /// True if the precondition allows the operation on a key whose newest value has this revision.
    fn holds(self, current: Option<Revision>, deletes: bool) -> bool {
        match self {
            Self::Any => current.is_some() || !deletes,
            Self::Absent => current.is_none() && !deletes,
            Self::At(revision) => current == Some(revision),
        }
    }
}

/// One operation of a commit.
#[derive(Clone, Debug)]
pub struct Op {
    /// The key, such as `/registry/configmaps/default/a`.
    pub key: Arc<str>,
    /// The new value, or `None` to delete.
    pub value: Option<Bytes>,
    /// The precondition.
    pub expect: Expect,
    /// How long the new value lives: the store deletes the key after this time, unless it was written again. `None` for
    /// a value that stays.
    pub lifetime: Option<Duration>,
}

/// A condition on a key that the commit does not have to write.
#[derive(Clone, Debug)]
pub struct Hold {
    /// The key.
    pub key: Arc<str>,
    /// The expected revision of the key's newest value, or `None` if the key must not exist.
    pub revision: Option<Revision>,
}

/// Operations that are applied atomically, and only if all holds are true.
#[derive(Clone, Debug, Default)]
pub struct Commit {
    /// The operations. Their keys are distinct.
    pub ops: Vec<Op>,
    /// The conditions on other keys.
    pub holds: Vec<Hold>,
}

/// Makes a commit without holds.
impl From<Vec<Op>> for Commit {
    fn from(ops: Vec<Op>) -> Self {
        Self { ops, holds: Vec::new() }
    }
}

/// A stored value, or the reason why it cannot be read.
pub type Value = Result<Bytes, Damage>;

/// One key as a range returns it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The key.
    pub key: Arc<str>,
    /// Its value.
    pub value: Value,
    /// The revision that wrote the value; zero if damage has made it unreadable.
    pub revision: Revision,
}

/// Receives the result of [`Store::scan`] in pieces. Each entry has a position; positions increase in byte order of the
/// keys, but pieces come in any order, and from several threads at once.
pub type Visit<'v> = &'v (dyn Fn(Vec<(usize, Entry)>) + Sync);

/// The values that a pass over history has read already; see [`Store::pass`].
pub trait ValueCache {
    /// The value that a key had at the revision that wrote it, if the pass has kept it.
    fn value(&self, key: &str, revision: Revision) -> Option<Bytes>;

    /// True if the pass does not need the value that a change of this revision wrote to a key, because it is the newest.
    fn is_newest(&self, key: &str, revision: Revision) -> bool;
}

/// A pass that has no values.
pub(crate) struct NoCache;

impl ValueCache for NoCache {
    fn value(&self, _: &str, _: Revision) -> Option<Bytes> {
        None
    }

    fn is_newest(&self, _: &str, _: Revision) -> bool {
        false
    }
}

/// Stored values that are known to be damaged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Damages {
    /// How many there are.
    pub count: usize,
    /// The first of them: their keys, or a description of a value without a key.
    pub keys: Vec<String>,
}

/// The condition of a store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Health {
    /// The reason why the store currently refuses writes, if it does. Reads continue.
    pub refuses_writes: Option<String>,
    /// Stored values that are known to be damaged. All others are served.
    pub damage: Damages,
}

/// What a store delivers to its sink.
#[derive(Clone, Copy, Debug)]
pub enum Delivery<'a> {
    /// All changes that follow the last delivery, up to a revision. There may be none: then only the revision advances.
    Changes(&'a [Change], Revision),
    /// All keys at a revision. Changes between the last delivery and this one are lost to this process, because they
    /// were compacted while it was cut off from its store.
    State(&'a [Entry], Revision),
}

impl<'a> Delivery<'a> {
    /// The delivered changes.
    #[must_use]
    pub fn changes(self) -> &'a [Change] {
        match self {
            Self::Changes(changes, _) => changes,
            Self::State(..) => &[],
        }
    }
}

/// Receives every change once, in revision order, a whole commit group at a time.
///
/// A store calls it from one thread, after the changes are durable and before it acknowledges their commits, so that
/// writers read their own writes. It must be quick, and must not wait for the store or a thread that reads it.
pub type Sink = Box<dyn FnMut(Delivery<'_>) + Send>;

/// The result of [`Store::confirm`].
pub type ConfirmFuture<'a> = Pin<Box<dyn Future<Output = Result<Revision, ReadError>> + Send + 'a>>;

/// The result of a commit: the revision of each operation, in the given order.
pub type CommitFuture<'a> = Pin<Box<dyn Future<Output = Result<Vec<Revision>, CommitError>> + Send + 'a>>;

/// A durable, revisioned map.
///
/// Revisions strictly increase over the whole store, from commit to commit. The operations of a commit have consecutive
/// revisions, or all the same one in an engine whose transactions have one revision; a commit then has at most one key
/// of a resource. Revisions may be skipped. All methods except `commit` and `confirm` may block; call them from a
/// blocking thread.
pub trait Store: Send + Sync + 'static {
    /// Sets the sink for changes. Called once, before the first commit. Changes stored earlier are not replayed into
    /// it.
    fn attach(&self, sink: Sink);

    /// Applies all operations of a commit or none. The keys of its operations are distinct.
    ///
    /// The store checks holds and then preconditions in queue order, against the state that earlier commits left; a store
    /// that other processes write to, in the order in which commits arrive there. A commit that fails does not fail the
    /// others in its group. Deleting a missing key under [`Expect::Any`] is a conflict. Dropping the future does not undo a
    /// commit that is queued.
    ///
    /// The queue has a budget in bytes. A commit that finds no room waits for it before it is queued, and fails with
    /// [`CommitError::Busy`] if no room is free in time. The future must be awaited in a runtime of tokio with timers.
    fn commit(&self, commit: Commit) -> CommitFuture<'_>;

    /// The newest value of a key.
    ///
    /// # Errors
    /// [`ReadError::Engine`], or [`ReadError::Damaged`] if it cannot be read whether the key exists.
    fn get(&self, key: &str) -> Result<Option<Entry>, ReadError>;

    /// All keys that begin with the prefix, in byte order, and the revision of this state, which is the newest.
    ///
    /// # Errors
    /// [`ReadError`].
    fn range(&self, prefix: &str) -> Result<(Vec<Entry>, Revision), ReadError>;

    /// Passes the newest value of every key that begins with one of the prefixes to `visit`, each key once, and returns
    /// the revision of this state. For many values: the engine reads them in the order that is fastest for it, and holds
    /// only a few pieces in memory. `visit` may take long, since commits do not wait for it, and must not call the store.
    /// A value that cannot be read is passed as damaged. After an error, some entries may have been passed.
    ///
    /// # Errors
    /// [`ReadError::Engine`], or [`ReadError::Damaged`] if it cannot be read which keys exist.
    fn scan(&self, prefixes: &[&str], visit: Visit<'_>) -> Result<Revision, ReadError>;

    /// The newest durable revision that this process knows of.
    fn head(&self) -> Revision;

    /// True if other processes write to the store, so that the cache may be behind it.
    fn is_shared(&self) -> bool {
        false
    }

    /// Asks for a revision that is not older than anything acknowledged, by any process, before this call. Once the sink
    /// has it, reads of what was delivered are linearizable. `None` if the store is not [shared](Store::is_shared): then the
    /// sink has everything acknowledged.
    ///
    /// # Errors
    /// [`ReadError::Unreachable`], or [`ReadError::Engine`] if the engine fails for another reason.
    fn confirm(&self) -> Option<ConfirmFuture<'_>> {
        None
    }

    /// The revision up to which history is compacted, or zero if history is complete. Later changes can be read.
    fn compacted(&self) -> Revision;

    /// At most `limit` changes strictly after a revision, in order. The result ends before a change that cannot be
    /// read. Changes of one revision come together, even if they are more than `limit`.
    ///
    /// # Errors
    /// [`ReadError::Compacted`] if changes after the revision are gone; [`ReadError::Damaged`] if the first of them
    /// cannot be read.
    fn changes(&self, after: Revision, limit: usize) -> Result<Vec<Change>, ReadError>;

    /// The same as [`Store::changes`], for one pass over all history in pieces. An engine that would have to read a
    /// replaced value again takes it from `cache`, if that has it, and may leave the newest values empty.
    ///
    /// # Errors
    /// Those of [`Store::changes`].
    fn pass(&self, after: Revision, limit: usize, cache: &dyn ValueCache) -> Result<Vec<Change>, ReadError> {
        let _ = cache;
        self.changes(after, limit)
    }

    /// Removes history up to and including a revision. Newest values stay.
    ///
    /// # Errors
    /// [`ReadError::Engine`].
    fn compact(&self, upto: Revision) -> Result<(), ReadError>;

    /// The condition of the store. Does not block.
    fn health(&self) -> Health;

    /// Metrics of the store's commits; `None` if it measures nothing.
    fn metrics(&self) -> Option<&Metrics> {
        None
    }

    /// Commits what is queued and refuses further commits. Returns once everything is durable. May be called again.
    fn close(&self);
}
