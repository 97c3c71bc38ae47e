//! A disk that is full, and stays full.

use std::{collections::BTreeMap, time::Instant};

use super::*;
use crate::ramdisk::RamDisk;

const LIMIT: u64 = 56 << 20;
const VALUE: usize = 4_000;

/// What was acknowledged: the number in the newest value of each key.
type Newest = BTreeMap<String, usize>;

fn try_put(store: &Embedded, key: &str, number: usize) -> Result<Revision, CommitError> {
    let value = Some(format!("{number:>VALUE$}").into());
    let op = Op { key: key.into(), value, expect: Expect::Any, lifetime: None };
    commit(store, vec![op]).map(|revisions| revisions[0])
}

fn delete(store: &Embedded, key: &str) -> Result<Vec<Revision>, CommitError> {
    commit(store, vec![Op { key: key.into(), value: None, expect: Expect::Any, lifetime: None }])
}

/// Writes new keys until the disk is full.
fn fill(store: &Embedded, newest: &mut Newest) {
    for number in newest.len().. {
        let key = format!("/{number:05}");
        match try_put(store, &key, number) {
            Ok(_) => _ = newest.insert(key, number),
            Err(CommitError::Refused { full: true, message }) => {
                assert!(message.contains("no space left") && message.contains("deleted"), "{message}");
                break;
            }
            Err(error) => panic!("{error:?}"),
        }
        assert!(number < 50_000, "the disk does not run full");
    }
    assert!(store.health().refuses_writes.is_some());
}

fn assert_holds(store: &Embedded, newest: &Newest) {
    let found = store.range("/").unwrap().0;
    let found = found.iter().map(|entry| {
        let value = entry.value.as_ref().unwrap();
        (entry.key.to_string(), std::str::from_utf8(value).unwrap().trim().parse().unwrap())
    });
    assert!(found.eq(newest.clone()), "acknowledged values are missing, or refused ones are there");
}

/// Waits until a condition holds.
fn await_that(what: &str, store: &Embedded, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(20), "{what}: {:?}", store.health());
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn deletions_and_compaction_go_on_while_a_disk_stays_full_and_make_room() {
    let disk = RamDisk::new(LIMIT);
    let options = Options { history_age: Duration::from_secs(1), ..Options::default() };
    let store = Embedded::open_on(disk.clone(), options).unwrap();
    let mut newest = Newest::new();
    fill(&store, &mut newest);
    assert_holds(&store, &newest);
    let objects = newest.len();

    // Half of them, one by one: each deletion is a group.
    for number in (0..objects).filter(|number| number % 2 == 0) {
        let key = format!("/{number:05}");
        delete(&store, &key).unwrap();
        newest.remove(&key);
    }
    let head = store.head();
    await_that("history is not compacted", &store, || store.compacted() >= head);

    // The freed pages take new values, more than the disk had free, again and again.
    let start = Instant::now();
    let mut written = 0;
    while written < objects {
        let key = format!("/again-{:02}", written % 50);
        match try_put(&store, &key, written) {
            Ok(_) => {
                newest.insert(key, written);
                written += 1;
            }
            Err(CommitError::Refused { full: true, .. }) => thread::sleep(Duration::from_millis(20)),
            Err(error) => panic!("{error:?}"),
        }
        assert!(start.elapsed() < Duration::from_secs(30), "{written} of {objects} in half a minute");
    }
    assert_holds(&store, &newest);
    assert!(disk.reserved().unwrap() > 0, "something is left for deletions");
    drop(store);
    let store = Embedded::open_on(disk, options).unwrap();
    assert_holds(&store, &newest);
}

#[test]
fn a_store_that_filled_its_disk_accepts_all_writes_when_there_is_space() {
    let disk = RamDisk::new(LIMIT);
    let store = Embedded::open_on(disk.clone(), Options::default()).unwrap();
    let mut newest = Newest::new();
    fill(&store, &mut newest);
    drop(store);
    let store = Embedded::open_on(disk.clone(), Options::default()).unwrap();
    await_that("the disk is full", &store, || store.health().refuses_writes.is_some());
    delete(&store, "/00000").unwrap();
    newest.remove("/00000");
    let refused = try_put(&store, "/x", 0);
    assert!(matches!(refused, Err(CommitError::Refused { full: true, .. })), "history keeps what was deleted");
    disk.limit(2 * LIMIT);
    await_that("the disk has space", &store, || store.health().refuses_writes.is_none());
    try_put(&store, "/00000", 0).unwrap();
    newest.insert("/00000".to_owned(), 0);
    assert_holds(&store, &newest);
}

#[test]
fn a_reserve_that_was_used_is_set_aside_again_after_a_restart() {
    let disk = RamDisk::new(LIMIT);
    drop(Embedded::open_on(disk.clone(), Options::default()).unwrap());
    let whole = disk.reserved().unwrap();
    for left in [0, 300_000, whole / 4, whole / 2 - 1] {
        disk.reserve(left).unwrap();
        let store = Embedded::open_on(disk.clone(), Options::default()).unwrap();
        await_that("the reserve stays small", &store, || disk.reserved().unwrap() == whole);
    }
}

