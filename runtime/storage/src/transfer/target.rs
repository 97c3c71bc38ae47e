//! What a copy writes: a new data directory, a new backup, or a prefix of etcd.

use super::{Place, marker::Marker, source::Source};
#[cfg(feature = "etcd")]
use crate::etcd::Filling;
use crate::{
    embedded::maintenance::{Edit, Error, Objects, Staging},
    meta::Revision,
};

/// An open target.
pub(super) enum Target {
    Directory(Staging),
    Backup(Staging),
    #[cfg(feature = "etcd")]
    Etcd(Filling),
}

impl Target {
    /// Opens a target that does not exist, or that an unfinished copy began.
    pub(super) fn open(place: &Place, source: &Source) -> Result<Self, Error> {
        let numbering = source.numbering();
        Ok(match place {
            Place::Directory(dir) => Self::Directory(Staging::open(dir, false, numbering)?),
            Place::Backup(file) => Self::Backup(Staging::open(file, true, numbering)?),
            #[cfg(feature = "etcd")]
            Place::Etcd(options) => {
                let filling = Filling::open(options)?;
                if let Source::Etcd(prefix) = source {
                    filling.refuse_overlap(prefix)?;
                }
                Self::Etcd(filling)
            }
        })
    }

    /// What an unfinished copy noted.
    pub(super) fn marker(&self) -> Result<Option<String>, Error> {
        match self {
            Self::Directory(staging) | Self::Backup(staging) => staging.marker(),
            #[cfg(feature = "etcd")]
            Self::Etcd(filling) => Ok(filling.note()),
        }
    }

    /// The place of the unfinished copy.
    pub(super) fn unfinished(&self) -> String {
        match self {
            Self::Directory(staging) | Self::Backup(staging) => staging.path().display().to_string(),
            #[cfg(feature = "etcd")]
            Self::Etcd(filling) => filling.unfinished(),
        }
    }

    /// Applies changes and notes how far the copy is.
    pub(super) fn write(&mut self, edits: &[Edit], marker: &Marker) -> Result<(), Error> {
        match self {
            Self::Directory(staging) | Self::Backup(staging) => staging.write(edits, &marker.to_text()),
            #[cfg(feature = "etcd")]
            Self::Etcd(filling) => filling.write(edits, &marker.to_text()),
        }
    }

    /// The objects after a key.
    pub(super) fn objects(&self, after: Option<&str>) -> Result<Objects, Error> {
        match self {
            Self::Directory(staging) | Self::Backup(staging) => staging.objects(after),
            #[cfg(feature = "etcd")]
            Self::Etcd(filling) => filling.objects(after),
        }
    }

    /// The number of objects that do not have the revision of the source, whose newest one is `head`.
    pub(super) fn renumbered(&self, head: Revision) -> Result<u64, Error> {
        match self {
            Self::Directory(staging) | Self::Backup(staging) => staging.renumbered(head),
            #[cfg(feature = "etcd")]
            Self::Etcd(filling) => filling.count(),
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
            Self::Directory(staging) => staging.finish(head, false)?.head,
            Self::Backup(staging) => staging.finish(head, true)?.head,
            #[cfg(feature = "etcd")]
            Self::Etcd(filling) => filling.finish()?,
        })
    }
}
