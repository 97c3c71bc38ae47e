//! The engine's view of a disk. Each opening of the engine has its own view, which can be shut: an abandoned opening
//! then neither writes nor reads the bytes that its successor is writing.

use std::{
    collections::BTreeMap,
    io,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard,
        atomic::{AtomicU8, Ordering},
    },
};

use redb::StorageBackend;

use super::Disk;

/// What one opening of the engine may still do, and the first error that it got.
#[derive(Debug, Default)]
pub(super) struct Gate {
    state: AtomicU8,
    failure: Mutex<Option<io::Error>>,
}

const OPEN: u8 = 0;
const READ_ONLY: u8 = 1;
const SHUT: u8 = 2;

impl Gate {
    /// Forbids further writes.
    pub(super) fn fence(&self) {
        self.state.fetch_max(READ_ONLY, Ordering::AcqRel);
    }

    /// Forbids further reads and writes.
    pub(super) fn shut(&self) {
        self.state.store(SHUT, Ordering::Release);
    }

    pub(super) fn is_shut(&self) -> bool {
        self.state.load(Ordering::Acquire) == SHUT
    }

    /// The first disk error. The engine reads nothing from the disk after it.
    pub(super) fn failure(&self) -> MutexGuard<'_, Option<io::Error>> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn pass(&self, upto: u8) -> io::Result<()> {
        if self.state.load(Ordering::Acquire) > upto {
            return Err(io::Error::other("the store was reopened"));
        }
        Ok(())
    }

    fn note<T>(&self, result: io::Result<T>) -> io::Result<T> {
        if let Err(error) = &result {
            let note = || io::Error::new(error.kind(), error.to_string());
            self.failure().get_or_insert_with(note);
        }
        result
    }
}

/// A disk as one opening of the engine uses it.
#[derive(Debug)]
pub(super) struct Backend {
    overlay: Arc<WriteOverlay>,
    gate: Arc<Gate>,
}

impl Backend {
    pub(super) fn new(overlay: &Arc<WriteOverlay>, gate: &Arc<Gate>) -> Self {
        Self { overlay: Arc::clone(overlay), gate: Arc::clone(gate) }
    }
}

impl StorageBackend for Backend {
    fn len(&self) -> io::Result<u64> {
        self.gate.note(self.overlay.size())
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.gate.pass(READ_ONLY)?;
        self.gate.note(self.overlay.read(offset, out))?;
        // If the gate was shut during the read, the bytes may be half old and half new.
        self.gate.pass(READ_ONLY)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.gate.pass(OPEN)?;
        self.gate.note(self.overlay.write(Step::SetSize(len)))
    }

    fn sync_data(&self) -> io::Result<()> {
        self.gate.pass(OPEN)?;
        self.gate.note(self.overlay.write(Step::Sync))
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.gate.pass(OPEN)?;
        self.gate.note(self.overlay.write(Step::Write(offset, data)))
    }
}

/// A disk to which the engine's writes go, or which stays as it is while they are held back in memory.
#[derive(Debug)]
pub(super) struct WriteOverlay {
    disk: Arc<dyn Disk>,
    writes: RwLock<Option<Overlay>>,
}

impl WriteOverlay {
    /// Writes go to the disk.
    pub(super) fn open(disk: &Arc<dyn Disk>) -> Self {
        Self { disk: Arc::clone(disk), writes: RwLock::default() }
    }

    /// Writes are held back. Meanwhile the disk is read through `source`.
    pub(super) fn back(disk: &Arc<dyn Disk>, source: Arc<dyn Disk>) -> io::Result<Self> {
        let size = source.size()?;
        let overlay = Overlay { source, size, source_size: size, pages: BTreeMap::new(), steps: Vec::new() };
        Ok(Self { disk: Arc::clone(disk), writes: RwLock::new(Some(overlay)) })
    }

    /// Does to the disk what the engine did, in the same order, so that a crash meanwhile leaves what a crash of the
    /// engine would. From then on writes go to the disk.
    pub(super) fn release(&self) -> io::Result<()> {
        let overlay = self.writes.write().unwrap_or_else(PoisonError::into_inner).take();
        overlay.into_iter().flat_map(|overlay| overlay.steps).try_for_each(|step| match step {
            Step::Write(offset, data) => self.disk.write(offset, &data),
            Step::SetSize(size) => self.disk.set_size(size),
            Step::Sync => self.disk.sync(),
        })
    }

    fn size(&self) -> io::Result<u64> {
        self.overlay().as_ref().map_or_else(|| self.disk.size(), |overlay| Ok(overlay.size))
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        match &*self.overlay() {
            Some(overlay) => overlay.read(offset, out),
            None => self.disk.read(offset, out),
        }
    }

    fn write(&self, step: Step<&[u8]>) -> io::Result<()> {
        if self.overlay().is_some()
            && let Some(overlay) = &mut *self.writes.write().unwrap_or_else(PoisonError::into_inner)
        {
            return overlay.take(step);
        }
        match step {
            Step::Write(offset, data) => self.disk.write(offset, data),
            Step::SetSize(size) => self.disk.set_size(size),
            Step::Sync => self.disk.sync(),
        }
    }

