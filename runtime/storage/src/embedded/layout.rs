//! The layout of the store in the engine's file: layout 3.
//!
//! | table | key → value |
//! |---|---|
//!  | `log` | revision → the change with this revision ([`Row`]), checksum first |
//! | `index` | key → the revision of its newest value, checksum |
//! | `marks` | revision → a time (Unix, ms) at which every change before the revision had happened, checksum |
//! | `lifetimes` | (deadline (ms), revision) → checksum: the newest values that expire |
//! | `meta` | `state` → [`State`], checksum first: how far history goes, and what the first three tables hold |
//! | | `clock` → the store's time when it was last noted, checksum first (`clock.rs`) |
//!
//! Each checksum is XXH3 (64 bits) of the row's key and value, verified whenever the row is read. `state` holds for each
//! of the first three tables the number of rows and the sum of their checksums. Every transaction that changes a table
//! changes them with it, so that a row that vanished is noticed when the store is loaded (`verify.rs`). `lifetimes` needs no
//! count: it follows from the other tables, because the row of a value has its deadline. It may name values that are
//! not the newest ones any more, because damage hid their deadlines when they were replaced.
//!
//! A body is written once, in the row of the change that made it; the row is the newest value while the index points to
//! it, and the previous value of the change that replaced it until that change is compacted. Hence:
//!
//! - every revision after `compacted` up to `head` has a row, and so has every revision that such a row points to;
//! - every revision that the index points to has a row with that key and a body, unless damage took it: then the index
//!   still names the object, and points to revision zero where not even the revision is known;
//! - a row at or before `compacted` is there only if the index points to it or a change after `compacted` does, or if
//!   compaction passed a row that it could not read (`passed`), which may have pointed to it.
//!
//! Layout 2 had neither `lifetimes` and `clock` nor rows with deadlines, and is otherwise the same: its files are used as they are.

use redb::{ReadableTable, TableDefinition};
use twox_hash::XxHash3_64;

use super::clock::Note;
use crate::{Damage, meta::Revision};

pub(super) const LOG: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("log");
pub(super) const INDEX: TableDefinition<'_, &[u8], ChecksummedNumber> = TableDefinition::new("index");
pub(super) const MARKS: TableDefinition<'_, u64, ChecksummedNumber> = TableDefinition::new("marks");
pub(super) const LIFETIMES: TableDefinition<'_, (u64, u64), u64> = TableDefinition::new("lifetimes");
pub(super) const META: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("meta");

/// The name of the row that holds [`State`].
pub(super) const STATE: &str = "state";
const CLOCK: &str = "clock";

/// A number with the checksum of its row.
pub(super) type ChecksummedNumber = (u64, u64);

/// The checksum of a row. Each row is a number and bytes; either may be the key.
fn checksum(number: u64, bytes: &[u8]) -> u64 {
    XxHash3_64::oneshot_with_seed(number, bytes)
}

/// The index entry of a key.
pub(super) fn pointer(key: &[u8], revision: Revision) -> ChecksummedNumber {
    (revision.0, checksum(revision.0, key))
}

/// Reads the index entry of a key.
pub(super) fn read_pointer(key: &[u8], pointer: ChecksummedNumber) -> Result<Revision, Damage> {
    if pointer.1 == checksum(pointer.0, key) { Ok(Revision(pointer.0)) } else { Err(Damage::Altered) }
}

/// The marks entry of a revision.
pub(super) fn mark(before: Revision, ms: u64) -> ChecksummedNumber {
    (ms, checksum(ms, &before.0.to_le_bytes()))
}

/// Reads the marks entry of a revision.
pub(super) fn read_mark(before: Revision, checksummed: ChecksummedNumber) -> Result<u64, Damage> {
    if checksummed == mark(before, checksummed.0) { Ok(checksummed.0) } else { Err(Damage::Altered) }
}

/// The value of a row of `lifetimes`.
pub(super) fn lifetime(deadline_ms: u64, revision: Revision) -> u64 {
    checksum(deadline_ms, &revision.0.to_le_bytes())
}

