//! Reads a data directory for a copy: the objects of one moment, and the changes since. From a stopped server's
//! directory, or from a running server through its socket.

use std::{
    io::{self, BufReader},
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
};

use bytes::Bytes;
use redb::ReadableDatabase;

use super::{
    Error, client,
    feed::{self, Frame},
    locked_dir::LockedDir,
    objects::{ChangesError, Edit, State, Take, objects_of},
};
use crate::{
    ReadError,
    embedded::{
        guard::guarded,
        handle::Handle,
        snapshot::{Object, Snapshot},
    },
    meta::Revision,
};

/// A data directory. While a server has it open, its socket is asked.
pub(crate) struct DataDir {
    dir: PathBuf,
    /// A stopped server's store. Holding it keeps a server from starting.
    locked: Option<(LockedDir, Handle)>,
}

impl DataDir {
    pub(crate) fn open(dir: &Path) -> Result<Self, Error> {
        let mut this = Self { dir: dir.to_owned(), locked: None };
        this.local()?;
        Ok(this)
    }

    /// True if no server uses the directory. Then none can start before this is dropped.
    pub(crate) fn is_stopped(&self) -> bool {
        self.locked.is_some()
    }

    /// The present state, unless a server uses the directory.
    fn local(&mut self) -> Result<Option<Snapshot>, Error> {
        if self.locked.is_none() {
            let Some(locked) = LockedDir::open_unless_in_use(&self.dir)? else { return Ok(None) };
            let handle = locked.database()?;
            self.locked = Some((locked, handle));
        }
        let Some((locked, handle)) = &self.locked else { return Ok(None) };
        let snapshot = guarded(|| Ok(handle.db().begin_read()?)).and_then(|transaction| Snapshot::of(&transaction));
        snapshot.map(Some).map_err(|error| locked.damaged(error))
    }

    /// The objects after a key.
    pub(crate) fn state(&mut self, after: Option<&str>) -> Result<State, Error> {
        if let Some(snapshot) = self.local()? {
            let (head, count) = (snapshot.head(), snapshot.objects());
            return Ok(State { head, count, objects: objects_of(snapshot, &self.dir, after) });
        }
        let mut from = self.ask("state", &feed::word(after))?;
        let (head, count) = self.begin(&mut from)?;
        let dir = self.dir.clone();
        let mut ended = false;
        let objects = std::iter::from_fn(move || {
            if ended {
                return None;
            }
            let frame = Frame::read(&mut from).map_err(|error| failed(&dir, &error));
            ended = !matches!(frame, Ok(Frame::Object(_)));
            match frame {
                Ok(Frame::Object(object)) => Some(Ok(object)),
                Ok(Frame::End(_)) => None,
                Ok(frame) => Some(Err(unexpected(&dir, &frame))),
                Err(error) => Some(Err(error)),
            }
        });
        Ok(State { head, count, objects: Box::new(objects) })
    }

    /// Passes the changes after a revision to `take`, and returns the newest revision.
    pub(crate) fn changes(&mut self, after: Revision, take: Take<'_>) -> Result<Revision, ChangesError> {
        if let Some(snapshot) = self.local()? {
            return self.local_changes(&snapshot, after, take);
        }
        let mut from = self.ask("changes", &after.to_string())?;
        self.begin(&mut from)?;
        loop {
            match Frame::read(&mut from).map_err(|error| failed(&self.dir, &error))? {
                Frame::Object(Object { key, value: Ok(value), revision, deadline_ms }) => {
                    take(Edit { key, value: Some(value), revision, deadline_ms })?;
                }
                Frame::Removed(key, revision) => take(Edit { key, value: None, revision, deadline_ms: None })?,
                Frame::End(head) => return Ok(head),
                Frame::Compacted(_) => return Err(ChangesError::Lost),
                frame => return Err(unexpected(&self.dir, &frame).into()),
            }
        }
    }

    fn local_changes(&self, snapshot: &Snapshot, after: Revision, take: Take<'_>) -> Result<Revision, ChangesError> {
        let mut refused = None;
        let read = snapshot.changes(after, |revision, row| {
            let value = row.body.map(Bytes::copy_from_slice);
            let edit = Edit { key: row.key.into(), value, revision, deadline_ms: row.deadline_ms };
            take(edit).map_err(|error| {
                refused = Some(error);
                redb::Error::Io(io::ErrorKind::Interrupted.into())
            })
        });
        match (refused, read) {
            (Some(error), _) => Err(error.into()),
            (None, Ok(Ok(()))) => Ok(snapshot.head()),
            (None, Ok(Err(ReadError::Engine(message)))) => Err(Error::damaged(&self.dir, message).into()),
            (None, Ok(Err(_))) => Err(ChangesError::Lost),
            (None, Err(error)) => Err(Error::damaged(&self.dir, error).into()),
        }
    }

    fn ask(&self, request: &str, word: &str) -> Result<BufReader<UnixStream>, Error> {
        let from = client::connect(&self.dir, &[request, "1", word]).map_err(|error| failed(&self.dir, &error))?;
        Ok(BufReader::with_capacity(256 << 10, from))
    }

    fn begin(&self, from: &mut BufReader<UnixStream>) -> Result<(Revision, u64), Error> {
        match Frame::read(from).map_err(|error| failed(&self.dir, &error))? {
            Frame::Begin(head, count) => Ok((head, count)),
            frame => Err(unexpected(&self.dir, &frame)),
        }
    }
}

fn failed(dir: &Path, error: &io::Error) -> Error {
    let message = match error.kind() {
        io::ErrorKind::UnexpectedEof => "it ended the connection".to_owned(),
        _ => error.to_string(),
    };
    Error::Feed { dir: dir.to_owned(), message }
}

fn unexpected(dir: &Path, frame: &Frame) -> Error {
    Error::Feed { dir: dir.to_owned(), message: format!("it sends {frame:?} out of place") }
}
