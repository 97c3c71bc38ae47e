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

pub(super) mod stream;

use std::io::{self, Write};

use ring::digest::{Context, SHA256};

use crate::{
    embedded::layout::{ChecksummedNumber, State},
    meta::Revision,
};

/// The beginning of the file.
pub(super) const MAGIC: &[u8; 16] = b"kindsmith-backup";
/// The version that is written, and the newest that is read.
pub(super) const VERSION: u32 = 2;
/// The maximum length of a frame, far above any object. A greater length is damage.
pub(super) const MAX_FRAME: usize = 256 << 20;
/// The length of the checksum of a frame.
pub(super) const CHECKSUM: usize = 8;

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
