//! The data directory of a store: locked against other processes, and marked with its format.
//!
//! A new store is made in four durable steps, so that a crash after any of them is told from damage:
//!
//! | step | `FORMAT.new` | `store.redb` | `FORMAT` | the next start |
//! |---|---|---|---|---|
//! | begin | yes | | | begins again |
//! | make the engine's file, as `store.redb.new` | yes | | | begins again |
//! | rename it | yes | yes | | goes on with the last step |
//! | rename `FORMAT.new` | | yes | yes | opens the store |
//!
//! One of `store.redb` and `FORMAT` without the other is damage in every other state, never an empty store.

use std::{
    fmt,
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use super::OpenError;
use crate::storage::private::{Access, FileError, PrivateDir};

/// The newest format that this version reads, and the one it writes.
pub(super) const FORMAT: u64 = 2;

const LOCK_FILE: &str = "LOCK";
const FORMAT_FILE: &str = "FORMAT";
const FORMAT_BEGUN: &str = "FORMAT.new";
const STORE_FILE: &str = "store.redb";
const STORE_BEGUN: &str = "store.redb.new";
const WITNESS_FILE: &str = "HEAD";

/// How long a lock may take to be given up: a process that has just stopped may not be gone yet, and one that another
/// process has forked holds its locks until it runs its own program.
const LETTING_GO: Duration = Duration::from_millis(200);

/// A data directory that this process alone may use, for as long as the value lives.
pub(super) struct Directory {
    files: PrivateDir,
    /// Closing the file gives the lock up; the system does it when the process dies.
    _lock: File,
}

impl Directory {
    /// Makes the directory if it is missing, locks it and checks its format.
    pub(super) fn open(path: &Path) -> Result<Self, OpenError> {
        let files = PrivateDir::open(path)?;
        let lock = match files.open_file(LOCK_FILE, Access::Public, true)? {
            Some(lock) => lock,
            None => files.create(LOCK_FILE)?,
        };
        let patience = Instant::now() + LETTING_GO;
        while let Err(error) = lock.try_lock() {
            match error {
                TryLockError::WouldBlock if Instant::now() < patience => thread::sleep(LETTING_GO / 20),
                TryLockError::WouldBlock => return Err(OpenError::InUse { dir: path.to_owned() }),
                TryLockError::Error(source) => return Err(OpenError::Directory { dir: path.to_owned(), source }),
            }
        }
        let directory = Self { files, _lock: lock };
        directory.check_format()?;
        Ok(directory)
    }

    /// Opens the engine's file for reading and writing. It is not empty: an engine would take it for a new one.
    pub(super) fn open_file(&self) -> Result<File, OpenError> {
        let file = self.files.open_file(STORE_FILE, Access::Data, true)?;
        let file = file.ok_or_else(|| self.lacks_store())?;
        if file.metadata().map_err(|source| self.io(source))?.len() == 0 {
            return Err(self.damaged("the file store.redb is empty"));
        }
        Ok(file)
    }

    /// Makes the engine's file in a directory that has no store yet.
    pub(super) fn make_file<E>(&self, fill: impl FnOnce(File) -> Result<(), E>) -> Result<(), MakeError<E>> {
        if self.files.has(FORMAT_FILE)? {
            return Ok(());
        }
        if !self.files.has(STORE_FILE)? {
            self.files.write_new(FORMAT_BEGUN, &format!("{FORMAT}\n"))?;
            // What a store that was moved away had reached says nothing of the new one.
            self.files.create(WITNESS_FILE)?;
            fill(self.files.create(STORE_BEGUN)?).map_err(MakeError::Fill)?;
            self.files.rename(STORE_BEGUN, STORE_FILE)?;
        }
        Ok(self.files.rename(FORMAT_BEGUN, FORMAT_FILE)?)
    }

    /// Puts a new file in the place of the engine's, and keeps that one under another name. A crash at any moment leaves
    /// one of the two, whole, in the place.
    pub(super) fn replace_file<E>(
        &self,
        keep: &str,
        fill: impl FnOnce(File) -> Result<(), E>,
    ) -> Result<(), MakeError<E>> {
        let file = self.files.create(STORE_BEGUN)?;
        let written = file.try_clone();
        fill(file).map_err(MakeError::Fill)?;
        let (store, kept) = (self.files.file(STORE_FILE), self.files.file(keep));
        let keep_old = || {
            written?.sync_all()?;
            match fs::remove_file(&kept) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            // Not every file system has links.
            fs::hard_link(&store, &kept).or_else(|_| fs::copy(&store, &kept).map(drop))?;
            File::open(&kept)?.sync_all()
        };
        keep_old().map_err(|source| FileError::Io { path: kept.clone(), source })?;
        Ok(self.files.rename(STORE_BEGUN, STORE_FILE)?)
    }

    /// The first name for a damaged file that is free.
    pub(super) fn name_for_damaged(&self) -> String {
        let mut names = (1_u32..).map(|number| format!("{STORE_FILE}.damaged-{number}"));
        names.find(|name| !self.files.file(name).exists()).expect("fewer than four billion files")
    }

    /// Notes that the engine's file has the newest format.
    pub(super) fn note_format(&self) -> Result<(), OpenError> {
        let newest = FORMAT.to_string();
        if self.files.read(FORMAT_FILE, Access::Public)?.is_none_or(|text| text.trim() != newest) {
            self.files.write(FORMAT_FILE, Access::Public, &format!("{newest}\n"))?;
        }
        Ok(())
    }

    /// Opens the witness of the newest durable revision, which is made if it is missing.
    pub(super) fn open_witness(&self) -> Result<File, OpenError> {
        Ok(match self.files.open_file(WITNESS_FILE, Access::Public, true)? {
            Some(file) => file,
            None => self.files.create(WITNESS_FILE)?,
        })
    }

    /// Where the engine's file is, for messages.
    pub(super) fn file(&self) -> PathBuf {
        self.files.file(STORE_FILE)
    }

    /// An error of the system about this directory.
    pub(super) fn io(&self, source: io::Error) -> OpenError {
        OpenError::Directory { dir: self.files.path().to_owned(), source }
    }

    /// An error that says that the files are damaged.
    pub(super) fn damaged(&self, message: impl fmt::Display) -> OpenError {
        OpenError::Damaged { dir: self.files.path().to_owned(), message: message.to_string() }
    }

    fn check_format(&self) -> Result<(), OpenError> {
        let has_store = self.files.has(STORE_FILE)?;
        let text = match self.files.read(FORMAT_FILE, Access::Public) {
            Ok(Some(text)) => text,
            // The last step of making a store is left to `make_file`.
            Ok(None) if !has_store || self.files.has(FORMAT_BEGUN)? => return Ok(()),
            Ok(None) => {
                return Err(self.damaged("the file FORMAT is missing beside store.redb"));
            }
            Err(FileError::Io { source, .. }) if source.kind() == io::ErrorKind::InvalidData => {
                return Err(self.damaged("the file FORMAT is not text"));
            }
            Err(error) => return Err(error.into()),
        };
        match text.trim().parse() {
            Ok(found) if found > FORMAT => {
                Err(OpenError::NewerFormat { dir: self.files.path().to_owned(), found, known: FORMAT })
            }
            Ok(0) | Err(_) => Err(self.damaged(format!("the file FORMAT says {text:?}, which is not a format"))),
            Ok(_) if !has_store => Err(self.lacks_store()),
            Ok(_) => Ok(()),
        }
    }

    fn lacks_store(&self) -> OpenError {
        self.damaged("the file store.redb is missing beside FORMAT")
    }
}

/// Why the engine's file could not be made.
pub(super) enum MakeError<E> {
    File(FileError),
    Fill(E),
}

impl<E> From<FileError> for MakeError<E> {
    fn from(error: FileError) -> Self {
        Self::File(error)
    }
}
