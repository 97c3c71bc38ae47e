//! The behaviour that every engine must have. Each engine's tests run this suite on their own store.

mod lifetimes;
pub(super) mod limits;
pub(super) mod property;
mod trial;

use std::sync::{Arc, Mutex};

use bytes::Bytes;

use self::trial::{Trial, value};
use super::{
    Change, Commit, CommitError, Delivery, Entry, Expect, Hold, Memory, Op, Options, Previous, ReadError, Store,
};
use crate::meta::Revision;

pub(super) use trial::Revisions;

fn put(key: &str, value: &str, expect: Expect) -> Op {
    Op { key: key.into(), value: Some(Bytes::copy_from_slice(value.as_bytes())), expect, lifetime: None }
}

fn delete(key: &str, expect: Expect) -> Op {
    Op { key: key.into(), value: None, expect, lifetime: None }
}

/// Commits, and blocks until the answer.
pub(super) fn commit(store: &dyn Store, commit: impl Into<Commit>) -> Result<Vec<Revision>, CommitError> {
    tokio::runtime::Builder::new_current_thread().build().expect("a runtime").block_on(store.commit(commit.into()))
}

/// A condition on a key that a revision wrote, or that does not exist.
fn hold(key: &str, revision: impl Into<Option<Revision>>) -> Hold {
    Hold { key: key.into(), revision: revision.into() }
}

/// Runs the whole suite; `fresh` creates an empty store.
pub(super) fn run<S: Store>(revisions: Revisions, mut fresh: impl FnMut() -> S) {
    let mut on = |check: fn(&Trial<S>)| check(&Trial::new(fresh(), revisions));
    on(preconditions);
    on(holds_are_conditions);
    on(a_hold_sees_the_commits_queued_before_it);
    on(a_commit_is_whole_or_nothing);
    on(ranges_hold_exactly_the_prefix);
    on(scans_give_each_newest_value_once);
    on(compaction_forgets_and_says_so);
    on(the_sink_sees_what_changes_gives);
    on(one_conflict_does_not_fail_other_queued_commits);
    on(concurrent_increments_are_not_lost);
    on(a_commit_is_acknowledged_after_the_sink_has_it);
    on(a_closed_store_refuses);
    on(|trial| lifetimes::run(&trial.store));
}

fn conflict(result: Result<Vec<Revision>, CommitError>) -> (usize, Option<Revision>) {
    match result {
        Err(CommitError::Conflict { index, current }) => (index, current),
        other => panic!("expected a conflict, got {other:?}"),
    }
}

fn unmet(result: &Result<Vec<Revision>, CommitError>) -> (usize, Option<Revision>) {
    match result {
        Err(CommitError::Unmet { index, current }) => (*index, *current),
        other => panic!("expected a hold that is not true, got {other:?}"),
    }
}

fn preconditions<S: Store>(on: &Trial<S>) {
    assert_eq!(on.conflict(delete("/a", Expect::Any)), (0, None));
    assert_eq!(on.conflict(put("/a", "1", Expect::At(Revision(1)))), (0, None));
    assert_eq!(on.conflict(put("/a", "1", Expect::At(Revision(0)))), (0, None));
    let first = on.write(vec![put("/a", "1", Expect::Absent)])[0];
    assert_eq!(on.conflict(put("/a", "2", Expect::Absent)), (0, Some(first)));
    assert_eq!(on.conflict(delete("/a", Expect::Absent)), (0, Some(first)));
    assert_eq!(on.conflict(put("/a", "2", Expect::At(Revision(first.0 + 6)))), (0, Some(first)));
    let second = on.write(vec![put("/a", "2", Expect::At(first))])[0];
    let third = on.put("/a", "3");
    assert_eq!(on.conflict(delete("/a", Expect::At(second))), (0, Some(third)));
    on.write(vec![delete("/a", Expect::At(third))]);
    assert_eq!(on.store.get("/a").unwrap(), None);
    assert_eq!(on.commit(Vec::new()).unwrap(), []);
}

