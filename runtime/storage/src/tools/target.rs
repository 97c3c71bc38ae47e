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
    Directory(StagedStore),
    Backup(StagedStore),
    #[cfg(feature = "etcd")]
    Etcd(StagedPrefix),
}

impl CopyTarget {
    /// Opens a target that does not exist, or that an unfinished copy began.
    pub(super) fn open(place: &Place, source: &CopySource) -> Result<Self, Error> {
        let revision_scheme = source.revision_scheme();
        Ok(match place {
            Place::Directory(dir) => Self::Directory(StagedStore::open(dir, false, revision_scheme)?),
            Place::Backup(file) => Self::Backup(StagedStore::open(file, true, revision_scheme)?),
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
            Self::Directory(staged) | Self::Backup(staged) => staged.marker(),
            #[cfg(feature = "etcd")]
            Self::Etcd(prefix) => Ok(prefix.note()),
        }
    }

    /// The place of the unfinished copy.
    pub(super) fn unfinished(&self) -> String {
        match self {
            Self::Directory(staged) | Self::Backup(staged) => staged.path().display().to_string(),
            #[cfg(feature = "etcd")]
            Self::Etcd(prefix) => prefix.unfinished(),
        }
    }

    /// Applies changes and notes how far the copy is.
    pub(super) fn write(&mut self, edits: &[Edit], marker: &Marker) -> Result<(), Error> {
        match self {
            Self::Directory(staged) | Self::Backup(staged) => staged.write(edits, &marker.to_text()),
            #[cfg(feature = "etcd")]
            Self::Etcd(prefix) => prefix.write(edits, &marker.to_text()),
        }
    }

    /// The objects after a key.
    pub(super) fn objects(&self, after: Option<&str>) -> Result<Objects, Error> {
        match self {
            Self::Directory(staged) | Self::Backup(staged) => staged.objects(after),
            #[cfg(feature = "etcd")]
            Self::Etcd(prefix) => prefix.objects(after),
        }
    }

    /// The number of objects that do not have the revision of the source, whose newest one is `head`.
    pub(super) fn renumbered(&self, head: Revision) -> Result<u64, Error> {
        match self {
            Self::Directory(staged) | Self::Backup(staged) => staged.renumbered(head),
            #[cfg(feature = "etcd")]
            Self::Etcd(prefix) => prefix.count(),
        }
    }

    /// True if the target gives all objects new revisions.
    pub(super) fn renumbers(&self) -> bool {
        match self {
            Self::Directory(_) | Self::Backup(_) => false,
            #[cfg(feature = "etcd")]
            Self::Etcd(_) => true,
        }
    }

    /// Completes the target; returns its newest revision. `head` is the revision of the source that was copied.
    pub(super) fn finish(self, head: Revision) -> Result<Revision, Error> {
        Ok(match self {
            Self::Directory(staged) => staged.finish(head, false)?.head,
            Self::Backup(staged) => staged.finish(head, true)?.head,
            #[cfg(feature = "etcd")]
            Self::Etcd(prefix) => prefix.finish()?,
        })
    }
}