/// Reads the last note of the clock. A note that is missing or damaged is ignored.
pub(super) fn read_note(meta: &impl ReadableTable<&'static str, &'static [u8]>) -> Result<Option<Note>, redb::Error> {
    let Some(found) = meta.get(CLOCK)? else { return Ok(None) };
    let Some((sum, rest)) = found.value().split_first_chunk() else { return Ok(None) };
    Ok(Note::from_bytes(rest).filter(|_| u64::from_le_bytes(*sum) == checksum(0, rest)))
}

pub(super) fn save_note(
    note: Note,
    meta: &mut redb::Table<'_, &'static str, &'static [u8]>,
) -> Result<(), redb::Error> {
    let numbers = note.to_bytes();
    meta.insert(CLOCK, &[&checksum(0, &numbers).to_le_bytes()[..], &numbers].concat()[..])?;
    Ok(())
}

/// Reads marks up to the first page that cannot be read, without damaged ones: without a mark, history is kept until the next
/// mark is old enough.
pub(super) fn read_marks(
    marks: &impl ReadableTable<u64, ChecksummedNumber>,
    into: &mut impl Extend<(Revision, u64)>,
) -> Result<(), redb::Error> {
    for found in marks.iter()? {
        let (before, checksummed) = found?;
        let before = Revision(before.value());
        into.extend(read_mark(before, checksummed.value()).map(|ms| (before, ms)));
    }
    Ok(())
}

/// The number of rows of a table, and the sum of their stored checksums. The sum does not depend on their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) rows: u64,
    pub(super) digest: u64,
}

impl Tally {
    pub(super) fn add(&mut self, checksum: u64) {
        self.rows = self.rows.wrapping_add(1);
        self.digest = self.digest.wrapping_add(checksum);
    }

    /// Adds other rows.
    pub(super) fn add_all(&mut self, other: Self) {
        self.rows = self.rows.wrapping_add(other.rows);
        self.digest = self.digest.wrapping_add(other.digest);
    }

    pub(super) fn remove(&mut self, checksum: u64) {
        self.rows = self.rows.wrapping_sub(1);
        self.digest = self.digest.wrapping_sub(checksum);
    }
}

/// A position in the log: a revision, and how much space ([`Row::space`]) all changes up to it made obsolete.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct End {
    pub(super) head: Revision,
    pub(super) obsolete: u64,
}

/// The store's record of itself, updated in every transaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct State {
    /// The revision before the store's first change.
    pub(super) origin: Revision,
    /// The end of the compacted history; the origin while history is complete.
    pub(super) compacted: End,
    /// The newest change.
    pub(super) end: End,
    /// Unreadable rows of the log that compaction skipped.
    pub(super) passed: u64,
    pub(super) log: Tally,
    pub(super) index: Tally,
    pub(super) marks: Tally,
}

impl State {
    /// The state of an empty store.
    pub(super) fn new(origin: Revision) -> Self {
        let end = End { head: origin, obsolete: 0 };
        Self { origin, compacted: end, end, ..Self::default() }
    }

    /// The compacted revision as readers see it: zero while history is complete.
    pub(super) fn compacted_for_readers(&self) -> Revision {
        if self.compacted.head == self.origin { Revision(0) } else { self.compacted.head }
    }

    pub(super) fn load(meta: &impl ReadableTable<&'static str, &'static [u8]>) -> Result<Self, redb::Error> {
        let damaged = || redb::Error::Corrupted("the row that holds the store's state is damaged".to_owned());
        let found = meta.get(STATE)?.ok_or_else(damaged)?;
        Self::read(found.value()).ok_or_else(damaged)
    }

    pub(super) fn save(&self, meta: &mut redb::Table<'_, &'static str, &'static [u8]>) -> Result<(), redb::Error> {
        let numbers = self.to_bytes();
        meta.insert(STATE, &[&checksum(0, &numbers).to_le_bytes()[..], &numbers].concat()[..])?;
        Ok(())
    }

    /// Its numbers.
    pub(super) fn to_bytes(self) -> Vec<u8> {
        let Self { origin, compacted, end, passed, log, index, marks } = self;
        let positions = [origin.0, compacted.head.0, compacted.obsolete, end.head.0, end.obsolete, passed];
        let tallies = [log, index, marks].map(|tally| [tally.rows, tally.digest]);
        positions.iter().chain(tallies.as_flattened()).flat_map(|number| number.to_le_bytes()).collect()
    }

