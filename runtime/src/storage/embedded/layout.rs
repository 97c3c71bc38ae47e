//! How the store lies in the engine's file.
//!
//! | table | key → value |
//! |---|---|
//! | `log` | revision → the change that has this revision ([`Row`]) |
//! | `index` | key → the revision of its newest value |
//! | `marks` | revision → a time (Unix, ms) at which every change before the revision had happened |
//! | `meta` | `compacted`, `obsolete` → the revision up to which history is forgotten, and that row's `obsolete` |
//! | | `origin` → the revision after which the store began; nothing happened before |
//!
//! A body is written once, in the row of the change that made it; the row is the newest value while the index points to
//! it, and the previous value of the change that replaced it until that change is compacted. Hence:
//!
//! - every revision after `compacted` and `origin` has a row, and so has every revision that the index or such a row points to;
//! - a row at or before `compacted` is there only if the index points to it or a change after `compacted` does;
//! - the newest revision is that of the last row, or `compacted` or `origin` where that is later.

use redb::TableDefinition;

use crate::meta::Revision;

pub(super) const LOG: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("log");
pub(super) const INDEX: TableDefinition<'_, &str, u64> = TableDefinition::new("index");
pub(super) const MARKS: TableDefinition<'_, u64, u64> = TableDefinition::new("marks");
pub(super) const META: TableDefinition<'_, &str, u64> = TableDefinition::new("meta");

/// Names in the table `meta`.
pub(super) const COMPACTED: &str = "compacted";
pub(super) const ORIGIN: &str = "origin";
pub(super) const OBSOLETE: &str = "obsolete";

/// One change as it lies in the log: a head of fixed size, the key, the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Row<'a> {
    /// The revision of the value that this change replaced or deleted; zero where it created the key.
    pub(super) previous: Revision,
    /// How many bytes of rows this change and all before it made obsolete, over the life of the store. The difference
    /// between two rows is what compacting from one to the other frees.
    pub(super) obsolete: u64,
    pub(super) key: &'a str,
    /// `None` where the change deleted the key.
    pub(super) body: Option<&'a [u8]>,
}

const PUT: u8 = 0;
const DELETE: u8 = 1;
const HEAD: usize = 1 + 8 + 8 + 4;

impl<'a> Row<'a> {
    /// Its size in the log.
    pub(super) fn size(&self) -> usize {
        HEAD + self.key.len() + self.body.map_or(0, <[u8]>::len)
    }

    /// Writes it into a buffer of exactly its size.
    pub(super) fn write(&self, into: &mut [u8]) {
        let key_size = u32::try_from(self.key.len()).expect("the engine limits keys to 3 GiB");
        let (head, rest) = into.split_at_mut(HEAD);
        head[0] = if self.body.is_some() { PUT } else { DELETE };
        head[1..9].copy_from_slice(&self.previous.0.to_le_bytes());
        head[9..17].copy_from_slice(&self.obsolete.to_le_bytes());
        head[17..].copy_from_slice(&key_size.to_le_bytes());
        let (key, body) = rest.split_at_mut(self.key.len());
        key.copy_from_slice(self.key.as_bytes());
        body.copy_from_slice(self.body.unwrap_or_default());
    }

    /// Reads it back.
    pub(super) fn read(bytes: &'a [u8]) -> Result<Self, redb::Error> {
        Self::parse(bytes).ok_or_else(|| redb::Error::Corrupted("a row of the change log cannot be read".to_owned()))
    }

    fn parse(bytes: &'a [u8]) -> Option<Self> {
        let (kind, rest) = bytes.split_first()?;
        let (previous, rest) = rest.split_first_chunk()?;
        let (obsolete, rest) = rest.split_first_chunk()?;
        let (key_size, rest) = rest.split_first_chunk()?;
        let (key, body) = rest.split_at_checked(usize::try_from(u32::from_le_bytes(*key_size)).ok()?)?;
        Some(Self {
            previous: Revision(u64::from_le_bytes(*previous)),
            obsolete: u64::from_le_bytes(*obsolete),
            key: std::str::from_utf8(key).ok()?,
            body: match *kind {
                PUT => Some(body),
                DELETE if body.is_empty() => None,
                _ => return None,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_reads_back_as_written() {
        for body in [None, Some(&b""[..]), Some(b"{}")] {
            let row = Row { previous: Revision(7), obsolete: 9, key: "/registry/a", body };
            let mut bytes = vec![0xff; row.size()];
            row.write(&mut bytes);
            assert_eq!(Row::read(&bytes).unwrap(), row);
        }
        assert!(Row::read(b"\0short").is_err());
        assert!(Row::read(&[9; HEAD]).is_err());
    }
}
