//! A disk in memory for tests: it has a limited size, of which only written pages take anything, and its syncs can be
//! held up.

#![allow(clippy::unwrap_used, reason = "for tests alone: only functions marked as tests are exempt by themselves")]

use std::{
    collections::BTreeSet,
    io,
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc::{Receiver, Sender, channel},
    },
};

use super::embedded::Disk;

const PAGE: u64 = 4 << 10;

/// The bytes that a probe takes beside the store's.
const PROBE: u64 = 256 << 10;

/// Clones share the disk.
#[derive(Clone, Debug)]
pub struct RamDisk {
    contents: Arc<Mutex<Contents>>,
    limit: Arc<AtomicU64>,
    held: Arc<Mutex<Option<Receiver<()>>>>,
    sync_fails: Arc<AtomicBool>,
    /// How often more was to be set aside while that fails.
    refused: Arc<Mutex<Option<usize>>>,
}

#[derive(Debug, Default)]
struct Contents {
    bytes: Vec<u8>,
    written: BTreeSet<u64>,
    reserved: u64,
}

impl Contents {
    fn used(&self) -> u64 {
        self.written.len() as u64 * PAGE + self.reserved
    }
}

impl RamDisk {
    /// An empty disk of this size.
    pub fn new(limit: u64) -> Self {
        Self {
            contents: Arc::default(),
            limit: Arc::new(limit.into()),
            held: Arc::default(),
            sync_fails: Arc::default(),
            refused: Arc::default(),
        }
    }

    /// Changes the size of the disk.
    pub fn limit(&self, bytes: u64) {
        self.limit.store(bytes, Ordering::Relaxed);
    }

    /// Makes the disk as small as what is on it.
    pub fn take_free_space(&self) {
        self.limit(self.contents().used());
    }

    /// Holds the next sync up until the sender is dropped.
    pub fn hold_sync(&self) -> Sender<()> {
        let (hold, held) = channel();
        *self.held.lock().unwrap() = Some(held);
        hold
    }

    /// Lets syncs fail, or no longer.
    pub fn fail_syncs(&self, fail: bool) {
        self.sync_fails.store(fail, Ordering::Relaxed);
    }

    /// Lets attempts to set more aside fail, though not for want of space; or no longer.
    pub fn refuse_reserve(&self, refuse: bool) {
        *self.refused.lock().unwrap() = refuse.then_some(0);
    }

    /// The number of attempts that have failed in this way.
    pub fn refused_reserves(&self) -> usize {
        self.refused.lock().unwrap().unwrap_or(0)
    }

    fn contents(&self) -> MutexGuard<'_, Contents> {
        self.contents.lock().unwrap()
    }

    fn require(&self, bytes: u64) -> io::Result<()> {
        let full = || io::Error::new(io::ErrorKind::StorageFull, "no space left on device");
        if bytes <= self.limit.load(Ordering::Relaxed) { Ok(()) } else { Err(full()) }
    }
}

fn place(offset: u64, length: usize) -> std::ops::Range<usize> {
    let offset = usize::try_from(offset).unwrap();
    offset..offset + length
}

impl Disk for RamDisk {
    fn size(&self) -> io::Result<u64> {
        Ok(self.contents().bytes.len() as u64)
    }

    fn read(&self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        let contents = self.contents();
        into.copy_from_slice(contents.bytes.get(place(offset, into.len())).ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn write(&self, offset: u64, from: &[u8]) -> io::Result<()> {
        let mut contents = self.contents();
        let place = place(offset, from.len());
        let pages = offset / PAGE..(place.end as u64).div_ceil(PAGE);
        let new = pages.clone().filter(|page| !contents.written.contains(page)).count() as u64;
        if new > 0 {
            self.require(contents.used() + new * PAGE)?;
            contents.written.extend(pages);
        }
        let size = contents.bytes.len().max(place.end);
        contents.bytes.resize(size, 0);
        contents.bytes[place].copy_from_slice(from);
        Ok(())
    }

    fn set_size(&self, size: u64) -> io::Result<()> {
        let mut contents = self.contents();
        contents.bytes.resize(usize::try_from(size).unwrap(), 0);
        contents.written.retain(|page| page * PAGE < size);
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        let held = self.held.lock().unwrap().take();
        // The error says that the sender was dropped.
        held.map(|held| held.recv());
        if self.sync_fails.load(Ordering::Relaxed) { Err(io::Error::other("the disk is gone")) } else { Ok(()) }
    }

    fn forget(&self) -> io::Result<()> {
        Ok(())
    }

    fn check(&self) -> io::Result<()> {
        Ok(())
    }

    fn probe(&self) -> io::Result<()> {
        self.require(self.contents().used() + PROBE)
    }

    fn reserved(&self) -> io::Result<u64> {
        Ok(self.contents().reserved)
    }

    fn reserve(&self, bytes: u64) -> io::Result<()> {
        let mut contents = self.contents();
        if bytes > contents.reserved {
            if let Some(refused) = self.refused.lock().unwrap().as_mut() {
                *refused += 1;
                return Err(io::Error::other("too many open files"));
            }
            self.require(contents.used() - contents.reserved + bytes)?;
        }
        contents.reserved = bytes;
        Ok(())
    }
}
