//! Damage at rest: altered and missing rows are reported and never served; everything else is served.

use redb::{Database, ReadableTable, TableDefinition};

use super::*;
use crate::{Damage, Entry, Hold, Value};

const LOG: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("log");
const INDEX: TableDefinition<'_, &[u8], (u64, u64)> = TableDefinition::new("index");

impl Scratch {
    fn file(&self) -> PathBuf {
        self.0.join("store.redb")
    }

    /// Changes the file of the closed store.
    fn change(&self, change: impl FnOnce(&redb::WriteTransaction)) {
        let db = Database::open(self.file()).unwrap();
        let transaction = db.begin_write().unwrap();
        change(&transaction);
        transaction.commit().unwrap();
    }

    /// Changes one byte of a row of the log.
    fn spoil(&self, revision: u64) {
        self.change(|transaction| {
            let mut log = transaction.open_table(LOG).unwrap();
            let mut bytes = log.get(revision).unwrap().unwrap().value().to_vec();
            *bytes.last_mut().unwrap() ^= 1;
            log.insert(revision, &*bytes).unwrap();
        });
    }

    fn lose(&self, revision: u64) {
        self.change(|transaction| drop(transaction.open_table(LOG).unwrap().remove(revision).unwrap().unwrap()));
    }

    fn has(&self, name: &str) -> bool {
        self.0.join(name).exists()
    }
}

/// Keys `/a` to `/e`, written at revisions 1 to 5, and `/a` again at 6.
fn filled() -> Scratch {
    let scratch = Scratch::new();
    let store = scratch.open(Options::default());
    for key in ["/a", "/b", "/c", "/d", "/e"] {
        put(&store, key, key);
    }
    put(&store, "/a", "again");
    scratch
}

fn values(store: &Embedded) -> Vec<(String, Value)> {
    let (entries, _) = store.range("").unwrap();
    assert_eq!(suite::scanned(store, &[""]).0, entries, "a scan finds the same damage");
    entries.into_iter().map(|Entry { key, value, .. }| (key.to_string(), value)).collect()
}

fn whole() -> Vec<(String, Value)> {
    ["/a", "/b", "/c", "/d", "/e"]
        .map(|key| (key.to_owned(), Ok(if key == "/a" { "again".into() } else { Bytes::from(key) })))
        .to_vec()
}

fn with(key: &str, damage: Damage) -> Vec<(String, Value)> {
    let mut values = whole();
    values.iter_mut().find(|(found, _)| found == key).unwrap().1 = Err(damage);
    values
}

#[test]
fn a_changed_value_is_reported_under_its_key_and_can_be_deleted() {
    let scratch = filled();
    scratch.spoil(3);
    let found = fs::read(scratch.file()).unwrap();
    for _ in 0..2 {
        // The first start copies the readable part to a new file; the second finds the same damage there.
        let store = scratch.open(Options::default());
        assert_eq!(values(&store), with("/c", Damage::Missing));
        assert_eq!(store.get("/c").unwrap().unwrap().value, Err(Damage::Missing));
        assert_eq!(store.get("/d").unwrap().unwrap().value, Ok("/d".into()));
        let damage = store.health().damage;
        assert_eq!((damage.count, damage.keys), (1, vec!["/c".to_owned()]));
    }
    assert_eq!(fs::read(scratch.0.join("store.redb.damaged-1")).unwrap(), found, "kept as it was found");
    assert!(!scratch.has("store.redb.damaged-2"));
    let store = scratch.open(Options::default());
    let over =
        commit(&store, vec![Op { key: "/c".into(), value: Some("new".into()), expect: Expect::Any, lifetime: None }]);
    assert!(matches!(over, Err(CommitError::Damaged { damage: Damage::Missing, .. })), "{over:?}");
    let delete = Op { key: "/c".into(), value: None, expect: Expect::At(Revision(3)), lifetime: None };
    assert_eq!(commit(&store, vec![delete]).unwrap(), [Revision(7)]);
    assert_eq!(put(&store, "/c", "/c"), Revision(8));
    assert_eq!(values(&store), whole());
    store.compact(Revision(8)).unwrap();
    drop(store);
    assert_eq!(values(&scratch.open(Options::default())), whole());
    assert!(!scratch.has("store.redb.damaged-2"), "the store is whole again");
}

