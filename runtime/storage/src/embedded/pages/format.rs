//! The engine's file format, as far as verification reads it: version 3, which redb describes in its `docs/design.md`.
//!
//! A header names the root pages of two trees, and each page names its children. A page is named together with its
//! checksum: if it matches, it is as the engine wrote it. Nothing here trusts a page before that.

use twox_hash::XxHash3_128;

/// The part of the file that is read first.
pub(super) const HEADER: usize = 320;

const MAGIC: &[u8] = b"redb\x1a\n\xa9\r\n";
const VERSION: u8 = 3;
const PAGE: u64 = 4096;
/// The order of the greatest page that the engine makes. A page of order n is 2^n times as large as one of order 0.
const GREATEST_ORDER: u64 = 20;
/// Bits of the byte after the magic number.
const SECOND_IS_NEWEST: u8 = 1;
const TWO_PHASES: u8 = 4;
/// Offsets in the header: the size of pages, the pages of a region's header and of the rest of a region, and the first of
/// the two slots, each of which names a commit.
const PAGE_SIZE: usize = 12;
const REGION_HEADER_PAGES: usize = 16;
const REGION_PAGES: usize = 20;
const SLOTS: usize = 64;
/// The size of a slot, and offsets in it: whether there is a tree, and its root.
const SLOT: usize = 128;
const HAS_TABLES: usize = 1;
const HAS_OWN_TABLES: usize = 2;
const TABLES: usize = 8;
const OWN_TABLES: usize = 40;
const COMMIT_NUMBER: usize = 104;
const SUM: usize = 16;

const LEAF: u8 = 1;
const BRANCH: u8 = 2;

fn checksum(bytes: &[u8]) -> [u8; SUM] {
    XxHash3_128::oneshot(bytes).to_le_bytes()
}

/// The name of a page, and its checksum.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    page: u64,
    checksum: [u8; SUM],
}

impl Link {
    /// True if a page, or its part that counts, is the one meant.
    fn matches(self, bytes: &[u8]) -> bool {
        checksum(bytes) == self.checksum
    }

    fn order(self) -> u64 {
        self.page >> 59
    }

    /// The size of the page.
    pub(super) fn size(self) -> u64 {
        PAGE << self.order()
    }

    /// Reads a tree's root, which the number of its rows follows.
    fn root(bytes: &[u8]) -> Option<Self> {
        let (page, rest) = bytes.split_first_chunk()?;
        Some(Self { page: u64::from_le_bytes(*page), checksum: *rest.first_chunk()? })
    }
}

/// The header of a file.
pub(super) struct Header {
    region_bytes: u64,
    region_header_bytes: u64,
    /// The tree that names the tables.
    pub(super) tables: Option<Link>,
    /// The tree that names the engine's own tables, such as its free pages.
    pub(super) own_tables: Option<Link>,
}

impl Header {
    /// Reads a header. The newest commit is the one that the engine chooses, unless pages of that one are missing: a crash
    /// may have cut it off if it was not made in two phases.
    pub(super) fn read(bytes: &[u8; HEADER]) -> Option<Self> {
        let flags = *bytes.strip_prefix(MAGIC)?.first()?;
        let number = |at: usize| bytes.get(at..)?.first_chunk().map(|bytes| u64::from(u32::from_le_bytes(*bytes)));
        if number(PAGE_SIZE)? != PAGE {
            return None;
        }
        let header_bytes = number(REGION_HEADER_PAGES)? * PAGE;
        let (first, second) = (Slot::read(&bytes[SLOTS..]), Slot::read(&bytes[SLOTS + SLOT..]));
        let (marked, other) = if flags & SECOND_IS_NEWEST == 0 { (first, second) } else { (second, first) };
        let newest = match (marked, other) {
            (Some(marked), Some(other)) if flags & TWO_PHASES == 0 && other.number > marked.number => other,
            (Some(marked), _) => marked,
            (None, other) if flags & TWO_PHASES == 0 => other?,
            (None, _) => return None,
        };
        let fields = newest.fields;
        let root = |is_there: u8, at: usize| (is_there != 0).then(|| Link::root(&fields[at..])).flatten();
        Some(Self {
            region_bytes: header_bytes + number(REGION_PAGES)? * PAGE,
            region_header_bytes: header_bytes,
            tables: root(fields[HAS_TABLES], TABLES),
            own_tables: root(fields[HAS_OWN_TABLES], OWN_TABLES),
        })
    }

