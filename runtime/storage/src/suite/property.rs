//! Random operations on a store and on a simple model, a list of all changes.

use std::{collections::BTreeMap, sync::Arc};

use proptest::prelude::*;

use super::{Revisions, delete, hold, put, scanned};
use crate::{
    Change, Commit, CommitError, CommitFuture, Entry, Expect, Hold, Op, ReadError, Store, Value, meta::Revision,
};

/// A store that can be closed and reopened, if the engine supports it.
pub(crate) trait Subject {
    fn store(&self) -> &dyn Store;
    fn reopen(&mut self);
    /// True if only the test compacts history. Otherwise the store's own limits may compact more than the model.
    fn keeps_history(&self) -> bool {
        true
    }
    /// How the engine gives revisions.
    fn revisions(&self) -> Revisions {
        Revisions::Dense
    }
}

#[derive(Clone, Debug)]
enum Step {
    /// Commits that are all queued before the first is awaited.
    Commit(Vec<(Vec<Write>, Vec<HoldGuess>)>),
    /// Compacts up to a fraction of history.
    Compact(u8),
    /// Reads the newest state, and the changes after a fraction of history.
    Read {
        part: u8,
        prefix: &'static str,
        limit: usize,
    },
    Reopen,
}

#[derive(Clone, Debug)]
struct Write {
    key: &'static str,
    value: Option<u8>,
    expect: Guess,
}

/// A hold with a guess of the key's revision.
#[derive(Clone, Debug)]
struct HoldGuess {
    key: &'static str,
    guess: Guess,
}

/// A precondition as a guess of the key's state.
#[derive(Clone, Copy, Debug)]
enum Guess {
    Any,
    Absent,
    /// The key's newest revision, according to the model before the group.
    Right,
    Wrong,
}

const KEYS: [&str; 7] = ["/r/a", "/r/a/x", "/r/a/y", "/r/aa/x", "/r/b/x", "/r/b/y", "/s/é"];

fn write() -> impl Strategy<Value = Write> {
    let expect =
        prop_oneof![3 => Just(Guess::Any), 2 => Just(Guess::Absent), 3 => Just(Guess::Right), 1 => Just(Guess::Wrong)];
    (prop::sample::select(&KEYS[..]), prop::option::weighted(0.7, any::<u8>()), expect)
        .prop_map(|(key, value, expect)| Write { key, value, expect })
}

fn hold_guess() -> impl Strategy<Value = HoldGuess> {
    let guess = prop_oneof![1 => Just(Guess::Absent), 4 => Just(Guess::Right), 1 => Just(Guess::Wrong)];
    (prop::sample::select(&KEYS[..]), guess).prop_map(|(key, guess)| HoldGuess { key, guess })
}

fn step() -> impl Strategy<Value = Step> {
    let prefix = prop::sample::select(&["", "/r/", "/r/a", "/r/a/", "/s/", "/t/"][..]);
    let commit = (prop::collection::vec(write(), 0..4), prop::collection::vec(hold_guess(), 0..3));
    prop_oneof![
        8 => prop::collection::vec(commit, 1..5).prop_map(Step::Commit),
        1 => any::<u8>().prop_map(Step::Compact),
        4 => (any::<u8>(), prefix, 0..20_usize).prop_map(|(part, prefix, limit)| Step::Read { part, prefix, limit }),
        1 => Just(Step::Reopen),
    ]
}

/// Runs random steps on fresh stores.
pub(crate) fn agrees_with_the_model<S: Subject>(cases: u32, mut fresh: impl FnMut() -> S) {
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases) };
    let mut runner = proptest::test_runner::TestRunner::new(config);
    let fresh = std::cell::RefCell::new(&mut fresh);
    runner
        .run(&prop::collection::vec(step(), 1..40), |steps| {
            let mut subject = (fresh.borrow_mut())();
            let mut model = Model::of(&subject);
            for step in steps {
                model.take(&mut subject, step);
                model.check(&subject);
            }
            Ok(())
        })
        .unwrap();
}

