//! Where the socket of a data directory is, for the server and for its clients.

use std::{
    fs::File,
    io,
    os::fd::AsRawFd,
    path::{Path, PathBuf},
    time::Duration,
};

/// The name of the socket in its directory.
pub(super) const NAME: &str = "store.sock";
/// The longest address that is used directly; systems allow 104 or 108 bytes.
const MAX_ADDRESS: usize = 100;
/// A side that sends and reads nothing for this long is disconnected.
pub(in crate::embedded) const PATIENCE: Duration = Duration::from_secs(30);

/// Uses the socket's address in a directory whose path may be too long for an address.
pub(in crate::embedded) fn at_address<T>(dir: &Path, using: impl FnOnce(&Path) -> io::Result<T>) -> io::Result<T> {
    let plain = dir.join(NAME);
    if plain.as_os_str().len() <= MAX_ADDRESS {
        return using(&plain);
    }
    let open = File::open(dir)?;
    let short = PathBuf::from(format!("/proc/self/fd/{}", open.as_raw_fd())).join(NAME);
    using(&short)
}
