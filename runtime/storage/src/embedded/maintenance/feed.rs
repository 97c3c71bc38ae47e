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

use std::{
    io::{self, Read, Write},
    sync::Arc,
};

use bytes::Bytes;

use super::{archive, reading::Object, snapshot::Snapshot};
use crate::{Damage, ReadError, meta::Revision};

/// The greatest length of a frame, far above any object.
const MAX_FRAME: usize = 256 << 20;

/// One frame.
#[derive(Debug, PartialEq)]
pub(crate) enum Frame {
    /// The newest revision, and the number of objects.
    Begin(Revision, u64),
    /// An object, or a change that wrote it.
    Object(Object),
    /// A deletion.
    Removed(Arc<str>, Revision),
    /// History is compacted up to the revision.
    Compacted(Revision),
    /// Everything up to the revision was sent.
    End(Revision),
}

impl Frame {
    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        match self {
            Self::Begin(head, objects) => put(out, b'S', *head, &[&objects.to_le_bytes()]),
            Self::Object(Object { key, value: Ok(value), revision, deadline_ms }) => {
                put_value(out, *revision, *deadline_ms, key, value)
            }
            Self::Object(Object { key, value: Err(damage), revision, .. }) => {
                let kind = if *damage == Damage::Altered { b'L' } else { b'M' };
                put(out, kind, *revision, &[key.as_bytes()])
            }
            Self::Removed(key, revision) => put(out, b'R', *revision, &[key.as_bytes()]),
            Self::Compacted(revision) => put(out, b'C', *revision, &[]),
            Self::End(revision) => put(out, b'Z', *revision, &[]),
        }
    }

    /// Reads a frame.
    pub(crate) fn read(from: &mut impl Read) -> io::Result<Self> {
        let mut head = [0; 5];
        from.read_exact(&mut head)?;
        let [kind, length @ ..] = head;
        if kind == b'k' {
            return Err(refusal(&head, from));
        }
        let length = u32::from_le_bytes(length) as usize;
        let mut payload = Vec::new();
        if length > MAX_FRAME || from.take(length as u64).read_to_end(&mut payload)? < length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let payload = Bytes::from(payload);
        parse(kind, &payload)
            .ok_or_else(|| io::Error::other(format!("its frame {:?} cannot be read", char::from(kind))))
    }
}

/// Refusals have the format of an archive, which begins with `kindsmith-backup`.
fn refusal(head: &[u8], from: &mut impl Read) -> io::Error {
    let refused = archive::Reader::begin(head.chain(from)).err();
    io::Error::other(refused.map_or_else(|| "it sends a backup".to_owned(), |error| error.to_string()))
}

fn parse(kind: u8, payload: &Bytes) -> Option<Frame> {
    let (revision, rest) = payload.split_first_chunk()?;
    let revision = Revision(u64::from_le_bytes(*revision));
    let key = |bytes| Some(Arc::from(std::str::from_utf8(bytes).ok()?));
    let lost = |key, damage| Frame::Object(Object { key, value: Err(damage), revision, deadline_ms: None });
    Some(match kind {
        b'S' => Frame::Begin(revision, u64::from_le_bytes(rest.try_into().ok()?)),
        b'O' => {
            let (deadline, rest) = rest.split_first_chunk()?;
            let deadline_ms = Some(u64::from_le_bytes(*deadline)).filter(|deadline| *deadline > 0);
            let (length, rest) = rest.split_first_chunk()?;
            let (name, value) = rest.split_at_checked(usize::try_from(u32::from_le_bytes(*length)).ok()?)?;
            Frame::Object(Object { key: key(name)?, value: Ok(payload.slice_ref(value)), revision, deadline_ms })
        }
        b'L' => lost(key(rest)?, Damage::Altered),
        b'M' => lost(key(rest)?, Damage::Missing),
        b'R' => Frame::Removed(key(rest)?, revision),
        b'C' => Frame::Compacted(revision),
        b'Z' => Frame::End(revision),
        _ => return None,
    })
}

