//! What is copied: the objects of a place in the order of their keys, and its changes.

use std::sync::Arc;

use super::Place;
use crate::{
    meta::Revision,
    storage::embedded::maintenance::{Archived, ChangesError, DataDir, Error, Numbering, OnProgress, State, Take},
};

/// An open source.
pub(super) enum Source {
    Directory(DataDir),
    Backup(Arc<Archived>),
}

impl Source {
    pub(super) fn open(place: &Place, progress: OnProgress<'_>) -> Result<Self, Error> {
        Ok(match place {
            Place::Directory(dir) => Self::Directory(DataDir::open(dir)?),
            Place::Backup(file) => Self::Backup(Arc::new(Archived::open(file, progress)?)),
        })
    }

    /// The present objects after a key.
    pub(super) fn state(&mut self, after: Option<&str>) -> Result<State, Error> {
        match self {
            Self::Directory(dir) => dir.state(after),
            Self::Backup(backup) => backup.state(after),
        }
    }

    /// Passes the changes after a revision to `take`; returns the newest revision.
    pub(super) fn changes(&mut self, after: Revision, take: Take<'_>) -> Result<Revision, ChangesError> {
        match self {
            Self::Directory(dir) => dir.changes(after, take),
            Self::Backup(backup) => Ok(backup.contents.head),
        }
    }

    /// True if nothing can change as long as this is open.
    pub(super) fn is_final(&self) -> bool {
        match self {
            Self::Directory(dir) => dir.is_stopped(),
            Self::Backup(_) => true,
        }
    }

    /// True if each object has a revision of its own.
    pub(super) fn numbering(&self) -> Numbering {
        match self {
            Self::Directory(_) | Self::Backup(_) => Numbering::Kept,
        }
    }
}
