//! Copies from one place to another: complete, resumed, interrupted, and of damaged stores.

use std::{
    fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use bytes::Bytes;
use kindsmith::meta::Revision;
use kindsmith_storage::{Change, Commit, Embedded, Expect, Op, Options, Store};
use kindsmith_tests::{Folder, Random};

use crate::sample::{self, contents, expect, path, state_at};

/// The number of objects of a store that is copied while it is written.
const OBJECTS: usize = 20_000;

/// A store with writers, as in a running server.
struct Busy {
    folder: Folder,
    store: Arc<Embedded>,
    all: Arc<Mutex<Vec<Change>>>,
    done: Arc<AtomicBool>,
    writers: Vec<JoinHandle<()>>,
}

fn put(key: String, value: Vec<u8>) -> Op {
    Op { key: key.into(), value: Some(Bytes::from(value)), expect: Expect::Any, lifetime: None }
}

impl Busy {
    fn new(random: &mut Random) -> Self {
        let folder = Folder::new("copy");
        let store = Arc::new(Embedded::open(folder.path().join("data"), Options::default()).unwrap());
        let (all, done) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicBool::new(false)));
        let sink = Arc::clone(&all);
        store.attach(Box::new(move |given| sink.lock().unwrap().extend_from_slice(given.changes())));
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        for first in (0..OBJECTS).step_by(1_000) {
            let ops = (first..first + 1_000).map(|number| {
                put(format!("/registry/shop.example.com/books/default/book-{number:05}"), vec![b'x'; 600])
            });
            runtime.block_on(store.commit(Commit::from(ops.collect::<Vec<_>>()))).unwrap();
        }
        let writers = (0..3)
            .map(|_| {
                let (store, done, mut random) = (Arc::clone(&store), Arc::clone(&done), random.fork());
                thread::spawn(move || {
                    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
                    while !done.load(Ordering::Relaxed) {
                        let mut op = sample::op(&mut random);
                        if random.one_in(2) {
                            let number = random.below(OBJECTS + 500);
                            op.key = format!("/registry/shop.example.com/books/default/book-{number:05}").into();
                        }
                        let _ = runtime.block_on(store.commit(vec![op].into()));
                        thread::sleep(Duration::from_millis(1));
                    }
                })
            })
            .collect();
        Self { folder, store, all, done, writers }
    }

    fn dir(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn stop(&mut self) {
        self.done.store(true, Ordering::Relaxed);
        for writer in self.writers.drain(..) {
            writer.join().unwrap();
        }
    }

    /// The target is what the source was at the revision of which the command speaks.
    fn assert_copied(&self, target: &Path, out: &str) {
        let head = out.split("as of resourceVersion ").nth(1).expect(out).split(';').next().unwrap();
        let head = Revision(head.parse().unwrap());
        let found = contents(target);
        assert_eq!((found.head, found.compacted), (head, head), "{out}");
        let found: Vec<_> =
            found.entries.into_iter().map(|e| (e.key.to_string(), (e.revision, e.value.unwrap()))).collect();
        let expected: Vec<_> = state_at(&self.all.lock().unwrap(), head).into_iter().collect();
        assert_eq!(found.len(), expected.len(), "{out}");
        assert!(found == expected, "the state at {head} differs");
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.done.store(true, Ordering::Relaxed);
    }
}

