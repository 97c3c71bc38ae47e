//! What a copy writes: a new data directory, a new backup, or a prefix of etcd.

use super::{Place, marker::Marker, source::CopySource};
#[cfg(feature = "etcd")]
use crate::etcd::tools::staged_prefix::StagedPrefix;
use crate::{
    embedded::tools::{Edit, Error, Objects, StagedStore},
    meta::Revision,
};

/// An open target.
pub(super) enum CopyTarget {
    /// A data directory or a backup.
    Store(StagedStore),
    #[cfg(feature = "etcd")]
    Etcd(StagedPrefix),
}

impl CopyTarget {
    /// Opens a target that does not exist, or that an unfinished copy began.
    pub(super) fn open(place: &Place, source: &CopySource) -> Result<Self, Error> {
        let revision_scheme = source.revision_scheme();
        Ok(match place {
            Place::Directory(dir) => Self::Store(StagedStore::open(dir, false, revision_scheme)?),
            Place::Backup(file) => Self::Store(StagedStore::open(file, true, revision_scheme)?),
            #[cfg(feature = "etcd")]
            Place::Etcd(options) => {
                let prefix = StagedPrefix::open(options)?;
                if let CopySource::Etcd(source) = source {
                    prefix.refuse_overlap(source)?;
                }
                Self::Etcd(prefix)
            }
        })
    }

    /// What an unfinished copy noted.
    pub(super) fn marker(&self) -> Result<Option<String>, Error> {
        match self {
            Self::Store(staged) => staged.marker(),
            #[cfg(feature = "etcd")]
            Self::Etcd(prefix) => Ok(prefix.note()),
        }
    }

    /// The place of the unfinished copy.
    pub(super) fn unfinished(&self) -> String {
        match self {
            Self::Store(staged) => staged.path().display().to_string(),
            #[cfg(feature = "etcd")]
            Self::Etcd(prefix) => prefix.unfinished(),
        }
    }

    /// Applies changes and notes how far the copy is.
    pub(super) fn write(&mut self, edits: &[Edit], marker: &Marker) -> Result<(), Error> {
        match self {
            Self::Store(staged) => staged.write(edits, &marker.to_text()),
            #[cfg(feature = "etcd")]
            Self::Etcd(prefix) => prefix.write(edits, &marker.to_text()),
        }
    }

    /// The objects after a key.
    pub(super) fn objects(&self, after: Option<&str>) -> Result<Objects, Error> {
        match self {
            Self::Store(staged) => staged.objects(after),
            #[cfg(feature = "etcd")]
            Self::Etcd(prefix) => prefix.objects(after),
        }
    }

    /// The number of objects that do not have the revision of the source, whose newest one is `head`.
    pub(super) fn renumbered(&self, head: Revision) -> Result<u64, Error> {
        match self {
            Self::Store(staged) => staged.renumbered(head),
            #[cfg(feature = "etcd")]
            Self::Etcd(prefix) => prefix.count(),
        }
    }

    /// True if the target gives all objects new revisions.
    pub(super) fn renumbers(&self) -> bool {
        match self {
            Self::Store(_) => false,
            #[cfg(feature = "etcd")]
            Self::Etcd(_) => true,
        }
    }

    /// Completes the target; returns its newest revision. `head` is the revision of the source that was copied.
    pub(super) fn finish(self, head: Revision) -> Result<Revision, Error> {
        match self {
            Self::Store(staged) => staged.finish(head),
            #[cfg(feature = "etcd")]
            Self::Etcd(prefix) => prefix.finish(),
        }
    }
}
