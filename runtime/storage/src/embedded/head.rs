//! The witness of the newest durable revision: the file `HEAD` beside the engine's file. It is overwritten in place
//! after each group of commits is durable, without an fsync. It may be older than the store, never newer: a store that
//! is older than its witness has lost acknowledged commits. A torn or missing witness is ignored.

use std::{
    fs::File,
    io::{self, Read},
    os::unix::fs::FileExt,
};

use twox_hash::XxHash3_64;

use crate::meta::Revision;

/// The open file.
pub(super) struct Witness(File);

impl Witness {
    /// Opens the witness and returns its revision, if it is valid.
    pub(super) fn read(mut file: File) -> io::Result<(Self, Option<Revision>)> {
        let mut bytes = Vec::new();
        // A file of another length was not written by this code.
        Read::by_ref(&mut file).take(1_024).read_to_end(&mut bytes)?;
        let revision = parse(&bytes);
        Ok((Self(file), revision))
    }

    /// Records a durable revision. If the write fails, the witness stays older than the store, which is allowed.
    pub(super) fn testify(&self, revision: Revision) {
        let _ = self.0.write_all_at(line(revision).as_bytes(), 0);
    }
}

/// The length is fixed, so that each line replaces the previous one completely.
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
    fn a_torn_witness_is_ignored() {
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