#[test]
fn another_error_does_not_end_the_protection_of_a_full_disk() {
    let disk = RamDisk::new(LIMIT);
    let store = Embedded::open_on(disk.clone(), Options::default()).unwrap();
    fill(&store, &mut Newest::new());
    disk.refuse_reserve(true);
    // The second attempt shows what the first one has left.
    await_that("the reserve is not tried again", &store, || disk.refused_reserves() >= 2);
    let refused = try_put(&store, "/x", 0);
    assert!(matches!(refused, Err(CommitError::Refused { full: true, .. })), "{refused:?}");
    disk.refuse_reserve(false);
    disk.limit(2 * LIMIT);
    await_that("the disk has space", &store, || store.health().refuses_writes.is_none());
    try_put(&store, "/x", 0).unwrap();
}

#[test]
fn history_can_be_compacted_by_request_on_a_full_disk() {
    let disk = RamDisk::new(LIMIT);
    let store = Embedded::open_on(disk, Options::default()).unwrap();
    let mut newest = Newest::new();
    fill(&store, &mut newest);
    delete(&store, "/00000").unwrap();
    newest.remove("/00000");
    assert!(store.health().refuses_writes.is_some());
    store.compact(store.head()).unwrap();
    assert_eq!(store.compacted(), store.head());
    assert_holds(&store, &newest);
}

#[test]
fn history_is_compacted_on_a_full_disk_although_it_shares_all_pages_with_values() {
    let disk = RamDisk::new(3 * LIMIT);
    let store = Embedded::open_on(disk.clone(), Options::default()).unwrap();
    let key = |number: usize| format!("/{number:06}");
    let op = |number: usize, value: Option<Bytes>| Op {
        key: key(number).into(),
        value,
        expect: Expect::Any,
        lifetime: None,
    };
    let mut objects = 0;
    loop {
        let ops = (objects..objects + 100).map(|number| op(number, Some(vec![b'x'; 700].into())));
        match commit(&store, ops.collect::<Vec<_>>()) {
            Ok(_) => objects += 100,
            Err(CommitError::Refused { full: true, .. }) => break,
            Err(error) => panic!("{error:?}"),
        }
    }
    let deleted: Vec<usize> = (0..objects).step_by(3).collect();
    for some in deleted.chunks(100) {
        commit(&store, some.iter().map(|number| op(*number, None)).collect::<Vec<_>>()).unwrap();
    }
    store.compact(store.head()).unwrap();
    assert_eq!(store.range("").unwrap().0.len(), objects - deleted.len());
    assert!(disk.reserved().unwrap() > 0, "something is left for deletions");
}

#[test]
fn deletions_go_on_after_other_trouble_on_a_full_disk() {
    let disk = RamDisk::new(LIMIT);
    let store = Embedded::open_on(disk.clone(), Options::default()).unwrap();
    fill(&store, &mut Newest::new());
    disk.fail_syncs(true);
    assert!(delete(&store, "/00000").is_err());
    disk.take_free_space();
    disk.fail_syncs(false);
    await_that("nothing can be deleted", &store, || delete(&store, "/00001").is_ok());
    assert!(disk.reserved().unwrap() > 0, "something is left for deletions");
}

#[test]
fn what_little_is_left_of_the_reserve_is_kept_for_deletions() {
    let disk = RamDisk::new(LIMIT);
    let store = Embedded::open_on(disk.clone(), Options::default()).unwrap();
    fill(&store, &mut Newest::new());
    disk.reserve(3 << 19).unwrap();
    disk.take_free_space();
    let delete = |number| Op { key: format!("/{number:05}").into(), value: None, expect: Expect::Any, lifetime: None };
    commit(&store, (0..40).map(delete).collect::<Vec<_>>()).unwrap();
    store.compact(store.head()).unwrap();
    let refused = try_put(&store, "/x", 0);
    assert!(matches!(refused, Err(CommitError::Refused { full: true, .. })), "{refused:?}");
    commit(&store, (40..80).map(delete).collect::<Vec<_>>()).unwrap();
}

#[test]
fn a_group_of_large_values_that_fills_the_disk_leaves_some_of_the_reserve() {
    let disk = RamDisk::new(2 * LIMIT);
    let store = Embedded::open_on(disk.clone(), Options::default()).unwrap();
    await_that("nothing is set aside", &store, || disk.reserved().unwrap() > 0);
    put(&store, "/a", "1");
    disk.take_free_space();
    // The engine rounds the page of each up to two megabytes.
    let value = Bytes::from(vec![b'x'; 1_100_000]);
    let op = |number| Op {
        key: format!("/{number}").into(),
        value: Some(value.clone()),
        expect: Expect::Any,
        lifetime: None,
    };
    commit(&store, (0..8).map(op).collect::<Vec<_>>()).unwrap();
    assert!(disk.reserved().unwrap() > 0, "something is left for deletions");
    commit(&store, vec![Op { value: None, ..op(0) }]).unwrap();
}