#[test]
fn values_are_passed_on_while_the_store_is_verified_unless_it_is_damaged() {
    let open = |scratch: &Scratch, prefix: &str| {
        let found = Mutex::new(Vec::new());
        let visit = |piece: Vec<(usize, Entry)>| found.lock().unwrap().extend(piece);
        let (store, at) = Embedded::open_and_scan(&scratch.0, Options::default(), &[prefix], &visit).unwrap();
        let mut found = found.into_inner().unwrap();
        found.sort_by_key(|(position, _)| *position);
        (found.into_iter().map(|(_, entry)| entry).collect::<Vec<_>>(), at, store)
    };
    let scratch = filled();
    for prefix in ["", "/", "/b", "/nothing"] {
        let (found, at, store) = open(&scratch, prefix);
        assert_eq!((found, at.unwrap()), store.range(prefix).unwrap(), "{prefix}");
    }
    scratch.spoil(3);
    let (_, at, store) = open(&scratch, "");
    assert_eq!(at, None, "the file was written again");
    assert_eq!(values(&store), with("/c", Damage::Missing));
    drop(store);
    let (found, at, store) = open(&scratch, "");
    assert_eq!((found, at.unwrap()), store.range("").unwrap(), "what is known to be damaged is passed as damaged");
}

#[test]
fn a_hold_needs_a_readable_revision_but_no_readable_value() {
    let scratch = filled();
    let store = scratch.open(Options::default());
    let transaction = store.current.get().db().begin_write().unwrap();
    {
        transaction.open_table(LOG).unwrap().remove(3).unwrap().unwrap();
        transaction.open_table(INDEX).unwrap().insert(&b"/d"[..], (4, 0)).unwrap();
    }
    transaction.commit().unwrap();
    let holding = |key: &str, revision| {
        let holds = vec![Hold { key: key.into(), revision: Some(Revision(revision)) }];
        let ops = vec![Op {
            key: format!("{key}/x").into(),
            value: Some("x".into()),
            expect: Expect::Absent,
            lifetime: None,
        }];
        commit(&store, Commit { ops, holds })
    };
    assert_eq!(holding("/c", 3).unwrap(), [Revision(7)]);
    let refused = holding("/d", 4);
    assert!(
        matches!(&refused, Err(CommitError::Damaged { key, damage: Damage::Altered }) if &**key == "/d"),
        "{refused:?}"
    );
}

#[test]
fn damage_that_comes_while_the_store_is_open_is_found_when_it_is_read() {
    let scratch = filled();
    let store = scratch.open(Options::default());
    let transaction = store.current.get().db().begin_write().unwrap();
    {
        let mut log = transaction.open_table(LOG).unwrap();
        let mut bytes = log.get(3).unwrap().unwrap().value().to_vec();
        bytes[30] ^= 64;
        log.insert(3, &*bytes).unwrap();
    }
    transaction.commit().unwrap();
    assert_eq!(values(&store), with("/c", Damage::Altered));
    let over =
        commit(&store, vec![Op { key: "/c".into(), value: Some("new".into()), expect: Expect::Any, lifetime: None }]);
    assert!(matches!(over, Err(CommitError::Damaged { damage: Damage::Altered, .. })), "{over:?}");
    assert_eq!(store.changes(Revision(0), 9).unwrap().len(), 2, "the changes before it");
    assert!(matches!(store.changes(Revision(2), 9), Err(ReadError::Damaged(_))));
    assert_eq!(store.changes(Revision(3), 9).unwrap().len(), 3, "the changes after it");
    let delete = Op { key: "/c".into(), value: None, expect: Expect::At(Revision(3)), lifetime: None };
    commit(&store, vec![delete]).unwrap();
    let gone = store.changes(Revision(6), 1).unwrap().remove(0);
    assert_eq!(gone.previous, Previous::Value(Revision(3), Err(Damage::Altered)));
    // Compaction skips unreadable rows.
    store.compact(Revision(7)).unwrap();
    assert_eq!(store.compacted(), Revision(7));
}

