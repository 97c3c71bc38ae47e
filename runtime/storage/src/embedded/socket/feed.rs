//! What a running store sends to `kindsmith store copy`: its objects, or its changes after a revision.
//!
//! The answer to `state 1 KEY` is the objects after a key at that moment, in the order of their keys. The answer to `changes
//! 1 REVISION` is the changes after a revision. A key is given in hexadecimal digits, and `-` is the beginning.
//!
//! | bytes of a frame | content |
//! |---|---|
//! | 1 | kind |
//! | 4 | length of the rest, little-endian, as all numbers |
//! | 8 | a revision |
//! | … | by kind |
//!
//! | kind | revision | content |
//! |---|---|---|
//! | `S` | the newest one | the number of objects (8); first |
//! | `O` | the one that wrote the value | its deadline, or zero (8), the length of the key (4), the key, the value |
//! | `L` | of the value, or zero | the key of an object whose value is damaged; `M`: whose value is missing |
//! | `R` | of the deletion | the key |
//! | `C` | the one up to which history is compacted | nothing; last |
//! | `Z` | the newest one | nothing; last |

use std::io::{self, Write};

use crate::{
    Damage, ReadError,
    embedded::snapshot::{Object, Snapshot},
    meta::Revision,
};

/// The greatest length of a frame, far above any object.
pub(in crate::embedded) const MAX_FRAME: usize = 256 << 20;

/// Writes the frames of an answer.
pub(in crate::embedded) struct FrameWriter<W>(pub W);

impl<W: Write> FrameWriter<W> {
    pub(in crate::embedded) fn begin(&mut self, head: Revision, objects: u64) -> io::Result<()> {
        self.frame(b'S', head, &[&objects.to_le_bytes()])
    }

    pub(in crate::embedded) fn object(&mut self, object: &Object) -> io::Result<()> {
        let Object { key, value, revision, deadline_ms } = object;
        match value {
            Ok(value) => self.value(*revision, *deadline_ms, key, value),
            Err(Damage::Altered) => self.frame(b'L', *revision, &[key.as_bytes()]),
            Err(Damage::Missing) => self.frame(b'M', *revision, &[key.as_bytes()]),
        }
    }

    fn value(&mut self, revision: Revision, deadline_ms: Option<u64>, key: &str, value: &[u8]) -> io::Result<()> {
        let deadline = deadline_ms.unwrap_or_default().to_le_bytes();
        self.frame(b'O', revision, &[&deadline, &length(key.len())?, key.as_bytes(), value])
    }

    pub(in crate::embedded) fn removed(&mut self, key: &str, revision: Revision) -> io::Result<()> {
        self.frame(b'R', revision, &[key.as_bytes()])
    }

    pub(in crate::embedded) fn compacted(&mut self, upto: Revision) -> io::Result<()> {
        self.frame(b'C', upto, &[])?;
        self.0.flush()
    }

    pub(in crate::embedded) fn end(&mut self, head: Revision) -> io::Result<()> {
        self.frame(b'Z', head, &[])?;
        self.0.flush()
    }

    fn frame(&mut self, kind: u8, revision: Revision, parts: &[&[u8]]) -> io::Result<()> {
        let size = size_of::<u64>() + parts.iter().map(|part| part.len()).sum::<usize>();
        self.0.write_all(&[kind])?;
        self.0.write_all(&length(size)?)?;
        self.0.write_all(&revision.0.to_le_bytes())?;
        parts.iter().try_for_each(|part| self.0.write_all(part))
    }
}

fn length(length: usize) -> io::Result<[u8; 4]> {
    let fits = u32::try_from(length).ok().filter(|_| length <= MAX_FRAME);
    fits.map(u32::to_le_bytes).ok_or_else(|| io::Error::other("an object is too long to be sent"))
}

/// The key of a word in a request.
pub(in crate::embedded) fn key(word: &str) -> Result<Option<String>, &'static str> {
    const WRONG: &str = "the request's key is not in hexadecimal digits";
    if word == "-" {
        return Ok(None);
    }
    let (pairs, []) = word.as_bytes().as_chunks::<2>() else { return Err(WRONG) };
    let digits = pairs.iter().map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok());
    let bytes = digits.collect::<Option<_>>().ok_or(WRONG)?;
    String::from_utf8(bytes).map(Some).map_err(|_| WRONG)
}

/// Sends the objects after a key.
pub(super) fn send_state(snapshot: &Snapshot, mut after: Option<String>, out: impl Write) -> io::Result<()> {
    let mut out = FrameWriter(out);
    out.begin(snapshot.head(), snapshot.objects())?;
    loop {
        let piece = snapshot.piece(after.as_deref()).map_err(io::Error::other)?;
        let Some(last) = piece.back() else { break };
        after = Some(last.key.to_string());
        piece.iter().try_for_each(|object| out.object(object))?;
    }
    out.end(snapshot.head())
}

/// Sends the changes after a revision.
pub(super) fn send_changes(snapshot: &Snapshot, after: Revision, out: impl Write) -> io::Result<()> {
    let mut out = FrameWriter(out);
    out.begin(snapshot.head(), snapshot.objects())?;
    let sent = snapshot.changes(after, |revision, row| {
        let written = match row.body {
            Some(body) => out.value(revision, row.deadline_ms, row.key, body),
            None => out.removed(row.key, revision),
        };
        written.map_err(redb::Error::Io)
    });
    match sent.map_err(io::Error::other)? {
        Ok(()) => out.end(snapshot.head()),
        Err(ReadError::Compacted(at)) => out.compacted(at),
        // A change that cannot be read is as lost as a compacted one.
        Err(_) => out.compacted(snapshot.head()),
    }
}
