//! Reads what a running server sends to a copy: its objects, or its changes (`socket/feed.rs`).

use std::{
    io::{self, Read},
    sync::Arc,
};

use bytes::Bytes;

use super::client;
use crate::{
    Damage,
    embedded::{snapshot::Object, socket::feed::MAX_FRAME},
    meta::Revision,
};

/// One frame.
#[derive(Debug, PartialEq)]
pub(super) enum Frame {
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
    /// Reads a frame.
    pub(super) fn read(from: &mut impl Read) -> io::Result<Self> {
        let mut head = [0; 5];
        from.read_exact(&mut head)?;
        let [kind, length @ ..] = head;
        if kind == client::REFUSAL {
            return Err(io::Error::other(client::refusal(head.chain(from))));
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

/// The word for a key in a request.
pub(super) fn word(key: Option<&str>) -> String {
    use std::fmt::Write;
    let Some(key) = key else { return "-".to_owned() };
    key.bytes().fold(String::new(), |mut word, byte| {
        let _ = write!(word, "{byte:02x}");
        word
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embedded::socket::feed::{FrameWriter, key};

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
        let mut out = FrameWriter(&mut sent);
        for frame in &frames {
            let written = match frame {
                Frame::Begin(head, objects) => out.begin(*head, *objects),
                Frame::Object(object) => out.object(object),
                Frame::Removed(key, revision) => out.removed(key, *revision),
                Frame::Compacted(upto) => out.compacted(*upto),
                Frame::End(head) => out.end(*head),
            };
            written.unwrap();
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