fn holds_are_conditions<S: Store>(on: &Trial<S>) {
    let holding = |ops, holds: &[Hold]| on.commit(Commit { ops, holds: holds.to_vec() });
    let make = |key| vec![put(key, "1", Expect::Absent)];
    assert_eq!(unmet(&holding(make("/n/a"), &[hold("/n", Revision(1))])), (0, None));
    assert_eq!(unmet(&holding(make("/n/a"), &[hold("/n", Revision(0))])), (0, None));
    let a = holding(make("/n/a"), &[hold("/n", None)]).unwrap()[0];
    let n = on.write(make("/n"))[0];
    assert_eq!(unmet(&holding(make("/n/b"), &[hold("/n", None)])), (0, Some(n)));
    assert_eq!(unmet(&holding(make("/n/b"), &[hold("/n/a", a), hold("/n", a)])), (1, Some(n)));
    let first = unmet(&holding(make("/n/a"), &[hold("/n", n.next())]));
    assert_eq!(first, (0, Some(n)), "holds are judged before operations");
    let b = holding(make("/n/b"), &[hold("/n/a", a), hold("/n", n), hold("/m", None)]).unwrap()[0];
    assert_eq!(conflict(holding(make("/n/b"), &[hold("/n", n)])), (0, Some(b)));
    let ops = vec![delete("/n", Expect::Any), put("/n/c", "1", Expect::Absent)];
    assert_eq!(holding(ops, &[hold("/n", n)]).unwrap().len(), 2, "a key may be held and written");
    assert_eq!(unmet(&holding(Vec::new(), &[hold("/n", n)])), (0, None));
    assert_eq!(holding(Vec::new(), &[hold("/n", None)]).unwrap(), []);
    assert_eq!(on.changes().len(), 5, "a hold writes nothing, and a failed hold prevents all operations");
}

/// Queues changes to a namespace and in it all at once: holds see the result of the earlier commits.
fn a_hold_sees_the_commits_queued_before_it<S: Store>(on: &Trial<S>) {
    let active = on.write(vec![put("/n", "active", Expect::Absent)])[0];
    let in_namespace = |key, revision: Option<Revision>| Commit {
        ops: vec![put(key, "1", Expect::Absent)],
        holds: vec![hold("/n", revision)],
    };
    let answers = on.queue(vec![
        in_namespace("/n/a", Some(active)),
        vec![put("/n", "terminating", Expect::At(active))].into(),
        in_namespace("/n/b", Some(active)),
        vec![put("/m", "1", Expect::Absent)].into(),
        in_namespace("/n/c", None),
        vec![delete("/n", Expect::Any)].into(),
        in_namespace("/n/d", Some(active)),
        in_namespace("/n/e", None),
    ]);
    let given: Vec<_> = answers.iter().map(|answer| answer.as_ref().ok().map(|given| given[0])).collect();
    assert_eq!(
        given.iter().map(Option::is_some).collect::<Vec<_>>(),
        [true, true, false, true, false, true, false, true]
    );
    let taken: Vec<Revision> = given.iter().flatten().copied().collect();
    assert!(taken.is_sorted_by(|one, next| one < next));
    if on.revisions == Revisions::Dense {
        assert_eq!(taken, [2, 3, 4, 5, 6].map(Revision));
    }
    let terminating = given[1];
    assert_eq!(
        [2, 4, 6].map(|at| unmet(&answers[at])),
        [(0, terminating), (0, terminating), (0, None)],
        "the state that the earlier commits left"
    );
    let keys: Vec<_> = on.values("/n/").into_iter().map(|(key, ..)| key).collect();
    assert_eq!(keys, ["/n/a", "/n/e"]);
}

fn a_commit_is_whole_or_nothing<S: Store>(on: &Trial<S>) {
    let made = on.write(vec![put("/a", "1", Expect::Absent), put("/b", "1", Expect::Absent)]);
    let result = on.commit(vec![put("/c", "1", Expect::Absent), put("/b", "2", Expect::Absent)]);
    assert_eq!(conflict(result), (1, Some(made[1])));
    assert_eq!(on.values("/"), [value("/a", "1", made[0]), value("/b", "1", made[1])]);
    assert_eq!(on.changes().len(), 2);
    let ops = vec![put("/c", "1", Expect::Absent), delete("/a", Expect::At(made[0])), put("/b", "2", Expect::Any)];
    let then = on.write(ops);
    assert_eq!(on.values("/"), [value("/b", "2", then[2]), value("/c", "1", then[0])]);
    assert_eq!(on.changes().iter().map(|change| change.revision).collect::<Vec<_>>(), [made, then].concat());
}