    /// Where a page begins and ends in the file. A page's number has three parts: from the lowest bit on 20 bits for its
    /// place among those of its size in its region, 20 bits for the region, and in the highest 5 bits the order.
    pub(super) fn place(&self, link: Link) -> Option<(u64, u64)> {
        if link.order() > GREATEST_ORDER {
            return None;
        }
        let index = link.page & (0xf_ffff >> link.order());
        let region = (link.page >> 20) & 0xf_ffff;
        let in_region = self.region_header_bytes + index.checked_mul(link.size())?;
        let start = PAGE.checked_add(region.checked_mul(self.region_bytes)?)?.checked_add(in_region)?;
        Some((start, start.checked_add(link.size())?))
    }
}

/// A commit, as the header names it.
struct Slot<'h> {
    fields: &'h [u8],
    number: u64,
}

impl<'h> Slot<'h> {
    /// Reads a slot. `None` if it does not match its checksum, or has another version.
    fn read(bytes: &'h [u8]) -> Option<Self> {
        let (fields, sum) = bytes.get(..SLOT)?.split_last_chunk()?;
        let number = u64::from_le_bytes(*fields.get(COMMIT_NUMBER..)?.first_chunk()?);
        (fields[0] == VERSION && checksum(fields) == *sum).then_some(Self { fields, number })
    }
}

/// The sizes of a tree's keys and values; `None` for those of any size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Widths {
    pub(super) key: Option<usize>,
    pub(super) value: Option<usize>,
}

/// A tree: a table, or the tables by name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tree {
    pub(super) root: Option<Link>,
    pub(super) widths: Widths,
}

impl Tree {
    /// A tree of tables.
    pub(super) fn of_tables(root: Option<Link>) -> Self {
        Self { root, widths: Widths { key: None, value: None } }
    }

    /// Reads the definition of a table. `None` for tables of another kind than ours.
    pub(super) fn read(definition: &[u8]) -> Option<Self> {
        const NORMAL: u8 = 3;
        let (&[kind, ..], rest) = definition.split_first_chunk::<9>()?;
        let (&[has_root, ref root @ ..], rest) = rest.split_first_chunk::<33>()?;
        let (width, rest) = width(rest)?;
        let widths = Widths { key: width, value: self::width(rest)?.0 };
        let root = if has_root == 0 { None } else { Some(Link::root(root)?) };
        (kind == NORMAL).then_some(Self { root, widths })
    }
}

fn width(bytes: &[u8]) -> Option<(Option<usize>, &[u8])> {
    let (&[is_fixed, ref width @ ..], rest) = bytes.split_first_chunk::<5>()?;
    let width = usize::try_from(u32::from_le_bytes(*width)).ok()?;
    Some(((is_fixed != 0).then_some(width), rest))
}

/// A page that is not a leaf.
pub(super) struct Branch<'p> {
    page: &'p [u8],
    keys: usize,
    key_width: Option<usize>,
}

impl<'p> Branch<'p> {
    pub(super) fn read(link: Link, page: &'p [u8], widths: Widths) -> Option<Self> {
        let keys = usize::from(u16::from_le_bytes(*page.get(2..)?.first_chunk()?));
        let branch = Self { page, keys, key_width: widths.key };
        let end = branch.key_end(keys.checked_sub(1)?)?;
        (page[0] == BRANCH && link.matches(page.get(..end)?)).then_some(branch)
    }

