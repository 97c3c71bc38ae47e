//! The backup file: a store's rows as one stream that can be verified by itself.
//!
//! All numbers are little-endian. The file begins with the magic and the version of the format. Frames follow:
//!
//! | bytes | content |
//! |---|---|
//! | 16 | magic `kindsmith-backup` |
//! | 4 | version, 2; 1 before rows had deadlines |
//!
//! | bytes of a frame | content |
//! |---|---|
//! | 1 | kind |
//! | 4 | length of the payload |
//! | … | payload |
//! | 8 | checksum: the first 8 bytes of the SHA-256 of the whole file up to the end of this payload |
//!
//! | kind | payload | how many |
//! |---|---|---|
//! | `H` | 8 bytes each: time of the backup (Unix, ms); the numbers of the store's state in the order of [`State`] | one, first |
//! | `R` | revision (8), the row of the log as it is stored, its checksum first | one for each row, revisions rising |
//! | `I` | revision (8), checksum (8), key: a row of the index | one for each object, keys rising |
//! | `M` | revision (8), time (8), checksum (8): a row of the marks | one for each mark, revisions rising |
//! | `E` | number of frames between the head and this one (8), newest revision (8), SHA-256 of the file up to this frame (32) | one, last; nothing follows |
//!  | `X` | an error message | on a socket only; ends the stream |
//!
//! The tables and their rows are those of layout 3 (`layout.rs`), without `lifetimes`, which follows from the rows. The state holds the number of rows of each table and
//! the sum of their checksums. A reader checks each row, the sums and the digest, and holds one frame in memory.

use std::{
    fmt,
    io::{self, Read, Write},
};

use ring::digest::{Context, SHA256};

use crate::{
    embedded::layout::{ChecksummedNumber, Row, State, Tally, read_mark, read_pointer},
    meta::Revision,
};

const MAGIC: &[u8; 16] = b"kindsmith-backup";
/// The version that is written, and the newest that is read.
const VERSION: u32 = 2;
/// The maximum length of a frame, far above any object. A greater length is damage.
const MAX_FRAME: usize = 256 << 20;
const CHECKSUM: usize = 8;

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

/// Writes an archive.
pub(super) struct Writer<W> {
    out: W,
    hash: Context,
    head: Revision,
    frames: u64,
}

impl<W: Write> Writer<W> {
    /// Writes the magic.
    pub(super) fn begin(out: W) -> io::Result<Self> {
        let mut writer = Self { out, hash: Context::new(&SHA256), head: Revision(0), frames: 0 };
        writer.put(&[MAGIC, &VERSION.to_le_bytes()])?;
        Ok(writer)
    }

    pub(super) fn header(&mut self, made_ms: u64, state: &State) -> io::Result<()> {
        self.head = state.end.head;
        self.frame(b'H', &[&made_ms.to_le_bytes(), &state.to_bytes()])
    }

    /// Adds a row of the log as stored.
    pub(super) fn row(&mut self, revision: Revision, stored: &[u8]) -> io::Result<()> {
        self.frames += 1;
        self.frame(b'R', &[&revision.0.to_le_bytes(), stored])
    }

    pub(super) fn pointer(&mut self, key: &[u8], checksummed: ChecksummedNumber) -> io::Result<()> {
        self.frames += 1;
        self.frame(b'I', &[&checksummed.0.to_le_bytes(), &checksummed.1.to_le_bytes(), key])
    }

    pub(super) fn mark(&mut self, before: Revision, checksummed: ChecksummedNumber) -> io::Result<()> {
        self.frames += 1;
        self.frame(b'M', &[&[before.0, checksummed.0, checksummed.1].map(u64::to_le_bytes).concat()])
    }

    /// Writes the end.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        let digest = self.hash.clone().finish();
        self.frame(b'E', &[&[self.frames, self.head.0].map(u64::to_le_bytes).concat(), digest.as_ref()])?;
        self.out.flush()
    }

    /// Sends the peer an error that ends the stream.
    pub(super) fn fail(&mut self, why: &str) -> io::Result<()> {
        self.frame(b'X', &[why.as_bytes()])?;
        self.out.flush()
    }

    fn frame(&mut self, kind: u8, payload: &[&[u8]]) -> io::Result<()> {
        let length = payload.iter().map(|part| part.len()).sum::<usize>();
        if length > MAX_FRAME {
            return Err(io::Error::other("a row is too long for a backup"));
        }
        let length = u32::try_from(length).expect("MAX_FRAME fits");
        self.put(&[&[kind], &length.to_le_bytes()])?;
        self.put(payload)?;
        let checksum = self.hash.clone().finish();
        self.put(&[&checksum.as_ref()[..CHECKSUM]])
    }

    fn put(&mut self, parts: &[&[u8]]) -> io::Result<()> {
        for part in parts {
            self.hash.update(part);
            self.out.write_all(part)?;
        }
        Ok(())
    }
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
