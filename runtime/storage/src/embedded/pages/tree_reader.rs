//! Walks the engine's trees, and reads pages that are near each other in the file together.

use std::sync::{Mutex, PoisonError};

use bytes::{Bytes, BytesMut};

use super::format::{Branch, Header, Leaf, Link, Tree};
use crate::embedded::Disk;

/// No tree is deeper.
const DEPTH: usize = 32;
/// The approximate number of bytes that are read together.
const READ: u64 = 512 << 10;
/// Reading this many bytes for nothing takes no longer than another call.
const GAP: u64 = 16 << 10;

/// A page that a tree names.
#[derive(Clone, Copy, Debug)]
pub(super) struct PageRef {
    pub(super) link: Link,
    /// The greatest key that the page may have, if keys are numbers.
    pub(super) upto: u64,
}

/// Takes a key and its value. `None` ends the walk.
pub(super) type TakeRow<'t> = &'t mut dyn FnMut(&[u8], &[u8]) -> Option<()>;

/// The trees of a file.
pub(super) struct TreeReader<'d> {
    disk: &'d dyn Disk,
    /// The size of the file.
    size: u64,
    header: Header,
    /// Memory that was read into before, which is used again once nothing refers to it.
    used: Mutex<Vec<Bytes>>,
}

/// Takes a page, and the memory that holds it with others. `None` ends the walk.
pub(super) type TakePage<'t> = &'t mut dyn FnMut(Link, &[u8], &Bytes) -> Option<()>;

impl<'d> TreeReader<'d> {
    pub(super) fn new(disk: &'d dyn Disk, size: u64, header: Header) -> Self {
        Self { disk, size, header, used: Mutex::default() }
    }

    /// The leaves of a tree in order. `None` if a page above them does not match its checksum.
    pub(super) fn leaves(&self, tree: Tree) -> Option<Vec<PageRef>> {
        let Some(root) = tree.root else { return Some(Vec::new()) };
        let mut level = vec![PageRef { link: root, upto: u64::MAX }];
        for _ in 0..DEPTH {
            // All leaves are equally far from the root.
            let mut is_lowest = false;
            self.each_page(&level[..1], &mut |_, page, _| {
                is_lowest = Leaf::is_meant(page);
                Some(())
            })?;
            if is_lowest {
                return Some(level);
            }
            let (mut next, mut parents) = (Vec::new(), level.iter());
            self.each_page(&level, &mut |link, page, _| {
                let end = parents.next()?.upto;
                for child in Branch::read(link, page, tree.widths)?.children() {
                    let (link, bound) = child?;
                    let bound = bound.and_then(|key| key.try_into().ok()).map(u64::from_le_bytes);
                    next.push(PageRef { link, upto: bound.unwrap_or(end) });
                }
                Some(())
            })?;
            level = next;
        }
        None
    }

    /// Passes the rows of a tree to `take` in order. `None` if that returns it, or if a page does not match its checksum.
    pub(super) fn each_row(&self, tree: Tree, take: TakeRow<'_>) -> Option<()> {
        self.each_page(&self.leaves(tree)?, &mut |link, page, _| {
            for row in Leaf::read(link, page, tree.widths)?.rows() {
                let (key, value) = row?;
                take(key, value)?;
            }
            Some(())
        })
    }

    /// Passes pages to `take` in the given order. `None` if that returns it, or if a page cannot be read.
    pub(super) fn each_page(&self, pages: &[PageRef], take: TakePage<'_>) -> Option<()> {
        let mut rest = pages;
        while !rest.is_empty() {
            let mut bytes = 0;
            let fits = |page: &PageRef| {
                bytes += page.link.size();
                bytes <= READ
            };
            let count = rest.iter().copied().take_while(fits).count().max(1);
            let (now, later) = rest.split_at(count);
            self.read_together(now, take)?;
            rest = later;
        }
        Some(())
    }

    fn read_together(&self, pages: &[PageRef], take: TakePage<'_>) -> Option<()> {
        let mut by_start = Vec::with_capacity(pages.len());
        for (at, page) in pages.iter().enumerate() {
            let (start, end) = self.header.place(page.link)?;
            // A wrong number may name a page of gigabytes. Memory is taken only for pages that the file has.
            if end > self.size {
                return None;
            }
            by_start.push((start, end, at));
        }
        by_start.sort_unstable();
        // The parts of the file that are read, each with its start and end; the places of the pages among their bytes.
        let mut runs: Vec<(u64, u64)> = Vec::new();
        let mut places = vec![0..0; pages.len()];
        let mut length = 0;
        for (start, end, at) in by_start {
            let size = end - start;
            if let Some(run) = runs.last_mut().filter(|run| (run.1..=run.1 + GAP).contains(&start)) {
                length += end - run.1;
                run.1 = end;
            } else {
                length += size;
                runs.push((start, end));
            }
            places[at] = usize::try_from(length - size).ok()?..usize::try_from(length).ok()?;
        }
        let mut buffer = self.buffer(usize::try_from(length).ok()?);
        let mut into = &mut buffer[..];
        for (start, end) in runs {
            let (now, later) = into.split_at_mut(usize::try_from(end - start).ok()?);
            self.disk.read(start, now).ok()?;
            into = later;
        }
        let buffer = buffer.freeze();
        for (page, place) in pages.iter().zip(places) {
            take(page.link, &buffer[place], &buffer)?;
        }
        self.used.lock().unwrap_or_else(PoisonError::into_inner).push(buffer);
        Some(())
    }

    /// Memory of a size.
    fn buffer(&self, size: usize) -> BytesMut {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let free = used.iter().position(Bytes::is_unique).map(|at| used.swap_remove(at));
        drop(used);
        let mut buffer = free.and_then(|free| free.try_into_mut().ok()).unwrap_or_default();
        buffer.resize(size, 0);
        buffer
    }
}
