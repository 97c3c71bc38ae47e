//! A disk in memory for tests: it has a limited size, and its syncs can be held up.

use std::{
    io,
    sync::{
        Arc, Mutex, MutexGuard,
        mpsc::{Receiver, Sender, channel},
    },
};

use super::embedded::Disk;

/// The bytes that a probe takes beside the store's.
const PROBE: u64 = 256 << 10;

/// Clones share the disk.
#[derive(Clone, Debug)]
pub(crate) struct RamDisk {
    bytes: Arc<Mutex<Vec<u8>>>,
    limit: u64,
    held: Arc<Mutex<Option<Receiver<()>>>>,
}

impl RamDisk {
    /// An empty disk of this size.
    pub(crate) fn new(limit: u64) -> Self {
        Self { bytes: Arc::default(), limit, held: Arc::default() }
    }

    /// Holds the next sync up until the sender is dropped.
    pub(crate) fn hold_sync(&self) -> Sender<()> {
        let (hold, held) = channel();
        *self.held.lock().unwrap() = Some(held);
        hold
    }

    fn bytes(&self) -> MutexGuard<'_, Vec<u8>> {
        self.bytes.lock().unwrap()
    }

    fn require(&self, bytes: u64) -> io::Result<()> {
        let full = || io::Error::new(io::ErrorKind::StorageFull, "no space left on device");
        if bytes <= self.limit { Ok(()) } else { Err(full()) }
    }
}

fn place(offset: u64, length: usize) -> std::ops::Range<usize> {
    let offset = usize::try_from(offset).unwrap();
    offset..offset + length
}

impl Disk for RamDisk {
    fn size(&self) -> io::Result<u64> {
        Ok(self.bytes().len() as u64)
    }

    fn read(&self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        let bytes = self.bytes();
        into.copy_from_slice(bytes.get(place(offset, into.len())).ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn write(&self, offset: u64, from: &[u8]) -> io::Result<()> {
        let mut bytes = self.bytes();
        let place = place(offset, from.len());
        if bytes.len() < place.end {
            self.require(place.end as u64)?;
            bytes.resize(place.end, 0);
        }
        bytes[place].copy_from_slice(from);
        Ok(())
    }

    fn set_size(&self, size: u64) -> io::Result<()> {
        let mut bytes = self.bytes();
        if size > bytes.len() as u64 {
            self.require(size)?;
        }
        bytes.resize(usize::try_from(size).unwrap(), 0);
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        let held = self.held.lock().unwrap().take();
        // The error says that the sender was dropped.
        held.map(|held| held.recv());
        Ok(())
    }

    fn forget(&self) -> io::Result<()> {
        Ok(())
    }

    fn check(&self) -> io::Result<()> {
        Ok(())
    }

    fn probe(&self) -> io::Result<()> {
        self.require(self.size()? + PROBE)
    }
}
