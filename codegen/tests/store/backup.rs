//! Backups of stopped and running servers, and what is restored from them.

use std::{
    fs,
    os::unix::fs::{FileTypeExt, PermissionsExt},
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use kindsmith::{
    meta::Revision,
    tools::{self, Error},
};
use kindsmith_storage::{Embedded, Options, Store};
use kindsmith_tests::{Folder, Random};

use crate::sample::{self, Sample, contents, expect, files, path};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn back_up(sample: &Sample) -> std::path::PathBuf {
    let file = sample.beside("a.backup");
    expect(0, &[path("backup"), &sample.dir(), path("--to"), &file]);
    file
}

#[test]
fn a_restored_store_equals_the_original() {
    let mut random = Random::from_environment();
    for (commits, history_bytes) in [(0, 1 << 20), (1, 1 << 20), (200, 1 << 30), (400, 50_000), (300, 0)] {
        let sample = sample::store(&mut random, commits, history_bytes);
        let before = files(&sample.dir());
        let file = back_up(&sample);
        assert_eq!(files(&sample.dir()), before, "a backup changes nothing");
        let restored = sample.beside("restored");
        let (out, _) = expect(0, &[path("restore"), &file, path("--to"), &restored]);
        assert!(out.contains("the newest resourceVersion is"), "{out}");
        expect(0, &[path("check"), &restored]);
        assert_eq!(contents(&restored), contents(&sample.dir()), "after {commits} commits");
        assert_eq!((mode(&file), mode(&restored), mode(&restored.join("store.redb"))), (0o600, 0o700, 0o600));
        assert_eq!(fs::read_dir(sample.folder.path()).unwrap().count(), 3, "nothing else is left behind");
    }
}

#[test]
fn nothing_is_overwritten() {
    let sample = sample::store(&mut Random::from_environment(), 20, 1 << 20);
    let file = back_up(&sample);
    let other = sample.beside("other");
    fs::create_dir(&other).unwrap();
    let mine = other.join("mine");
    fs::write(&mine, "mine").unwrap();
    for arguments in [
        [path("backup"), &sample.dir(), path("--to"), &mine],
        [path("backup"), &sample.dir(), path("--to"), &other],
        [path("restore"), &file, path("--to"), &other],
        [path("restore"), &file, path("--to"), &mine],
        [path("salvage"), &sample.dir(), path("--to"), &other],
        [path("salvage"), &sample.dir(), path("--to"), &sample.dir()],
    ] {
        let (_, err) = expect(2, &arguments);
        assert!(err.contains("already exists"), "{err}");
    }
    assert_eq!(fs::read_to_string(&mine).unwrap(), "mine");
    assert_eq!(fs::read_dir(&other).unwrap().count(), 1);
    let empty = sample.beside("empty");
    fs::create_dir(&empty).unwrap();
    expect(0, &[path("restore"), &file, path("--to"), &empty]);
    assert_eq!(contents(&empty), contents(&sample.dir()));
}

#[test]
fn a_damaged_backup_is_refused_and_restores_nothing() {
    let mut random = Random::from_environment();
    let sample = sample::store(&mut random, 12, 1 << 20);
    let whole = fs::read(back_up(&sample)).unwrap();
    let (file, target) = (sample.beside("bad.backup"), sample.beside("restored"));
    let refused = |bytes: &[u8], what: &str| {
        fs::write(&file, bytes).unwrap();
        match tools::restore(&file, &target, &mut |_| {}) {
            Err(error @ Error::BadBackup { .. }) => {
                let text = error.to_string();
                assert!(text.contains("at byte") && text.contains("bad.backup"), "{what}: {text}");
            }
            other => panic!("{what}: {other:?}"),
        }
        assert!(!target.exists(), "{what}");
    };
    for _ in 0..120 {
        let length = random.below(whole.len());
        refused(&whole[..length], &format!("cut off after {length} bytes"));
        let (at, bit) = (random.below(whole.len()), random.below(8));
        let mut flipped = whole.clone();
        flipped[at] ^= 1 << bit;
        refused(&flipped, &format!("bit {bit} of byte {at} flipped"));
    }
    refused(&[&whole[..], b"x"].concat(), "something after the end");
    refused(b"", "empty");
    fs::write(&file, &whole[..whole.len() / 2]).unwrap();
    let (_, err) = expect(1, &[path("restore"), &file, path("--to"), &target]);
    assert!(err.contains("is damaged") && err.contains("at byte"), "{err}");
    assert_eq!(fs::read_dir(sample.folder.path()).unwrap().count(), 3, "nothing else is left behind");
}

#[test]
fn a_backup_of_a_running_server_is_its_state_at_one_revision() {
    let mut random = Random::from_environment();
    let folder = Folder::new("store");
    let dir = folder.path().join("data");
    let store = Arc::new(Embedded::open(&dir, Options::default()).unwrap());
    let (all, done) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicBool::new(false)));
    let sink = Arc::clone(&all);
    store.attach(Box::new(move |given| sink.lock().unwrap().extend_from_slice(given.changes())));
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    while store.head() == Revision(0) {
        // The first one may be a deletion of a missing key.
        let _ = runtime.block_on(store.commit(vec![sample::op(&mut random)].into()));
    }
    let writers: Vec<_> = (0..4)
        .map(|_| {
            let (store, done, mut random) = (Arc::clone(&store), Arc::clone(&done), random.fork());
            thread::spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
                while !done.load(Ordering::Relaxed) {
                    let _ = runtime.block_on(store.commit(vec![sample::op(&mut random)].into()));
                }
            })
        })
        .collect();
    let mut heads = Vec::new();
    for number in 0..4 {
        let (file, restored) = (folder.path().join(format!("{number}")), folder.path().join(format!("{number}.dir")));
        let (out, _) = expect(0, &[path("backup"), &dir, path("--to"), &file]);
        assert!(out.contains("its server is running"), "{out}");
        expect(0, &[path("restore"), &file, path("--to"), &restored]);
        let found = contents(&restored);
        heads.push(found.head);
        let all = all.lock().unwrap().clone();
        let expected = sample::state_at(&all, found.head);
        let found: Vec<_> =
            found.entries.into_iter().map(|e| (e.key.to_string(), (e.revision, e.value.unwrap()))).collect();
        assert!(found == expected.into_iter().collect::<Vec<_>>(), "the state at {:?} differs", heads.last());
    }
    done.store(true, Ordering::Relaxed);
    for writer in writers {
        writer.join().unwrap();
    }
    assert!(heads.windows(2).all(|pair| pair[0] < pair[1]), "the server wrote on meanwhile: {heads:?}");
    assert!(heads[0] > Revision(0));
}

