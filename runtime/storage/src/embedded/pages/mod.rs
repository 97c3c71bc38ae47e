//! Reads a store without the engine: every page that the newest commit reaches once, in the order of the file, and on
//! all cores. Each page is compared with the checksum that its parent has of it, and its rows are passed on from there.
//!
//! The engine's own check reads every page twice, on one core: it compares the checksums, and counts the free pages
//! again. Here the record of the free pages is compared with its checksums like all others.
//!
//! # What if this finds damage, or does not know the file?
//!
//! Then nothing that it has read counts. The engine reads the file, and names what is damaged (`load.rs`). The same holds
//! if a crash has cut off the newest commit. If it has not, but only the list of free pages is missing, the engine makes
//! that list while the rows are read here.

mod format;
mod tree_reader;

use std::ops::RangeInclusive;

use self::{
    format::{HEADER, Header, Leaf, Tree, Widths},
    tree_reader::{PageRef, TakeRow, TreeReader},
};
use super::{
    Disk,
    layout::{ChecksummedNumber, STATE, State},
    tables::{Raw, Tables},
};

/// The tables of the newest commit.
pub(super) struct Pages<'d> {
    reader: TreeReader<'d>,
    /// The leaves of the log.
    log: Vec<PageRef>,
    /// The tables that are read as a whole.
    index: Tree,
    marks: Tree,
    lifetimes: Tree,
    meta: Tree,
    /// The engine's own tables, first the one that names them.
    own: Vec<Tree>,
}

/// Leaves that are read together.
const PART: u64 = 256 << 10;

impl<'d> Pages<'d> {
    /// Reads the names of all pages. `None` if the file is damaged or not known.
    pub(super) fn open(disk: &'d dyn Disk) -> Option<Self> {
        let mut header = [0; HEADER];
        disk.read(0, &mut header).ok()?;
        let header = Header::read(&header)?;
        let (tables, own) = (Tree::of_tables(header.tables), Tree::of_tables(header.own_tables));
        let reader = TreeReader::new(disk, disk.size().ok()?, header);
        let mut found = [None; 5];
        reader.each_row(tables, &mut |name, definition| {
            let (known, widths) = match name {
                b"log" => (0, (Some(8), None)),
                b"index" => (1, (None, Some(16))),
                b"marks" => (2, (Some(8), Some(16))),
                b"lifetimes" => (3, (Some(16), Some(8))),
                b"meta" => (4, (None, None)),
                _ => return None,
            };
            let tree = Tree::read(definition)?;
            found[known] = Some(tree);
            (tree.widths == Widths { key: widths.0, value: widths.1 }).then_some(())
        })?;
        let mut all_own = vec![own];
        reader.each_row(own, &mut |_, definition| {
            all_own.push(Tree::read(definition)?);
            Some(())
        })?;
        let [log, index, marks, lifetimes, meta] = found;
        // Stores of layout 2 have no lifetimes.
        let lifetimes = lifetimes.unwrap_or(Tree::of_tables(None));
        Some(Self {
            log: reader.leaves(log?)?,
            reader,
            index: index?,
            marks: marks?,
            lifetimes,
            meta: meta?,
            own: all_own,
        })
    }

    /// True if all pages that hold no rows of the log or the index match their checksums.
    pub(super) fn are_sound(&self) -> bool {
        let rest = self.own.iter().chain([&self.marks, &self.lifetimes, &self.meta]);
        rest.into_iter().all(|tree| self.reader.each_row(*tree, &mut |_, _| Some(())).is_some())
    }

    fn each(&self, tree: Tree, take: TakeRow<'_>) -> Result<(), redb::Error> {
        let cannot = || redb::Error::Corrupted("a page cannot be read, or does not match its checksum".to_owned());
        self.reader.each_row(tree, take).ok_or_else(cannot)
    }
}

impl Tables for Pages<'_> {
    fn state(&self) -> Result<State, redb::Error> {
        let mut state = None;
        self.each(self.meta, &mut |name, bytes| {
            if name == STATE.as_bytes() {
                state = State::read(bytes);
            }
            Some(())
        })?;
        state.ok_or_else(|| redb::Error::Corrupted("the row that holds the store's state is damaged".to_owned()))
    }

    fn each_pointer(&self, take: &mut dyn FnMut(&[u8], ChecksummedNumber)) -> Result<(), redb::Error> {
        self.each(self.index, &mut |key, value| {
            take(key, pair(value)?);
            Some(())
        })
    }

    fn each_mark(&self, take: &mut dyn FnMut(u64, ChecksummedNumber)) -> Result<(), redb::Error> {
        self.each(self.marks, &mut |key, value| {
            take(number(key)?, pair(value)?);
            Some(())
        })
    }

    fn each_lifetime(&self, take: &mut dyn FnMut((u64, u64), u64)) -> Result<(), redb::Error> {
        self.each(self.lifetimes, &mut |key, value| {
            take(pair(key)?, number(value)?);
            Some(())
        })
    }

    fn cuts(&self) -> Option<Vec<u64>> {
        let mut bytes = 0;
        let mut ends = Vec::new();
        for leaf in &self.log {
            bytes += leaf.link.size();
            if bytes >= PART {
                ends.push(leaf.upto);
                bytes = 0;
            }
        }
        Some(ends)
    }

    fn each_row(&self, revisions: RangeInclusive<u64>, take: &mut dyn FnMut(u64, Raw<'_>)) -> bool {
        let (from, upto) = revisions.into_inner();
        let first = self.log.partition_point(|leaf| leaf.upto < from);
        let last = first + self.log[first..].partition_point(|leaf| leaf.upto < upto);
        let leaves = &self.log[first..self.log.len().min(last + 1)];
        let mut next = Some(from);
        let widths = Widths { key: Some(8), value: None };
        let read = self.reader.each_page(leaves, &mut |link, page, buffer| {
            for row in Leaf::read(link, page, widths)?.rows() {
                let (revision, bytes) = row?;
                let revision = number(revision)?;
                // In order, and none twice.
                if next.is_none_or(|next| revision < next) || revision > upto {
                    return None;
                }
                next = revision.checked_add(1);
                take(revision, Raw { bytes, buffer: Some(buffer) });
            }
            Some(())
        });
        read.is_some()
    }
}

fn number(bytes: &[u8]) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.try_into().ok()?))
}

fn pair(bytes: &[u8]) -> Option<(u64, u64)> {
    let (one, other) = bytes.split_at_checked(size_of::<u64>())?;
    Some((number(one)?, number(other)?))
}