fn put_value(
    out: &mut impl Write,
    revision: Revision,
    deadline_ms: Option<u64>,
    key: &str,
    value: &[u8],
) -> io::Result<()> {
    let deadline = deadline_ms.unwrap_or_default().to_le_bytes();
    put(out, b'O', revision, &[&deadline, &length(key.len())?, key.as_bytes(), value])
}

fn put(out: &mut impl Write, kind: u8, revision: Revision, parts: &[&[u8]]) -> io::Result<()> {
    let size = size_of::<u64>() + parts.iter().map(|part| part.len()).sum::<usize>();
    out.write_all(&[kind])?;
    out.write_all(&length(size)?)?;
    out.write_all(&revision.0.to_le_bytes())?;
    parts.iter().try_for_each(|part| out.write_all(part))
}

fn length(length: usize) -> io::Result<[u8; 4]> {
    let fits = u32::try_from(length).ok().filter(|_| length <= MAX_FRAME);
    fits.map(u32::to_le_bytes).ok_or_else(|| io::Error::other("an object is too long to be sent"))
}

/// The word for a key in a request.
pub(super) fn word(key: Option<&str>) -> String {
    use std::fmt::Write;
    let Some(key) = key else { return "-".to_owned() };
    key.bytes().fold(String::new(), |mut word, byte| {
        let _ = write!(word, "{byte:02x}");
        word
    })
}

/// The key of such a word.
pub(super) fn key(word: &str) -> Result<Option<String>, &'static str> {
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
pub(super) fn send_state(snapshot: &Snapshot, after: Option<String>, out: &mut impl Write) -> io::Result<()> {
    Frame::Begin(snapshot.head(), snapshot.objects()).write(out)?;
    let mut after = after;
    loop {
        let piece = snapshot.piece(after.as_deref()).map_err(io::Error::other)?;
        let Some(last) = piece.back() else { break };
        after = Some(last.key.to_string());
        piece.into_iter().try_for_each(|entry| Frame::Object(entry).write(out))?;
    }
    Frame::End(snapshot.head()).write(out)?;
    out.flush()
}

/// Sends the changes after a revision.
pub(super) fn send_changes(snapshot: &Snapshot, after: Revision, out: &mut impl Write) -> io::Result<()> {
    Frame::Begin(snapshot.head(), snapshot.objects()).write(out)?;
    let sent = snapshot.changes(after, |revision, row| {
        let written = match row.body {
            Some(body) => put_value(out, revision, row.deadline_ms, row.key, body),
            None => Frame::Removed(row.key.into(), revision).write(out),
        };
        written.map_err(redb::Error::Io)
    });
    match sent.map_err(io::Error::other)? {
        Ok(()) => Frame::End(snapshot.head()).write(out)?,
        Err(ReadError::Compacted(at)) => Frame::Compacted(at).write(out)?,
        // A change that cannot be read is as lost as a compacted one.
        Err(_) => Frame::Compacted(snapshot.head()).write(out)?,
    }
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_and_keys_are_read_as_written() {
        let object = |value, deadline_ms| {
            Frame::Object(Object { key: "/registry/a".into(), value, revision: Revision(7), deadline_ms })
        };
        let frames = [
            Frame::Begin(Revision(9), 3),
            object(Ok(Bytes::from_static(b"{}")), None),
            object(Ok(Bytes::from_static(b"{}")), Some(9)),
            object(Err(Damage::Altered), None),
            object(Err(Damage::Missing), None),
            Frame::Removed("/registry/b".into(), Revision(8)),
            Frame::Compacted(Revision(5)),
            Frame::End(Revision(9)),
        ];
        let mut sent = Vec::new();
        for frame in &frames {
            frame.write(&mut sent).unwrap();
        }
        let mut from = &sent[..];
        for frame in &frames {
            assert_eq!(&Frame::read(&mut from).unwrap(), frame);
        }
        for length in 0..sent.len() {
            let mut from = &sent[..length];
            while Frame::read(&mut from).is_ok() {}
        }
        for name in [None, Some("/registry/a b\n"), Some("")] {
            assert_eq!(key(&word(name)), Ok(name.map(str::to_owned)));
        }
        assert!(["0", "zz", "ff"].into_iter().all(|word| key(word).is_err()));
    }
}