#[test]
fn a_missing_row_is_noticed_whatever_it_was() {
    // A newest value.
    let scratch = filled();
    scratch.lose(4);
    let store = scratch.open(Options::default());
    assert_eq!(values(&store), with("/d", Damage::Missing));
    assert_eq!(store.compacted(), Revision(4), "history begins after it");
    assert_eq!(store.changes(Revision(4), 9).unwrap().len(), 2);
    // A replaced value.
    let scratch = filled();
    scratch.lose(1);
    let store = scratch.open(Options::default());
    assert_eq!(values(&store), whole());
    assert_eq!(store.compacted(), Revision(6), "the change at 6 replaced it");
    // The newest change.
    let scratch = filled();
    scratch.lose(6);
    let store = scratch.open(Options::default());
    assert_eq!(values(&store), with("/a", Damage::Missing));
    assert_eq!(put(&store, "/f", "1"), Revision(7), "no revision is used twice");
    // A row that nothing points to: only its absence reveals the damage.
    let scratch = filled();
    scratch.open(Options::default()).compact(Revision(6)).unwrap();
    scratch.lose(2);
    scratch.change(|transaction| drop(transaction.open_table(INDEX).unwrap().remove(&b"/b"[..]).unwrap().unwrap()));
    let store = scratch.open(Options::default());
    assert!(scratch.has("store.redb.damaged-1"), "noticed");
    assert_eq!(values(&store).len(), 4);
}

#[test]
fn a_damaged_index_is_made_again_from_the_log() {
    for lost in [true, false] {
        let scratch = filled();
        let store = scratch.open(Options::default());
        commit(&store, vec![Op { key: "/e".into(), value: None, expect: Expect::Any, lifetime: None }]).unwrap();
        drop(store);
        scratch.change(|transaction| {
            let mut index = transaction.open_table(INDEX).unwrap();
            let (revision, checksum) = index.remove(&b"/b"[..]).unwrap().unwrap().value();
            if !lost {
                index.insert(&b"/b"[..], (revision + 1, checksum)).unwrap();
            }
        });
        let store = scratch.open(Options::default());
        assert_eq!(values(&store), whole()[..4]);
        assert_eq!((store.head(), store.compacted()), (Revision(7), Revision(0)), "history is whole");
        assert_eq!(store.changes(Revision(0), 9).unwrap().len(), 7);
    }
}

#[test]
fn where_log_and_index_are_damaged_nothing_older_is_served() {
    let scratch = filled();
    scratch.lose(6);
    scratch.change(|transaction| drop(transaction.open_table(INDEX).unwrap().remove(&b"/a"[..]).unwrap().unwrap()));
    let store = scratch.open(Options::default());
    assert_eq!(values(&store), with("/a", Damage::Missing), "the value of revision 1 is not the newest");
    let delete = Op { key: "/a".into(), value: None, expect: Expect::At(Revision(0)), lifetime: None };
    commit(&store, vec![delete]).unwrap();
    assert_eq!(values(&store), whole()[1..]);
}

#[test]
fn a_damaged_state_is_refused_with_the_way_out() {
    let scratch = filled();
    scratch.change(|transaction| {
        let mut meta = transaction.open_table(layout::META).unwrap();
        let mut bytes = meta.get("state").unwrap().unwrap().value().to_vec();
        bytes[40] ^= 1;
        meta.insert("state", &*bytes).unwrap();
    });
    let Err(error) = Embedded::open(&scratch.0, Options::default()) else { panic!("opened") };
    assert!(matches!(error, OpenError::Damaged { .. }), "{error}");
    assert!(error.to_string().contains("kindsmith store salvage"), "{error}");
}