    /// Reads its row, and verifies it.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let (sum, rest) = bytes.split_first_chunk()?;
        Self::from_bytes(rest).filter(|_| u64::from_le_bytes(*sum) == checksum(0, rest))
    }

    /// The state with these numbers.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (numbers, []) = bytes.as_chunks() else { return None };
        let mut numbers = numbers.iter().map(|number| u64::from_le_bytes(*number));
        let mut next = || numbers.next();
        let state = Self {
            origin: Revision(next()?),
            compacted: End { head: Revision(next()?), obsolete: next()? },
            end: End { head: Revision(next()?), obsolete: next()? },
            passed: next()?,
            log: Tally { rows: next()?, digest: next()? },
            index: Tally { rows: next()?, digest: next()? },
            marks: Tally { rows: next()?, digest: next()? },
        };
        next().is_none().then_some(state)
    }
}

/// One change as stored in the log: a checksum, a head of fixed size, the key, the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Row<'a> {
    /// The revision of the value that this change replaced or deleted, or zero if it created the key.
    pub(super) previous: Revision,
    /// How much space this change and all earlier ones made obsolete over the life of the store. The difference between
    /// two rows is what compacting from one to the other frees. Rows of earlier versions counted their sizes.
    pub(super) obsolete: u64,
    pub(super) key: &'a str,
    /// `None` for a deletion.
    pub(super) body: Option<&'a [u8]>,
    /// When the value expires, on the store's clock; `None` for a value that stays, and for a deletion.
    pub(super) deadline_ms: Option<u64>,
}

/// The kind of a row, its first byte after the checksum: a value that stays.
pub(super) const PUT: u8 = 0;
pub(super) const DELETE: u8 = 1;
/// A value that expires: its deadline follows the body.
pub(super) const LEASE: u8 = 2;
const SUM: usize = 8;
const HEAD: usize = 1 + 8 + 8 + 4;

/// The engine's smallest page, what it needs of a page itself, and what it adds to each row of the log.
const PAGE: u64 = 4096;
const PAGE_HEAD: u64 = 4;
const PAIR: u64 = 8 + 4;

impl<'a> Row<'a> {
    /// The row's size in the log.
    pub(super) fn size(&self) -> usize {
        SUM + HEAD
            + self.key.len()
            + self.body.map_or(0, <[u8]>::len)
            + self.deadline_ms.map_or(0, |_| size_of::<u64>())
    }

    /// The space that the row takes in the engine's file: its share of a page if more rows of this size fit, and otherwise
    /// a page of its own, whose size is a power of two.
    pub(super) fn space(&self) -> u64 {
        let size = self.size() as u64 + PAIR;
        match (PAGE - PAGE_HEAD) / size {
            0 => (size + PAGE_HEAD).next_power_of_two(),
            rows => PAGE / rows,
        }
    }

    /// Writes the row into a buffer of exactly its size and returns its checksum.
    pub(super) fn write(&self, revision: Revision, into: &mut [u8]) -> u64 {
        let key_size = u32::try_from(self.key.len()).expect("the engine limits keys to 3 GiB");
        let (sum, content) = into.split_at_mut(SUM);
        let (head, rest) = content.split_at_mut(HEAD);
        head[0] = match (self.body, self.deadline_ms) {
            (None, _) => DELETE,
            (Some(_), None) => PUT,
            (Some(_), Some(_)) => LEASE,
        };
        head[1..9].copy_from_slice(&self.previous.0.to_le_bytes());
        head[9..17].copy_from_slice(&self.obsolete.to_le_bytes());
        head[17..].copy_from_slice(&key_size.to_le_bytes());
        let (key, rest) = rest.split_at_mut(self.key.len());
        let (body, deadline) = rest.split_at_mut(self.body.map_or(0, <[u8]>::len));
        key.copy_from_slice(self.key.as_bytes());
        body.copy_from_slice(self.body.unwrap_or_default());
        if let Some(deadline_ms) = self.deadline_ms {
            deadline.copy_from_slice(&deadline_ms.to_le_bytes());
        }
        let checksum = checksum(revision.0, content);
        sum.copy_from_slice(&checksum.to_le_bytes());
        checksum
    }

