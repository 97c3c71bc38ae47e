//! Builds a new store, in a directory that appears only once all of it is durable.

use std::path::Path;

use redb::{Database, backends::FileBackend};

use super::{Error, aside::Aside};
use crate::{
    embedded::{
        directory::Directory,
        fresh::{self, Fresh},
        guard::{Engine, guarded},
        head::Witness,
        layout::State,
    },
    meta::Revision,
};

/// The size of the engine's cache while it writes.
const CACHE_BYTES: usize = 64 << 20;

/// Why a new store could not be filled.
pub(super) enum BuildError {
    /// Reading the rows from their source failed.
    Source(Error),
    /// Writing with the engine failed.
    Engine(redb::Error),
}

impl<E: Into<redb::Error>> From<E> for BuildError {
    fn from(error: E) -> Self {
        Self::Engine(error.into())
    }
}

/// Builds a store in a directory that is missing or empty. The extent of the log comes from `state`; `fill` writes the
/// rows.
pub(super) fn build(
    target: &Path,
    state: &State,
    fill: impl FnOnce(&mut Fresh<'_>) -> Result<(), BuildError>,
) -> Result<(), Error> {
    let aside = Aside::directory(target)?;
    let directory = Directory::open(aside.path())?;
    let mut source = None;
    let written = directory.make_file(|file| {
        guarded(|| {
            let mut builder = Database::builder();
            builder.set_cache_size(CACHE_BYTES);
            let db = Engine::new(builder.create_with_backend(FileBackend::new(file)?)?);
            fresh::write_to(&db, state, |fresh| {
                fill(fresh).map_err(|error| match error {
                    BuildError::Engine(error) => error,
                    BuildError::Source(error) => {
                        source = Some(error);
                        redb::Error::Corrupted("the rows cannot be read".to_owned())
                    }
                })
            })
        })
    });
    if let Some(error) = source {
        return Err(error);
    }
    written.map_err(|error| Error::make(target, error))?;
    testify(&directory, target, state.end.head)?;
    drop(directory);
    aside.publish_directory()
}

/// Makes the witness of a new store.
pub(super) fn testify(directory: &Directory, target: &Path, head: Revision) -> Result<(), Error> {
    let file = directory.open_witness()?;
    let durable = file.try_clone().map_err(Error::file(target))?;
    Witness::read(file).map_err(Error::file(target))?.0.testify(head);
    durable.sync_all().map_err(Error::file(target))
}
