//! A store on a disk of its caller, for tests of what disks do.

use std::{io, sync::Arc};

use super::{
    Disk, Embedded, Options, backend::WriteOverlay, fresh, guard::guarded, handle::Handle, layout::State,
    reserve::Reserve, scrub::Findings,
};

impl Embedded {
    /// Opens the store on the caller's disk. An empty disk gets an empty store.
    ///
    /// # Errors
    /// The disk's error, or an error of another kind if the disk does not hold a store.
    pub fn open_on(disk: impl Disk, options: Options) -> io::Result<Self> {
        let is_new = disk.size()? == 0;
        let reserve = Arc::new(Reserve::new(Arc::new(disk)));
        let disk: Arc<dyn Disk> = reserve.clone();
        let opened = guarded(|| {
            let handle = if is_new {
                let handle = Handle::on(WriteOverlay::open(&disk), &options)?;
                fresh::write_to(handle.db(), &State::new(options.origin), |_| Ok(()))?;
                handle
            } else {
                Handle::open(&disk, &options)?
            };
            Self::start(reserve, handle, options, None, Findings::default(), Arc::default())
        });
        opened.map_err(|error| match error {
            redb::Error::Io(error) => error,
            other => io::Error::new(io::ErrorKind::InvalidData, other.to_string()),
        })
    }
}