#[test]
fn a_store_older_than_its_witness_is_refused() {
    let scratch = filled();
    let before = fs::read(scratch.file()).unwrap();
    let store = scratch.open(Options::default());
    put(&store, "/f", "1");
    drop(store);
    let after = fs::read(scratch.file()).unwrap();
    fs::write(scratch.file(), before).unwrap();
    let Err(error) = Embedded::open(&scratch.0, Options::default()) else { panic!("opened") };
    let text = error.to_string();
    assert!(text.contains("revision 6") && text.contains("7 to 7") && text.contains("salvage"), "{text}");
    fs::write(scratch.file(), after).unwrap();
    let witness = scratch.0.join("HEAD");
    let whole = fs::read(&witness).unwrap();
    // Older, torn, foreign and missing witnesses are ignored.
    for content in [&whole[..10], b"", b"what", &[0xff; 2_000]] {
        fs::write(&witness, content).unwrap();
        assert_eq!(scratch.open(Options::default()).head(), Revision(7));
    }
    fs::remove_file(&witness).unwrap();
    let store = scratch.open(Options::default());
    assert_eq!(put(&store, "/g", "1"), Revision(8));
    assert_eq!(fs::read(&witness).unwrap()[..20], *b"00000000000000000008");
}

#[test]
fn the_scrub_finds_what_becomes_damaged_while_the_store_is_open() {
    let scratch = filled();
    let store = scratch.open(Options { scrub_pause: Duration::from_millis(1), ..Options::default() });
    let transaction = store.current.get().db().begin_write().unwrap();
    {
        let mut log = transaction.open_table(LOG).unwrap();
        for revision in [1, 3] {
            let mut bytes = log.get(revision).unwrap().unwrap().value().to_vec();
            bytes[30] ^= 64;
            log.insert(revision, &*bytes).unwrap();
        }
        log.remove(5).unwrap();
    }
    transaction.commit().unwrap();
    let start = std::time::Instant::now();
    while store.health().damage.count < 3 {
        assert!(start.elapsed() < Duration::from_secs(10), "{:?}", store.health().damage);
        thread::yield_now();
    }
    assert_eq!(store.health().damage.keys, ["/c", "/e", "the change of revision 1"]);
    store.close();
    store.close();
}

#[test]
fn a_damaged_newest_commit_is_noticed_after_a_kill() {
    let scratch = filled();
    let store = scratch.open(Options::default());
    let before = fs::read(scratch.file()).unwrap();
    put(&store, "/newest", "the newest value");
    // A kill leaves the file as it is now, not closed.
    let mut killed = fs::read(scratch.file()).unwrap();
    let witness = fs::read(scratch.0.join("HEAD")).unwrap();
    drop(store);
    let restart = |file: &[u8]| {
        fs::write(scratch.file(), file).unwrap();
        fs::write(scratch.0.join("HEAD"), &witness).unwrap();
        Embedded::open(&scratch.0, Options::default()).map(|store| (store.head(), store.get("/newest").unwrap()))
    };
    let (head, newest) = restart(&killed).unwrap();
    assert_eq!((head, newest.unwrap().value), (Revision(7), Ok("the newest value".into())));
    let at = killed.windows(16).position(|bytes| bytes == b"the newest value").unwrap();
    assert!(before.get(at..at + 16).is_none_or(|bytes| bytes != b"the newest value"));
    killed[at] ^= 1;
    let Err(error) = restart(&killed) else { panic!("opened without the newest change") };
    assert!(error.to_string().contains("7 to 7"), "{error}");
    assert_eq!(fs::read(scratch.file()).unwrap(), killed, "a refused file is not changed");
}

#[test]
fn objects_are_copied_even_if_the_marks_of_history_are_unreadable() {
    let scratch = filled();
    scratch.change(|transaction| {
        let marks = TableDefinition::<u64, &str>::new("marks");
        assert!(transaction.delete_table(layout::MARKS).unwrap());
        transaction.open_table(marks).unwrap();
    });
    let mut dir = tools::DataDir::open(&scratch.0).unwrap();
    let objects = dir.state(None).unwrap().objects.collect::<Result<Vec<_>, _>>().unwrap();
    assert_eq!(objects.len(), 5);
}
