//! One change of a key, and what it replaced.

use std::sync::Arc;

use bytes::Bytes;

use super::Value;
use crate::meta::Revision;

/// One change, as history keeps it and the cache receives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The change's own revision.
    pub revision: Revision,
    /// The key.
    pub key: Arc<str>,
    /// The value after the change, or `None` for a deletion.
    pub value: Option<Bytes>,
    /// What the change replaced.
    pub previous: Previous,
}

/// What a change replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Previous {
    /// Nothing: the change created the key.
    Absent,
    /// A value that was written at this revision.
    Value(Revision, Value),
    /// A value that the engine has not read. Only in deliveries: [`Store::changes`](super::Store::changes) reads it.
    Unread,
}

impl Previous {
    /// The size of the value in bytes.
    pub fn size(&self) -> usize {
        let Self::Value(_, Ok(value)) = self else { return 0 };
        value.len()
    }
}

impl From<Option<(Revision, Value)>> for Previous {
    fn from(found: Option<(Revision, Value)>) -> Self {
        found.map_or(Self::Absent, |(revision, value)| Self::Value(revision, value))
    }
}