    /// Reads a row and verifies it.
    pub(super) fn read(revision: Revision, bytes: &'a [u8]) -> Result<Self, Damage> {
        let content = bytes.get(SUM..).ok_or(Damage::Altered)?;
        if Self::stored_checksum(bytes) != checksum(revision.0, content) {
            return Err(Damage::Altered);
        }
        Self::parse(content).ok_or(Damage::Altered)
    }

    /// The stored checksum of a row, valid or not.
    pub(super) fn stored_checksum(bytes: &[u8]) -> u64 {
        bytes.first_chunk().map_or(0, |sum| u64::from_le_bytes(*sum))
    }

    /// Reads what follows the checksum. Rows of layout 1 consist of this part only.
    pub(super) fn parse(bytes: &'a [u8]) -> Option<Self> {
        let (kind, rest) = bytes.split_first()?;
        let (previous, rest) = rest.split_first_chunk()?;
        let (obsolete, rest) = rest.split_first_chunk()?;
        let (key_size, rest) = rest.split_first_chunk()?;
        let (key, body) = rest.split_at_checked(usize::try_from(u32::from_le_bytes(*key_size)).ok()?)?;
        let (body, deadline_ms) = match *kind {
            PUT => (Some(body), None),
            DELETE if body.is_empty() => (None, None),
            LEASE => {
                let (body, deadline) = body.split_last_chunk()?;
                (Some(body), Some(u64::from_le_bytes(*deadline)))
            }
            _ => return None,
        };
        Some(Self {
            previous: Revision(u64::from_le_bytes(*previous)),
            obsolete: u64::from_le_bytes(*obsolete),
            key: std::str::from_utf8(key).ok()?,
            body,
            deadline_ms,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_reads_back_as_written_and_no_changed_bit_goes_unnoticed() {
        let whole = [None, Some(&b""[..]), Some(b"{}")].map(|body| (body, None));
        for (body, deadline_ms) in whole.into_iter().chain([(Some(&b"{}"[..]), Some(5))]) {
            let row = Row { previous: Revision(7), obsolete: 9, key: "/registry/a", body, deadline_ms };
            let mut bytes = vec![0xff; row.size()];
            let sum = row.write(Revision(8), &mut bytes);
            assert_eq!(Row::stored_checksum(&bytes), sum);
            assert_eq!(Row::read(Revision(8), &bytes).unwrap(), row);
            assert!(Row::read(Revision(9), &bytes).is_err(), "under another revision");
            for bit in 0..bytes.len() * 8 {
                bytes[bit / 8] ^= 1 << (bit % 8);
                assert!(Row::read(Revision(8), &bytes).is_err(), "bit {bit}");
                bytes[bit / 8] ^= 1 << (bit % 8);
            }
            for length in 0..bytes.len() {
                assert!(Row::read(Revision(8), &bytes[..length]).is_err(), "{length} bytes");
            }
        }
    }

    #[test]
    fn pointers_and_marks_read_back_and_no_changed_bit_goes_unnoticed() {
        let good = pointer(b"/registry/a", Revision(7));
        assert_eq!(read_pointer(b"/registry/a", good), Ok(Revision(7)));
        assert!(read_pointer(b"/registry/b", good).is_err());
        let time = mark(Revision(7), 1_700_000_000_000);
        assert_eq!(read_mark(Revision(7), time), Ok(1_700_000_000_000));
        assert!(read_mark(Revision(8), time).is_err());
        for bit in 0..64 {
            for flip in [(1 << bit, 0), (0, 1 << bit)] {
                assert!(read_pointer(b"/registry/a", (good.0 ^ flip.0, good.1 ^ flip.1)).is_err(), "bit {bit}");
                assert!(read_mark(Revision(7), (time.0 ^ flip.0, time.1 ^ flip.1)).is_err(), "bit {bit}");
            }
        }
    }

    #[test]
    fn a_tally_does_not_depend_on_order() {
        let (mut one, mut other) = (Tally::default(), Tally::default());
        for sum in [5, u64::MAX, 7] {
            one.add(sum);
        }
        for sum in [7, 5, 9, u64::MAX] {
            other.add(sum);
        }
        other.remove(9);
        assert_eq!(one, other);
    }
}
