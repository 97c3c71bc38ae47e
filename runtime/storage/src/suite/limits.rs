//! History keeps within its limits of space and age, and reports to readers which changes are gone.

use std::{
    thread,
    time::{Duration, Instant},
};

use super::*;
use crate::Options;

const PATIENCE: Duration = Duration::from_secs(20);
const VALUE: usize = 4 << 10;

/// `open` opens an empty store with options.
pub(crate) fn run<S: Store>(mut open: impl FnMut(Options) -> S) {
    replaced_values_take_limited_space(&mut open);
    changes_are_kept_for_a_limited_time(&mut open);
}

fn until(what: &str, mut done: impl FnMut() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < PATIENCE, "{what}");
        thread::sleep(Duration::from_millis(5));
    }
}

fn replaced_values_take_limited_space<S: Store>(open: &mut impl FnMut(Options) -> S) {
    let most = 512 << 10;
    let options = Options { history_age: Duration::from_hours(1), history_bytes: most, ..Options::default() };
    let store = open(options);
    let value = "x".repeat(VALUE);
    for number in 0..1_000 {
        commit(&store, vec![put(&format!("/{}", number % 10), &value, Expect::Any)]).unwrap();
    }
    let kept = || -> usize {
        let changes = store.changes(store.compacted(), usize::MAX).unwrap();
        changes.iter().map(|change| change.previous.size()).sum()
    };
    until("old changes go", || kept() <= usize::try_from(most).unwrap());
    assert!(kept() > usize::try_from(most / 4).unwrap(), "no more goes than must");
    let first = store.changes(Revision(0), 1);
    assert!(matches!(first, Err(ReadError::Compacted(upto)) if upto == store.compacted()), "{first:?}");
    let newest = store.range("/").unwrap().0;
    assert!(newest.len() == 10 && newest.iter().all(|entry| entry.value == Ok(value.clone().into())));
}

fn changes_are_kept_for_a_limited_time<S: Store>(open: &mut impl FnMut(Options) -> S) {
    let age = Duration::from_secs(2);
    let store = open(Options { history_age: age, ..Options::default() });
    let begun = Instant::now();
    for value in ["1", "2", "3"] {
        commit(&store, vec![put("/a", value, Expect::Any)]).unwrap();
    }
    let seen = store.changes(Revision(0), 10);
    assert!(seen.is_ok_and(|seen| seen.len() == 3) || begun.elapsed() >= age);
    until("a store without writes forgets, too", || store.compacted() == Revision(3));
    assert!(begun.elapsed() >= age, "nothing goes early");
    assert_eq!(store.changes(Revision(3), 10).unwrap(), []);
    assert_eq!(store.get("/a").unwrap().unwrap().value, Ok("3".into()));
}
