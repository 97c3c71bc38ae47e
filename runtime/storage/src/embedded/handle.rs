//! One opening of the engine on a disk. After a disk error the engine must be reopened, so the store and its readers
//! move from one handle to the next.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use arc_swap::ArcSwap;
use redb::Database;

use super::{
    Disk, Options,
    ahead::ReadAhead,
    backend::{Backend, Gate, WriteOverlay},
    guard::Engine,
    verify::{Report, verify},
};

/// The engine, open.
pub(super) struct Handle {
    pub(super) db: Engine,
    gate: Arc<Gate>,
    overlay: Arc<WriteOverlay>,
    /// True if the engine verified all pages, which it does when it opens a store that was not closed cleanly.
    pub(super) pages_verified: bool,
}

impl Handle {
    /// Opens a store for reading and writing.
    pub(super) fn open(disk: &Arc<dyn Disk>, options: &Options) -> Result<Self, redb::Error> {
        Self::on(WriteOverlay::open(something(disk)?), options)
    }

    /// Opens a store for reading and writing, and verifies all of it.
    pub(super) fn open_verified(disk: &Arc<dyn Disk>, options: &Options) -> Result<Self, redb::Error> {
        let mut handle = Self::open(disk, options)?;
        let verified = handle.verify_pages().and_then(|()| verify(&handle.db));
        if verified.as_ref().is_ok_and(Report::is_whole) {
            return Ok(handle);
        }
        // Damaged content is left unchanged: closing the engine would write.
        handle.gate.fence();
        Err(verified.err().unwrap_or_else(|| redb::Error::Corrupted("rows are missing or altered".to_owned())))
    }

    /// Reads all pages and compares their checksums. Repairs that the engine makes on the way are not errors.
    pub(super) fn verify_pages(&mut self) -> Result<(), redb::Error> {
        if !self.pages_verified {
            self.db.check_integrity()?;
            self.pages_verified = true;
        }
        Ok(())
    }

    /// Opens a store for reading, and writes nothing to the disk before [`Handle::write`].
    pub(super) fn open_reading(disk: &Arc<dyn Disk>, options: &Options) -> Result<Self, redb::Error> {
        Self::on(WriteOverlay::back(something(disk)?, Arc::clone(disk))?, options)
    }

    /// The same for reading all of it: until then, the disk is read in large blocks.
    pub(super) fn open_reading_all(disk: &Arc<dyn Disk>, options: &Options) -> Result<Self, redb::Error> {
        Self::on(WriteOverlay::back(something(disk)?, Arc::new(ReadAhead::new(disk)))?, options)
    }

    /// Writes what the engine would have written when it opened, such as its repair after a kill. From then on this
    /// handle is for reading and writing.
    pub(super) fn write(&self) -> Result<(), redb::Error> {
        Ok(self.overlay.release().inspect_err(|_| self.gate.fence())?)
    }

    pub(super) fn on(overlay: WriteOverlay, options: &Options) -> Result<Self, redb::Error> {
        let (overlay, gate) = (Arc::new(overlay), Arc::default());
        let backend = Backend::new(&overlay, &gate);
        let verified = Arc::new(AtomicBool::new(false));
        let note = Arc::clone(&verified);
        let mut builder = Database::builder();
        builder.set_cache_size(options.cache_bytes);
        builder.set_repair_callback(move |_| note.store(true, Ordering::Relaxed));
        let db = Engine::new(builder.create_with_backend(backend)?);
        Ok(Self { db, gate, overlay, pages_verified: verified.load(Ordering::Relaxed) })
    }

    pub(super) fn db(&self) -> &Database {
        &self.db
    }

    /// The gate of this opening.
    pub(super) fn gate(&self) -> &Gate {
        &self.gate
    }

    /// True if reads from the disk still work.
    pub(super) fn is_readable(&self) -> bool {
        !self.gate.is_shut() && self.gate.failure().is_none()
    }
}

/// Fails if the disk is empty: the engine would take a file that lost all its bytes for a new one.
fn something(disk: &Arc<dyn Disk>) -> Result<&Arc<dyn Disk>, redb::Error> {
    if disk.size()? == 0 { Err(redb::Error::Corrupted("the file is empty".to_owned())) } else { Ok(disk) }
}

/// The newest handle. The writer replaces it and readers load it.
pub(super) struct Current(ArcSwap<Handle>);

impl Current {
    pub(super) fn new(handle: Handle) -> Self {
        Self(ArcSwap::from_pointee(handle))
    }

    pub(super) fn get(&self) -> Arc<Handle> {
        self.0.load_full()
    }

    /// Moves readers to another handle. Readers of the old one get an error and retry with the new one.
    pub(super) fn replace(&self, handle: Handle) {
        self.0.swap(Arc::new(handle)).gate.shut();
    }
}
