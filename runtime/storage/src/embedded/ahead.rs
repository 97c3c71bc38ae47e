//! Reads a file in large blocks while it is verified: the engine reads it page by page, nearly in order.
//!
//! A block is read when a second page of it is asked for, so that pages in random order cost no more than without this.

use std::{
    io,
    sync::{Arc, Mutex, PoisonError},
};

use super::Disk;

/// The size of a block: a multiple of the engine's small pages.
const BLOCK: u64 = 128 << 10;
/// The number of blocks in memory. Threads that read in different places use different ones.
const BLOCKS: u64 = 16;

/// A disk that is only read, and that no other process writes meanwhile.
#[derive(Debug)]
pub(super) struct ReadAhead {
    disk: Arc<dyn Disk>,
    /// By block number, modulo their number.
    blocks: Vec<Mutex<Block>>,
}

#[derive(Debug, Default)]
struct Block {
    /// The block that was asked for last.
    asked: Option<u64>,
    /// The block in `bytes`.
    number: Option<u64>,
    bytes: Vec<u8>,
}

impl ReadAhead {
    pub(super) fn new(disk: &Arc<dyn Disk>) -> Self {
        Self { disk: Arc::clone(disk), blocks: (0..BLOCKS).map(|_| Mutex::default()).collect() }
    }
}

impl Block {
    /// Copies from the block if it is in memory or was asked for before. False if it was not.
    fn read(&mut self, disk: &dyn Disk, number: u64, at: usize, into: &mut [u8]) -> bool {
        if self.number != Some(number) {
            if self.asked.replace(number) != Some(number) {
                return false;
            }
            let start = number * BLOCK;
            let size = disk.size().map_or(0, |size| size.saturating_sub(start).min(BLOCK));
            self.bytes.resize(usize::try_from(size).unwrap_or_default(), 0);
            // If a part of the block cannot be read, the others are read one by one.
            self.number = disk.read(start, &mut self.bytes).is_ok().then_some(number);
        }
        let found = self.number.and_then(|_| self.bytes.get(at..at + into.len()));
        if let Some(found) = found {
            into.copy_from_slice(found);
        }
        found.is_some()
    }
}

impl Disk for ReadAhead {
    fn size(&self) -> io::Result<u64> {
        self.disk.size()
    }

    fn read(&self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        let (number, at) = (offset / BLOCK, usize::try_from(offset % BLOCK).expect("less than a block"));
        let slot = usize::try_from(number % BLOCKS).expect("a small number");
        let mut block = self.blocks[slot].lock().unwrap_or_else(PoisonError::into_inner);
        if block.read(&*self.disk, number, at, into) {
            return Ok(());
        }
        drop(block);
        self.disk.read(offset, into)
    }

    fn write(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.disk.write(offset, bytes)
    }

    fn set_size(&self, bytes: u64) -> io::Result<()> {
        self.disk.set_size(bytes)
    }

    fn sync(&self) -> io::Result<()> {
        self.disk.sync()
    }

    fn forget(&self) -> io::Result<()> {
        self.disk.forget()
    }

    fn check(&self) -> io::Result<()> {
        self.disk.check()
    }

    fn probe(&self) -> io::Result<()> {
        self.disk.probe()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// A disk that counts reads. One byte of it cannot be read.
    #[derive(Debug)]
    struct CountingDisk {
        bytes: Vec<u8>,
        reads: AtomicUsize,
        bad: usize,
    }

    impl Disk for CountingDisk {
        fn size(&self) -> io::Result<u64> {
            Ok(self.bytes.len() as u64)
        }
        fn read(&self, offset: u64, into: &mut [u8]) -> io::Result<()> {
            self.reads.fetch_add(1, Ordering::Relaxed);
            let at = usize::try_from(offset).unwrap();
            let range = at..at + into.len();
            if range.contains(&self.bad) {
                return Err(io::Error::other("a bad sector"));
            }
            into.copy_from_slice(self.bytes.get(range).ok_or(io::ErrorKind::UnexpectedEof)?);
            Ok(())
        }
        fn write(&self, _: u64, _: &[u8]) -> io::Result<()> {
            panic!("written")
        }
        fn set_size(&self, _: u64) -> io::Result<()> {
            panic!("resized")
        }
        fn sync(&self) -> io::Result<()> {
            panic!("synced")
        }
        fn forget(&self) -> io::Result<()> {
            Ok(())
        }
        fn check(&self) -> io::Result<()> {
            Ok(())
        }
        fn probe(&self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn pages_in_order_take_few_reads_and_a_bad_sector_spoils_only_its_page() {
        const PAGE: usize = 4096;
        let pages = 16 * 32 + 3;
        let bytes: Vec<u8> = (0..pages * PAGE).map(|at| u8::try_from(at / PAGE % 251).unwrap()).collect();
        let counting_disk = Arc::new(CountingDisk { bytes, reads: AtomicUsize::new(0), bad: 100 * PAGE + 17 });
        let disk: Arc<dyn Disk> = counting_disk.clone();
        let ahead = ReadAhead::new(&disk);
        let mut page = [0; PAGE];
        for number in 0..pages {
            let read = ahead.read((number * PAGE) as u64, &mut page);
            assert_eq!(read.is_ok(), number != 100, "{number}");
            assert!(number == 100 || page == [u8::try_from(number % 251).unwrap(); PAGE], "{number}");
        }
        let reads = counting_disk.reads.swap(0, Ordering::Relaxed);
        assert!(reads < 17 * 2 + 2 * 32, "{reads} reads");
        for number in (0..pages).map(|number| number * 211 % pages).filter(|number| *number != 100) {
            ahead.read((number * PAGE) as u64, &mut page).unwrap();
            assert_eq!(page, [u8::try_from(number % 251).unwrap(); PAGE], "{number}");
        }
        // Across blocks, and past the end.
        let mut many = vec![0; 40 * PAGE];
        for _ in 0..3 {
            ahead.read(10 * PAGE as u64, &mut many).unwrap();
            assert_eq!(many, counting_disk.bytes[10 * PAGE..50 * PAGE]);
            assert!(ahead.read(((pages - 1) * PAGE) as u64, &mut many).is_err());
        }
    }
}