    /// The children, each with the greatest key that it may have, which the last one has no bound for.
    pub(super) fn children(&self) -> impl Iterator<Item = Option<(Link, Option<&'p [u8]>)>> {
        (0..=self.keys).map(|n| {
            let checksum = *self.page.get(8 + SUM * n..)?.first_chunk()?;
            let page = self.page.get(8 + SUM * (self.keys + 1) + size_of::<u64>() * n..)?.first_chunk()?;
            let bound = if n == self.keys { None } else { Some(self.key(n)?) };
            Some((Link { page: u64::from_le_bytes(*page), checksum }, bound))
        })
    }

    fn key(&self, n: usize) -> Option<&'p [u8]> {
        let from = n.checked_sub(1).map_or_else(|| Some(self.keys_start()), |before| self.key_end(before))?;
        self.page.get(from..self.key_end(n)?)
    }

    fn ends_start(&self) -> usize {
        8 + (SUM + size_of::<u64>()) * (self.keys + 1)
    }

    fn keys_start(&self) -> usize {
        self.ends_start() + if self.key_width.is_none() { size_of::<u32>() * self.keys } else { 0 }
    }

    fn key_end(&self, n: usize) -> Option<usize> {
        match self.key_width {
            Some(width) => Some(self.keys_start() + width * (n + 1)),
            None => offset(self.page, self.ends_start(), n),
        }
    }
}

/// A page with rows.
pub(super) struct Leaf<'p> {
    page: &'p [u8],
    rows: usize,
    widths: Widths,
}

impl<'p> Leaf<'p> {
    /// True if a page says that it is one.
    pub(super) fn is_meant(page: &[u8]) -> bool {
        page.first() == Some(&LEAF)
    }

    pub(super) fn read(link: Link, page: &'p [u8], widths: Widths) -> Option<Self> {
        let rows = usize::from(u16::from_le_bytes(*page.get(2..)?.first_chunk()?));
        let leaf = Self { page, rows, widths };
        let end = leaf.value_end(rows.checked_sub(1)?)?;
        (Self::is_meant(page) && link.matches(page.get(..end)?)).then_some(leaf)
    }

    /// Keys and values in order.
    pub(super) fn rows(&self) -> impl Iterator<Item = Option<(&'p [u8], &'p [u8])>> {
        (0..self.rows).map(|n| {
            let before = n.checked_sub(1);
            let key = before.map_or_else(|| Some(self.keys_start()), |before| self.key_end(before))?;
            let value = before.map_or_else(|| self.key_end(self.rows - 1), |before| self.value_end(before))?;
            Some((self.page.get(key..self.key_end(n)?)?, self.page.get(value..self.value_end(n)?)?))
        })
    }

    fn value_ends_start(&self) -> usize {
        4 + if self.widths.key.is_none() { size_of::<u32>() * self.rows } else { 0 }
    }

    fn keys_start(&self) -> usize {
        self.value_ends_start() + if self.widths.value.is_none() { size_of::<u32>() * self.rows } else { 0 }
    }

    fn key_end(&self, n: usize) -> Option<usize> {
        match self.widths.key {
            Some(width) => Some(self.keys_start() + width * (n + 1)),
            None => offset(self.page, 4, n),
        }
    }

    fn value_end(&self, n: usize) -> Option<usize> {
        match self.widths.value {
            Some(width) => Some(self.key_end(self.rows.checked_sub(1)?)? + width * (n + 1)),
            None => offset(self.page, self.value_ends_start(), n),
        }
    }
}

/// An offset in a list of offsets.
fn offset(page: &[u8], list: usize, n: usize) -> Option<usize> {
    let bytes = page.get(list + size_of::<u32>() * n..)?.first_chunk()?;
    usize::try_from(u32::from_le_bytes(*bytes)).ok()
}
