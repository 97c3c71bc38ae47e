//! The data directory: made private to its owner, locked against other processes, and marked with its format.
//!
//! | file | holds |
//! |---|---|
//! | `LOCK` | nothing; the process that uses the directory holds the lock on it |
//! | `FORMAT` | the format's number as text |
//! | `store.redb` | the engine's file; made under another name and renamed once it is whole |

use std::{
    fmt,
    fs::{self, File, OpenOptions, TryLockError},
    io,
    path::{Path, PathBuf},
};

use super::OpenError;

/// The newest format that this version reads, and the one it writes.
pub(super) const FORMAT: u64 = 1;

/// A data directory that this process alone may use, for as long as the value lives.
pub(super) struct Directory {
    path: PathBuf,
    /// Closing the file gives the lock up; the system does it when the process dies.
    _lock: File,
}

impl Directory {
    /// Makes the directory if it is missing, locks it and checks its format.
    pub(super) fn open(path: &Path) -> Result<Self, OpenError> {
        let failed = |source| OpenError::Directory { dir: path.to_owned(), source };
        make_private(path).map_err(failed)?;
        let lock =
            OpenOptions::new().create(true).truncate(false).write(true).open(path.join("LOCK")).map_err(failed)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(OpenError::InUse { dir: path.to_owned() }),
            Err(TryLockError::Error(source)) => return Err(failed(source)),
        }
        let directory = Self { path: path.to_owned(), _lock: lock };
        directory.check_format()?;
        Ok(directory)
    }

    /// The engine's file.
    pub(super) fn file(&self) -> PathBuf {
        self.path.join("store.redb")
    }

    /// Makes the engine's file where there is none: a crash in between leaves no file that looks whole.
    pub(super) fn make_file<E>(&self, fill: impl FnOnce(&Path) -> Result<(), E>) -> Result<(), MakeError<E>> {
        if self.file().exists() {
            return Ok(());
        }
        let new = self.path.join("store.redb.new");
        match fs::remove_file(&new) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(MakeError::Io(error)),
            _ => fill(&new).map_err(MakeError::Fill)?,
        }
        fs::rename(&new, self.file()).and_then(|()| self.sync()).map_err(MakeError::Io)
    }

    /// An error of the system about this directory.
    pub(super) fn io(&self, source: io::Error) -> OpenError {
        OpenError::Directory { dir: self.path.clone(), source }
    }

    /// An error that says that the files are damaged.
    pub(super) fn damaged(&self, message: impl fmt::Display) -> OpenError {
        OpenError::Damaged { dir: self.path.clone(), message: message.to_string() }
    }

    fn check_format(&self) -> Result<(), OpenError> {
        let path = self.path.join("FORMAT");
        match fs::read_to_string(&path) {
            Ok(text) => match text.trim().parse() {
                Ok(found) if found > FORMAT => {
                    Err(OpenError::NewerFormat { dir: self.path.clone(), found, known: FORMAT })
                }
                Ok(0) | Err(_) => Err(self.damaged(format!("the file FORMAT says {text:?}, which is no format"))),
                Ok(_) => Ok(()),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if self.file().exists() {
                    return Err(self.damaged("the file FORMAT is missing"));
                }
                self.write_format(&path).map_err(|source| self.io(source))
            }
            Err(error) if error.kind() == io::ErrorKind::InvalidData => Err(self.damaged("the file FORMAT is no text")),
            Err(error) => Err(self.io(error)),
        }
    }

    fn write_format(&self, path: &Path) -> io::Result<()> {
        let new = self.path.join("FORMAT.new");
        fs::write(&new, format!("{FORMAT}\n"))?;
        File::open(&new)?.sync_all()?;
        fs::rename(&new, path)?;
        self.sync()
    }

    /// Makes the names in the directory durable.
    fn sync(&self) -> io::Result<()> {
        File::open(&self.path)?.sync_all()
    }
}

/// Why the engine's file could not be made.
pub(super) enum MakeError<E> {
    Io(io::Error),
    Fill(E),
}

fn make_private(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}