#[test]
fn the_socket_is_private_and_removed_with_the_store() {
    let folder = Folder::new("store");
    // Longer than the address of a socket may be.
    let dir = folder.path().join("a".repeat(120)).join("data");
    let socket = dir.join("store.sock");
    let store = Embedded::open(&dir, Options::default()).unwrap();
    let metadata = fs::symlink_metadata(&socket).unwrap();
    assert!(metadata.file_type().is_socket());
    assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
    let (_, err) = expect(2, &[path("check"), &dir]);
    assert!(err.contains("in use"), "{err}");
    let (_, err) = expect(2, &[path("salvage"), &dir, path("--to"), &folder.path().join("x")]);
    assert!(err.contains("in use"), "{err}");
    expect(0, &[path("backup"), &dir, path("--to"), &folder.path().join("b")]);
    store.close();
    assert!(!socket.exists());
    drop(store);
    // A socket left by a killed server is replaced.
    fs::write(&socket, "").unwrap();
    let store = Embedded::open(&dir, Options::default()).unwrap();
    assert!(fs::symlink_metadata(&socket).unwrap().file_type().is_socket());
    expect(0, &[path("backup"), &dir, path("--to"), &folder.path().join("c")]);
    drop(store);
    assert!(!socket.exists());
}

#[test]
fn a_peer_that_reads_nothing_does_not_prevent_closing_the_store() {
    use std::io::Write;
    let sample = sample::store(&mut Random::from_environment(), 0, 1 << 20);
    let store = Embedded::open(sample.dir(), Options::default()).unwrap();
    sample::fill(&store, &mut Random::from_environment(), 300);
    let mut peers: Vec<_> =
        (0..3).map(|_| std::os::unix::net::UnixStream::connect(sample.dir().join("store.sock")).unwrap()).collect();
    for peer in &mut peers[..2] {
        peer.write_all(b"backup 1\n").unwrap();
    }
    let started = std::time::Instant::now();
    drop(store);
    assert!(started.elapsed().as_secs() < 5, "{:?}", started.elapsed());
}
