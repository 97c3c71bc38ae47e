//! Copies, checks and backups of etcd. Without etcd they say that they did not run; in CI they fail.

use std::{
    path::{Path, PathBuf},
    process::Child,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use bytes::Bytes;
use kindsmith::{EtcdOptions, meta::Revision};
use kindsmith_storage::{Change, Commit, Embedded, Etcd, Expect, Op, Options, Store};
use kindsmith_tests::{Folder, Random};

use self::member::Member;
use crate::{
    copy::{follows, signal, start},
    sample::{self, contents, expect, path, state_at},
};

mod source;
mod target;

#[allow(dead_code, unreachable_pub, reason = "tests of other packages include it, too")]
#[path = "../../../../tests/support/etcd.rs"]
mod member;

/// How long something may take on a loaded machine.
const SOON: Duration = Duration::from_mins(1);

/// A store in etcd, as servers have it.
struct Sample {
    folder: Folder,
    member: Member,
    store: Arc<Etcd>,
    all: Arc<Mutex<Vec<Change>>>,
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

fn put(key: &str, value: &str) -> Op {
    let (key, value) = (format!("/registry/{key}").into(), Some(Bytes::copy_from_slice(value.as_bytes())));
    Op { key, value, expect: Expect::Any, lifetime: None }
}

impl Sample {
    fn new(random: &mut Random, commits: usize) -> Option<Self> {
        let member = Member::start()?;
        let store = Arc::new(Etcd::open(EtcdOptions::new([member.url()])).unwrap());
        let all = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&all);
        store.attach(Box::new(move |given| sink.lock().unwrap().extend_from_slice(given.changes())));
        for _ in 0..commits {
            // Deleting a missing key is a conflict, which does not matter here.
            let _ = block_on(store.commit(vec![sample::op(random)].into()));
        }
        Some(Self { folder: Folder::new("etcd"), member, store, all })
    }

    fn commit(&self, ops: Vec<Op>) {
        block_on(self.store.commit(Commit::from(ops))).unwrap();
    }

    /// Makes many objects of a size.
    fn fill(&self, count: usize, size: usize) {
        let value = "x".repeat(size);
        thread::scope(|scope| {
            for part in 0..8 {
                let value = &value;
                scope.spawn(move || {
                    for number in (part..count).step_by(8) {
                        self.commit(vec![put(&format!("shop.example.com/books/default/book-{number:05}"), value)]);
                    }
                });
            }
        });
    }

    fn place(&self) -> PathBuf {
        PathBuf::from(format!("etcd://{}/registry", self.member.url().trim_start_matches("http://")))
    }

    fn beside(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// etcd's newest revision.
    fn revision(&self) -> String {
        let answer = self.member.control(&["get", "/nothing", "-w", "json"]);
        answer.split("\"revision\":").nth(1).unwrap().split([',', '}']).next().unwrap().to_owned()
    }

    /// Writes and deletes objects until the end of the test.
    fn writers(&self, random: &mut Random) -> Writers {
        let done = Arc::new(AtomicBool::new(false));
        let threads = (0..3).map(|_| {
            let (store, done, mut random) = (Arc::clone(&self.store), Arc::clone(&done), random.fork());
            thread::spawn(move || {
                while !done.load(Ordering::Relaxed) {
                    let mut op = sample::op(&mut random);
                    if random.one_in(2) {
                        let number = random.below(4_500);
                        op.key = format!("/registry/shop.example.com/books/default/book-{number:05}").into();
                    }
                    let _ = block_on(store.commit(vec![op].into()));
                    thread::sleep(Duration::from_millis(1));
                }
            })
        });
        Writers { threads: threads.collect(), done }
    }

    /// The directory is what etcd was at the revision of which the command speaks.
    fn assert_copied(&self, dir: &Path, out: &str) {
        let head = out.split("as of resourceVersion ").nth(1).expect(out).split(';').next().unwrap();
        let head = Revision(head.parse().unwrap());
        let found: Vec<_> = contents(dir).entries.into_iter().collect();
        let found: Vec<_> = found.into_iter().map(|e| (e.key.to_string(), (e.revision, e.value.unwrap()))).collect();
        let expected: Vec<_> = state_at(&self.all.lock().unwrap(), head).into_iter().collect();
        assert_eq!(found.len(), expected.len(), "{out}");
        assert!(found == expected, "the state at {head} differs");
    }
}

struct Writers {
    threads: Vec<JoinHandle<()>>,
    done: Arc<AtomicBool>,
}

impl Drop for Writers {
    fn drop(&mut self) {
        self.done.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// Kills a copy a moment after it has begun to write. True if it was not done before.
fn kill(mut child: Child, has_begun: impl Fn() -> bool, more: Duration) -> bool {
    let start = Instant::now();
    while !has_begun() && child.try_wait().unwrap().is_none() && start.elapsed() < SOON {
        thread::sleep(Duration::from_millis(2));
    }
    thread::sleep(more);
    let was_running = child.try_wait().unwrap().is_none();
    child.kill().unwrap();
    child.wait().unwrap();
    was_running
}

fn size(file: &Path) -> u64 {
    std::fs::metadata(file).map_or(0, |metadata| metadata.len())
}
