//! What a copy writes: a new data directory, or a new backup.

use super::{Place, marker::Marker};
use crate::{
    meta::Revision,
    storage::embedded::maintenance::{Edit, Error, Numbering, Objects, Staging},
};

/// An open target.
pub(super) enum Target {
    Directory(Staging),
    Backup(Staging),
}

impl Target {
    /// Opens a target that does not exist, or that an unfinished copy began.
    pub(super) fn open(place: &Place, numbering: Numbering) -> Result<Self, Error> {
        Ok(match place {
            Place::Directory(dir) => Self::Directory(Staging::open(dir, false, numbering)?),
            Place::Backup(file) => Self::Backup(Staging::open(file, true, numbering)?),
        })
    }

    /// What an unfinished copy noted.
    pub(super) fn marker(&self) -> Result<Option<String>, Error> {
        match self {
            Self::Directory(staging) | Self::Backup(staging) => staging.marker(),
        }
    }

    /// The place of the unfinished copy.
    pub(super) fn unfinished(&self) -> String {
        match self {
            Self::Directory(staging) | Self::Backup(staging) => staging.path().display().to_string(),
        }
    }

    /// Applies changes and notes how far the copy is.
    pub(super) fn write(&mut self, edits: &[Edit], marker: &Marker) -> Result<(), Error> {
        match self {
            Self::Directory(staging) | Self::Backup(staging) => staging.write(edits, &marker.to_text()),
        }
    }

    /// The objects after a key.
    pub(super) fn objects(&self, after: Option<&str>) -> Result<Objects, Error> {
        match self {
            Self::Directory(staging) | Self::Backup(staging) => staging.objects(after),
        }
    }

    /// True if objects keep the revisions of the source.
    pub(super) fn keeps_revisions(&self) -> bool {
        match self {
            Self::Directory(staging) | Self::Backup(staging) => staging.keeps_revisions(),
        }
    }

    /// Completes the target; returns its newest revision. `head` is the revision of the source that was copied.
    pub(super) fn finish(self, head: Revision) -> Result<Revision, Error> {
        Ok(match self {
            Self::Directory(staging) => staging.finish(head, false)?.head,
            Self::Backup(staging) => staging.finish(head, true)?.head,
        })
    }
}
