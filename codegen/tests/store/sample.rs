//! Sample stores and their content.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::Arc,
};

use bytes::Bytes;
use kindsmith::meta::Revision;
use kindsmith_storage::{Change, Embedded, Entry, Expect, Op, Options, Store};
use kindsmith_tests::{Folder, Random};

/// Runs `kindsmith store` with these arguments.
pub(crate) fn run(arguments: &[&Path]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kindsmith"));
    command.arg("store").args(arguments).output().expect("the command runs")
}

/// Runs the command and checks its exit code; returns standard output and standard error.
pub(crate) fn expect(code: i32, arguments: &[&Path]) -> (String, String) {
    let output = run(arguments);
    let text = |bytes| String::from_utf8(bytes).expect("output is text");
    let (out, err) = (text(output.stdout), text(output.stderr));
    assert_eq!(output.status.code(), Some(code), "{arguments:?}\n{out}\n{err}");
    (out, err)
}

pub(crate) fn path(text: &str) -> &Path {
    Path::new(text)
}

/// A store in a temporary folder.
pub(crate) struct Sample {
    pub folder: Folder,
    /// All changes, in order.
    pub all: Vec<Change>,
}

/// The content of a store.
#[derive(Debug, PartialEq)]
pub(crate) struct Contents {
    pub entries: Vec<Entry>,
    pub head: Revision,
    pub compacted: Revision,
    pub changes: Vec<Change>,
}

pub(crate) fn contents(dir: &Path) -> Contents {
    let store = Embedded::open(dir, Options::default()).expect("the store opens");
    let (entries, head) = store.range("").expect("the store is read");
    let compacted = store.compacted();
    let changes = store.changes(compacted, usize::MAX).expect("history is read");
    Contents { entries, head, compacted, changes }
}

/// A store after this many commits, with at most this many bytes of history.
pub(crate) fn store(random: &mut Random, commits: usize, history_bytes: u64) -> Sample {
    let folder = Folder::new("store");
    let mut options = Options::default();
    (options.history_bytes, options.origin) = (history_bytes, Revision(1_000));
    let store = Embedded::open(folder.path().join("data"), options).expect("a new store opens");
    let all = fill(&store, random, commits);
    drop(store);
    Sample { folder, all }
}

/// Makes random commits; returns the changes.
pub(crate) fn fill(store: &Embedded, random: &mut Random, commits: usize) -> Vec<Change> {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let all = Arc::new(std::sync::Mutex::new(Vec::new()));
    let sink = Arc::clone(&all);
    store.attach(Box::new(move |given| sink.lock().unwrap().extend_from_slice(given.changes())));
    for _ in 0..commits {
        // Deleting a missing key is a conflict, which does not matter here.
        let _ = runtime.block_on(store.commit(vec![op(random)].into()));
    }
    all.lock().unwrap().clone()
}

pub(crate) fn op(random: &mut Random) -> Op {
    let key = format!("/registry/widgets/default/widget-{}", random.below(120)).into();
    let size = if random.one_in(20) { random.below(20_000) } else { random.below(900) };
    let value = (!random.one_in(6)).then(|| (0..size).map(|_| random.number().to_le_bytes()[0]).collect());
    Op { key, value: value.map(|bytes: Vec<u8>| Bytes::from(bytes)), expect: Expect::Any, lifetime: None }
}

impl Sample {
    pub(crate) fn dir(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// A path beside the store.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The newest values according to the changes.
    pub(crate) fn newest(&self) -> BTreeMap<String, (Revision, Bytes)> {
        state_at(&self.all, Revision(u64::MAX))
    }
}

/// The state at a revision according to the changes.
pub(crate) fn state_at(all: &[Change], at: Revision) -> BTreeMap<String, (Revision, Bytes)> {
    let mut state = BTreeMap::new();
    for change in all.iter().take_while(|change| change.revision <= at) {
        match &change.value {
            Some(value) => state.insert(change.key.to_string(), (change.revision, value.clone())),
            None => state.remove(&*change.key),
        };
    }
    state
}

/// Every file of a directory, to check that none has changed.
pub(crate) fn files(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let entries = std::fs::read_dir(dir).expect("the directory is read");
    entries
        .map(|entry| entry.expect("an entry").path())
        .map(|path| (path.clone(), std::fs::read(&path).expect("a file is read")))
        .collect()
}
