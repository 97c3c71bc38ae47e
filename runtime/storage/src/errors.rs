//! Why a commit or a read fails.

use std::{fmt, sync::Arc};

use crate::meta::Revision;

/// Why a stored value cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// The stored bytes differ from the written ones.
    Altered,
    /// The stored bytes are missing.
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

/// Why a commit was not acknowledged. None of its operations was applied, except that the outcome of
/// [`CommitError::Unknown`] is open.
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
    /// The value that an operation would replace, or the revision of a key that a hold names, cannot be read. Such a
    /// value can still be deleted.
    Damaged {
        /// The key.
        key: Arc<str>,
        /// The kind of damage.
        damage: Damage,
    },
    /// Too many bytes of other commits wait, and did for too long. Nothing was written.
    Busy,
    /// The store is shutting down. Nothing was written.
    Closed,
    /// The store currently refuses writes. It recovers by itself once the cause is gone.
    Refused {
        /// True if the disk is full.
        full: bool,
        /// The cause.
        message: String,
    },
    /// The commit is larger than the store takes. Nothing was written. The message names the limit.
    TooLarge(String),
    /// The disk failed while it made the commit durable, so the outcome is unknown. If the commit turns out to be
    /// durable, it is published before any other change. The message is the cause.
    Unknown(String),
}

/// Why history could not be read.
#[derive(Clone, Debug)]
pub enum ReadError {
    /// The revision is compacted. History begins after the given revision.
    Compacted(Revision),
    /// The revision has not happened yet. The newest revision is given.
    Future(Revision),
    /// Stored data is damaged. The message is for logs and administrators.
    Damaged(String),
    /// The store does not answer at present. Nothing is wrong with the request, which may succeed later.
    Unreachable(String),
    /// The engine failed. The message is for logs and administrators.
    Engine(String),
}

impl fmt::Display for CommitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Conflict { index, .. } => write!(f, "the precondition of operation {index} does not hold"),
            Self::Unmet { index, .. } => write!(f, "hold {index} is not true"),
            Self::Damaged { key, damage } => write!(f, "{key} cannot be read: {damage}"),
            Self::Busy => f.write_str("too many writes wait for the store"),
            Self::Closed => f.write_str("the store is shutting down"),
            Self::Refused { message, .. } => {
                write!(f, "nothing was written, because the store cannot write at present: {message}")
            }
            Self::TooLarge(message) => f.write_str(message),
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
            Self::Unreachable(message) => write!(f, "the store does not answer: {message}"),
            Self::Engine(message) => write!(f, "the storage engine failed: {message}"),
        }
    }
}

impl std::error::Error for CommitError {}

impl std::error::Error for ReadError {}
