//! Files that a server reads at startup and again when they change: tokens, certificates and definitions.
//!
//! Invalid files change nothing: the previous content stays valid, and one error is logged. Never blocks an async
//! worker on a file.

use crate::tasks;
use std::{
    fs, io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    time::Duration,
};

use tokio::{sync::watch, time::sleep};

use super::Result;

/// How often the files are checked.
const PERIOD: Duration = Duration::from_secs(2);

/// Reads the files and uses their content.
type Read = Box<dyn FnMut() -> Result<()> + Send>;

/// Watches files that are read together when one of them changes.
pub(super) struct FileWatcher {
    /// Their content, for the log, such as "tokens".
    what: &'static str,
    paths: Box<dyn Fn() -> Vec<PathBuf> + Send>,
    read: Read,
    /// A number that changes when the files are to be read again although they are the same.
    state: Box<dyn Fn() -> u64 + Send>,
    /// That number after the last read.
    last_state: u64,
    /// The files as of the last read, successful or not.
    last_stamps: Vec<Stamp>,
    /// The files as of the last check, if they have changed since the last read.
    changing: Option<Vec<Stamp>>,
}

/// Identifies the content of a file: device, inode, size and modification time; or the reason why it is missing.
pub(super) type Stamp = std::result::Result<(u64, u64, u64, i64, i64), io::ErrorKind>;

impl FileWatcher {
    /// Reads the files for the first time.
    pub(super) fn open(
        what: &'static str,
        paths: Vec<PathBuf>,
        mut read: impl FnMut() -> Result<()> + Send + 'static,
    ) -> Result<Self> {
        let last_stamps = stamps(&paths);
        read()?;
        let paths = Box::new(move || paths.clone());
        Ok(Self {
            what,
            paths,
            read: Box::new(read),
            state: Box::new(|| 0),
            last_state: 0,
            last_stamps,
            changing: None,
        })
    }

    /// Files that were read already, as of before that, and more or fewer as time goes by. They are also read again when the state
    /// changes.
    pub(super) fn again(
        what: &'static str,
        last_stamps: Vec<Stamp>,
        paths: impl Fn() -> Vec<PathBuf> + Send + 'static,
        read: impl FnMut() -> Result<()> + Send + 'static,
        state: impl Fn() -> u64 + Send + 'static,
    ) -> Self {
        let last_state = state();
        let (paths, state) = (Box::new(paths), Box::new(state));
        Self { what, paths, read: Box::new(read), state, last_state, last_stamps, changing: None }
    }

    /// Checks the files every few seconds, and reads them at once when notified. Ends when the sender is dropped.
    pub(super) async fn follow(mut self, mut read_now: watch::Receiver<()>) {
        loop {
            let now = tokio::select! {
                () = sleep(PERIOD) => false,
                sent = read_now.changed() => match sent {
                    Ok(()) => true,
                    Err(_) => return,
                },
            };
            let looked = tasks::blocking(move || {
                self.report(now);
                self
            });
            self = match looked.await {
                Ok(looked) => looked,
                // The runtime is stopping.
                Err(_) => return,
            };
        }
    }

    fn report(&mut self, now: bool) {
        let what = self.what;
        match self.look(now) {
            None => {}
            Some(Ok(())) => tracing::info!(files = ?(self.paths)(), "{what} were read again"),
            Some(Err(error)) => {
                tracing::error!(%error, "{what} are broken; what was read before stays valid");
            }
        }
    }

    /// Reads the files if they have changed, or unconditionally with `now`; `None` if they were not read.
    pub(super) fn look(&mut self, now: bool) -> Option<Result<()>> {
        let stamps = stamps(&(self.paths)());
        let settled = self.changing.replace(stamps.clone()).as_ref() == Some(&stamps);
        // Files that changed since the last check may be incomplete. Wait until they no longer change.
        let is_same = stamps == self.last_stamps && (self.state)() == self.last_state;
        if !now && (is_same || !settled) {
            return None;
        }
        self.last_stamps = stamps;
        let read = (self.read)();
        self.last_state = (self.state)();
        Some(read)
    }
}

pub(super) fn stamps(paths: &[PathBuf]) -> Vec<Stamp> {
    paths.iter().map(|path| stamp(path)).collect()
}

fn stamp(path: &Path) -> Stamp {
    let metadata = fs::metadata(path).map_err(|error| error.kind())?;
    // A pipe can be read only once.
    if !metadata.is_file() {
        return Err(io::ErrorKind::Unsupported);
    }
    Ok((metadata.dev(), metadata.ino(), metadata.size(), metadata.mtime(), metadata.mtime_nsec()))
}

/// Warns of a secret that other users can read or write.
pub(super) fn warn_if_open(path: &Path, what: &str) {
    let mode = fs::metadata(path).map_or(0, |metadata| metadata.mode() & 0o7777);
    if mode & 0o027 != 0 {
        let mode = format!("{mode:04o}");
        tracing::warn!(file = %path.display(), mode, "other users can read or write the {what}");
    }
}
