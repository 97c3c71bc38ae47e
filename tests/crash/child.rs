//! The child process: writers that commit continuously and record each answer before they continue.

use std::{
    env,
    fs::OpenOptions,
    io::Write,
    path::{Path, PathBuf},
    thread,
};

use kindsmith_storage::{CommitError, Embedded, Options, Store};

use crate::model::{self, WRITERS};

/// Environment variables with the child's task.
pub(crate) const DIR: &str = "KINDSMITH_CRASH_DIR";
pub(crate) const MODE: &str = "KINDSMITH_CRASH_MODE";

/// What happens to the child.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// It writes until it is killed.
    Write,
    /// It writes until it is killed, and keeps little history.
    Cut,
    /// It writes until the disk is full, and ends.
    FullDisk,
}

impl Mode {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Write => "write",
            Self::Cut => "cut",
            Self::FullDisk => "full",
        }
    }
}

#[test]
#[ignore = "the other tests run it in a process of its own"]
fn works() {
    let Ok(dir) = env::var(DIR).map(PathBuf::from) else { return };
    let mode = env::var(MODE).unwrap();
    let history_bytes = if mode == Mode::Cut.name() { 400_000 } else { u64::MAX };
    let options = Options { history_bytes, ..Options::default() };
    let store = Embedded::open(dir.join("data"), options).unwrap();
    let mut seen = Log::open(&dir.join("seen"));
    store.attach(Box::new(move |given| {
        for change in given.changes() {
            seen.line(&format!("{} {} {}", change.revision, change.key, model::digest(change.value.as_ref())));
        }
    }));
    let full = thread::scope(|scope| {
        let (store, dir) = (&store, &dir);
        let writers: Vec<_> = (0..WRITERS).map(|writer| scope.spawn(move || write(store, dir, writer))).collect();
        writers.into_iter().all(|writer| writer.join().is_ok())
    });
    assert!(full, "a writer ended otherwise than by a full disk");
    assert_eq!(mode, Mode::FullDisk.name(), "the store failed with room on the disk");
}

/// Commits step after step until the engine fails.
fn write(store: &Embedded, dir: &Path, writer: usize) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let mut acks = Log::open(&dir.join("acks"));
    let mut step = 1;
    if let Some(done) = store.get(&model::count_key(writer)).unwrap() {
        let count = model::count(&done.value.unwrap());
        // A step of an earlier life that was applied without an acknowledgement counts as acknowledged from now on.
        acks.line(&format!("{writer} {count} {}", done.revision));
        step = count + 1;
    }
    loop {
        match runtime.block_on(store.commit(model::ops(writer, step).into())) {
            Ok(revisions) => acks.line(&format!("{writer} {step} {}", revisions[0])),
            // A step with unknown outcome may have been applied; the next life continues from the store's state.
            Err(CommitError::Refused { full: true, .. } | CommitError::Unknown(_)) => return,
            Err(error) => panic!("writer {writer}, step {step}: {error}"),
        }
        step += 1;
    }
}

/// A file of lines, each complete even if the process is killed during a write.
struct Log(std::fs::File);

impl Log {
    fn open(path: &Path) -> Self {
        Self(OpenOptions::new().create(true).append(true).open(path).unwrap())
    }

    fn line(&mut self, text: &str) {
        self.0.write_all(format!("{text}\n").as_bytes()).unwrap();
    }
}
