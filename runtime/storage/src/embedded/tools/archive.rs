//! Reads an archive, the format of backups (`archive/mod.rs`), and verifies all of it.

use std::{
    fmt,
    io::{self, Read},
    path::Path,
};

use ring::digest::{Context, SHA256};

use super::Error;
use crate::{
    embedded::{
        archive::{CHECKSUM, MAGIC, MAX_FRAME, VERSION},
        layout::{Row, State, Tally, read_mark, read_pointer},
    },
    meta::Revision,
};

/// An item between the head and the end.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Item<'a> {
    /// A row of the log.
    Row(Revision, Row<'a>),
    /// A row of the index.
    Pointer(&'a [u8], Revision),
    /// A mark.
    Mark(Revision, u64),
}

/// Why an archive cannot be read further.
#[derive(Debug)]
pub(super) enum ReadError {
    /// An I/O error.
    Io(io::Error),
    /// The archive is not intact: what is wrong, and at which byte.
    Damaged { at: u64, what: String },
    /// The error message that the peer sent.
    Refused(String),
}

impl ReadError {
    /// The same of a backup.
    pub(super) fn of_backup(self, file: &Path) -> Error {
        match self {
            Self::Io(source) => Error::file(file)(source),
            other => Error::BadBackup { file: file.to_owned(), message: other.to_string() },
        }
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::Damaged { at, what } => write!(f, "{what} at byte {at}"),
            Self::Refused(why) => f.write_str(why),
        }
    }
}

/// Reads an archive and verifies all of it.
pub(super) struct Reader<R> {
    from: R,
    hash: Context,
    state: State,
    /// The rows of the log, the index and the marks that were read so far.
    read: [Tally; 3],
    last: Last,
    buffer: Vec<u8>,
    /// The number of bytes read.
    pub(super) bytes: u64,
    done: bool,
}

/// The last item read, to check the order.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Last {
    Row(Revision),
    Pointer(Vec<u8>),
    Mark(Revision),
}

impl<R: Read> Reader<R> {
    pub(super) fn begin(from: R) -> Result<Self, ReadError> {
        let mut reader = Self {
            from,
            hash: Context::new(&SHA256),
            state: State::default(),
            read: [Tally::default(); 3],
            last: Last::Row(Revision(0)),
            buffer: Vec::new(),
            bytes: 0,
            done: false,
        };
        let magic = reader.take::<16>("the beginning")?;
        if &magic != MAGIC {
            return Err(damaged(0, "it is not a backup of a store: the magic does not match"));
        }
        let version = u32::from_le_bytes(reader.take("the version")?);
        if !(1..=VERSION).contains(&version) {
            let what = format!("unsupported format version {version} (this program reads versions 1 to {VERSION})");
            return Err(damaged(16, &what));
        }
        let at = reader.bytes;
        let kind = reader.frame()?;
        let state = numbers(&reader.buffer).and_then(|([_made_ms], state)| State::from_bytes(state));
        reader.state = state.filter(|_| kind == b'H').ok_or_else(|| unexpected(at, kind))?;
        Ok(reader)
    }

    /// The state of the store that was backed up.
    pub(super) fn state(&self) -> &State {
        &self.state
    }

