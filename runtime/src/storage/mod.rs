//! The store: keys, bytes and revisions, and the engines that keep them.
//! Guarantees that what a commit acknowledged is durable, that its operations happened together, and that changes come
//! out in revision order, each once. Knows no kind and no JSON; the only layer that names an engine.

#[cfg(test)]
pub(crate) mod delayed;
pub mod embedded;
pub mod memory;
pub(crate) mod private;
#[cfg(test)]
mod suite;

pub use embedded::{Disk, Embedded, OpenError, Options, maintenance};
pub use memory::Memory;
pub use private::FileError;

use std::{fmt, future::Future, pin::Pin, sync::Arc};

use bytes::Bytes;

use crate::meta::Revision;

/// What must hold of a key for an operation on it to happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// Nothing.
    Any,
    /// The key does not exist.
    Absent,
    /// The key's newest value was written at exactly this revision.
    At(Revision),
}

impl Expect {
    /// Whether an operation may happen to a key whose newest value has this revision.
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
}

/// What must be true of a key for a commit to happen that need not write it.
#[derive(Clone, Debug)]
pub struct Hold {
    /// The key.
    pub key: Arc<str>,
    /// The revision that the key's newest value has, or `None` where the key does not exist.
    pub revision: Option<Revision>,
}

/// Operations that happen together, and only while all holds are true.
#[derive(Clone, Debug, Default)]
pub struct Commit {
    /// The operations, each of a key of its own.
    pub ops: Vec<Op>,
    /// The conditions on other keys.
    pub holds: Vec<Hold>,
}

/// A commit without holds.
impl From<Vec<Op>> for Commit {
    fn from(ops: Vec<Op>) -> Self {
        Self { ops, holds: Vec::new() }
    }
}

/// Why a stored value cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// What is stored is not what was written.
    Altered,
    /// What was written is not there.
    Missing,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Altered => "the stored bytes are damaged: their checksum is wrong",
            Self::Missing => "the stored bytes are missing",
        })
    }
}

/// A stored value, or why it cannot be read.
pub type Value = Result<Bytes, Damage>;

/// One change of the store, as history keeps it and the cache receives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The change's own revision.
    pub revision: Revision,
    /// The key.
    pub key: Arc<str>,
    /// The value after the change; `None` where it deleted the key.
    pub value: Option<Bytes>,
    /// The value before the change and the revision that wrote it; `None` where the change created the key.
    pub previous: Option<(Revision, Value)>,
}

/// One key as a range returns it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The key.
    pub key: Arc<str>,
    /// Its value.
    pub value: Value,
    /// The revision that wrote the value; zero where damage took that, too.
    pub revision: Revision,
}

/// Stored values that are known to be damaged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Damages {
    /// How many.
    pub count: usize,
    /// The first of them: keys, and what has none.
    pub keys: Vec<String>,
}

/// How a store is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Health {
    /// Why writes are refused at present, if they are. Reads go on.
    pub refuses_writes: Option<String>,
    /// Stored values that are known to be damaged. The rest is served.
    pub damage: Damages,
}

/// Why a commit was not acknowledged. None of its operations has happened, except that nobody can tell under
/// [`CommitError::Unknown`].
#[derive(Clone, Debug)]
pub enum CommitError {
    /// An operation's precondition does not hold.
    Conflict {
        /// Which operation of the commit, by position.
        index: usize,
        /// The revision of the key's newest value, or `None` where the key does not exist.
        current: Option<Revision>,
    },
    /// A hold is not true.
    Unmet {
        /// Which hold of the commit, by position.
        index: usize,
        /// The revision of the key's newest value, or `None` where the key does not exist.
        current: Option<Revision>,
    },
    /// The value that an operation would replace, or the revision of a key that a hold names, cannot be read. The value
    /// can be deleted.
    Damaged {
        /// The key.
        key: Arc<str>,
        /// What is wrong with what is stored.
        damage: Damage,
    },
    /// The store is shutting down; nothing was written.
    Closed,
    /// The store writes nothing at present. It goes on by itself when the cause is gone.
    Refused {
        /// The cause is that there is no room.
        full: bool,
        /// The cause.
        message: String,
    },
    /// The disk failed while it made the commit durable, and nobody knows whether it is. If it is, it will be published
    /// before any other change. The message is the cause.
    Unknown(String),
}

