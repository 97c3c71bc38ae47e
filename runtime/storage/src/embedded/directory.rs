//! The data directory of a store: locked against other processes, and marked with its format.
//!
//! A new store is created in four durable steps, so that a crash after any of them can be distinguished from damage:
//!
//! | step | `FORMAT.new` | `store.redb` | `FORMAT` | the next start |
//! |---|---|---|---|---|
//! | begin | yes | | | begins again |
//! | make the engine's file, as `store.redb.new` | yes | | | begins again |
//! | rename it | yes | yes | | goes on with the last step |
//! | rename `FORMAT.new` | | yes | yes | opens the store |
//!
//! In every other state, `store.redb` without `FORMAT` or the reverse is damage, never an empty store.

use std::{
    fmt,
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use super::OpenError;
use crate::private::{Access, FileError, PrivateDir};

/// The format that this version writes, and the newest that it reads.
pub(super) const FORMAT: u64 = 3;

const LOCK_FILE: &str = "LOCK";
const FORMAT_FILE: &str = "FORMAT";
const FORMAT_BEGUN: &str = "FORMAT.new";
const STORE_FILE: &str = "store.redb";
const STORE_BEGUN: &str = "store.redb.new";
const WITNESS_FILE: &str = "HEAD";
const RESERVE_FILE: &str = "RESERVE";

/// How long to wait for a lock. A process that has just stopped may still be exiting, and a forked child holds the
/// locks of its parent until it calls exec.
const LETTING_GO: Duration = Duration::from_millis(200);

/// A data directory that only this process may use while the value lives.
pub(super) struct Directory {
    files: PrivateDir,
    /// Closing the file releases the lock; so does the system when the process dies.
    _lock: File,
}

impl Directory {
    /// Creates the directory if it is missing, locks it, and checks its format.
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

    /// Opens the engine's file for reading and writing. An empty file is an error, because the engine would take it for
    /// a new one.
    pub(super) fn open_file(&self) -> Result<File, OpenError> {
        let file = self.files.open_file(STORE_FILE, Access::Data, true)?;
        let file = file.ok_or_else(|| self.lacks_store())?;
        if file.metadata().map_err(|source| self.io(source))?.len() == 0 {
            return Err(self.damaged("the file store.redb is empty"));
        }
        Ok(file)
    }

    /// Creates the engine's file in a directory that has no store yet.
    pub(super) fn make_file(&self, fill: impl FnOnce(File) -> Result<(), redb::Error>) -> Result<(), MakeError> {
        if self.files.has(FORMAT_FILE)? {
            return Ok(());
        }
        if !self.files.has(STORE_FILE)? {
            self.files.write_new(FORMAT_BEGUN, &format!("{FORMAT}\n"))?;
            // A witness left over from a store that was moved away does not apply to the new one.
            self.files.create(WITNESS_FILE)?;
            fill(self.files.create(STORE_BEGUN)?).map_err(MakeError::Fill)?;
            self.files.rename(STORE_BEGUN, STORE_FILE)?;
        }
        Ok(self.files.rename(FORMAT_BEGUN, FORMAT_FILE)?)
    }

    /// Replaces the engine's file with a new one and keeps the old one under another name. A crash at any moment leaves
    /// one complete file in place.
    pub(super) fn replace_file(
        &self,
        keep: &str,
        fill: impl FnOnce(File) -> Result<(), redb::Error>,
    ) -> Result<(), MakeError> {
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
            // Some file systems have no hard links.
            fs::hard_link(&store, &kept).or_else(|_| fs::copy(&store, &kept).map(drop))?;
            File::open(&kept)?.sync_all()
        };
        keep_old().map_err(|source| FileError::Io { path: kept.clone(), source })?;
        Ok(self.files.rename(STORE_BEGUN, STORE_FILE)?)
    }

    /// The first free name for a damaged file.
    pub(super) fn name_for_damaged(&self) -> String {
        let mut names = (1_u32..).map(|number| format!("{STORE_FILE}.damaged-{number}"));
        names.find(|name| !self.files.file(name).exists()).expect("fewer than four billion files")
    }

    /// Records that the engine's file has the newest format.
    pub(super) fn note_format(&self) -> Result<(), OpenError> {
        let newest = FORMAT.to_string();
        if self.files.read(FORMAT_FILE, Access::Public)?.is_none_or(|text| text.trim() != newest) {
            self.files.write(FORMAT_FILE, Access::Public, &format!("{newest}\n"))?;
        }
        Ok(())
    }

    /// Opens the witness of the newest durable revision, and creates it if it is missing.
    pub(super) fn open_witness(&self) -> Result<File, OpenError> {
        Ok(self.open_or_create(WITNESS_FILE)?)
    }

    /// Opens the file that takes space on the disk for a time when the disk is full (`reserve.rs`).
    pub(super) fn open_reserve(&self) -> Result<File, FileError> {
        self.open_or_create(RESERVE_FILE)
    }

    fn open_or_create(&self, name: &str) -> Result<File, FileError> {
        match self.files.open_file(name, Access::Public, true)? {
            Some(file) => Ok(file),
            None => self.files.create(name),
        }
    }

    /// The path of the engine's file, for messages.
    pub(super) fn file(&self) -> PathBuf {
        self.files.file(STORE_FILE)
    }

    /// An I/O error about this directory.
    pub(super) fn io(&self, source: io::Error) -> OpenError {
        OpenError::Directory { dir: self.files.path().to_owned(), source }
    }

    /// An error that reports damaged files.
    pub(super) fn damaged(&self, message: impl fmt::Display) -> OpenError {
        OpenError::Damaged { dir: self.files.path().to_owned(), message: message.to_string() }
    }

    fn check_format(&self) -> Result<(), OpenError> {
        let has_store = self.files.has(STORE_FILE)?;
        let text = match self.files.read(FORMAT_FILE, Access::Public) {
            Ok(Some(text)) => text,
            // `make_file` does the last step of creating a store.
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
            Ok(0) | Err(_) => {
                Err(self.damaged(format!("the file FORMAT contains {text:?}, which is not a format number")))
            }
            Ok(_) if !has_store => Err(self.lacks_store()),
            Ok(_) => Ok(()),
        }
    }

    fn lacks_store(&self) -> OpenError {
        self.damaged("the file store.redb is missing beside FORMAT")
    }
}

/// Why the engine's file could not be created.
pub(super) enum MakeError {
    File(FileError),
    Fill(redb::Error),
}

impl From<FileError> for MakeError {
    fn from(error: FileError) -> Self {
        Self::File(error)
    }
}
