//! What the store needs of a disk: the seam between the engine and the system. The server has one implementation, a file
//! in its data directory (`file.rs`); tests put others in its place, which fail as disks do.

use std::{fmt, io};

/// The bytes that hold a store, and what the store asks of the system about them.
///
/// Errors go to the log, to `/readyz` and to clients, so they name what they are about. Their kinds decide how clients are
/// answered: `StorageFull`, `QuotaExceeded` and `FileTooLarge` say that the disk is full.
pub trait Disk: fmt::Debug + Send + Sync + 'static {
    /// How many bytes there are.
    ///
    /// # Errors
    /// What the system says.
    fn size(&self) -> io::Result<u64>;

    /// Reads bytes, all that were asked for.
    ///
    /// # Errors
    /// What the system says; `UnexpectedEof` past the end.
    fn read(&self, offset: u64, into: &mut [u8]) -> io::Result<()>;

    /// Writes bytes, all of them. They may be lost until the next `sync`.
    ///
    /// # Errors
    /// What the system says.
    fn write(&self, offset: u64, bytes: &[u8]) -> io::Result<()>;

    /// Cuts bytes off, or adds zeros.
    ///
    /// # Errors
    /// What the system says.
    fn set_size(&self, bytes: u64) -> io::Result<()>;

    /// Makes what was written durable.
    ///
    /// # Errors
    /// What the system says. What was written since the last `sync` may be lost then, whatever `read` returns.
    fn sync(&self) -> io::Result<()>;

    /// Drops what the system keeps of the bytes in memory, so that the next `read` returns what the disk holds. Called
    /// after a `sync` that succeeded.
    ///
    /// # Errors
    /// What the system says.
    fn forget(&self) -> io::Result<()>;

    /// Fails where these are no longer the bytes that a restart would find, such as those of a file that was removed or
    /// replaced. Called before each write of the store, so it must be quick.
    ///
    /// # Errors
    /// What has happened to the store's bytes.
    fn check(&self) -> io::Result<()>;

    /// Fails where the disk certainly takes no writes, without touching the store's bytes. It saves reading all of them
    /// in vain.
    ///
    /// # Errors
    /// What the system says.
    fn probe(&self) -> io::Result<()>;
}
