//! The store's file on a file system. Before each group of commits it checks that the path still names the open file.
//! It can also drop the kernel's cached pages of the file.

use std::{
    fs::{self, File, OpenOptions},
    io,
    os::unix::fs::{FileExt, MetadataExt},
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{Disk, Metrics};

/// An open file. The same descriptor is kept after errors, because the kernel reports a failed writeback once to each
/// descriptor that was open at the time, and never to a later one.
#[derive(Debug)]
pub(super) struct FileDisk {
    path: PathBuf,
    file: File,
    /// Device and inode.
    identity: (u64, u64),
    metrics: Arc<Metrics>,
    /// A file that only takes space.
    reserve: Option<File>,
}

impl FileDisk {
    /// Wraps a file that was opened at a path. Its syncs are counted in `metrics`.
    pub(super) fn new(path: &Path, file: File, metrics: Arc<Metrics>) -> io::Result<Self> {
        // The working directory may change while the store is open.
        let path = path.canonicalize()?;
        let identity = identity(&file.metadata()?);
        Ok(Self { path, file, identity, metrics, reserve: None })
    }

    /// Adds a file on the same file system that can take space.
    pub(super) fn with_reserve(self, reserve: File) -> Self {
        Self { reserve: Some(reserve), ..self }
    }

    fn named<T>(&self, doing: &str, result: io::Result<T>) -> io::Result<T> {
        result.map_err(|error| io::Error::new(error.kind(), format!("{doing} {}: {error}", self.path.display())))
    }
}

fn identity(metadata: &fs::Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

impl Disk for FileDisk {
    fn size(&self) -> io::Result<u64> {
        self.named("cannot tell the size of", self.file.metadata()).map(|metadata| metadata.len())
    }

    fn read(&self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        self.named("cannot read", self.file.read_exact_at(into, offset))
    }

    fn write(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.named("cannot write", self.file.write_all_at(bytes, offset))
    }

    fn set_size(&self, bytes: u64) -> io::Result<()> {
        self.named("cannot change the size of", self.file.set_len(bytes))
    }

    fn sync(&self) -> io::Result<()> {
        self.named("cannot sync", Metrics::time(&self.metrics.syncs, || self.file.sync_data()))
    }

    fn forget(&self) -> io::Result<()> {
        self.named("cannot drop the cached pages of", drop_pages(&self.file))
    }

    fn check(&self) -> io::Result<()> {
        let path = self.path.display();
        match fs::metadata(&self.path) {
            Ok(metadata) if identity(&metadata) == self.identity => Ok(()),
            Ok(_) => Err(io::Error::other(format!(
                "{path} was replaced by another file; put the old file back, or restart the server to use the new one"
            ))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Err(io::Error::new(error.kind(), format!("{path} is gone; put the file back where it was")))
            }
            Err(error) => self.named("cannot find", Err(error)),
        }
    }

    fn probe(&self) -> io::Result<()> {
        let folder = self.path.parent().unwrap_or(Path::new("/"));
        self.named("cannot write beside", write_beside(folder))
    }

    fn reserved(&self) -> io::Result<u64> {
        self.reserve.as_ref().map_or(Ok(0), |file| Ok(file.metadata()?.len()))
    }

    fn reserve(&self, bytes: u64) -> io::Result<()> {
        let Some(file) = &self.reserve else { return Ok(()) };
        let before = file.metadata()?.len();
        if bytes < before {
            return file.set_len(bytes);
        }
        // A try in vain would take all that is left for a moment, in which others find the disk full.
        let fits = room(file).is_none_or(|room| bytes - before <= room);
        let allocated = if fits { allocate(file, bytes) } else { Err(io::ErrorKind::StorageFull.into()) };
        if allocated.is_err() && file.metadata()?.len() > before {
            file.set_len(before)?;
        }
        self.named("cannot set space aside beside", allocated)
    }
}

/// The bytes that this process may still write to the file system of a file, if that says it.
fn room(file: &File) -> Option<u64> {
    let found = rustix::fs::fstatvfs(file).ok().filter(|found| found.f_blocks > 0)?;
    Some(found.f_bavail.saturating_mul(found.f_frsize))
}

/// Gives a file blocks of the disk for its first bytes.
fn allocate(file: &File, bytes: u64) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    match rustix::fs::fallocate(file, rustix::fs::FallocateFlags::empty(), 0, bytes) {
        // Some file systems allocate blocks only by writing.
        Err(rustix::io::Errno::OPNOTSUPP) => {}
        done => return Ok(done?),
    }
    let (mut size, piece) = (file.metadata()?.len(), vec![0xa5; 64 << 10]);
    while size < bytes {
        file.write_all_at(&piece, size)?;
        size += piece.len() as u64;
    }
    Ok(())
}

/// Drops those pages of a file from the page cache that are clean. After a failed sync all pages are clean: the kernel
/// marks pages that it could not write as clean.
#[cfg(target_os = "linux")]
fn drop_pages(file: &File) -> io::Result<()> {
    Ok(rustix::fs::fadvise(file, 0, None, rustix::fs::Advice::DontNeed)?)
}

/// Other systems have no such call. There the store relies on the checksums.
#[cfg(not(target_os = "linux"))]
fn drop_pages(_file: &File) -> io::Result<()> {
    Ok(())
}

/// Writes some pages to an unnamed file, which disappears when it is closed.
#[cfg(target_os = "linux")]
fn write_beside(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::OpenOptionsExt;
    const ROOM: usize = 256 << 10;
    let unnamed = i32::try_from(rustix::fs::OFlags::TMPFILE.bits()).expect("a flag of open(2) is an int");
    let opened = OpenOptions::new().read(true).write(true).mode(0o600).custom_flags(unnamed).open(folder);
    let file = match opened {
        Ok(file) => file,
        // Some file systems have no unnamed files. There only a real write shows whether the disk works.
        Err(error) if matches!(error.kind(), io::ErrorKind::Unsupported | io::ErrorKind::IsADirectory) => return Ok(()),
        Err(error) => return Err(error),
    };
    file.write_all_at(&vec![0xa5; ROOM], 0)?;
    file.sync_data()
}

/// Other systems have no unnamed files. There only a real write shows whether the disk works.
#[cfg(not(target_os = "linux"))]
fn write_beside(_folder: &Path) -> io::Result<()> {
    Ok(())
}
