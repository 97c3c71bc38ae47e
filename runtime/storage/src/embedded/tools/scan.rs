//! Finds rows of the log in the engine's file without the engine: for files that it cannot open, and for rows that it
//! can no longer reach.
//!
//! The engine keeps the rows of a table in leaf pages, which begin at multiples of 4 KiB:
//!
//! | bytes | content |
//! |---|---|
//! | 4 | type, padding, number of rows (2) |
//!  | 4 × rows | the end of each row's value, from the beginning of the page |
//! | 8 × rows | the keys: revisions |
//! | … | the values: rows of the log, each with its checksum |
//!
//! The scan tries every multiple of 4 KiB and takes everything with a matching checksum (64 bits over revision and
//! content) for a row. It also finds pages that the engine has freed, so its rows may have been replaced or deleted, or
//! may never have been acknowledged. If a number that leads to the rows is damaged, the scan searches for rows around
//! it.

use std::{fs::File, io, os::unix::fs::FileExt};

use crate::{
    embedded::layout::{DELETE, LEASE, PUT, Row},
    meta::Revision,
};

const PAGE: usize = 4096;
/// How far from a page rows are searched: the length of a page that the engine makes for one long row.
const LONGEST: usize = 64 << 20;
/// The maximum length of a row whose end is searched for.
const SEARCHED: usize = 64 << 10;
/// The number of pages read at a time.
const AT_ONCE: usize = 256;
/// The shortest row: a checksum, and a head of fixed size.
const SHORTEST: usize = 8 + 21;

/// The bytes of a row in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileRange {
    pub(super) offset: u64,
    pub(super) length: usize,
}

/// Passes every row in a file to `on_row`, some more than once, and the number of bytes read so far to `each`.
pub(super) fn scan(
    file: &File,
    mut on_row: impl FnMut(Revision, &[u8], FileRange),
    mut each: impl FnMut(u64, u64),
) -> io::Result<()> {
    let length = file.metadata()?.len();
    let mut buffer = vec![0; AT_ONCE * PAGE];
    let mut offset = 0;
    while offset < length {
        each(offset, length);
        let window = read_at(file, offset, &mut buffer)?;
        for start in (0..window.len()).step_by(PAGE) {
            let at = offset + start as u64;
            let page = Page { file, at, there: &window[start..], length: length - at };
            page.rows(&mut on_row)?;
        }
        offset += window.len() as u64;
    }
    each(length, length);
    Ok(())
}

/// Fills the buffer, except at the end of the file.
fn read_at<'a>(file: &File, offset: u64, buffer: &'a mut [u8]) -> io::Result<&'a [u8]> {
    let mut filled = 0;
    while filled < buffer.len() {
        match file.read_at(&mut buffer[filled..], offset + filled as u64) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(&buffer[..filled])
}

/// A possible leaf page.
struct Page<'a> {
    file: &'a File,
    at: u64,
    /// The part of it that was read. More is read if a row continues beyond it.
    there: &'a [u8],
    /// The number of bytes from here to the end of the file.
    length: u64,
}

type OnRow<'f> = &'f mut dyn FnMut(Revision, &[u8], FileRange);

impl Page<'_> {
    fn rows(&self, on_row: OnRow<'_>) -> io::Result<()> {
        let Some(count) = self.there.get(2..4).map(|bytes| u16::from_le_bytes([bytes[0], bytes[1]])) else {
            return Ok(());
        };
        if self.rows_of(count, on_row)? || self.there[0] > 1 {
            return Ok(());
        }
        // One flipped bit in the number of rows moves all of them.
        for bit in 0..9 {
            if self.rows_of(count ^ (1 << bit), on_row)? {
                break;
            }
        }
        Ok(())
    }

    /// Passes the rows on, assuming this number of them. Returns whether any was valid.
    fn rows_of(&self, count: u16, on_row: OnRow<'_>) -> io::Result<bool> {
        let count = usize::from(count);
        let first = 4 + 12 * count;
        if count == 0 || first + SHORTEST > PAGE {
            return Ok(false);
        }
        let Some(table) = self.there.get(4..first) else { return Ok(false) };
        let (ends, keys) = table.split_at(4 * count);
        let ends: Vec<usize> = ends.as_chunks().0.iter().map(|end| u32::from_le_bytes(*end) as usize).collect();
        let keys: Vec<u64> = keys.as_chunks().0.iter().map(|key| u64::from_le_bytes(*key)).collect();
        let mut any = false;
        // The end of the previous row, if it is certain.
        let mut start = Some(first);
        for row in 0..count {
            let said = if row == 0 { first } else { ends[row - 1] };
            let mut taken = None;
            for from in start.into_iter().chain(Some(said).filter(|said| start != Some(*said))) {
                if self.try_row(keys[row], from, ends[row], on_row)? {
                    taken = Some(ends[row]);
                } else {
                    taken = self.search_end(keys[row], from, ends.get(row + 1).copied(), on_row)?;
                }
                if taken.is_some() {
                    break;
                }
            }
            any |= taken.is_some();
            start = taken;
        }
        Ok(any)
    }

    /// Searches the end of a row that begins at a certain place, but does not end where the page says.
    fn search_end(&self, key: u64, start: usize, limit: Option<usize>, on_row: OnRow<'_>) -> io::Result<Option<usize>> {
        let limit = limit.filter(|limit| (start..SEARCHED).contains(limit)).unwrap_or(PAGE).min(self.there.len());
        if !self.may_begin_row(start) {
            return Ok(None);
        }
        for end in start + SHORTEST..=limit {
            if self.try_row(key, start, end, on_row)? {
                return Ok(Some(end));
            }
        }
        Ok(None)
    }

    /// True if the head of a row may be here. This cheap test excludes almost everything else.
    fn may_begin_row(&self, start: usize) -> bool {
        let Some(head) = self.there.get(start..start + SHORTEST) else { return false };
        let key_length = u32::from_le_bytes([head[25], head[26], head[27], head[28]]) as usize;
        let Some(key) = self.there.get(start + SHORTEST..(start + SHORTEST).saturating_add(key_length)) else {
            return false;
        };
        [PUT, DELETE, LEASE].contains(&head[8]) && !key.is_empty() && std::str::from_utf8(key).is_ok()
    }

    fn try_row(&self, key: u64, start: usize, end: usize, on_row: OnRow<'_>) -> io::Result<bool> {
        let fits = end <= LONGEST && start.checked_add(SHORTEST).is_some_and(|least| least <= end);
        if !fits || end as u64 > self.length || !self.may_begin_row(start) {
            return Ok(false);
        }
        let range = FileRange { offset: self.at + start as u64, length: end - start };
        let long;
        let stored = if let Some(stored) = self.there.get(start..end) {
            stored
        } else {
            long = read(self.file, range)?;
            &long
        };
        let is_row = Row::read(Revision(key), stored).is_ok();
        if is_row {
            on_row(Revision(key), stored, range);
        }
        Ok(is_row)
    }
}

/// Reads the bytes of a range.
pub(super) fn read(file: &File, range: FileRange) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; range.length];
    file.read_exact_at(&mut bytes, range.offset)?;
    Ok(bytes)
}