/// Why history could not be read.
#[derive(Clone, Debug)]
pub enum ReadError {
    /// The revision is compacted away; history begins after the one given.
    Compacted(Revision),
    /// The revision has not happened yet; the newest is given.
    Future(Revision),
    /// What is stored is damaged; the message is for logs and administrators.
    Damaged(String),
    /// The engine failed; the message is for logs and administrators.
    Engine(String),
}

impl fmt::Display for CommitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Conflict { index, .. } => write!(f, "the precondition of operation {index} does not hold"),
            Self::Unmet { index, .. } => write!(f, "hold {index} is not true"),
            Self::Damaged { key, damage } => write!(f, "{key} cannot be read: {damage}"),
            Self::Closed => f.write_str("the store is shutting down"),
            Self::Refused { message, .. } => {
                write!(f, "nothing was written, because the store cannot write at present: {message}")
            }
            Self::Unknown(message) => write!(f, "the write may or may not have happened: {message}"),
        }
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Compacted(at) => write!(f, "history is compacted up to revision {at}"),
            Self::Future(head) => write!(f, "the newest revision is {head}"),
            Self::Damaged(message) => write!(f, "the stored data is damaged: {message}"),
            Self::Engine(message) => write!(f, "the storage engine failed: {message}"),
        }
    }
}

impl std::error::Error for CommitError {}
impl std::error::Error for ReadError {}

/// Receives every change once, in revision order, a whole commit group at a time.
///
/// A store calls it from one thread, after the changes are durable and before it acknowledges their commits: that is
/// how a writer reads its own writes. It must be quick and must not call the store.
pub type Sink = Box<dyn FnMut(&[Change]) + Send>;

/// What a commit resolves to: the revision of each operation, in the order given, consecutive.
pub type CommitFuture<'a> = Pin<Box<dyn Future<Output = Result<Vec<Revision>, CommitError>> + Send + 'a>>;

/// A durable, revisioned map.
///
/// Revisions strictly increase over the whole store, by one for each operation that happened. Methods other than
/// `commit` may block on the disk; call them from a blocking thread.
pub trait Store: Send + Sync + 'static {
    /// Gives the store the sink for its changes. Called once, before the first commit; nothing that was stored
    /// earlier is replayed into it.
    fn attach(&self, sink: Sink);

    /// Commits operations together, or none of them. The keys of one commit's operations are distinct. Holds, then
    /// preconditions, are judged in the order in which commits were queued, each commit's against what those before it
    /// left; one that fails does not fail others of its group. An operation that deletes a missing key under
    /// [`Expect::Any`] is a conflict. Dropping the future does not undo the commit.
    fn commit(&self, commit: Commit) -> CommitFuture<'_>;

    /// The newest value of a key.
    ///
    /// # Errors
    /// [`ReadError::Engine`], [`ReadError::Damaged`] where not even that the key exists can be read.
    fn get(&self, key: &str) -> Result<Option<Entry>, ReadError>;

    /// All keys that begin with the prefix, in byte order, and the revision at which this holds: the newest, or the
    /// one asked for.
    ///
    /// # Errors
    /// [`ReadError`].
    fn range(&self, prefix: &str, at: Option<Revision>) -> Result<(Vec<Entry>, Revision), ReadError>;

    /// The newest durable revision.
    fn head(&self) -> Revision;

    /// The revision up to which history is compacted; zero while it is whole. Changes after it can be read.
    fn compacted(&self) -> Revision;

    /// Changes strictly after a revision, in order, at most `limit` of them. They end before one that cannot be read.
    ///
    /// # Errors
    /// [`ReadError::Compacted`] where changes after the revision are gone; [`ReadError::Damaged`] where the first of
    /// them cannot be read.
    fn changes(&self, after: Revision, limit: usize) -> Result<Vec<Change>, ReadError>;

    /// Forgets history up to and including a revision. Newest values stay.
    ///
    /// # Errors
    /// [`ReadError::Engine`].
    fn compact(&self, upto: Revision) -> Result<(), ReadError>;

    /// How the store is. Answers at once.
    fn health(&self) -> Health;

    /// Commits what is queued, then refuses further commits. Returns when all is durable. May be called again.
    fn close(&self);
}