/// Why a commit fails.
#[derive(Debug, PartialEq)]
enum Why {
    Conflict(usize, Option<Revision>),
    Unmet(usize, Option<Revision>),
}

struct Model {
    revisions: Revisions,
    /// The revision before the first change.
    origin: Revision,
    changes: Vec<Change>,
    compacted: Revision,
}

type State = BTreeMap<Arc<str>, (Revision, Value)>;

impl Model {
    fn of(subject: &impl Subject) -> Self {
        let store = subject.store();
        let (origin, compacted) = (store.head(), store.compacted());
        Self { revisions: subject.revisions(), origin, changes: Vec::new(), compacted }
    }

    fn head(&self) -> Revision {
        self.changes.last().map_or(self.origin, |change| change.revision)
    }

    /// The revision after a fraction of the changes.
    fn part(&self, part: u8) -> Revision {
        let count = self.changes.len() * usize::from(part) / 255;
        count.checked_sub(1).map_or(self.origin, |last| self.changes[last].revision)
    }

    fn state(&self, at: Revision) -> State {
        let mut state = State::new();
        for change in self.changes.iter().take_while(|change| change.revision <= at) {
            match &change.value {
                Some(value) => state.insert(Arc::clone(&change.key), (change.revision, Ok(value.clone()))),
                None => state.remove(&change.key),
            };
        }
        state
    }

    fn take(&mut self, subject: &mut impl Subject, step: Step) {
        match step {
            Step::Commit(group) => self.commit(subject.store(), group),
            Step::Compact(part) => {
                subject.store().compact(self.part(part)).unwrap();
                self.compacted = self.compacted.max(self.part(part));
            }
            Step::Read { part, prefix, limit } => {
                self.read(subject.store(), self.part(part), limit);
                self.range(subject.store(), prefix);
            }
            Step::Reopen => subject.reopen(),
        }
    }

    fn commit(&mut self, store: &dyn Store, group: Vec<(Vec<Write>, Vec<HoldGuess>)>) {
        let before = self.state(self.head());
        let commit = |(writes, guesses)| Commit { ops: ops(writes, &before), holds: holds(guesses, &before) };
        let group: Vec<Commit> = group.into_iter().map(commit).collect();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        if self.revisions == Revisions::Shared {
            // Their order is open while several are on their way.
            for commit in group {
                let answer = runtime.block_on(store.commit(commit.clone()));
                self.apply(commit, answer);
            }
            return;
        }
        let futures: Vec<CommitFuture<'_>> = group.iter().map(|commit| store.commit(commit.clone())).collect();
        for (commit, future) in group.into_iter().zip(futures) {
            self.apply(commit, runtime.block_on(future));
        }
    }

    /// Compares the answer to a commit with what it must be, and applies the commit.
    fn apply(&mut self, commit: Commit, answer: Result<Vec<Revision>, CommitError>) {
        let found = match answer {
            Ok(revisions) => Ok(revisions),
            Err(CommitError::Conflict { index, current }) => Err(Why::Conflict(index, current)),
            Err(CommitError::Unmet { index, current }) => Err(Why::Unmet(index, current)),
            Err(error) => panic!("{error}"),
        };
        let mut state = self.state(self.head());
        assert_eq!(found.as_ref().err(), failure(&commit, &state).as_ref());
        let Ok(revisions) = found else { return };
        assert_eq!(revisions.len(), commit.ops.len());
        self.revisions.check(self.head(), &revisions);
        for (op, revision) in commit.ops.into_iter().zip(revisions) {
            let previous = state.remove(&op.key).into();
            self.changes.push(Change { revision, key: op.key, value: op.value, previous });
        }
    }

