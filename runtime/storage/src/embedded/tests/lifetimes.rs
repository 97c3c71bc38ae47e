//! Lifetimes over restarts, in copies of a store, and after damage.

use std::{
    path::Path,
    sync::{Arc, Mutex},
    time::Instant,
};

use redb::{ReadableDatabase, ReadableTableMetadata};

use super::{
    clock::{Clock, ClockReading},
    *,
};

const SHORT: Duration = Duration::from_millis(1_500);
const LONG: Duration = Duration::from_hours(1);

fn lease(store: &Embedded, key: &str, lifetime: Duration) -> Revision {
    let op = Op { key: key.into(), value: Some("{}".into()), expect: Expect::Any, lifetime: Some(lifetime) };
    commit(store, vec![op]).unwrap()[0]
}

fn keys(store: &Embedded) -> Vec<String> {
    store.range("/").unwrap().0.iter().map(|entry| entry.key.to_string()).collect()
}

fn deadlines(store: &Embedded) -> u64 {
    let transaction = store.current.get().db().begin_read().unwrap();
    transaction.open_table(layout::LIFETIMES).unwrap().len().unwrap()
}

/// Waits until only these keys are left.
fn await_keys(store: &Embedded, left: &[&str]) {
    let start = Instant::now();
    while keys(store) != left {
        assert!(start.elapsed() < Duration::from_secs(15), "{:?} are left", keys(store));
        thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_restart_neither_resets_a_lifetime_nor_ends_one() {
    let scratch = Scratch::new();
    let store = scratch.open(Options::default());
    let start = Instant::now();
    lease(&store, "/a", SHORT);
    lease(&store, "/b", LONG);
    put(&store, "/c", "1");
    drop(store);
    thread::sleep(SHORT / 3);
    let store = scratch.open(Options::default());
    assert_eq!(keys(&store), ["/a", "/b", "/c"]);
    await_keys(&store, &["/b", "/c"]);
    let after = start.elapsed();
    assert!(after >= SHORT && after < SHORT + Duration::from_secs(10), "{after:?}");
    assert_eq!(store.head(), Revision(4), "the deletion is a change");
}

#[test]
fn what_expired_while_the_store_was_closed_is_deleted_after_it_opens() {
    let scratch = Scratch::new();
    let store = scratch.open(Options::default());
    lease(&store, "/a", Duration::from_millis(50));
    drop(store);
    thread::sleep(Duration::from_millis(200));
    let store = scratch.open(Options::default());
    await_keys(&store, &[]);
    let changes = store.changes(Revision(1), 9).unwrap();
    assert_eq!((&*changes[0].key, &changes[0].value), ("/a", &None));
}

#[test]
fn many_values_that_expire_at_once_hold_no_writer_up_and_leave_no_deadline_behind() {
    let scratch = Scratch::new();
    let store = scratch.open(Options::default());
    let deletions = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&deletions);
    store.attach(Box::new(move |given| {
        let deleted = given.changes().iter().filter(|change| change.value.is_none()).count();
        seen.lock().unwrap().push(deleted);
    }));
    let ops: Vec<_> = (0..5_000)
        .map(|number| Op {
            key: format!("/e/{number:04}").into(),
            value: Some("{}".into()),
            expect: Expect::Absent,
            lifetime: Some(SHORT),
        })
        .collect();
    commit(&store, ops).unwrap();
    lease(&store, "/e/0000", LONG);
    put(&store, "/e/0001", "stays");
    assert_eq!(deadlines(&store), 4_999, "a deadline of a value that was replaced is removed");
    put(&store, "/w", "1");
    await_keys(&store, &["/e/0000", "/e/0001", "/w"]);
    assert_eq!(deadlines(&store), 1);
    let deletions = deletions.lock().unwrap();
    let most = deletions.iter().max().unwrap();
    assert!(*most <= 256, "a writer may have waited for {most} deletions");
    assert!(deletions.len() > 4_998 / 256, "{deletions:?}");
}

#[test]
fn copies_get_deadlines_on_the_clock_of_the_system() {
    const HOUR_MS: u64 = 3_600_000;
    let scratch = Scratch::new();
    let store = scratch.open(Options::default());
    let now_ms = ClockReading::now().system_ms;
    lease(&store, "/a", 3 * LONG);
    drop(store);
    // The store was made while the system's clock was two hours ahead.
    let db = redb::Database::open(scratch.0.join("store.redb")).unwrap();
    let transaction = db.begin_write().unwrap();
    let ahead = ClockReading { system_ms: now_ms + 2 * HOUR_MS, boot: 0, up_ms: 0 };
    let note = Clock::starting(ahead, None, 0).note();
    layout::save_note(note, &mut transaction.open_table(layout::META).unwrap()).unwrap();
    transaction.commit().unwrap();
    drop(db);
    let deadline_ms = |dir: &Path| {
        let mut objects = tools::DataDir::open(dir).unwrap().state(None).unwrap().objects;
        objects.next().unwrap().unwrap().deadline_ms.unwrap()
    };
    let expected = now_ms + HOUR_MS;
    let soon = expected..expected + 30_000;
    let stopped = deadline_ms(&scratch.0);
    assert!(soon.contains(&(stopped + 1_000)), "{stopped} is not {expected}");
    let store = scratch.open(Options::default());
    let running = deadline_ms(&scratch.0);
    assert!(soon.contains(&(running + 1_000)), "{running} is not {expected}");
    let before = put(&store, "/b", "1");
    lease(&store, "/c", LONG);
    let mut seen = Vec::new();
    let mut dir = tools::DataDir::open(&scratch.0).unwrap();
    let read = dir.changes(before, &mut |edit| {
        seen.extend(edit.deadline_ms);
        Ok(())
    });
    assert!(read.is_ok() && seen.len() == 1 && soon.contains(&(seen[0] + 1_000)), "{seen:?} is not {expected}");
}

#[test]
fn a_backup_keeps_lifetimes() {
    let scratch = Scratch::new();
    let store = scratch.open(Options::default());
    lease(&store, "/a", SHORT);
    lease(&store, "/b", LONG);
    put(&store, "/c", "1");
    drop(store);
    let (file, restored) = (scratch.0.with_extension("backup"), Scratch::new());
    let _ = fs::remove_file(&file);
    tools::backup(&scratch.0, &file, &mut |_| {}).unwrap();
    tools::restore(&file, &restored.0, &mut |_| {}).unwrap();
    fs::remove_file(&file).unwrap();
    let store = restored.open(Options::default());
    assert_eq!(deadlines(&store), 2);
    await_keys(&store, &["/b", "/c"]);
}

#[test]
fn salvage_keeps_lifetimes() {
    let (scratch, salvaged) = (Scratch::new(), Scratch::new());
    let store = scratch.open(Options::default());
    lease(&store, "/a", SHORT);
    lease(&store, "/b", LONG);
    drop(store);
    let salvage = tools::salvage(&scratch.0, &salvaged.0, &mut |_| {}).unwrap();
    assert!(salvage.is_complete(), "{salvage:?}");
    let store = salvaged.open(Options::default());
    assert_eq!(deadlines(&store), 2);
    await_keys(&store, &["/b"]);
}

#[test]
fn deadlines_that_are_lost_are_found_again_in_the_rows() {
    let scratch = Scratch::new();
    let store = scratch.open(Options::default());
    lease(&store, "/a", SHORT);
    lease(&store, "/b", LONG);
    drop(store);
    let db = redb::Database::open(scratch.0.join("store.redb")).unwrap();
    let transaction = db.begin_write().unwrap();
    transaction.open_table(layout::LIFETIMES).unwrap().retain(|_, _| false).unwrap();
    transaction.commit().unwrap();
    drop(db);
    let store = scratch.open(Options::default());
    assert_eq!(deadlines(&store), 2);
    await_keys(&store, &["/b"]);
}

#[test]
fn a_file_of_format_2_is_used_as_it_is() {
    let scratch = Scratch::new();
    let store = scratch.open(Options::default());
    put(&store, "/a", "1");
    drop(store);
    let db = redb::Database::open(scratch.0.join("store.redb")).unwrap();
    let transaction = db.begin_write().unwrap();
    transaction.delete_table(layout::LIFETIMES).unwrap();
    transaction.open_table(layout::META).unwrap().remove("clock").unwrap();
    transaction.commit().unwrap();
    drop(db);
    fs::write(scratch.0.join("FORMAT"), "2\n").unwrap();
    assert!(tools::check(&scratch.0, &mut |_| {}).is_ok_and(|checked| checked.is_whole()));
    let store = scratch.open(Options::default());
    assert_eq!(keys(&store), ["/a"]);
    lease(&store, "/a", Duration::from_millis(1));
    await_keys(&store, &[]);
    let names: Vec<_> = fs::read_dir(&scratch.0).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(names.iter().all(|name| !name.to_string_lossy().starts_with("store.redb.")), "{names:?}");
    assert_eq!(fs::read_to_string(scratch.0.join("FORMAT")).unwrap(), "3\n");
}
