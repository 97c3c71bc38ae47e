//! The witness of the newest durable revision: the file `HEAD` beside the engine's, overwritten in place after each group
//! of commits is durable, without waiting for the disk. It may be older than the store, never newer: a store that is
//! behind it has lost commits that were acknowledged. A torn or missing witness says nothing.

use std::{
    fs::File,
    io::{self, Read},
    os::unix::fs::FileExt,
};

use twox_hash::XxHash3_64;

use crate::meta::Revision;

/// The file.
pub(super) struct Witness(File);

impl Witness {
    /// Reads the file; also gives the revision that it testifies to.
    pub(super) fn read(mut file: File) -> io::Result<(Self, Option<Revision>)> {
        let mut bytes = Vec::new();
        // A file of another length is none of ours.
        Read::by_ref(&mut file).take(1_024).read_to_end(&mut bytes)?;
        let revision = parse(&bytes);
        Ok((Self(file), revision))
    }

    /// Testifies to a durable revision. Where that fails, the witness is older than the store, as it may be.
    pub(super) fn testify(&self, revision: Revision) {
        let _ = self.0.write_all_at(line(revision).as_bytes(), 0);
    }
}

/// Of a fixed length, so that each replaces the one before it whole.
fn line(revision: Revision) -> String {
    format!("{:020} {:016x}\n", revision.0, XxHash3_64::oneshot(&revision.0.to_le_bytes()))
}

fn parse(bytes: &[u8]) -> Option<Revision> {
    let revision = Revision(std::str::from_utf8(bytes.get(..20)?).ok()?.parse().ok()?);
    (bytes == line(revision).as_bytes()).then_some(revision)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_witness_is_heard_whole_or_not_at_all() {
        let whole = line(Revision(1_234_567));
        assert_eq!(parse(whole.as_bytes()), Some(Revision(1_234_567)));
        let other = line(Revision(1_299_999));
        for torn in 1..whole.len() {
            let mixed = format!("{}{}", &other[..torn], &whole[torn..]);
            assert!(parse(&whole.as_bytes()[..torn]).is_none(), "{torn} bytes");
            assert!(mixed == whole || mixed == other || parse(mixed.as_bytes()).is_none(), "{mixed}");
        }
        assert_eq!(parse(b""), None);
        assert_eq!(parse(&[0xff; 38]), None);
    }
}
