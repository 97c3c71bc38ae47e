//! Reads the objects of a backup in the order of their keys.
//!
//! The file is verified whole first. Its rows are in the order of revisions, so the places of the objects' rows are kept
//! in memory: eight bytes an object, and sixteen a row while the file is verified.

use std::{
    fs::File,
    io::BufReader,
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
    sync::Arc,
};

use bytes::Bytes;

use super::{
    Error, OnProgress, Progress,
    archive::{Item, ReadError, Reader},
    objects::{Objects, State},
};
use crate::{
    embedded::{
        clock::{Clock, Lead},
        layout::Row,
        snapshot::Object,
    },
    meta::Revision,
};

/// A verified backup.
pub(crate) struct BackupFile {
    path: PathBuf,
    file: File,
    /// The newest revision.
    pub(crate) head: Revision,
    /// That of a store that is made of it.
    lead: Lead,
    /// Where the frames of the objects' rows begin, in the order of keys.
    places: Vec<u64>,
}

impl BackupFile {
    /// Opens and verifies a backup.
    pub(crate) fn open(path: &Path, progress: OnProgress<'_>) -> Result<Self, Error> {
        let file = File::open(path).map_err(Error::file(path))?;
        let unreadable = |error: ReadError| error.of_backup(path);
        let mut reader = Reader::begin(BufReader::with_capacity(1 << 20, &file)).map_err(unreadable)?;
        let (head, count) = (reader.state().end.head, reader.state().log.rows);
        let (mut rows, mut places, mut noted_ms) = (Vec::<(u64, u64)>::new(), Vec::new(), 0);
        loop {
            let at = reader.bytes;
            match reader.next().map_err(unreadable)? {
                Some(Item::Row(revision, _)) => {
                    rows.push((revision.0, at));
                    if rows.len().is_multiple_of(256) {
                        progress(Progress::new("verifying the backup", rows.len() as u64, count));
                    }
                }
                Some(Item::Pointer(key, revision)) => {
                    let row = rows.binary_search_by_key(&revision.0, |(revision, _)| *revision);
                    let row = row.map_err(|_| Error::BadBackup {
                        file: path.to_owned(),
                        message: format!("the row of {} is missing", String::from_utf8_lossy(key)),
                    })?;
                    places.push(rows[row].1);
                }
                Some(Item::Mark(_, ms)) => noted_ms = noted_ms.max(ms),
                None => break,
            }
        }
        Ok(Self { path: path.to_owned(), file, head, lead: Clock::lead(None, noted_ms), places })
    }

    /// The objects after a key.
    pub(crate) fn state(self: &Arc<Self>, after: Option<&str>) -> Result<State, Error> {
        let (mut low, mut high) = (0, if after.is_some() { self.places.len() } else { 0 });
        while low < high {
            let middle = low + (high - low) / 2;
            if Some(&*self.entry(self.places[middle])?.key) <= after {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let this = Arc::clone(self);
        let objects: Objects = Box::new((low..self.places.len()).map(move |place| this.entry(this.places[place])));
        Ok(State { head: self.head, count: self.places.len() as u64, objects })
    }

    /// Reads the row in the frame at a place: kind, length, revision, row (`archive`).
    fn entry(&self, at: u64) -> Result<Object, Error> {
        let mut head = [0; 13];
        self.file.read_exact_at(&mut head, at).map_err(Error::file(&self.path))?;
        let [_, a, b, c, d, revision @ ..] = head;
        let length = u32::from_le_bytes([a, b, c, d]) as usize;
        let mut stored = vec![0; length.saturating_sub(revision.len())];
        self.file.read_exact_at(&mut stored, at + head.len() as u64).map_err(Error::file(&self.path))?;
        let revision = Revision(u64::from_le_bytes(revision));
        let changed = || Error::BadBackup {
            file: self.path.clone(),
            message: format!("the row at byte {at} has changed since it was verified"),
        };
        let row = Row::read(revision, &stored).map_err(|_| changed())?;
        let body = row.body.ok_or_else(changed)?;
        let value = Ok(Bytes::copy_from_slice(body));
        let deadline_ms = row.deadline_ms.map(|deadline_ms| self.lead.on_system_clock(deadline_ms));
        Ok(Object { key: row.key.into(), value, revision, deadline_ms })
    }
}
