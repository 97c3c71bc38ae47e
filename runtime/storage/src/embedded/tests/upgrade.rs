//! Directories of format 1 are upgraded, and the old file is kept.

use redb::{Database, TableDefinition};

use super::*;

/// Writes a directory of format 1: `/a` written, replaced and deleted, `/b` written and replaced, and history compacted
/// up to the first change.
fn format_1(scratch: &Scratch) {
    fs::create_dir_all(&scratch.0).unwrap();
    fs::write(scratch.0.join("FORMAT"), "1\n").unwrap();
    let db = Database::create(scratch.0.join("store.redb")).unwrap();
    let transaction = db.begin_write().unwrap();
    {
        let mut log = transaction.open_table(TableDefinition::<u64, &[u8]>::new("log")).unwrap();
        let mut row = |revision: u64, kind: u8, previous: u64, key: &str, body: &str| {
            let mut bytes = vec![kind];
            bytes.extend(previous.to_le_bytes());
            bytes.extend(revision.to_le_bytes());
            bytes.extend(u32::try_from(key.len()).unwrap().to_le_bytes());
            bytes.extend(key.as_bytes());
            bytes.extend(body.as_bytes());
            log.insert(revision, &*bytes).unwrap();
        };
        row(11, 0, 0, "/a", "a1");
        row(12, 0, 0, "/b", "b1");
        row(13, 0, 11, "/a", "a2");
        row(14, 0, 12, "/b", "b2");
        row(15, 1, 13, "/a", "");
        let mut index = transaction.open_table(TableDefinition::<&str, u64>::new("index")).unwrap();
        index.insert("/b", 14).unwrap();
        let mut marks = transaction.open_table(TableDefinition::<u64, u64>::new("marks")).unwrap();
        marks.insert(12, 1_700_000_000_000).unwrap();
        let mut meta = transaction.open_table(TableDefinition::<&str, u64>::new("meta")).unwrap();
        meta.insert("origin", 10).unwrap();
        meta.insert("compacted", 11).unwrap();
        meta.insert("obsolete", 0).unwrap();
    }
    transaction.commit().unwrap();
}

/// History is kept, whatever its age.
fn options() -> Options {
    Options { history_age: Duration::from_secs(1 << 40), ..Options::default() }
}

fn holds_what_format_1_held(store: &Embedded) {
    assert_eq!((store.head(), store.compacted()), (Revision(15), Revision(11)));
    assert_eq!(store.get("/a").unwrap(), None);
    assert_eq!(store.get("/b").unwrap().unwrap().value, Ok("b2".into()));
    let changes = store.changes(Revision(11), 9).unwrap();
    assert_eq!(changes.len(), 4);
    assert_eq!(changes[3].previous, Previous::Value(Revision(13), Ok("a2".into())));
}

#[test]
fn a_directory_of_format_1_is_upgraded_and_the_old_file_is_kept() {
    let scratch = Scratch::new();
    format_1(&scratch);
    let store = scratch.open(options());
    holds_what_format_1_held(&store);
    assert_eq!(put(&store, "/c", "c1"), Revision(16));
    drop(store);
    assert_eq!(fs::read_to_string(scratch.0.join("FORMAT")).unwrap(), "3\n");
    assert!(!scratch.0.join("store.redb.new").exists());
    let kept = Database::open(scratch.0.join("store.redb.format-1")).unwrap();
    let old = redb::ReadableDatabase::begin_read(&kept).unwrap();
    let index = old.open_table(TableDefinition::<&str, u64>::new("index")).unwrap();
    assert_eq!(index.get("/b").unwrap().unwrap().value(), 14);
    assert_eq!(scratch.open(options()).head(), Revision(16));
}

#[test]
fn an_interrupted_upgrade_is_repeated_or_completed() {
    // Interrupted before the new file was in place: half a new file, and perhaps a second name of the old one.
    for linked in [false, true] {
        let scratch = Scratch::new();
        format_1(&scratch);
        fs::write(scratch.0.join("store.redb.new"), "half a file").unwrap();
        if linked {
            fs::hard_link(scratch.0.join("store.redb"), scratch.0.join("store.redb.format-1")).unwrap();
        }
        holds_what_format_1_held(&scratch.open(options()));
        assert!(scratch.0.join("store.redb.format-1").exists());
    }
    // Interrupted after the new file was in place, before `FORMAT` was updated.
    let scratch = Scratch::new();
    format_1(&scratch);
    drop(scratch.open(options()));
    fs::write(scratch.0.join("FORMAT"), "1\n").unwrap();
    holds_what_format_1_held(&scratch.open(options()));
    assert_eq!(fs::read_to_string(scratch.0.join("FORMAT")).unwrap(), "3\n");
}
