//! Builds a new store, in a directory that appears only once all of it is durable.

use std::{io, path::Path};

use redb::{Database, backends::FileBackend};

use super::{Error, target::Aside};
use crate::embedded::{
    OpenError,
    directory::{Directory, MakeError},
    fresh::{self, Fresh},
    guard::{Engine, guarded},
    head::Witness,
    layout::State,
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
    written.map_err(|error| match error {
        MakeError::File(error) => OpenError::from(error).into(),
        MakeError::Fill(redb::Error::Io(source)) => Error::file(target)(source),
        MakeError::Fill(error) => Error::file(target)(io::Error::other(error)),
    })?;
    let file = directory.open_witness()?;
    let durable = file.try_clone().map_err(Error::file(target))?;
    Witness::read(file).map_err(Error::file(target))?.0.testify(state.end.head);
    durable.sync_all().map_err(Error::file(target))?;
    drop(directory);
    aside.publish_directory()
}
