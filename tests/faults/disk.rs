//! A disk in memory with configurable failures. It separates the process's view from the content of the medium.

use std::{
    collections::BTreeSet,
    io::{self, ErrorKind},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use kindsmith_storage::Disk;

const PAGE: usize = 4096;

/// The operations that fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Writes and growth, because the disk is full.
    Full,
    /// All that changes anything.
    ReadOnly,
    /// Syncs. The writes are lost, but shown until the cache is dropped.
    SyncsLosePages,
    /// Syncs. The writes stay pending.
    Syncs,
    /// Everything.
    All,
}

/// Clones share the disk.
#[derive(Clone, Debug, Default)]
pub(crate) struct FaultyDisk(Arc<Mutex<Contents>>);

#[derive(Debug, Default)]
struct Contents {
    now: Vec<u8>,
    medium: Vec<u8>,
    /// Pages that are written but not on the medium.
    dirty: BTreeSet<usize>,
    calls: u64,
    /// The call that fails once, and its error.
    fails_at: Option<(u64, ErrorKind)>,
    fault: Option<Fault>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Call {
    Read,
    Write,
    Resize,
    Sync,
}

impl FaultyDisk {
    /// A disk whose n-th call from now on fails once.
    pub(crate) fn fail_at(&self, number: u64, kind: ErrorKind) {
        let mut contents = self.contents();
        contents.calls = 0;
        contents.fails_at = Some((number, kind));
    }

    /// True if that call has happened.
    pub(crate) fn has_failed(&self) -> bool {
        self.contents().fails_at.is_none()
    }

    /// Sets the failure, or none.
    pub(crate) fn set(&self, fault: Option<Fault>) {
        self.contents().fault = fault;
    }

    /// The disk after a power failure: the synced content.
    pub(crate) fn after_power_loss(&self) -> Self {
        let medium = self.contents().medium.clone();
        Self(Arc::new(Mutex::new(Contents { now: medium.clone(), medium, ..Contents::default() })))
    }

    fn contents(&self) -> MutexGuard<'_, Contents> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Contents {
    fn call(&mut self, call: Call) -> io::Result<()> {
        self.calls += 1;
        if let Some((number, kind)) = self.fails_at
            && self.calls == number
        {
            self.fails_at = None;
            return Err(kind.into());
        }
        let kind = match (self.fault, call) {
            (Some(Fault::Full), Call::Write | Call::Resize) => ErrorKind::StorageFull,
            (Some(Fault::ReadOnly), Call::Write | Call::Resize | Call::Sync) => ErrorKind::ReadOnlyFilesystem,
            (Some(Fault::SyncsLosePages | Fault::Syncs), Call::Sync) | (Some(Fault::All), _) => ErrorKind::Other,
            _ => return Ok(()),
        };
        if self.fault == Some(Fault::SyncsLosePages) {
            self.dirty.clear();
        }
        Err(kind.into())
    }
}

impl Disk for FaultyDisk {
    fn size(&self) -> io::Result<u64> {
        Ok(self.contents().now.len() as u64)
    }

    fn read(&self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        let mut contents = self.contents();
        contents.call(Call::Read)?;
        let from = usize::try_from(offset).unwrap();
        into.copy_from_slice(contents.now.get(from..from + into.len()).ok_or(ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn write(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let mut contents = self.contents();
        contents.call(Call::Write)?;
        let from = usize::try_from(offset).unwrap();
        let to = from + bytes.len();
        if contents.now.len() < to {
            contents.now.resize(to, 0);
        }
        contents.now[from..to].copy_from_slice(bytes);
        contents.dirty.extend(from / PAGE..to.div_ceil(PAGE));
        Ok(())
    }

    fn set_size(&self, bytes: u64) -> io::Result<()> {
        let mut contents = self.contents();
        contents.call(Call::Resize)?;
        let bytes = usize::try_from(bytes).unwrap();
        contents.now.resize(bytes, 0);
        // File systems with a journal keep sizes.
        contents.medium.resize(bytes, 0);
        contents.dirty.retain(|page| page * PAGE < bytes);
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        let mut contents = self.contents();
        contents.call(Call::Sync)?;
        let contents = &mut *contents;
        contents.medium.resize(contents.now.len(), 0);
        for page in std::mem::take(&mut contents.dirty) {
            let bytes = page * PAGE..((page + 1) * PAGE).min(contents.now.len());
            contents.medium[bytes.clone()].copy_from_slice(&contents.now[bytes]);
        }
        Ok(())
    }

    fn forget(&self) -> io::Result<()> {
        let mut contents = self.contents();
        let contents = &mut *contents;
        for page in 0..contents.now.len().div_ceil(PAGE) {
            if !contents.dirty.contains(&page) {
                let bytes = page * PAGE..((page + 1) * PAGE).min(contents.now.len());
                contents.now[bytes.clone()].copy_from_slice(&contents.medium[bytes]);
            }
        }
        Ok(())
    }

    fn check(&self) -> io::Result<()> {
        Ok(())
    }

    fn probe(&self) -> io::Result<()> {
        Ok(())
    }
}
