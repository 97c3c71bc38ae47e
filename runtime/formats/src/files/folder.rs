//! A folder in which files are written. Nothing outside of it can be written: paths consist of checked names, and each folder is
//! opened relative to the one around it, without following links.
use std::{
    ffi::OsStr,
    fmt, fs,
    io::{self, ErrorKind, Write as _},
    os::{fd::OwnedFd, unix::ffi::OsStrExt as _},
    path::{Path, PathBuf},
};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, fstat, ftruncate, mkdirat, openat, statat};

use super::{Limits, reading::read_whole};

/// The path of a file below a folder: one name at least, none of which leads elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RelativePath(PathBuf);

impl RelativePath {
    /// The path with names between slashes.
    ///
    /// # Errors
    /// The invalid name, and what is allowed.
    pub fn new(path: impl AsRef<Path>) -> Result<Self, String> {
        let path = path.as_ref();
        let wrong = path.as_os_str().as_bytes().split(|byte| *byte == b'/').find(|name| !is_name(name));
        match wrong {
            None => Ok(Self(path.to_owned())),
            Some(name) => Err(format!(
                "{:?} is no path below a folder: found the name {:?}; supported: names without slashes, backslashes and control \
                 characters that are neither empty, \".\" nor \"..\"",
                path.to_string_lossy(),
                String::from_utf8_lossy(name)
            )),
        }
    }

    fn names(&self) -> impl DoubleEndedIterator<Item = &OsStr> {
        self.0.iter()
    }
}

impl AsRef<Path> for RelativePath {
    fn as_ref(&self) -> &Path {
        &self.0
    }
}

fn is_name(name: &[u8]) -> bool {
    !matches!(name, b"" | b"." | b"..") && !name.iter().any(|byte| byte.is_ascii_control() || b"/\\".contains(byte))
}

/// A folder that was named by the user. It may be a link; what is in it is not reached through one.
#[derive(Debug)]
pub struct Folder(OwnedFd);

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
/// Opening does not wait for the other end of a pipe.
const FILE: OFlags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::CLOEXEC).union(OFlags::NOCTTY);

impl Folder {
    /// Opens a folder.
    ///
    /// # Errors
    /// If the path is not a folder that can be opened.
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self(openat(CWD, if path.as_os_str().is_empty() { Path::new(".") } else { path }, FOLDER, Mode::empty())?))
    }

    /// Opens a folder. Creates it if it does not exist.
    ///
    /// # Errors
    /// Errors of the file system.
    pub fn create(path: &Path) -> io::Result<Self> {
        fs::create_dir_all(path)?;
        Self::open(path)
    }

    /// True if there is something at the path.
    ///
    /// # Errors
    /// If it is reached through a link, or is neither a regular file nor a folder.
    pub fn contains(&self, path: &RelativePath) -> io::Result<bool> {
        let Some((parent, name)) = self.parent(path, false)? else { return Ok(false) };
        match statat(&parent, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) => {
                let kind = FileType::from_raw_mode(found.st_mode);
                if kind == FileType::Directory { Ok(true) } else { refuse_other(kind, path).map(|()| true) }
            }
            Err(rustix::io::Errno::NOENT) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Reads a file up to a size; `None` if it does not exist.
    ///
    /// # Errors
    /// As [`contains`](Self::contains), or if it is larger.
    pub fn read(&self, path: &RelativePath, limits: &Limits) -> io::Result<Option<Vec<u8>>> {
        if !self.contains(path)? {
            return Ok(None);
        }
        let Some((parent, name)) = self.parent(path, false)? else { return Ok(None) };
        let file = openat(&parent, name, OFlags::RDONLY | FILE, Mode::empty())?;
        refuse_other(FileType::from_raw_mode(fstat(&file)?.st_mode), path)?;
        read_whole(file, limits).map(Some)
    }

    /// Writes a file and the folders around it. One that is there is replaced in its place.
    ///
    /// # Errors
    /// As [`contains`](Self::contains), and those of the file system.
    pub fn write(&self, path: &RelativePath, text: &[u8]) -> io::Result<()> {
        let Some((parent, name)) = self.parent(path, true)? else { return Err(ErrorKind::NotFound.into()) };
        let flags = OFlags::WRONLY | OFlags::CREATE | FILE;
        let file = match openat(&parent, name, flags, Mode::from_raw_mode(0o666)) {
            Ok(file) => file,
            Err(error) => {
                // Reports what is in the way, if that is the cause.
                self.contains(path)?;
                return Err(error.into());
            }
        };
        refuse_other(FileType::from_raw_mode(fstat(&file)?.st_mode), path)?;
        ftruncate(&file, 0)?;
        fs::File::from(file).write_all(text)
    }

    /// The folder of a file and the name in it; `None` if there is no such folder, and it is not to be made.
    fn parent<'p>(&self, path: &'p RelativePath, is_made: bool) -> io::Result<Option<(OwnedFd, &'p OsStr)>> {
        let mut folder = self.0.try_clone()?;
        let (mut names, mut at) = (path.names(), PathBuf::new());
        let last = names.next_back().ok_or(ErrorKind::InvalidInput)?;
        for name in names {
            at.push(name);
            let open = || openat(&folder, name, FOLDER | OFlags::NOFOLLOW, Mode::empty());
            let mut opened = open();
            if matches!(opened, Err(rustix::io::Errno::NOENT)) {
                if !is_made {
                    return Ok(None);
                }
                match mkdirat(&folder, name, Mode::from_raw_mode(0o777)) {
                    Ok(()) | Err(rustix::io::Errno::EXIST) => {}
                    Err(error) => return Err(error.into()),
                }
                opened = open();
            }
            folder = match opened {
                Ok(opened) => opened,
                Err(error) => {
                    let found = statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
                    return Err(match FileType::from_raw_mode(found.st_mode) {
                        FileType::Directory => error.into(),
                        kind => refused(kind, &at, "a folder"),
                    });
                }
            };
        }
        Ok(Some((folder, last)))
    }
}

fn refuse_other(kind: FileType, path: &RelativePath) -> io::Result<()> {
    if kind == FileType::RegularFile { Ok(()) } else { Err(refused(kind, &path.0, "a regular file")) }
}

fn refused(kind: FileType, path: &Path, expected: &str) -> io::Error {
    io::Error::other(format!("{} is {}; supported: {expected}", path.display(), FileTypeName(kind)))
}

/// A type of file, for messages.
pub(super) struct FileTypeName(pub FileType);

impl fmt::Display for FileTypeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            FileType::RegularFile => "a regular file",
            FileType::Directory => "a folder",
            FileType::Symlink => "a symbolic link",
            FileType::Fifo => "a named pipe",
            FileType::Socket => "a socket",
            FileType::CharacterDevice | FileType::BlockDevice => "a device",
            FileType::Unknown => "of an unknown type",
        })
    }
}
