//! Opens the store of a stopped server without changing anything in its directory.

use std::{
    fmt,
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::Error;
use crate::{
    Disk,
    embedded::{
        OpenError, Options, directory::FORMAT, file::FileDisk, guard::guarded, handle::Handle, head::Witness, upgrade,
    },
    meta::Revision,
};

/// The size of the engine's cache for one pass over a store.
const CACHE_BYTES: usize = 16 << 20;

/// The oldest format whose file is used as it is.
const SAME_FILE: u64 = 2;

/// A data directory that no server uses while this lives.
pub(super) struct LockedDir {
    dir: PathBuf,
    /// A shared lock, so that several readers may run; a server needs an exclusive one.
    _lock: Option<File>,
}

impl LockedDir {
    /// Locks the directory, or reports that a server uses it.
    pub(super) fn open(dir: &Path) -> Result<Self, Error> {
        let io_error = |source| Error::Open(OpenError::Directory { dir: dir.to_owned(), source });
        dir.metadata().map_err(io_error)?;
        let has = |name| dir.join(name).exists();
        if !has("FORMAT") && !has("store.redb") {
            return Err(Error::NoStore { dir: dir.to_owned() });
        }
        let lock = match File::open(dir.join("LOCK")) {
            Ok(file) => match file.try_lock_shared() {
                Ok(()) => Some(file),
                Err(TryLockError::WouldBlock) => return Err(OpenError::InUse { dir: dir.to_owned() }.into()),
                Err(TryLockError::Error(source)) => return Err(io_error(source)),
            },
            // A copy of a data directory may lack the lock file.
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(io_error(error)),
        };
        let locked = Self { dir: dir.to_owned(), _lock: lock };
        locked.check_format()?;
        Ok(locked)
    }

    /// The same, or `None` while a server uses the directory.
    pub(super) fn open_unless_in_use(dir: &Path) -> Result<Option<Self>, Error> {
        match Self::open(dir) {
            Err(Error::Open(OpenError::InUse { .. })) => Ok(None),
            opened => opened.map(Some),
        }
    }

    /// Refuses a newer format. The rows may be readable even if `FORMAT` is missing or unreadable.
    fn check_format(&self) -> Result<(), Error> {
        let text = fs::read_to_string(self.dir.join("FORMAT")).unwrap_or_default();
        match text.trim().parse::<u64>() {
            Ok(found) if found > FORMAT => {
                Err(OpenError::NewerFormat { dir: self.dir.clone(), found, known: FORMAT }.into())
            }
            _ => Ok(()),
        }
    }

    /// Describes the fault of the file `FORMAT`, if it has one.
    pub(super) fn format_fault(&self) -> Option<String> {
        let text = fs::read_to_string(self.dir.join("FORMAT"));
        let found = text.as_ref().ok().and_then(|text| text.trim().parse::<u64>().ok());
        let right = found.is_some_and(|found| (SAME_FILE..=FORMAT).contains(&found));
        (!right && !self.dir.join("FORMAT.new").exists()).then(|| match text {
            Ok(text) => format!("the file FORMAT contains {text:?}, but the store has format {FORMAT}"),
            Err(error) => format!("the file FORMAT cannot be read: {error}"),
        })
    }

    /// Opens the engine's file.
    pub(super) fn file(&self) -> Result<File, Error> {
        let path = self.dir.join("store.redb");
        File::open(&path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => self.damaged("the file store.redb is missing beside FORMAT"),
            _ => Error::file(&path)(error),
        })
    }

    /// Opens the engine's database; its writes stay in memory.
    pub(super) fn database(&self) -> Result<Handle, Error> {
        let file = self.file()?;
        if file.metadata().map_err(Error::file(&self.dir))?.len() == 0 {
            return Err(self.damaged("the file store.redb is empty"));
        }
        let disk = FileDisk::new(&self.dir.join("store.redb"), file, Arc::default()).map_err(Error::file(&self.dir))?;
        let (disk, options) =
            (Arc::new(disk) as Arc<dyn Disk>, Options { cache_bytes: CACHE_BYTES, ..Options::default() });
        let opened = guarded(|| Handle::open_reading(&disk, &options)).map_err(|error| self.damaged(error))?;
        if upgrade::is_needed(opened.db()).map_err(|error| self.damaged(error))? {
            return Err(Error::OldFormat { dir: self.dir.clone() });
        }
        Ok(opened)
    }

    /// The newest acknowledged revision according to the witness.
    pub(super) fn testified(&self) -> Result<Option<Revision>, Error> {
        let path = self.dir.join("HEAD");
        match File::open(&path) {
            Ok(file) => Ok(Witness::read(file).map_err(Error::file(&path))?.1),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::file(&path)(error)),
        }
    }

    /// An error that reports damaged files.
    pub(super) fn damaged(&self, message: impl fmt::Display) -> Error {
        Error::damaged(&self.dir, message)
    }
}
