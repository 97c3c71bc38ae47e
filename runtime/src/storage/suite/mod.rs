//! The behaviour that every engine must have. Each engine's tests run this suite on their own store.

mod lifetimes;
pub(super) mod property;

use std::sync::{Arc, Mutex};

use bytes::Bytes;

use super::{Change, Commit, CommitError, Delivery, Entry, Expect, Hold, Memory, Op, ReadError, Store};
use crate::meta::Revision;

fn put(key: &str, value: &str, expect: Expect) -> Op {
    Op { key: key.into(), value: Some(Bytes::copy_from_slice(value.as_bytes())), expect, lifetime: None }
}

fn delete(key: &str, expect: Expect) -> Op {
    Op { key: key.into(), value: None, expect, lifetime: None }
}

/// A condition on a key; revision zero means that it must not exist.
fn hold(key: &str, revision: u64) -> Hold {
    Hold { key: key.into(), revision: Some(Revision(revision)).filter(|revision| revision.0 > 0) }
}

/// Commits, and blocks until the answer.
pub(super) fn commit(store: &dyn Store, commit: impl Into<Commit>) -> Result<Vec<Revision>, CommitError> {
    tokio::runtime::Builder::new_current_thread().build().expect("a runtime").block_on(store.commit(commit.into()))
}

fn values(entries: &[Entry]) -> Vec<(&str, &str, u64)> {
    entries
        .iter()
        .map(|entry| {
            (&*entry.key, std::str::from_utf8(entry.value.as_ref().expect("whole")).expect("text"), entry.revision.0)
        })
        .collect()
}

