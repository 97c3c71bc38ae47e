//! Records the requests to a store, its answers and its published changes, and checks that they agree.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

use bytes::Bytes;
use kindsmith::meta::Revision;
use kindsmith_storage::{Change, CommitError, Embedded, Expect, Op, Store};

/// The answer to a write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answered {
    Acknowledged(Revision),
    Refused { full: bool, message: String },
    Unknown,
}

/// Clones share the record.
#[derive(Clone, Default)]
pub(crate) struct Record(Arc<Mutex<Written>>);

#[derive(Default)]
struct Written {
    answers: BTreeMap<String, Answered>,
    seen: Vec<Change>,
}

impl Record {
    /// Records what the sink of a store receives.
    pub(crate) fn attach(&self, store: &Embedded) {
        let record = Arc::clone(&self.0);
        store.attach(Box::new(move |given| record.lock().unwrap().seen.extend_from_slice(given.changes())));
    }

    /// Writes a unique value.
    pub(crate) fn write(&self, store: &Embedded, key: &str, value: &str) -> Answered {
        let op = Op { key: key.into(), value: Some(padded(value)), expect: Expect::Any, lifetime: None };
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let answered = match runtime.block_on(store.commit(vec![op].into())) {
            Ok(revisions) => Answered::Acknowledged(revisions[0]),
            Err(CommitError::Refused { full, message }) => Answered::Refused { full, message },
            Err(CommitError::Unknown(_)) => Answered::Unknown,
            Err(error) => panic!("{value}: {error}"),
        };
        self.0.lock().unwrap().answers.insert(value.to_owned(), answered.clone());
        answered
    }

    /// Writes until a write is acknowledged, which must happen by itself.
    pub(crate) fn write_until_done(&self, store: &Embedded, key: &str, name: &str) {
        let start = Instant::now();
        for attempt in 0.. {
            if let Answered::Acknowledged(_) = self.write(store, key, &format!("{name}.{attempt}")) {
                return;
            }
            let health = store.health();
            assert!(start.elapsed() < Duration::from_secs(10), "{name}: the store does not write again: {health:?}");
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// The number of acknowledged writes.
    pub(crate) fn acknowledged(&self) -> usize {
        let record = self.0.lock().unwrap();
        record.answers.values().filter(|answer| matches!(answer, Answered::Acknowledged(_))).count()
    }

    /// Compares a store with its answers and published changes. No write is in doubt at the end.
    pub(crate) fn verify(&self, store: &Embedded, what: &str) {
        let record = self.0.lock().unwrap();
        let revisions: Vec<u64> = record.seen.iter().map(|change| change.revision.0).collect();
        let expected: Vec<u64> = (1..=record.seen.len() as u64).collect();
        assert_eq!(revisions, expected, "{what}: each change once and in order");
        assert_eq!(store.head(), Revision(record.seen.len() as u64), "{what}");
        let values: BTreeSet<&[u8]> = record.seen.iter().filter_map(|change| change.value.as_deref()).collect();
        for (value, answer) in &record.answers {
            let there = values.contains(&*padded(value));
            match answer {
                Answered::Acknowledged(revision) => {
                    let change = &record.seen[usize::try_from(revision.0).unwrap() - 1];
                    assert_eq!(change.value, Some(padded(value)), "{what}: {value} was acknowledged");
                }
                Answered::Refused { .. } => assert!(!there, "{what}: {value} was refused, and is there"),
                Answered::Unknown => {}
            }
        }
        let mut state = BTreeMap::new();
        for change in &record.seen {
            state.insert(change.key.clone(), (change.revision, change.value.clone().unwrap()));
        }
        let found = again_until(|| store.range("").ok()).0.into_iter();
        let found: BTreeMap<_, _> =
            found.map(|entry| (entry.key, (entry.revision, entry.value.expect("undamaged")))).collect();
        assert!(found == state, "{what}: the newest state differs");
        // History may be compacted meanwhile.
        let kept = again_until(|| store.changes(store.compacted(), usize::MAX).ok());
        let first = record.seen.len() - kept.len();
        assert!(kept == record.seen[first..], "{what}: history differs");
    }
}

/// Retries a read until it succeeds: the failing call may be a reader's, after which the store reopens its file.
fn again_until<T>(read: impl Fn() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = read() {
            return found;
        }
        assert!(start.elapsed() < Duration::from_secs(10), "reads do not go on");
        thread::sleep(Duration::from_millis(5));
    }
}

fn padded(value: &str) -> Bytes {
    format!("{value:-<600}").into()
}