    /// For reads, which several threads do at once.
    fn overlay(&self) -> RwLockReadGuard<'_, Option<Overlay>> {
        self.writes.read().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the engine does to a disk.
#[derive(Clone, Copy, Debug)]
enum Step<B> {
    Write(u64, B),
    SetSize(u64),
    Sync,
}

/// Changes over a disk that is itself never written.
#[derive(Debug)]
struct Overlay {
    source: Arc<dyn Disk>,
    size: u64,
    /// Bytes beyond this size read as zeros.
    source_size: u64,
    /// Changed pages by page number.
    pages: BTreeMap<u64, Vec<u8>>,
    /// The changes, one by one.
    steps: Vec<Step<Vec<u8>>>,
}

const PAGE_BYTES: usize = 4096;
const PAGE: u64 = PAGE_BYTES as u64;

impl Overlay {
    fn take(&mut self, step: Step<&[u8]>) -> io::Result<()> {
        let step = match step {
            Step::Write(offset, data) => {
                self.write(offset, data)?;
                Step::Write(offset, data.to_vec())
            }
            Step::SetSize(size) => {
                self.resize(size);
                Step::SetSize(size)
            }
            Step::Sync => Step::Sync,
        };
        self.steps.push(step);
        Ok(())
    }

    fn resize(&mut self, size: u64) {
        if size < self.size {
            self.source_size = self.source_size.min(size);
            self.pages.split_off(&size.div_ceil(PAGE));
            let kept = usize::try_from(size % PAGE).expect("less than a page");
            if let Some(last) = self.pages.get_mut(&(size / PAGE)) {
                last[kept..].fill(0);
            }
        }
        self.size = size;
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        if offset + out.len() as u64 > self.size {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        for (page, from, piece) in pieces(offset, out.len()) {
            let out = &mut out[piece];
            match self.pages.get(&page) {
                Some(bytes) => out.copy_from_slice(&bytes[from..from + out.len()]),
                None => self.read_source(page * PAGE + from as u64, out)?,
            }
        }
        Ok(())
    }

    fn read_source(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let there = self.source_size.saturating_sub(offset).min(out.len() as u64);
        let (there, zeros) = out.split_at_mut(usize::try_from(there).expect("no more than was asked for"));
        zeros.fill(0);
        if there.is_empty() { Ok(()) } else { self.source.read(offset, there) }
    }

    fn write(&mut self, offset: u64, data: &[u8]) -> io::Result<()> {
        for (page, from, piece) in pieces(offset, data.len()) {
            if !self.pages.contains_key(&page) {
                let mut bytes = vec![0; PAGE_BYTES];
                self.read_source(page * PAGE, &mut bytes)?;
                self.pages.insert(page, bytes);
            }
            let bytes = self.pages.get_mut(&page).expect("inserted above");
            bytes[from..from + piece.len()].copy_from_slice(&data[piece]);
        }
        self.size = self.size.max(offset + data.len() as u64);
        Ok(())
    }
}

/// Cuts a range of bytes at page boundaries: the page number, the offset in the page, and the place in the range.
fn pieces(offset: u64, len: usize) -> impl Iterator<Item = (u64, usize, std::ops::Range<usize>)> {
    let mut done = 0;
    std::iter::from_fn(move || {
        let at = offset + done as u64;
        let from = usize::try_from(at % PAGE).expect("less than a page");
        let piece = done..len.min(done + PAGE_BYTES - from);
        done = piece.end;
        (!piece.is_empty()).then_some((at / PAGE, from, piece))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A disk whose bytes are all ones.
    #[derive(Debug)]
    struct Ones(u64);

    impl Disk for Ones {
        fn size(&self) -> io::Result<u64> {
            Ok(self.0)
        }
        fn read(&self, offset: u64, into: &mut [u8]) -> io::Result<()> {
            assert!(offset + into.len() as u64 <= self.0, "read past the end of the disk");
            into.fill(1);
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
    fn an_overlay_agrees_with_plain_bytes_and_leaves_the_disk_alone() {
        let mut plain = vec![1; 10_000];
        let disk: Arc<dyn Disk> = Arc::new(Ones(10_000));
        let overlay = Arc::new(WriteOverlay::back(&disk, Arc::clone(&disk)).unwrap());
        let backend = Backend::new(&overlay, &Arc::default());
        for (step, (offset, len, size)) in
            [(0, 320, 10_000), (4_000, 5_000, 10_000), (9_990, 10, 6_000), (100, 5_000, 20_000), (12_000, 8_000, 9_000)]
                .into_iter()
                .enumerate()
        {
            let data = vec![u8::try_from(step).unwrap() + 2; len];
            plain[offset..offset + len].copy_from_slice(&data);
            backend.write(offset as u64, &data).unwrap();
            plain.resize(size, 0);
            backend.set_len(size as u64).unwrap();
            backend.sync_data().unwrap();
            let mut out = vec![9; size];
            backend.read(0, &mut out).unwrap();
            assert!(out == plain, "after step {step}");
            assert_eq!(backend.len().unwrap(), size as u64);
            assert!(backend.read(1, &mut out).is_err(), "read past the end");
        }
    }
}
