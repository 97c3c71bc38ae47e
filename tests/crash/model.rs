//! The steps of the child's writers, and the store content that follows from them.

use std::{
    collections::{BTreeMap, HashMap},
    fs,
    hash::{DefaultHasher, Hash, Hasher},
    path::Path,
    time::{SystemTime, UNIX_EPOCH},
};

use bytes::Bytes;
use kindsmith::meta::Revision;
use kindsmith_storage::{Change, Embedded, Expect, Op, Previous, Store};

pub(crate) const WRITERS: usize = 8;

/// The number of keys of each writer besides its count.
const SLOTS: u64 = 12;

/// The key with the number of a writer's completed steps.
pub(crate) fn count_key(writer: usize) -> String {
    format!("/w/{writer}/count")
}

/// The number in the value of such a key.
pub(crate) fn count(value: &[u8]) -> u64 {
    std::str::from_utf8(value).unwrap().parse().unwrap()
}

/// A writer's commit at a step: its count, a numbered value, and sometimes a deletion.
pub(crate) fn ops(writer: usize, step: u64) -> Vec<Op> {
    let key = |slot: u64| format!("/w/{writer}/{:02}", slot % SLOTS).into();
    let put = |key, value| Op { key, value: Some(value), expect: Expect::Any, lifetime: None };
    let mut ops =
        vec![put(count_key(writer).into(), Bytes::from(step.to_string())), put(key(step), value(writer, step))];
    // The slot written half a round ago exists: it was written after its last deletion.
    if step.is_multiple_of(5) && step > SLOTS {
        ops.push(Op { key: key(step + SLOTS / 2), value: None, expect: Expect::Any, lifetime: None });
    }
    ops
}

fn value(writer: usize, step: u64) -> Bytes {
    let size = usize::try_from(step * 7919 % 3_000).unwrap();
    format!("{writer}:{step}:").bytes().cycle().take(size + 8).collect()
}

pub(crate) fn digest(value: Option<&Bytes>) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// What a verification examined.
#[derive(Debug, Default)]
pub(crate) struct Verified {
    pub acknowledged: usize,
    pub seen: usize,
    pub head: u64,
    pub compacted: u64,
}

/// Compares a store with the answers that the child got in all its lives.
pub(crate) fn verify(dir: &Path, store: &Embedded) -> Verified {
    let changes = verify_whole(store);
    let acks = lines(&dir.join("acks"));
    let mut last = HashMap::new();
    for ack in &acks {
        let [writer, step, revision] = numbers(ack);
        last.insert(usize::try_from(writer).unwrap(), step);
        if let Some(change) = changes.get(&Revision(revision)) {
            assert_eq!(&*change.key, count_key(usize::try_from(writer).unwrap()), "of the acknowledgement {ack}");
            assert_eq!(count(change.value.as_ref().unwrap()), step, "of the acknowledgement {ack}");
        } else {
            assert!(revision <= store.compacted().0, "acknowledged and lost: {ack}");
        }
    }
    let seen = lines(&dir.join("seen"));
    for line in &seen {
        let [revision, key, value] = line.split(' ').collect::<Vec<_>>().try_into().unwrap();
        let revision = Revision(revision.parse().unwrap());
        assert!(revision <= store.head(), "seen and lost: {line}");
        if let Some(change) = changes.get(&revision) {
            assert_eq!((&*change.key, digest(change.value.as_ref()).to_string().as_str()), (key, value), "of {line}");
        }
    }
    for writer in 0..WRITERS {
        verify_writer(store, writer, last.get(&writer).copied().unwrap_or(0));
    }
    Verified { acknowledged: acks.len(), seen: seen.len(), head: store.head().0, compacted: store.compacted().0 }
}

/// A writer's keys are in the state after the last acknowledged step or the one in progress.
fn verify_writer(store: &Embedded, writer: usize, acknowledged: u64) {
    let (entries, _) = store.range(&format!("/w/{writer}/")).unwrap();
    let done = store.get(&count_key(writer)).unwrap().map_or(0, |entry| count(&entry.value.unwrap()));
    assert!(
        done == acknowledged || done == acknowledged + 1,
        "writer {writer} has {done} steps in the store, {acknowledged} acknowledged"
    );
    let mut expected = BTreeMap::new();
    for step in 1..=done {
        for op in ops(writer, step) {
            match op.value {
                Some(value) => expected.insert(op.key, value),
                None => expected.remove(&op.key),
            };
        }
    }
    let found: BTreeMap<_, _> = entries.into_iter().map(|entry| (entry.key, entry.value.unwrap())).collect();
    assert!(found == expected, "writer {writer} after {done} steps: {:?}, {:?}", found.keys(), expected.keys());
}

/// The store is consistent: history has no gap, and each change has the right previous value, from the oldest readable state to
/// the newest one.
pub(crate) fn verify_whole(store: &Embedded) -> HashMap<Revision, Change> {
    let (compacted, head) = (store.compacted(), store.head());
    let changes = store.changes(compacted, usize::MAX).unwrap();
    let (newest, at) = store.range("").unwrap();
    let newest: BTreeMap<_, _> = newest.into_iter().map(|entry| (entry.key, (entry.revision, entry.value))).collect();
    let mut state = newest.clone();
    for change in changes.iter().rev() {
        match &change.previous {
            Previous::Value(revision, value) => state.insert(change.key.clone(), (*revision, value.clone())),
            Previous::Absent | Previous::Unread => state.remove(&change.key),
        };
    }
    let mut next = compacted;
    for change in &changes {
        next = next.next();
        assert_eq!(change.revision, next, "history has a gap");
        let previous = match &change.value {
            Some(value) => state.insert(change.key.clone(), (change.revision, Ok(value.clone()))),
            None => state.remove(&change.key),
        };
        assert!(change.previous == previous.into(), "the change {} does not know what it replaced", change.revision);
    }
    assert_eq!(next, head);
    assert_eq!(at, head);
    assert!(newest == state, "history does not lead to the newest state");
    changes.into_iter().map(|change| (change.revision, change)).collect()
}

fn lines(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap_or_default();
    // The kill cut off a last line without its end.
    text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n')).map(str::to_owned).collect()
}

fn numbers<const N: usize>(line: &str) -> [u64; N] {
    let numbers: Vec<u64> = line.split(' ').map(|number| number.parse().unwrap()).collect();
    numbers.try_into().unwrap()
}

/// Numbers that differ from run to run.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn from_clock() -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        Self(now.as_secs() << 30 | u64::from(now.subsec_nanos()) | 1)
    }

    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}