    /// The next item, or `None` after a valid end that nothing follows.
    pub(super) fn next(&mut self) -> Result<Option<Item<'_>>, ReadError> {
        if self.done {
            return Ok(None);
        }
        let at = self.bytes;
        let before = self.hash.clone();
        match self.frame()? {
            b'R' | b'I' | b'M' if self.read.iter().map(|tally| tally.rows).sum::<u64>() >= self.expected() => {
                Err(damaged(at, "there are more rows than the head says"))
            }
            b'R' => self.row(at).map(Some),
            b'I' => self.pointer(at).map(Some),
            b'M' => self.mark(at).map(Some),
            b'E' => self.end(at, before).map(|()| None),
            kind => Err(unexpected(at, kind)),
        }
    }

    fn expected(&self) -> u64 {
        [self.state.log, self.state.index, self.state.marks].map(|tally| tally.rows).iter().sum()
    }

    fn row(&mut self, at: u64) -> Result<Item<'_>, ReadError> {
        let Some(([revision], stored)) = numbers(&self.buffer) else { return Err(damaged(at, "a row is too short")) };
        let revision = Revision(revision);
        let row = Row::read(revision, stored).map_err(|_| damaged(at, "the checksum of a row does not match"))?;
        advance(&mut self.last, Last::Row(revision), at)?;
        self.read[0].add(Row::stored_checksum(stored));
        Ok(Item::Row(revision, row))
    }

    fn pointer(&mut self, at: u64) -> Result<Item<'_>, ReadError> {
        let Some(([revision, sum], key)) = numbers(&self.buffer) else { return Err(damaged(at, "a row is too short")) };
        let revision = read_pointer(key, (revision, sum))
            .map_err(|_| damaged(at, "the checksum of a row of the index does not match"))?;
        advance(&mut self.last, Last::Pointer(key.to_vec()), at)?;
        self.read[1].add(sum);
        Ok(Item::Pointer(key, revision))
    }

    fn mark(&mut self, at: u64) -> Result<Item<'_>, ReadError> {
        let Some(([before, ms, sum], [])) = numbers(&self.buffer) else {
            return Err(damaged(at, "a mark is too short"));
        };
        let before = Revision(before);
        let ms = read_mark(before, (ms, sum)).map_err(|_| damaged(at, "the checksum of a mark does not match"))?;
        advance(&mut self.last, Last::Mark(before), at)?;
        self.read[2].add(sum);
        Ok(Item::Mark(before, ms))
    }

    fn end(&mut self, at: u64, before: Context) -> Result<(), ReadError> {
        let Some(([frames, head], digest)) = numbers(&self.buffer) else {
            return Err(damaged(at, "the end cannot be read"));
        };
        if digest != before.finish().as_ref() {
            return Err(damaged(at, "the digest of the whole does not match"));
        }
        let state = &self.state;
        if self.read != [state.log, state.index, state.marks] || frames != self.expected() || head != state.end.head.0 {
            return Err(damaged(at, "rows are missing: the counts of the end do not match what came before"));
        }
        if self.from.read(&mut [0]).map_err(ReadError::Io)? != 0 {
            return Err(damaged(self.bytes, "something follows the end"));
        }
        self.done = true;
        Ok(())
    }

    /// Reads a frame's payload into the buffer, verifies it, and returns its kind.
    fn frame(&mut self) -> Result<u8, ReadError> {
        let at = self.bytes;
        let [kind] = self.take("a frame")?;
        let length = u32::from_le_bytes(self.take("a frame")?) as usize;
        if length > MAX_FRAME {
            return Err(damaged(at, "a frame is too long"));
        }
        self.buffer.clear();
        // The buffer grows with the received data, so that a false length allocates nothing.
        let read = self.from.by_ref().take(length as u64).read_to_end(&mut self.buffer).map_err(ReadError::Io)?;
        self.bytes += read as u64;
        if read < length {
            return Err(damaged(self.bytes, "the file ends inside a frame"));
        }
        self.hash.update(&self.buffer);
        let expected = self.hash.clone().finish();
        if self.take::<CHECKSUM>("a checksum")? != expected.as_ref()[..CHECKSUM] {
            return Err(damaged(at, "a checksum does not match in the frame that begins"));
        }
        if kind == b'X' {
            return Err(ReadError::Refused(String::from_utf8_lossy(&self.buffer).into_owned()));
        }
        Ok(kind)
    }

    fn take<const N: usize>(&mut self, what: &str) -> Result<[u8; N], ReadError> {
        let mut bytes = [0; N];
        self.from.read_exact(&mut bytes).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => damaged(self.bytes, &format!("the file is cut off: {what} is missing")),
            _ => ReadError::Io(error),
        })?;
        self.hash.update(&bytes);
        self.bytes += N as u64;
        Ok(bytes)
    }
}

fn damaged(at: u64, what: &str) -> ReadError {
    ReadError::Damaged { at, what: what.to_owned() }
}

fn unexpected(at: u64, kind: u8) -> ReadError {
    damaged(at, &format!("a frame of kind {:?} is out of place", char::from(kind)))
}

fn advance(last: &mut Last, next: Last, at: u64) -> Result<(), ReadError> {
    if *last >= next {
        return Err(damaged(at, "a row is out of order"));
    }
    *last = next;
    Ok(())
}

/// The numbers at the beginning of a payload, and the rest.
fn numbers<const N: usize>(payload: &[u8]) -> Option<([u64; N], &[u8])> {
    let mut rest = payload;
    let mut numbers = [0; N];
    for number in &mut numbers {
        let (bytes, after) = rest.split_first_chunk()?;
        (*number, rest) = (u64::from_le_bytes(*bytes), after);
    }
    Some((numbers, rest))
}
