//! One opening of the engine on a disk. After an error of the disk the engine does nothing more until it is opened anew,
//! so the store goes from one handle to the next, and its readers with it.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use arc_swap::ArcSwap;
use redb::{Database, StorageBackend};

use super::{
    Disk, Options,
    backend::{Backend, Gate},
    fresh,
    guard::Engine,
    layout::State,
    verify::{Report, verify},
};

/// The engine, open.
pub(super) struct Handle {
    db: Engine,
    gate: Arc<Gate>,
    /// The engine verifies all pages of a store that was not closed in order when it opens it.
    pages_verified: bool,
}

impl Handle {
    /// Makes an empty store on a disk that holds nothing.
    pub(super) fn make(disk: &Arc<dyn Disk>, options: &Options) -> Result<Self, redb::Error> {
        let gate = Arc::default();
        let handle = Self::on(Backend::new(disk, &gate), gate, options)?;
        fresh::write_to(&handle.db, &State::new(options.origin), |_| Ok(()))?;
        Ok(handle)
    }

    /// Opens a store to read and write.
    pub(super) fn open(disk: &Arc<dyn Disk>, options: &Options) -> Result<Self, redb::Error> {
        let gate = Arc::default();
        Self::on(something(Backend::new(disk, &gate))?, gate, options)
    }

    /// The same, with all that it holds verified.
    pub(super) fn open_verified(disk: &Arc<dyn Disk>, options: &Options) -> Result<Self, redb::Error> {
        let mut handle = Self::open(disk, options)?;
        let verified = handle.verify_pages().and_then(|()| verify(&handle.db));
        if verified.as_ref().is_ok_and(Report::is_whole) {
            return Ok(handle);
        }
        // What is wrong is left as it is: closing the engine would write.
        handle.gate.fence();
        Err(verified.err().unwrap_or_else(|| redb::Error::Corrupted("rows are missing or altered".to_owned())))
    }

    /// Reads all pages and compares their checksums. What the engine mends on the way is no error.
    pub(super) fn verify_pages(&mut self) -> Result<(), redb::Error> {
        if !self.pages_verified {
            self.db.check_integrity()?;
            self.pages_verified = true;
        }
        Ok(())
    }

    /// Opens a store to read it, and writes nothing to the disk.
    pub(super) fn open_reading(disk: &Arc<dyn Disk>, options: &Options) -> Result<Self, redb::Error> {
        let gate = Arc::default();
        Self::on(something(Backend::reading(disk, &gate)?)?, gate, options)
    }

    fn on(backend: Backend, gate: Arc<Gate>, options: &Options) -> Result<Self, redb::Error> {
        let verified = Arc::new(AtomicBool::new(false));
        let note = Arc::clone(&verified);
        let mut builder = Database::builder();
        builder.set_cache_size(options.cache_bytes);
        builder.set_repair_callback(move |_| note.store(true, Ordering::Relaxed));
        let db = Engine::new(builder.create_with_backend(backend)?);
        Ok(Self { db, gate, pages_verified: verified.load(Ordering::Relaxed) })
    }

    pub(super) fn db(&self) -> &Database {
        &self.db
    }

    /// What it may still do.
    pub(super) fn gate(&self) -> &Gate {
        &self.gate
    }

    /// Whether it still reads from the disk.
    pub(super) fn is_readable(&self) -> bool {
        !self.gate.is_shut() && self.gate.failure().is_none()
    }
}

/// Fails where there is nothing: the engine would take a file that lost all its bytes for a new one.
fn something(backend: Backend) -> Result<Backend, redb::Error> {
    if backend.len()? == 0 { Err(redb::Error::Corrupted("the file is empty".to_owned())) } else { Ok(backend) }
}

/// The newest handle, which the writer replaces and readers take.
pub(super) struct Current(ArcSwap<Handle>);

impl Current {
    pub(super) fn new(handle: Handle) -> Self {
        Self(ArcSwap::from_pointee(handle))
    }

    pub(super) fn get(&self) -> Arc<Handle> {
        self.0.load_full()
    }

    /// Lets readers go over to another handle. Those that still read the old one get an error and find the new one.
    pub(super) fn replace(&self, handle: Handle) {
        self.0.swap(Arc::new(handle)).gate.shut();
    }
}