pub(crate) fn start(arguments: &[&Path]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kindsmith"));
    command.args(["store", "copy"]).args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Waits until a copy has begun to write, and a little more.
fn begun(unfinished: &Path, child: &mut Child, more: Duration) {
    let file = unfinished.join("store.redb");
    let size = || fs::metadata(&file).map_or(0, |metadata| metadata.len());
    let (first, patience) = (size(), Instant::now() + Duration::from_mins(1));
    while size() <= first.max(6 << 20) && child.try_wait().unwrap().is_none() && Instant::now() < patience {
        thread::sleep(Duration::from_millis(2));
    }
    thread::sleep(more);
}

fn output(child: Child) -> (Option<i32>, String, String) {
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn a_copy_has_the_same_objects_and_resource_versions() {
    let mut random = Random::from_environment();
    for commits in [0, 1, 300] {
        let sample = sample::store(&mut random, commits, 1 << 30);
        let [one, two, three, four] = ["one", "two.backup", "three", "four.backup"].map(|name| sample.beside(name));
        for (from, to) in [(&sample.dir(), &one), (&one, &two), (&two, &three), (&sample.dir(), &four)] {
            let (out, err) = expect(0, &[path("copy"), from, to]);
            assert!(out.contains("verified") && err.is_empty(), "{out}{err}");
            let (out, _) = expect(0, &[path("check"), &sample.dir(), path("--against"), to]);
            assert!(out.contains("both hold the same objects"), "{out}");
            let (out, _) = expect(0, &[path("check"), to]);
            let (same, _) = expect(0, &[path("check"), from]);
            let digest = |text: &str| text.split("digest ").nth(1).unwrap().lines().next().unwrap().to_owned();
            assert_eq!(digest(&out), digest(&same));
        }
        let original = contents(&sample.dir());
        for dir in [&one, &three] {
            let copy = contents(dir);
            assert_eq!((copy.entries, copy.head), (original.entries.clone(), original.head));
            assert_eq!(copy.compacted, original.head.max(copy.compacted), "there is no history");
        }
        assert_eq!(fs::read_dir(sample.folder.path()).unwrap().count(), 5, "nothing else is left behind");
    }
}

#[test]
fn stores_that_differ_are_told_by_key() {
    let mut random = Random::from_environment();
    let sample = sample::store(&mut random, 100, 1 << 20);
    let copy = sample.beside("copy");
    expect(0, &[path("copy"), &sample.dir(), &copy]);
    let store = Embedded::open(&copy, Options::default()).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let ops =
        ["/registry/widgets/default/new", "/registry/widgets/default/widget-7"].map(|key| put(key.into(), b"?".into()));
    runtime.block_on(store.commit(ops.to_vec().into())).unwrap();
    drop(store);
    let (out, _) = expect(1, &[path("check"), &copy, path("--against"), &sample.dir()]);
    for line in ["different /registry/widgets/default/new\n", "different /registry/widgets/default/widget-7\n"] {
        assert!(out.contains(line), "{out}");
    }
    assert_eq!(out.matches("different ").count(), 2, "{out}");
}

#[test]
fn a_copy_of_a_written_store_is_killed_twice_and_resumed() {
    let mut random = Random::from_environment();
    let mut busy = Busy::new(&mut random);
    for name in ["target", "target.backup"] {
        let (target, unfinished) = (busy.folder.path().join(name), busy.folder.path().join(format!(".{name}.copy")));
        let mut killed = 0;
        for _ in 0..2 {
            let mut child = start(&[&busy.dir(), &target]);
            begun(&unfinished, &mut child, Duration::from_millis(random.below(40) as u64));
            killed += usize::from(child.try_wait().unwrap().is_none());
            child.kill().unwrap();
            child.wait().unwrap();
            assert!(unfinished.exists() || killed == 0);
        }
        assert!(killed > 0, "each copy was done before it was killed");
        let (out, _) = expect(0, &[path("copy"), &busy.dir(), &target]);
        assert!(out.contains("begun by an earlier run") && !unfinished.exists(), "{out}");
        if name == "target" {
            busy.assert_copied(&target, &out);
        } else {
            let restored = busy.folder.path().join("restored");
            expect(0, &[path("restore"), &target, path("--to"), &restored]);
            busy.assert_copied(&restored, &out);
        }
    }
    busy.stop();
}

#[test]
fn a_copy_whose_history_is_compacted_compares_all_objects_again() {
    let mut random = Random::from_environment();
    let mut busy = Busy::new(&mut random);
    let (target, unfinished) = (busy.folder.path().join("target"), busy.folder.path().join(".target.copy"));
    let mut child = start(&[&busy.dir(), &target]);
    begun(&unfinished, &mut child, Duration::ZERO);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(unfinished.exists() && !target.exists(), "it was killed");
    thread::sleep(Duration::from_millis(50));
    busy.store.compact(busy.store.head()).unwrap();
    let (out, _) = expect(0, &[path("copy"), &busy.dir(), &target]);
    assert!(out.contains("compared again"), "{out}");
    busy.assert_copied(&target, &out);
    busy.stop();
}

#[test]
fn a_copy_follows_a_server_until_it_stops_or_is_interrupted() {
    let mut random = Random::from_environment();
    let mut busy = Busy::new(&mut random);
    let [first, second] = ["first", "second"].map(|name| busy.folder.path().join(name));
    let follow = path("--follow");
    let mut interrupted = start(&[&busy.dir(), &first, follow]);
    follows(&mut interrupted);
    signal(&interrupted);
    let (code, out, err) = output(interrupted);
    assert_eq!(code, Some(0), "{out}{err}");
    busy.assert_copied(&first, &out);
    let mut followed = start(&[&busy.dir(), &second, follow]);
    follows(&mut followed);
    busy.stop();
    let head = busy.store.head();
    let folder = busy.folder.path().to_owned();
    // Dropping the last reference releases the directory.
    busy.store = Arc::new(Embedded::open(folder.join("other"), Options::default()).unwrap());
    let (code, out, err) = output(followed);
    assert_eq!(code, Some(0), "{out}{err}");
    busy.assert_copied(&second, &out);
    assert!(out.contains(&format!("as of resourceVersion {head};")), "the last write is there: {out}");
}

/// Waits until a copy follows its source. Returns what it says then.
pub(crate) fn follows(child: &mut Child) -> String {
    let mut line = String::new();
    BufReader::new(child.stderr.as_mut().unwrap()).read_line(&mut line).unwrap();
    assert!(line.starts_with("following "), "{line}");
    line
}

pub(crate) fn signal(child: &Child) {
    let sent = Command::new("sh").args(["-c", &format!("kill -INT {}", child.id())]).status().unwrap();
    assert!(sent.success());
}

#[test]
fn an_interrupted_copy_says_how_to_go_on() {
    let mut random = Random::from_environment();
    let mut busy = Busy::new(&mut random);
    let (target, unfinished) = (busy.folder.path().join("target"), busy.folder.path().join(".target.copy"));
    let mut child = start(&[&busy.dir(), &target]);
    begun(&unfinished, &mut child, Duration::ZERO);
    signal(&child);
    let (code, out, err) = output(child);
    assert_eq!(code, Some(130), "{out}{err}");
    assert!(err.contains("the same command goes on"), "{err}");
    // Another source does not go on with it.
    let other = sample::store(&mut random, 20, 1 << 20);
    let (_, err) = expect(2, &[path("copy"), &other.dir(), &target]);
    assert!(err.contains(".target.copy") && err.contains("unfinished copy"), "{err}");
    let (out, _) = expect(0, &[path("copy"), &busy.dir(), &target]);
    busy.assert_copied(&target, &out);
    let (_, err) = expect(2, &[path("copy"), &busy.dir(), &target]);
    assert!(err.contains("already exists"), "{err}");
    busy.stop();
}

#[test]
fn a_full_disk_leaves_a_copy_that_goes_on() {
    let mut random = Random::from_environment();
    let sample = sample::store(&mut random, 0, 1 << 20);
    let store = Embedded::open(sample.dir(), Options::default()).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    for number in 0..80 {
        let op = put(format!("/registry/widgets/default/{number}"), vec![b'x'; 200_000]);
        runtime.block_on(store.commit(vec![op].into())).unwrap();
    }
    drop(store);
    let target = sample.beside("target");
    // Files of at most 12 MiB. The signal is ignored, so that writes fail as on a full disk.
    let script = "trap '' XFSZ; ulimit -f 12288; exec \"$@\"";
    let mut limited = Command::new("bash");
    limited.args(["-c", script, "bash", env!("CARGO_BIN_EXE_kindsmith"), "store", "copy"]);
    let output = limited.arg(sample.dir()).arg(&target).output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{err}");
    assert!(err.contains(".target.copy") && err.contains("File too large"), "{err}");
    assert!(!target.exists());
    let (out, _) = expect(0, &[path("copy"), &sample.dir(), &target]);
    assert!(out.contains("begun by an earlier run"), "{out}");
    assert_eq!(contents(&target).entries, contents(&sample.dir()).entries);
}

#[test]
fn a_damaged_object_is_named_and_all_others_are_copied() {
    let mut random = Random::from_environment();
    let sample = sample::store(&mut random, 0, 0);
    let store = Embedded::open(sample.dir(), Options::default()).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    for number in 0..50 {
        let op =
            put(format!("/registry/widgets/default/{number}"), format!("value {number} {}", "x".repeat(500)).into());
        runtime.block_on(store.commit(vec![op].into())).unwrap();
    }
    drop(store);
    let file = sample.dir().join("store.redb");
    let mut bytes = fs::read(&file).unwrap();
    let needle = b"value 17 ";
    // Pages that the engine has freed hold the value, too.
    let places: Vec<_> =
        bytes.windows(needle.len()).enumerate().filter(|(_, w)| w == needle).map(|(at, _)| at).collect();
    assert!(!places.is_empty());
    for at in places {
        bytes[at] ^= 1;
    }
    fs::write(&file, bytes).unwrap();
    for name in ["target", "target.backup"] {
        let target = sample.beside(name);
        let (out, _) = expect(1, &[path("copy"), &sample.dir(), &target]);
        assert!(out.contains("not copied /registry/widgets/default/17: the stored bytes are damaged"), "{out}");
        assert!(out.contains("49 objects") && out.contains("verified"), "{out}");
        let (out, _) = expect(0, &[path("check"), &target]);
        assert!(out.contains("49 objects"), "{out}");
    }
    assert_eq!(contents(&sample.beside("target")).entries.len(), 49);
}

#[test]
fn wrong_places_are_refused() {
    let sample = sample::store(&mut Random::from_environment(), 5, 1 << 20);
    let target = sample.beside("target");
    for (from, to, what) in [
        (path("ftp://somewhere/registry"), &*target, "it is not a place of a store"),
        (&sample.dir(), path("ftp://somewhere/registry"), "it is not a place of a store"),
        (&sample.beside("missing"), &target, "No such file"),
        (sample.folder.path(), &target, "there is no store in"),
        (&sample.dir(), &sample.dir(), "already exists"),
    ] {
        let (_, err) = expect(2, &[path("copy"), from, to]);
        assert!(err.contains(what), "{err}");
    }
    fs::write(sample.beside("bad.backup"), "kindsmith-backup, or not").unwrap();
    let (_, err) = expect(1, &[path("copy"), &sample.beside("bad.backup"), &target]);
    assert!(err.contains("is damaged"), "{err}");
    assert_eq!(fs::read_dir(sample.folder.path()).unwrap().count(), 2, "nothing was made");
}