fn ranges_hold_exactly_the_prefix<S: Store>(on: &Trial<S>) {
    on.put("/r/a/x", "1");
    for key in ["/r/a/y", "/r/aa/x", "/r/a", "/r/b/x", "/q", "/r/ä"] {
        on.put(key, "1");
    }
    let keys = |prefix: &str| -> Vec<String> { on.values(prefix).into_iter().map(|(key, ..)| key).collect() };
    assert_eq!(keys("/r/a/"), ["/r/a/x", "/r/a/y"]);
    assert_eq!(keys("/r/a"), ["/r/a", "/r/a/x", "/r/a/y", "/r/aa/x"]);
    assert_eq!(keys("/r/ä"), ["/r/ä"]);
    assert_eq!(keys("/s"), [""; 0]);
    assert_eq!(keys("").len(), 7);
}

/// The result of a scan, in the order of its positions.
pub(super) fn scanned(store: &dyn Store, prefixes: &[&str]) -> (Vec<Entry>, Revision) {
    let found = Mutex::new(Vec::new());
    let head = store.scan(prefixes, &|piece| found.lock().unwrap().extend(piece)).unwrap();
    let mut found = found.into_inner().unwrap();
    found.sort_by_key(|(position, _)| *position);
    (found.into_iter().map(|(_, entry)| entry).collect(), head)
}

fn scans_give_each_newest_value_once<S: Store>(on: &Trial<S>) {
    let store = &on.store;
    assert_eq!(scanned(store, &["/"]), (Vec::new(), on.origin));
    // Several pieces, and keys whose order is not that of their revisions.
    for number in 0..40_u64 {
        let key = |of| format!("/{}/{:04}", if of % 3 == 0 { "a" } else { "b" }, of * 7919 % 10_007);
        let ops: Vec<_> = (0..50).map(|op| put(&key(number * 50 + op), "1", Expect::Absent)).collect();
        on.write(ops);
        on.write(vec![put(&key(number * 20), "2", Expect::Any), delete(&key(number * 50 + 1), Expect::Any)]);
    }
    for prefixes in [&["/"][..], &["/a/"], &["/b/", "/c/"], &["/b/", "/a/"], &["/c/"], &[]] {
        let mut expected: Vec<Entry> = prefixes.iter().flat_map(|prefix| store.range(prefix).unwrap().0).collect();
        expected.sort_by(|one, other| one.key.cmp(&other.key));
        assert_eq!(scanned(store, prefixes), (expected, store.head()), "{prefixes:?}");
    }
}

fn compaction_forgets_and_says_so<S: Store>(on: &Trial<S>) {
    assert!(on.store.compacted() <= on.origin);
    let made = ["1", "2", "3", "4"].map(|value| on.put("/a", value));
    on.store.compact(made[1]).unwrap();
    assert_eq!(on.store.compacted(), made[1]);
    let is_told = |error: Option<ReadError>| matches!(error, Some(ReadError::Compacted(upto)) if upto == made[1]);
    for gone in [on.origin, made[0]] {
        assert!(is_told(on.store.changes(gone, 10).err()));
    }
    let rest = on.store.changes(made[1], 10).unwrap();
    assert_eq!(rest.iter().map(|change| change.revision).collect::<Vec<_>>(), made[2..]);
    assert_eq!(rest[0].previous, replaced(made[1], "2"), "what it replaced is kept");
    on.store.compact(made[0]).unwrap();
    assert_eq!(on.store.compacted(), made[1], "compaction never goes back");
    on.store.compact(Revision(made[3].0 + 99)).unwrap();
    assert_eq!(on.store.compacted(), made[3], "a future revision cannot be compacted");
    assert_eq!(on.values("/"), [value("/a", "4", made[3])]);
    on.write(vec![put("/a", "5", Expect::At(made[3]))]);
    assert_eq!(on.store.changes(made[3], 10).unwrap().len(), 1);
}

