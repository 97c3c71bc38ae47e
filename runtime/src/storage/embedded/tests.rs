//! The durable engine by itself: the suite, and what only a store on disk can do.

use std::{
    fs,
    path::PathBuf,
    sync::atomic::AtomicUsize,
    time::{Instant, SystemTime},
};

use bytes::Bytes;

use super::*;
use crate::storage::{
    Expect,
    suite::{self, commit, property},
};

/// A directory of a test's own, removed with it.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let dir = std::env::temp_dir().join(format!("kindsmith-store-{}-{number}", std::process::id()));
        let _ = fs::remove_dir_all(&dir);
        Self(dir)
    }

    fn open(&self, options: Options) -> Embedded {
        Embedded::open(&self.0, options).unwrap()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A store and its directory; the store goes first.
struct Opened {
    store: Option<Embedded>,
    options: Options,
    scratch: Scratch,
}

impl Opened {
    fn new(options: Options) -> Self {
        let scratch = Scratch::new();
        Self { store: Some(scratch.open(options)), options, scratch }
    }
}

impl property::Subject for Opened {
    fn store(&self) -> &dyn Store {
        self.store.as_ref().unwrap()
    }

    fn reopen(&mut self) {
        self.store = None;
        self.store = Some(self.scratch.open(self.options));
    }

    fn keeps_history(&self) -> bool {
        self.options.history_bytes == Options::default().history_bytes
    }
}

fn put(store: &Embedded, key: &str, value: impl Into<Bytes>) -> Revision {
    let op = Op { key: key.into(), value: Some(value.into()), expect: Expect::Any };
    commit(store, vec![op]).unwrap()[0]
}

fn delete(store: &Embedded, key: &str) -> Revision {
    commit(store, vec![Op { key: key.into(), value: None, expect: Expect::Any }]).unwrap()[0]
}

/// Waits until the writer has forgotten history up to a revision.
fn await_compacted(store: &Embedded, upto: Revision) {
    let start = Instant::now();
    while store.compacted() < upto {
        assert!(start.elapsed() < Duration::from_secs(10), "compacted only up to {}", store.compacted());
        thread::yield_now();
    }
}

#[test]
fn embedded_keeps_the_promises_of_a_store() {
    let scratch = Scratch::new();
    let mut number = 0;
    suite::run(|| {
        number += 1;
        Embedded::open(scratch.0.join(number.to_string()), Options::default()).unwrap()
    });
}

#[test]
fn embedded_agrees_with_the_model() {
    property::agrees_with_the_model(48, || Opened::new(Options::default()));
}

#[test]
fn embedded_agrees_with_the_model_while_history_is_cut() {
    property::agrees_with_the_model(48, || Opened::new(Options { history_bytes: 2_000, ..Options::default() }));
}

#[test]
fn what_was_acknowledged_is_there_after_reopening() {
    let scratch = Scratch::new();
    let store = scratch.open(Options::default());
    put(&store, "/a", "1");
    put(&store, "/b", "1");
    put(&store, "/a", "2");
    delete(&store, "/b");
    let before = store.changes(Revision(0), 10).unwrap();
    drop(store);
    let store = scratch.open(Options::default());
    assert_eq!((store.head(), store.compacted()), (Revision(4), Revision(0)));
    assert_eq!(store.changes(Revision(0), 10).unwrap(), before);
    assert_eq!(store.range("/", Some(Revision(2))).unwrap().0.len(), 2);
    assert_eq!(put(&store, "/c", "1"), Revision(5));
}

#[test]
fn no_revision_is_reused_even_when_the_newest_change_is_forgotten() {
    let scratch = Scratch::new();
    let store = scratch.open(Options::default());
    put(&store, "/a", "1");
    delete(&store, "/a");
    store.compact(Revision(2)).unwrap();
    drop(store);
    let store = scratch.open(Options::default());
    assert_eq!((store.head(), store.compacted()), (Revision(2), Revision(2)));
    assert_eq!(put(&store, "/a", "2"), Revision(3));
    assert_eq!(store.changes(Revision(2), 9).unwrap()[0].previous, None);
}

#[test]
fn compaction_leaves_nothing_behind_but_the_newest_values() {
    let scratch = Scratch::new();
    let store = scratch.open(Options::default());
    for number in 0..300 {
        put(&store, &format!("/{}", number % 7), number.to_string());
    }
    delete(&store, "/3");
    store.compact(Revision(301)).unwrap();
    let log = redb::ReadableDatabase::begin_read(&*store.db).unwrap().open_table(LOG).unwrap();
    assert_eq!(redb::ReadableTableMetadata::len(&log).unwrap(), 6);
    assert_eq!(store.range("/", None).unwrap().0.len(), 6);
}

#[test]
fn history_is_cut_by_size() {
    let scratch = Scratch::new();
    let store = scratch.open(Options { history_bytes: 100_000, ..Options::default() });
    let value = Bytes::from(vec![b'x'; 1_000]);
    for _ in 0..99 {
        put(&store, "/a", value.clone());
    }
    assert_eq!(store.compacted(), Revision(0), "98 replaced values of 1,000 bytes have room");
    for _ in 0..100 {
        put(&store, "/a", value.clone());
    }
    await_compacted(&store, Revision(100));
    assert!(store.compacted() < Revision(110), "history is cut to its limit, no further");
    store.close();
    let compacted = store.compacted();
    drop(store);
    let store = scratch.open(Options { history_bytes: 100_000, ..Options::default() });
    assert_eq!(store.compacted(), compacted, "the cut survives a restart");
    assert_eq!(store.changes(compacted, 1_000).unwrap().len() as u64, 199 - compacted.0);
}

#[test]
fn history_is_cut_by_age_while_nothing_is_written() {
    let scratch = Scratch::new();
    let store = scratch.open(Options { history_age: Duration::from_millis(600), ..Options::default() });
    let start = SystemTime::now();
    put(&store, "/a", "1");
    let last = put(&store, "/a", "2");
    if start.elapsed().unwrap() < Duration::from_millis(500) {
        assert_eq!(store.changes(Revision(0), 10).unwrap().len(), 2);
    }
    await_compacted(&store, last);
    assert!(start.elapsed().unwrap() >= Duration::from_millis(600), "history was cut early");
    assert_eq!(store.changes(last, 10).unwrap(), []);
}

#[test]
fn the_age_of_history_is_known_after_reopening() {
    let scratch = Scratch::new();
    let store = scratch.open(Options::default());
    let last = put(&store, "/a", "1");
    drop(store);
    let store = scratch.open(Options { history_age: Duration::from_millis(1), ..Options::default() });
    await_compacted(&store, last);
}

#[test]
fn a_directory_in_use_is_refused() {
    let scratch = Scratch::new();
    let store = scratch.open(Options::default());
    let Err(error) = Embedded::open(&scratch.0, Options::default()) else { panic!("opened twice") };
    assert!(matches!(error, OpenError::InUse { .. }), "{error}");
    assert!(error.to_string().contains(scratch.0.to_str().unwrap()), "{error}");
    drop(store);
    scratch.open(Options::default());
}

#[test]
fn a_newer_format_is_refused() {
    let scratch = Scratch::new();
    drop(scratch.open(Options::default()));
    fs::write(scratch.0.join("FORMAT"), "2\n").unwrap();
    let Err(error) = Embedded::open(&scratch.0, Options::default()) else { panic!("opened") };
    assert!(matches!(error, OpenError::NewerFormat { found: 2, known: 1, .. }), "{error}");
    fs::write(scratch.0.join("FORMAT"), "what\n").unwrap();
    let Err(error) = Embedded::open(&scratch.0, Options::default()) else { panic!("opened") };
    assert!(matches!(error, OpenError::Damaged { .. }), "{error}");
}

#[test]
fn a_directory_that_cannot_be_made_is_named() {
    let scratch = Scratch::new();
    fs::create_dir_all(&scratch.0).unwrap();
    let file = scratch.0.join("file");
    fs::write(&file, "").unwrap();
    let Err(error) = Embedded::open(file.join("data"), Options::default()) else { panic!("opened") };
    assert!(matches!(error, OpenError::Directory { .. }), "{error}");
}

#[test]
fn a_creation_that_was_cut_off_is_begun_again() {
    let scratch = Scratch::new();
    drop(scratch.open(Options::default()));
    fs::rename(scratch.0.join("store.redb"), scratch.0.join("store.redb.new")).unwrap();
    fs::write(scratch.0.join("store.redb.new"), "half a file").unwrap();
    let store = scratch.open(Options::default());
    assert_eq!(put(&store, "/a", "1"), Revision(1));
}

#[cfg(unix)]
#[test]
fn the_directory_is_private() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = Scratch::new();
    let _store = scratch.open(Options::default());
    assert_eq!(fs::metadata(&scratch.0).unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn a_damaged_file_is_an_error_and_no_panic() {
    let scratch = Scratch::new();
    let store = scratch.open(Options::default());
    for number in 0..200 {
        put(&store, &format!("/{number}"), vec![b'x'; 500]);
    }
    drop(store);
    let file = scratch.0.join("store.redb");
    let whole = fs::read(&file).unwrap();
    for damage in [&b""[..], b"no store at all", &whole[..100], &whole[..4096], &whole[..whole.len() / 2]] {
        fs::write(&file, damage).unwrap();
        let Err(error) = Embedded::open(&scratch.0, Options::default()) else {
            panic!("opened {} bytes", damage.len())
        };
        assert!(matches!(error, OpenError::Damaged { .. }), "{error}");
    }
    fs::write(&file, &whole).unwrap();
    assert_eq!(scratch.open(Options::default()).range("/", None).unwrap().0.len(), 200);
}

#[test]
fn a_new_store_begins_after_its_origin_and_an_old_one_where_it_was() {
    let scratch = Scratch::new();
    let at = |origin| Options { origin: Revision(origin), ..Options::default() };
    let store = scratch.open(at(1_000));
    assert_eq!((store.head(), store.compacted()), (Revision(1_000), Revision(1_000)));
    assert_eq!(put(&store, "/a", "1"), Revision(1_001));
    drop(store);
    let store = scratch.open(at(5_000));
    assert_eq!((store.head(), store.compacted()), (Revision(1_001), Revision(1_000)));
}