fn seen(store: &dyn Store) -> Arc<Mutex<Vec<Change>>> {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let into = Arc::clone(&seen);
    store.attach(Box::new(move |given: Delivery<'_>| into.lock().unwrap().extend_from_slice(given.changes())));
    seen
}

/// Runs the whole suite; `fresh` creates an empty store.
pub(super) fn run<S: Store>(mut fresh: impl FnMut() -> S) {
    preconditions(&fresh());
    holds(&fresh());
    a_hold_sees_the_commits_queued_before_it(&fresh());
    a_commit_is_whole_or_nothing(&fresh());
    ranges_hold_exactly_the_prefix(&fresh());
    scans_give_each_newest_value_once(&fresh());
    the_past_is_rebuilt(&fresh());
    compaction_forgets_and_says_so(&fresh());
    the_sink_sees_what_changes_gives(&fresh());
    one_conflict_does_not_fail_other_queued_commits(&fresh());
    concurrent_increments_are_not_lost(&fresh());
    a_commit_is_acknowledged_after_the_sink_has_it(&fresh());
    a_closed_store_refuses(&fresh());
    lifetimes::run(&fresh());
}

fn conflict(result: Result<Vec<Revision>, CommitError>) -> (usize, Option<u64>) {
    match result {
        Err(CommitError::Conflict { index, current }) => (index, current.map(|revision| revision.0)),
        other => panic!("expected a conflict, got {other:?}"),
    }
}

fn preconditions(store: &dyn Store) {
    assert_eq!(conflict(commit(store, vec![delete("/a", Expect::Any)])), (0, None));
    assert_eq!(conflict(commit(store, vec![put("/a", "1", Expect::At(Revision(1)))])), (0, None));
    assert_eq!(commit(store, vec![put("/a", "1", Expect::Absent)]).unwrap(), [Revision(1)]);
    assert_eq!(conflict(commit(store, vec![put("/a", "2", Expect::Absent)])), (0, Some(1)));
    assert_eq!(conflict(commit(store, vec![put("/a", "2", Expect::At(Revision(7)))])), (0, Some(1)));
    assert_eq!(commit(store, vec![put("/a", "2", Expect::At(Revision(1)))]).unwrap(), [Revision(2)]);
    assert_eq!(commit(store, vec![put("/a", "3", Expect::Any)]).unwrap(), [Revision(3)]);
    assert_eq!(conflict(commit(store, vec![delete("/a", Expect::At(Revision(2)))])), (0, Some(3)));
    assert_eq!(commit(store, vec![delete("/a", Expect::At(Revision(3)))]).unwrap(), [Revision(4)]);
    assert_eq!(store.get("/a").unwrap(), None);
    assert_eq!(store.head(), Revision(4));
    assert_eq!(commit(store, Vec::new()).unwrap(), []);
    assert_eq!(store.head(), Revision(4));
}

fn unmet(result: &Result<Vec<Revision>, CommitError>) -> (usize, Option<u64>) {
    match result {
        Err(CommitError::Unmet { index, current }) => (*index, current.map(|revision| revision.0)),
        other => panic!("expected a hold that is not true, got {other:?}"),
    }
}

fn holds(store: &dyn Store) {
    let holding = |ops, holds: &[Hold]| commit(store, Commit { ops, holds: holds.to_vec() });
    let make = |key| vec![put(key, "1", Expect::Absent)];
    assert_eq!(unmet(&holding(make("/n/a"), &[hold("/n", 1)])), (0, None));
    assert_eq!(holding(make("/n/a"), &[hold("/n", 0)]).unwrap(), [Revision(1)]);
    commit(store, make("/n")).unwrap();
    assert_eq!(unmet(&holding(make("/n/b"), &[hold("/n", 0)])), (0, Some(2)));
    assert_eq!(unmet(&holding(make("/n/b"), &[hold("/n/a", 1), hold("/n", 1)])), (1, Some(2)));
    assert_eq!(unmet(&holding(make("/n/a"), &[hold("/n", 3)])), (0, Some(2)), "holds are judged before operations");
    assert_eq!(holding(make("/n/b"), &[hold("/n/a", 1), hold("/n", 2), hold("/m", 0)]).unwrap(), [Revision(3)]);
    assert_eq!(conflict(holding(make("/n/b"), &[hold("/n", 2)])), (0, Some(3)));
    let ops = vec![delete("/n", Expect::Any), put("/n/c", "1", Expect::Absent)];
    assert_eq!(holding(ops, &[hold("/n", 2)]).unwrap(), [Revision(4), Revision(5)], "a key may be held and written");
    assert_eq!(unmet(&holding(Vec::new(), &[hold("/n", 2)])), (0, None));
    assert_eq!(holding(Vec::new(), &[hold("/n", 0)]).unwrap(), []);
    assert_eq!(store.head(), Revision(5), "a hold writes nothing, and a failed hold prevents all operations");
    assert_eq!(store.changes(Revision(0), 10).unwrap().len(), 5);
}

/// Queues changes to a namespace and in it all at once: holds see the result of the earlier commits.
fn a_hold_sees_the_commits_queued_before_it(store: &dyn Store) {
    let in_namespace =
        |key, revision| Commit { ops: vec![put(key, "1", Expect::Absent)], holds: vec![hold("/n", revision)] };
    let queued: Vec<_> = [
        vec![put("/n", "active", Expect::Absent)].into(),
        in_namespace("/n/a", 1),
        vec![put("/n", "terminating", Expect::At(Revision(1)))].into(),
        in_namespace("/n/b", 1),
        vec![put("/m", "1", Expect::Absent)].into(),
        in_namespace("/n/c", 3),
        vec![delete("/n", Expect::At(Revision(3)))].into(),
        in_namespace("/n/d", 3),
        in_namespace("/n/e", 0),
    ]
    .into_iter()
    .map(|commit| store.commit(commit))
    .collect();
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let answers: Vec<_> = queued.into_iter().map(|queued| runtime.block_on(queued)).collect();
    let revisions: Vec<_> = answers.iter().map(|answer| answer.as_ref().ok().map(|revisions| revisions[0].0)).collect();
    assert_eq!(revisions, [Some(1), Some(2), Some(3), None, Some(4), Some(5), Some(6), None, Some(7)]);
    assert_eq!((unmet(&answers[3]), unmet(&answers[7])), ((0, Some(3)), (0, None)));
    let keys: Vec<_> = store.range("/n/", None).unwrap().0.iter().map(|entry| entry.key.to_string()).collect();
    assert_eq!(keys, ["/n/a", "/n/c", "/n/e"]);
}

fn a_commit_is_whole_or_nothing(store: &dyn Store) {
    commit(store, vec![put("/a", "1", Expect::Absent), put("/b", "1", Expect::Absent)]).unwrap();
    let result = commit(store, vec![put("/c", "1", Expect::Absent), put("/b", "2", Expect::Absent)]);
    assert_eq!(conflict(result), (1, Some(2)));
    assert_eq!(store.head(), Revision(2));
    assert_eq!(values(&store.range("/", None).unwrap().0), [("/a", "1", 1), ("/b", "1", 2)]);
    assert_eq!(store.changes(Revision(0), 10).unwrap().len(), 2);
    let ops = vec![put("/c", "1", Expect::Absent), delete("/a", Expect::At(Revision(1))), put("/b", "2", Expect::Any)];
    assert_eq!(commit(store, ops).unwrap(), [Revision(3), Revision(4), Revision(5)]);
    assert_eq!(values(&store.range("/", None).unwrap().0), [("/b", "2", 5), ("/c", "1", 3)]);
}

fn ranges_hold_exactly_the_prefix(store: &dyn Store) {
    for key in ["/r/a/x", "/r/a/y", "/r/aa/x", "/r/a", "/r/b/x", "/q", "/r/ä"] {
        commit(store, vec![put(key, key, Expect::Absent)]).unwrap();
    }
    let keys = |prefix: &str| -> Vec<String> {
        store.range(prefix, None).unwrap().0.iter().map(|entry| entry.key.to_string()).collect()
    };
    assert_eq!(keys("/r/a/"), ["/r/a/x", "/r/a/y"]);
    assert_eq!(keys("/r/a"), ["/r/a", "/r/a/x", "/r/a/y", "/r/aa/x"]);
    assert_eq!(keys("/r/ä"), ["/r/ä"]);
    assert_eq!(keys("/s"), [""; 0]);
    assert_eq!(keys("").len(), 7);
    assert_eq!(store.range("/r/a/", Some(Revision(1))).unwrap().0.len(), 1);
}

/// The result of a scan, in the order of its positions.
pub(super) fn scanned(store: &dyn Store, prefixes: &[&str]) -> (Vec<Entry>, Revision) {
    let found = Mutex::new(Vec::new());
    let head = store.scan(prefixes, &|piece| found.lock().unwrap().extend(piece)).unwrap();
    let mut found = found.into_inner().unwrap();
    found.sort_by_key(|(position, _)| *position);
    (found.into_iter().map(|(_, entry)| entry).collect(), head)
}

fn scans_give_each_newest_value_once(store: &dyn Store) {
    assert_eq!(scanned(store, &["/"]), (Vec::new(), Revision(0)));
    // Several pieces, and keys whose order is not that of their revisions.
    for number in 0..40_u64 {
        let key = |of| format!("/{}/{:04}", if of % 3 == 0 { "a" } else { "b" }, of * 7919 % 10_007);
        let ops: Vec<_> = (0..50).map(|op| put(&key(number * 50 + op), "1", Expect::Absent)).collect();
        commit(store, ops).unwrap();
        commit(store, vec![put(&key(number * 20), "2", Expect::Any), delete(&key(number * 50 + 1), Expect::Any)])
            .unwrap();
    }
    for prefixes in [&["/"][..], &["/a/"], &["/b/", "/c/"], &["/b/", "/a/"], &["/c/"], &[]] {
        let mut expected: Vec<Entry> =
            prefixes.iter().flat_map(|prefix| store.range(prefix, None).unwrap().0).collect();
        expected.sort_by(|one, other| one.key.cmp(&other.key));
        assert_eq!(scanned(store, prefixes), (expected, store.head()), "{prefixes:?}");
    }
}

fn the_past_is_rebuilt(store: &dyn Store) {
    commit(store, vec![put("/a", "1", Expect::Absent)]).unwrap();
    commit(store, vec![put("/a", "2", Expect::Any)]).unwrap();
    commit(store, vec![delete("/a", Expect::Any)]).unwrap();
    commit(store, vec![put("/a", "4", Expect::Absent), put("/b", "5", Expect::Absent)]).unwrap();
    let at = |revision| store.range("/", Some(Revision(revision)));
    assert_eq!(values(&at(0).unwrap().0), []);
    assert_eq!(values(&at(1).unwrap().0), [("/a", "1", 1)]);
    assert_eq!(values(&at(2).unwrap().0), [("/a", "2", 2)]);
    assert_eq!(values(&at(3).unwrap().0), []);
    assert_eq!(values(&at(4).unwrap().0), [("/a", "4", 4)]);
    assert_eq!(values(&at(5).unwrap().0), [("/a", "4", 4), ("/b", "5", 5)]);
    assert_eq!(at(5).unwrap().1, Revision(5));
    assert!(matches!(at(6), Err(ReadError::Future(Revision(5)))));
}

fn compaction_forgets_and_says_so(store: &dyn Store) {
    assert_eq!(store.compacted(), Revision(0));
    for value in ["1", "2", "3", "4"] {
        commit(store, vec![put("/a", value, Expect::Any)]).unwrap();
    }
    store.compact(Revision(2)).unwrap();
    assert_eq!(store.compacted(), Revision(2));
    assert!(matches!(store.changes(Revision(1), 10), Err(ReadError::Compacted(Revision(2)))));
    assert!(matches!(store.range("/", Some(Revision(1))), Err(ReadError::Compacted(Revision(2)))));
    assert_eq!(values(&store.range("/", Some(Revision(2))).unwrap().0), [("/a", "2", 2)]);
    let rest: Vec<u64> = store.changes(Revision(2), 10).unwrap().iter().map(|change| change.revision.0).collect();
    assert_eq!(rest, [3, 4]);
    store.compact(Revision(1)).unwrap();
    assert_eq!(store.compacted(), Revision(2), "compaction never goes back");
    store.compact(Revision(99)).unwrap();
    assert_eq!(store.compacted(), Revision(4), "a future revision cannot be compacted");
    assert_eq!(values(&store.range("/", None).unwrap().0), [("/a", "4", 4)]);
    assert_eq!(commit(store, vec![put("/a", "5", Expect::At(Revision(4)))]).unwrap(), [Revision(5)]);
    assert_eq!(store.changes(Revision(4), 10).unwrap().len(), 1);
}

fn the_sink_sees_what_changes_gives(store: &dyn Store) {
    let seen = seen(store);
    commit(store, vec![put("/a", "1", Expect::Absent), put("/b", "1", Expect::Absent)]).unwrap();
    let _ = commit(store, vec![put("/a", "2", Expect::Absent)]);
    drop(store.commit(vec![put("/a", "3", Expect::Any)].into()));
    commit(store, vec![delete("/b", Expect::Any)]).unwrap();
    let seen = seen.lock().unwrap().clone();
    assert_eq!(seen, store.changes(Revision(0), 10).unwrap());
    assert_eq!(store.changes(Revision(1), 2).unwrap(), &seen[1..3]);
    assert_eq!(store.changes(Revision(4), 2).unwrap(), []);
    assert_eq!(seen.len(), 4, "a dropped future undoes nothing, a conflict leaves no trace");
    assert_eq!(seen[2].previous, Some((Revision(1), Ok(Bytes::from_static(b"1")))));
    assert_eq!((&seen[3].value, &seen[3].previous), (&None, &Some((Revision(2), Ok(Bytes::from_static(b"1"))))));
}

fn one_conflict_does_not_fail_other_queued_commits(store: &dyn Store) {
    let queued: Vec<_> =
        ["/a", "/b", "/a", "/c"].map(|key| store.commit(vec![put(key, "1", Expect::Absent)].into())).into();
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let answers: Vec<_> = queued.into_iter().map(|queued| runtime.block_on(queued)).collect();
    let revisions: Vec<_> = answers.iter().map(|answer| answer.as_ref().ok().map(|revisions| revisions[0].0)).collect();
    assert_eq!(revisions, [Some(1), Some(2), None, Some(3)]);
    assert_eq!(conflict(answers.into_iter().nth(2).unwrap()), (0, Some(1)));
}

fn concurrent_increments_are_not_lost(store: &dyn Store) {
    commit(store, vec![put("/n", "0", Expect::Absent)]).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..20 {
                    increment(store);
                }
            });
        }
    });
    let counted = store.get("/n").unwrap().unwrap();
    assert_eq!((counted.value, counted.revision), (Ok(Bytes::from_static(b"160")), Revision(161)));
}