fn the_sink_sees_what_changes_gives<S: Store>(on: &Trial<S>) {
    let seen = on.seen();
    let made = on.write(vec![put("/a", "1", Expect::Absent), put("/b", "1", Expect::Absent)]);
    assert_eq!(on.conflict(put("/a", "2", Expect::Absent)), (0, Some(made[0])));
    let before = on.store.head();
    drop(on.store.commit(vec![put("/a", "3", Expect::Any)].into()));
    while on.store.head() == before {
        std::thread::yield_now();
    }
    on.write(vec![delete("/b", Expect::Any)]);
    let (seen, changes) = (seen.lock().unwrap().clone(), on.changes());
    assert_eq!(changes.len(), 4, "a dropped future undoes nothing, a conflict leaves no trace");
    assert_eq!(seen, changes.iter().zip(&seen).map(as_delivered).collect::<Vec<_>>());
    assert_eq!(seen.len(), changes.len());
    assert_eq!(on.store.changes(made[1], 1).unwrap(), &changes[2..3]);
    assert_eq!(on.store.changes(changes[2].revision, 2).unwrap(), &changes[3..]);
    assert_eq!(on.store.changes(changes[3].revision, 2).unwrap(), []);
    assert_eq!(changes[1].previous, Previous::Absent);
    assert_eq!(changes[2].previous, replaced(made[0], "1"));
    assert_eq!((&changes[3].value, &changes[3].previous), (&None, &replaced(made[1], "1")));
}

/// A change as the engine may have delivered it: without the value that it replaced.
fn as_delivered((change, seen): (&Change, &Change)) -> Change {
    let is_left_out = seen.previous == Previous::Unread && change.previous != Previous::Absent;
    let previous = if is_left_out { Previous::Unread } else { change.previous.clone() };
    Change { previous, ..change.clone() }
}

fn replaced(revision: Revision, value: &'static str) -> Previous {
    Previous::Value(revision, Ok(value.into()))
}

fn one_conflict_does_not_fail_other_queued_commits<S: Store>(on: &Trial<S>) {
    let commits = ["/a", "/b", "/a", "/c"].map(|key| vec![put(key, "1", Expect::Absent)].into());
    let answers = on.queue(commits.into());
    let given: Vec<_> = answers.iter().map(|answer| answer.as_ref().ok().map(|given| given[0])).collect();
    assert_eq!(given.iter().map(Option::is_some).collect::<Vec<_>>(), [true, true, false, true]);
    let taken: Vec<_> = given.iter().flatten().collect();
    assert!(taken.is_sorted_by(|one, next| one < next));
    assert!(on.revisions == Revisions::Shared || taken == [&Revision(1), &Revision(2), &Revision(3)]);
    assert_eq!(conflict(answers.into_iter().nth(2).unwrap()), (0, given[0]));
}

fn concurrent_increments_are_not_lost<S: Store>(on: &Trial<S>) {
    on.write(vec![put("/n", "0", Expect::Absent)]);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..20 {
                    increment(&on.store);
                }
            });
        }
    });
    let counted = on.store.get("/n").unwrap().unwrap();
    assert_eq!(counted.value, Ok(Bytes::from_static(b"160")));
    assert!(on.revisions == Revisions::Shared || counted.revision == Revision(161));
    assert_eq!((counted.revision, on.changes().len()), (on.store.head(), 100), "no more than asked for");
    assert_eq!(on.store.changes(on.origin, 1_000).unwrap().len(), 161, "a conflict leaves no trace");
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

fn a_commit_is_acknowledged_after_the_sink_has_it<S: Store>(on: &Trial<S>) {
    let seen = on.seen();
    for number in 0..20 {
        let given = on.put("/a", &number.to_string());
        assert_eq!(seen.lock().unwrap().last().map(|change| change.revision), Some(given));
    }
}

fn a_closed_store_refuses<S: Store>(on: &Trial<S>) {
    let kept = on.store.commit(vec![put("/a", "1", Expect::Absent)].into());
    on.store.close();
    on.store.close();
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let kept = runtime.block_on(kept).expect("queued commits are committed");
    on.revisions.check(on.origin, &kept);
    assert!(matches!(on.commit(vec![put("/a", "1", Expect::Any)]), Err(CommitError::Closed)));
    assert_eq!(on.values("/"), [value("/a", "1", kept[0])]);
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

/// A store whose history is cut.
struct Cut(Memory);

impl property::Subject for Cut {
    fn store(&self) -> &dyn Store {
        &self.0
    }

    fn reopen(&mut self) {}

    fn keeps_history(&self) -> bool {
        false
    }
}

#[test]
fn memory_agrees_with_the_model_while_history_is_cut() {
    property::agrees_with_the_model(64, || Cut(Memory::with(&Options { history_bytes: 2_000, ..Options::default() })));
}

#[test]
fn memory_passes_the_suite() {
    run(Revisions::Dense, Memory::new);
}

#[test]
fn memory_keeps_within_the_limits() {
    limits::run(|options| Memory::with(&options));
}
