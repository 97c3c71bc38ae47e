//! The client of a running server's socket.

use std::{
    io::{self, Read, Write},
    os::unix::net::UnixStream,
    path::Path,
};

use super::archive::Reader;
use crate::embedded::{
    archive::MAGIC,
    socket::address::{PATIENCE, at_address},
};

/// The first byte of a refusal, which has the format of an archive. No other answer but a backup begins with it.
pub(super) const REFUSAL: u8 = MAGIC[0];

/// Connects to the server of a data directory and sends the words of a request.
pub(super) fn connect(dir: &Path, request: &[&str]) -> io::Result<UnixStream> {
    let mut stream = at_address(dir, |address| UnixStream::connect(address))?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.write_all(format!("{}\n", request.join(" ")).as_bytes())?;
    Ok(stream)
}

/// Why the server refuses a request whose answer, read from its beginning, is not a backup.
pub(super) fn refusal(from: impl Read) -> String {
    Reader::begin(from).err().map_or_else(|| "it sends a backup".to_owned(), |error| error.to_string())
}