/// Adds one under a precondition, and retries after conflicts.
fn increment(store: &dyn Store) {
    loop {
        let current = store.get("/n").unwrap().unwrap();
        let number: u32 = std::str::from_utf8(&current.value.unwrap()).unwrap().parse().unwrap();
        match commit(store, vec![put("/n", &(number + 1).to_string(), Expect::At(current.revision))]) {
            Ok(_) => return,
            Err(CommitError::Conflict { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }
}

fn a_commit_is_acknowledged_after_the_sink_has_it(store: &dyn Store) {
    let seen = seen(store);
    for number in 0..20 {
        let revisions = commit(store, vec![put("/a", &number.to_string(), Expect::Any)]).unwrap();
        assert_eq!(seen.lock().unwrap().last().map(|change| change.revision), revisions.last().copied());
    }
}

fn a_closed_store_refuses(store: &dyn Store) {
    let kept = store.commit(vec![put("/a", "1", Expect::Absent)].into());
    store.close();
    store.close();
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    assert_eq!(runtime.block_on(kept).unwrap(), [Revision(1)], "queued commits are committed");
    assert!(matches!(commit(store, vec![put("/a", "1", Expect::Any)]), Err(CommitError::Closed)));
    assert_eq!(values(&store.range("/", None).unwrap().0), [("/a", "1", 1)]);
}

/// An engine without a disk cannot be reopened.
impl property::Subject for Memory {
    fn store(&self) -> &dyn Store {
        self
    }

    fn reopen(&mut self) {}
}

#[test]
fn memory_agrees_with_the_model() {
    property::agrees_with_the_model(256, Memory::new);
}

#[test]
fn memory_passes_the_suite() {
    run(Memory::new);
}
