//! What copies read and write: the objects of a store in the order of their keys, and its changes.

use std::{
    collections::VecDeque,
    path::{Path, PathBuf},
    sync::Arc,
};

use bytes::Bytes;

use super::Error;
use crate::{
    embedded::{
        clock::now_ms,
        snapshot::{Object, Snapshot},
    },
    meta::Revision,
};

impl Object {
    /// True if the deadline has passed. A stopped server's store keeps such a value, and etcd deletes it a little later.
    pub(crate) fn has_expired(&self) -> bool {
        self.deadline_ms.is_some_and(|deadline_ms| deadline_ms <= now_ms())
    }
}

/// Objects in the order of their keys.
pub(crate) type Objects = Box<dyn Iterator<Item = Result<Object, Error>>>;

/// The state of a store at one revision.
pub(crate) struct State {
    pub(crate) head: Revision,
    /// The number of objects, before and after the key where reading begins.
    pub(crate) count: u64,
    pub(crate) objects: Objects,
}

/// A change: the value that a key has since a revision, or `None` for a deletion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Edit {
    pub(crate) key: Arc<str>,
    pub(crate) value: Option<Bytes>,
    pub(crate) revision: Revision,
    /// When the value expires, on the system's clock.
    pub(crate) deadline_ms: Option<u64>,
}

/// Receives changes, until it returns an error.
pub(crate) type Take<'a> = &'a mut dyn FnMut(Edit) -> Result<(), Error>;

/// Changes could not be passed on.
pub(crate) enum ChangesError {
    /// History no longer reaches back so far, or cannot be read.
    Lost,
    /// Another error.
    Failed(Error),
}

impl From<Error> for ChangesError {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// The objects of a snapshot after a key. The directory is for errors.
pub(super) fn objects_of(snapshot: Snapshot, dir: &Path, after: Option<&str>) -> Objects {
    Box::new(Pieces { snapshot, dir: dir.to_owned(), after: after.map(str::to_owned), piece: VecDeque::new() })
}

/// The objects of a snapshot that are left.
struct Pieces {
    snapshot: Snapshot,
    dir: PathBuf,
    /// The last key of the piece.
    after: Option<String>,
    piece: VecDeque<Object>,
}

impl Iterator for Pieces {
    type Item = Result<Object, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.piece.is_empty() {
            match self.snapshot.piece(self.after.as_deref()) {
                Ok(piece) => self.piece = piece,
                Err(error) => return Some(Err(Error::damaged(&self.dir, error))),
            }
            if let Some(last) = self.piece.back() {
                self.after = Some(last.key.to_string());
            }
        }
        self.piece.pop_front().map(Ok)
    }
}