    fn read(&self, store: &dyn Store, at: Revision, limit: usize) {
        let compacted = store.compacted();
        let changes = store.changes(at, limit);
        if at < compacted {
            assert!(matches!(changes, Err(ReadError::Compacted(_))), "{changes:?}");
            return;
        }
        // The store's own limits may compact before each read. Such reads must fail.
        let is_cut = |error: &ReadError| matches!(error, ReadError::Compacted(_)) && at < store.compacted();
        let after: Vec<&Change> = self.changes.iter().filter(|change| change.revision > at).collect();
        match changes {
            Err(error) if is_cut(&error) => {}
            changes => {
                let changes = changes.unwrap();
                assert_eq!(changes.iter().collect::<Vec<_>>(), after[..changes.len()]);
                // Changes of one revision stay together.
                let rest = after[changes.len()..].first();
                let is_whole = changes.last().zip(rest).is_none_or(|(last, next)| last.revision < next.revision);
                assert!(is_whole && (changes.len() == after.len() || limit == 0 || !changes.is_empty()));
                assert!(changes.len() == limit.min(after.len()) || self.revisions == Revisions::Shared);
            }
        }
    }

    fn range(&self, store: &dyn Store, prefix: &str) {
        let expected: Vec<Entry> = self
            .state(self.head())
            .into_iter()
            .filter(|(key, _)| key.starts_with(prefix))
            .map(|(key, (revision, value))| Entry { key, value, revision })
            .collect();
        let (found, at) = store.range(prefix).unwrap();
        assert!(found == expected && at == store.head(), "{found:?} at {at}");
    }

    /// The invariants after every step.
    fn check(&mut self, subject: &impl Subject) {
        let store = subject.store();
        match self.revisions {
            Revisions::Dense => assert_eq!(store.head(), self.head()),
            Revisions::Shared => assert!(store.head() >= self.head()),
        }
        if subject.keeps_history() {
            assert_eq!(store.compacted(), self.compacted);
        } else {
            assert!(store.compacted() >= self.compacted);
        }
        self.read(store, self.head(), 10);
        self.range(store, "");
        assert_eq!(scanned(store, &[""]), store.range("").unwrap());
        for key in KEYS {
            let found = store.get(key).unwrap().map(|entry| (entry.revision, entry.value));
            assert_eq!(found, self.state(self.head()).get(key).cloned());
        }
    }
}

/// Why a commit must fail in a state, if it must.
fn failure(Commit { ops, holds }: &Commit, state: &State) -> Option<Why> {
    for (index, hold) in holds.iter().enumerate() {
        let current = state.get(&hold.key).map(|found| found.0);
        if hold.revision != current {
            return Some(Why::Unmet(index, current));
        }
    }
    for (index, op) in ops.iter().enumerate() {
        let current = state.get(&op.key).map(|found| found.0);
        let holds = match op.expect {
            Expect::Any => op.value.is_some() || current.is_some(),
            Expect::Absent => op.value.is_some() && current.is_none(),
            Expect::At(revision) => current == Some(revision),
        };
        if !holds {
            return Some(Why::Conflict(index, current));
        }
    }
    None
}

impl Guess {
    /// The guessed revision of a key.
    fn of(self, key: &str, state: &State) -> Option<Revision> {
        let current = state.get(key).map(|found| found.0);
        match self {
            Guess::Any | Guess::Right => current,
            Guess::Absent => None,
            Guess::Wrong => Some(current.map_or(Revision(1), Revision::next)),
        }
    }
}

fn holds(guesses: Vec<HoldGuess>, state: &State) -> Vec<Hold> {
    guesses.into_iter().map(|HoldGuess { key, guess }| hold(key, guess.of(key, state))).collect()
}

/// Makes operations with distinct keys out of guesses.
fn ops(writes: Vec<Write>, state: &State) -> Vec<Op> {
    let mut ops: Vec<Op> = Vec::new();
    for Write { key, value, expect } in writes {
        let expect = match expect {
            Guess::Any => Expect::Any,
            guess => guess.of(key, state).map_or(Expect::Absent, Expect::At),
        };
        if ops.iter().all(|op| *op.key != *key) {
            ops.push(value.map_or_else(|| delete(key, expect), |value| put(key, &"v".repeat(value.into()), expect)));
        }
    }
    ops
}
