//! The interface between the engine and the operating system. The server uses one implementation, a file in its data
//! directory (`file.rs`). Tests use others, which fail as disks do.

use std::{fmt, io};

/// The bytes that hold a store.
///
/// Errors go to the log, to `/readyz` and to clients, so each names its subject. The error's kind decides the answer to
/// clients: `StorageFull`, `QuotaExceeded` and `FileTooLarge` mean that the disk is full.
pub trait Disk: fmt::Debug + Send + Sync + 'static {
    /// The size in bytes.
    ///
    /// # Errors
    /// The system's error.
    fn size(&self) -> io::Result<u64>;

    /// Fills `into` completely.
    ///
    /// # Errors
    /// The system's error; `UnexpectedEof` past the end.
    fn read(&self, offset: u64, into: &mut [u8]) -> io::Result<()>;

    /// Writes all bytes. They may be lost until the next `sync`.
    ///
    /// # Errors
    /// The system's error.
    fn write(&self, offset: u64, bytes: &[u8]) -> io::Result<()>;

    /// Truncates, or extends with zeros.
    ///
    /// # Errors
    /// The system's error.
    fn set_size(&self, bytes: u64) -> io::Result<()>;

    /// Makes all writes durable.
    ///
    /// # Errors
    /// The system's error. Writes since the last `sync` may then be lost, whatever `read` returns.
    fn sync(&self) -> io::Result<()>;

    /// Drops the system's cached copy of the bytes, so that the next `read` returns what the disk holds. Called after a
    /// `sync` that succeeded.
    ///
    /// # Errors
    /// The system's error.
    fn forget(&self) -> io::Result<()>;

    /// Fails if a restart would not find these bytes, for example because the file was removed or replaced. Called
    /// before each write of the store, so it must be quick.
    ///
    /// # Errors
    /// What happened to the store's bytes.
    fn check(&self) -> io::Result<()>;

    /// Fails if the disk certainly takes no writes. Does not touch the store's bytes. A failed probe saves reading the
    /// whole store in vain.
    ///
    /// # Errors
    /// The system's error.
    fn probe(&self) -> io::Result<()>;

    /// The size of the space that is set aside beside the store's bytes.
    ///
    /// # Errors
    /// The system's error.
    fn reserved(&self) -> io::Result<u64> {
        Ok(0)
    }

    /// Sets more space aside, or gives some of it up, so that this much is set aside. A disk that cannot do that does
    /// nothing.
    ///
    /// # Errors
    /// The system's error. What was set aside before stays.
    fn reserve(&self, bytes: u64) -> io::Result<()> {
        let _ = bytes;
        Ok(())
    }
}
