//! Builds a store from a backup, in a new directory.
//!
//! The directory appears only after the whole backup was read and verified. The new store has the same objects,
//! revisions, history and newest revision as the backed-up one.

use std::{fs::File, io::BufReader, path::Path};

use super::{
    Backup, Error, OnProgress, Progress,
    archive::{Item, ReadError, Reader},
    build::{BuildError, build},
};

/// Builds a store from a backup in a directory that is missing or empty.
///
/// # Errors
/// [`Error::BadBackup`] if the backup is damaged, [`Error::Exists`] if the directory is not empty.
pub fn restore(file: &Path, to: &Path, progress: OnProgress<'_>) -> Result<Backup, Error> {
    let open = File::open(file).map_err(Error::file(file))?;
    let unreadable = |error: ReadError| error.of_backup(file);
    let mut reader = Reader::begin(BufReader::with_capacity(1 << 20, open)).map_err(unreadable)?;
    let state = *reader.state();
    let mut done = 0;
    build(to, &state, |fresh| {
        while let Some(item) = reader.next().map_err(|error| BuildError::Source(unreadable(error)))? {
            match item {
                Item::Row(revision, row) => {
                    fresh.put_row(revision, &row)?;
                    done += 1;
                    if done % 256 == 0 {
                        progress(Progress::new("restoring rows", done, state.log.rows));
                    }
                }
                Item::Pointer(key, revision) => fresh.put_pointer(key, revision)?,
                Item::Mark(before, ms) => fresh.put_mark(before, ms)?,
            }
        }
        Ok(())
    })?;
    Ok(Backup { bytes: reader.bytes, ..Backup::of(&state) })
}
