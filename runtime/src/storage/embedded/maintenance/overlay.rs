//! A store's file that can be opened and repaired without being changed: what the engine writes stays in memory.
//!
//! The engine writes to a file even where it is only read: a flag in the head, and after a crash what it learned of the
//! pages. That is a few pages, whatever the size of the file.

use std::{
    collections::BTreeMap,
    fs::File,
    io,
    os::unix::fs::FileExt,
    sync::{Mutex, MutexGuard, PoisonError},
};

use redb::StorageBackend;

const BLOCK: usize = 4096;
const BLOCK_U64: u64 = BLOCK as u64;

/// A file, read only, under blocks in memory.
#[derive(Debug)]
pub(super) struct Overlay {
    file: File,
    changed: Mutex<Changed>,
}

#[derive(Debug)]
struct Changed {
    len: u64,
    /// How much of the file still counts; what is beyond reads as zeros.
    file_len: u64,
    blocks: BTreeMap<u64, Box<[u8]>>,
}

impl Overlay {
    pub(super) fn new(file: File) -> io::Result<Self> {
        let file_len = file.metadata()?.len();
        Ok(Self { file, changed: Mutex::new(Changed { len: file_len, file_len, blocks: BTreeMap::new() }) })
    }

    fn changed(&self) -> MutexGuard<'_, Changed> {
        self.changed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read_file(&self, file_len: u64, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let there = usize::try_from(file_len.saturating_sub(offset)).unwrap_or(usize::MAX).min(out.len());
        let (from_file, beyond) = out.split_at_mut(there);
        beyond.fill(0);
        self.file.read_exact_at(from_file, offset)
    }
}

impl StorageBackend for Overlay {
    fn len(&self) -> io::Result<u64> {
        Ok(self.changed().len)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let changed = self.changed();
        let end = offset.checked_add(out.len() as u64).filter(|end| *end <= changed.len);
        let Some(end) = end else { return Err(io::ErrorKind::UnexpectedEof.into()) };
        self.read_file(changed.file_len, offset, out)?;
        for (&number, block) in changed.blocks.range(offset / BLOCK_U64..end.div_ceil(BLOCK_U64)) {
            let start = number * BLOCK_U64;
            let (from, to) = (start.max(offset), (start + BLOCK_U64).min(end));
            out[within(from, offset)..within(to, offset)]
                .copy_from_slice(&block[within(from, start)..within(to, start)]);
        }
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let mut changed = self.changed();
        if len < changed.len {
            changed.file_len = changed.file_len.min(len);
            changed.blocks.split_off(&len.div_ceil(BLOCK_U64));
            let (number, kept) = (len / BLOCK_U64, within(len % BLOCK_U64, 0));
            if let Some(block) = changed.blocks.get_mut(&number) {
                block[kept..].fill(0);
            }
        }
        changed.len = len;
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let end = offset + data.len() as u64;
        let mut changed = self.changed();
        for number in offset / BLOCK_U64..end.div_ceil(BLOCK_U64) {
            let start = number * BLOCK_U64;
            if !changed.blocks.contains_key(&number) {
                let mut block = vec![0; BLOCK].into_boxed_slice();
                self.read_file(changed.file_len, start, &mut block)?;
                changed.blocks.insert(number, block);
            }
            let block = changed.blocks.get_mut(&number).expect("it was inserted above");
            let (from, to) = (start.max(offset), (start + BLOCK_U64).min(end));
            block[within(from, start)..within(to, start)]
                .copy_from_slice(&data[within(from, offset)..within(to, offset)]);
        }
        Ok(())
    }
}

/// The distance of two offsets that lie in one buffer.
fn within(offset: u64, start: u64) -> usize {
    usize::try_from(offset - start).expect("a distance within a buffer fits")
}
