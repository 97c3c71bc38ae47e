//! Files that are read whole: regular ones, up to a size.
use std::{
    fs,
    io::{self, Read as _},
    os::fd::OwnedFd,
    path::Path,
};

use rustix::fs::{CWD, FileType, Mode, OFlags, fstat, openat};

use super::folder::FileTypeName;

/// The most that is read, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The limit of one file.
    pub file: u64,
    /// The limit of all files that are read together.
    pub sum: u64,
}

impl Default for Limits {
    /// Ten times the largest document of Kubernetes, and as much as a few hundred of its size.
    fn default() -> Self {
        Self::of_file(16 << 20)
    }
}

impl Limits {
    /// The limits for files of this size, of which there may be sixteen.
    pub fn of_file(bytes: u64) -> Self {
        Self { file: bytes, sum: bytes.saturating_mul(16) }
    }

    /// Takes a file of this size off the sum.
    ///
    /// # Errors
    /// If it is too large, or all files together are.
    pub fn take(&mut self, bytes: u64) -> io::Result<()> {
        self.check(bytes)?;
        self.sum = self.sum.checked_sub(bytes).ok_or_else(|| {
            let message = "the files are together larger than sixteen times the limit for a file";
            io::Error::new(io::ErrorKind::FileTooLarge, message)
        })?;
        Ok(())
    }

    /// Fails for a text beyond the size of a file.
    pub(super) fn check(&self, bytes: u64) -> io::Result<()> {
        if bytes <= self.file {
            return Ok(());
        }
        Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("it is larger than {}, the limit for a file", Size(self.file)),
        ))
    }
}

/// A number of bytes, for messages.
struct Size(u64);

impl std::fmt::Display for Size {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0.is_multiple_of(1 << 20) { write!(f, "{} MiB", self.0 >> 20) } else { write!(f, "{} bytes", self.0) }
    }
}

/// Reads a regular file, which may be a link to one. Never waits for another process, as it would at a pipe.
///
/// # Errors
/// If it is something else, or larger than the limit, or cannot be read.
pub fn read(path: &Path, limits: &Limits) -> io::Result<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    // Opening a device may already have an effect.
    regular(FileType::from_raw_mode(rustix::fs::stat(path)?.st_mode))?;
    let file = openat(CWD, path, flags, Mode::empty())?;
    regular(FileType::from_raw_mode(fstat(&file)?.st_mode))?;
    read_whole(file, limits)
}

/// Reads an open file.
pub(super) fn read_whole(file: OwnedFd, limits: &Limits) -> io::Result<Vec<u8>> {
    read_from(fs::File::from(file), limits)
}

/// Reads to the end, such as standard input.
///
/// # Errors
/// If there is more than the limit of a file, or it cannot be read.
pub fn read_from(source: impl io::Read, limits: &Limits) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    // One byte more than allowed says that the file is too large, whatever its size was.
    source.take(limits.file.saturating_add(1)).read_to_end(&mut text)?;
    limits.check(size(&text))?;
    Ok(text)
}

/// Reads one of several files, as [`read`], and takes it off the sum.
///
/// # Errors
/// As [`read`], or if all files together are too large.
pub fn read_next(path: &Path, limits: &mut Limits) -> io::Result<Vec<u8>> {
    let text = read(path, limits)?;
    limits.take(size(&text))?;
    Ok(text)
}

/// The size of a text in bytes.
fn size(text: &[u8]) -> u64 {
    text.len().try_into().unwrap_or(u64::MAX)
}

/// Reads a regular file of text in UTF-8, as [`read`].
///
/// # Errors
/// As [`read`], or if it is no text.
pub fn read_text(path: &Path, limits: &Limits) -> io::Result<String> {
    String::from_utf8(read(path, limits)?)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "stream did not contain valid UTF-8"))
}

fn regular(kind: FileType) -> io::Result<()> {
    match kind {
        FileType::RegularFile => Ok(()),
        kind => Err(io::Error::other(format!("it is {}; supported: regular files", FileTypeName(kind)))),
    }
}
