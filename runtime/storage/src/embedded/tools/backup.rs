//! A consistent copy of a store in one file, from a stopped server's directory or from a running server's socket.
//!
//! The file gets its name only after it was synced, read back and verified.

use std::{
    fs::File,
    io::{self, BufReader, BufWriter, Read, Seek, Write},
    os::unix::net::UnixStream,
    path::Path,
};

use redb::ReadableDatabase;

use super::{
    Error, OnProgress, Progress,
    archive::{Item, ReadError, Reader},
    aside::Aside,
    client,
    locked_dir::LockedDir,
};
use crate::{
    embedded::{
        archive::{
            Writer,
            stream::{StreamError, stream},
        },
        guard::guarded,
        layout::State,
    },
    meta::Revision,
};

const BUFFER: usize = 1 << 20;
/// The number of rows between two progress reports.
const REPORT: u64 = 256;

/// The content of a backup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Backup {
    /// The newest revision.
    pub head: Revision,
    /// The revision before the first change of its history.
    pub compacted: Revision,
    /// The number of objects.
    pub objects: u64,
    /// The number of rows: newest values and history.
    pub rows: u64,
    /// The size in bytes.
    pub bytes: u64,
    /// True if a running server provided it.
    pub online: bool,
}

impl Backup {
    /// The numbers that the state gives; those of the file stay zero.
    pub(super) fn of(state: &State) -> Self {
        Self {
            head: state.end.head,
            compacted: state.compacted.head,
            objects: state.index.rows,
            rows: state.log.rows,
            bytes: 0,
            online: false,
        }
    }
}

/// Writes a consistent copy of the store in a data directory to a new file, and verifies the file.
///
/// A server that uses the directory keeps running and streams the state of one moment.
///
/// # Errors
/// [`Error`], for example if the file already exists or the store is damaged.
pub fn backup(dir: &Path, to: &Path, progress: OnProgress<'_>) -> Result<Backup, Error> {
    let (aside, file) = Aside::file(to)?;
    let locked = LockedDir::open_unless_in_use(dir)?;
    let online = locked.is_none();
    match locked {
        Some(locked) => of_stopped(&locked, &file, to, progress)?,
        None => of_running(dir, &file, to, progress)?,
    }
    file.sync_all().map_err(Error::file(to))?;
    let backup = Backup { online, ..verify(file, to, progress)? };
    aside.publish_file()?;
    Ok(backup)
}

fn of_stopped(locked: &LockedDir, file: &File, to: &Path, progress: OnProgress<'_>) -> Result<(), Error> {
    let opened = locked.database()?;
    let transaction = guarded(|| Ok(opened.db().begin_read()?)).map_err(|error| locked.damaged(error))?;
    let mut writer = Writer::begin(BufWriter::with_capacity(BUFFER, file)).map_err(Error::file(to))?;
    let each = |done, total| progress(Progress::new("copying rows", done, total));
    stream(&transaction, &mut writer, each).map_err(|error| match error {
        StreamError::Out(source) => Error::file(to)(source),
        StreamError::Store(error) => locked.damaged(error),
    })
}

/// Copies the server's stream frame by frame, so that progress and errors show at once.
fn of_running(dir: &Path, file: &File, to: &Path, progress: OnProgress<'_>) -> Result<(), Error> {
    let failed = |message: String| Error::Server { dir: dir.to_owned(), message };
    let from = client::connect(dir, &["backup", "1"])
        .map_err(|error| failed(format!("its socket cannot be reached: {error}")))?;
    let mut tee = TeeReader { from, to: BufWriter::with_capacity(BUFFER, file), failed: None };
    let result = read_through(BufReader::with_capacity(BUFFER, &mut tee), "copying rows", progress);
    if let Some(source) = tee.failed.take() {
        return Err(Error::file(to)(source));
    }
    result.map_err(|error| failed(error.to_string()))?;
    tee.to.flush().map_err(Error::file(to))
}

/// A reader that copies everything read from a socket into a file.
struct TeeReader<'a> {
    from: UnixStream,
    to: BufWriter<&'a File>,
    /// The error of the file, as opposed to one of the socket.
    failed: Option<io::Error>,
}

impl Read for TeeReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(buffer)?;
        if let Err(error) = self.to.write_all(&buffer[..read]) {
            self.failed = Some(error);
            return Err(io::ErrorKind::WriteZero.into());
        }
        Ok(read)
    }
}

/// Reads a file back from its beginning and verifies it.
pub(super) fn verify(mut file: File, path: &Path, progress: OnProgress<'_>) -> Result<Backup, Error> {
    file.rewind().map_err(Error::file(path))?;
    read_through(BufReader::with_capacity(BUFFER, file), "verifying", progress).map_err(|error| match error {
        ReadError::Io(source) => Error::file(path)(source),
        other => Error::File {
            path: path.to_owned(),
            source: io::Error::other(format!("what was written does not read back: {other}; check the disk")),
        },
    })
}

fn read_through(from: impl Read, doing: &str, progress: OnProgress<'_>) -> Result<Backup, ReadError> {
    let mut reader = Reader::begin(from)?;
    let backup = Backup::of(reader.state());
    let mut done = 0;
    while let Some(item) = reader.next()? {
        if matches!(item, Item::Row(..)) {
            done += 1;
            if done % REPORT == 0 {
                progress(Progress::new(doing, done, backup.rows));
            }
        }
    }
    Ok(Backup { bytes: reader.bytes, ..backup })
}
