//! What is copied: the objects of a place in the order of their keys, and its changes.

use std::sync::Arc;

use super::Place;
#[cfg(feature = "etcd")]
use crate::etcd::tools::prefix::Prefix;
use crate::{
    embedded::tools::{BackupFile, ChangesError, DataDir, Error, OnProgress, RevisionScheme, State, Take},
    meta::Revision,
};

/// An open source.
pub(super) enum CopySource {
    Directory(DataDir),
    Backup(Arc<BackupFile>),
    #[cfg(feature = "etcd")]
    Etcd(Prefix),
}

impl CopySource {
    pub(super) fn open(place: &Place, progress: OnProgress<'_>) -> Result<Self, Error> {
        Ok(match place {
            Place::Directory(dir) => Self::Directory(DataDir::open(dir)?),
            Place::Backup(file) => Self::Backup(Arc::new(BackupFile::open(file, progress)?)),
            #[cfg(feature = "etcd")]
            Place::Etcd(options) => {
                let prefix = Prefix::open(options)?;
                prefix.require_store()?;
                Self::Etcd(prefix)
            }
        })
    }

    /// The name of the source, which is at `place`: the same for each run.
    pub(super) fn identity(&self, place: &Place) -> String {
        match self {
            Self::Directory(_) | Self::Backup(_) => place.identity(),
            #[cfg(feature = "etcd")]
            Self::Etcd(prefix) => prefix.identity(),
        }
    }

    /// The present objects after a key.
    pub(super) fn state(&mut self, after: Option<&str>) -> Result<State, Error> {
        match self {
            Self::Directory(dir) => dir.state(after),
            Self::Backup(backup) => backup.state(after),
            #[cfg(feature = "etcd")]
            Self::Etcd(prefix) => prefix.state(after),
        }
    }

    /// Passes the changes after a revision to `take`; returns the newest revision.
    pub(super) fn changes(&mut self, after: Revision, take: Take<'_>) -> Result<Revision, ChangesError> {
        match self {
            Self::Directory(dir) => dir.changes(after, take),
            Self::Backup(backup) => Ok(backup.head),
            #[cfg(feature = "etcd")]
            Self::Etcd(prefix) => prefix.changes(after, take),
        }
    }

    /// True if nothing can change as long as this is open.
    pub(super) fn is_final(&self) -> bool {
        match self {
            Self::Directory(dir) => dir.is_stopped(),
            Self::Backup(_) => true,
            #[cfg(feature = "etcd")]
            Self::Etcd(_) => false,
        }
    }

    /// True if a change may come after later ones were given.
    pub(super) fn may_be_late(&self) -> bool {
        match self {
            Self::Directory(_) | Self::Backup(_) => false,
            #[cfg(feature = "etcd")]
            Self::Etcd(_) => true,
        }
    }

    /// How revisions belong to objects.
    pub(super) fn revision_scheme(&self) -> RevisionScheme {
        match self {
            Self::Directory(_) | Self::Backup(_) => RevisionScheme::Own,
            #[cfg(feature = "etcd")]
            Self::Etcd(_) => RevisionScheme::Shared,
        }
    }
}
