//! Lifetimes: a value is deleted after its time, never before, and only if it was not written again. Engines may count in
//! whole seconds.

use std::{
    collections::BTreeMap,
    thread,
    time::{Duration, Instant},
};

use super::*;

const SHORT: Duration = Duration::from_secs(2);
const LONG: Duration = Duration::from_hours(1);
/// How long a deletion may take beyond its time.
const PATIENCE: Duration = Duration::from_secs(15);

fn lease(key: &str, value: &str, expect: Expect, lifetime: Duration) -> Op {
    Op { lifetime: Some(lifetime), ..put(key, value, expect) }
}

pub(super) fn run(store: &dyn Store) {
    let deleted = deletions(store);
    let start = Instant::now();
    let created = commit(store, vec![lease("/l/a", "a", Expect::Absent, SHORT)]).unwrap();
    for key in ["/l/again", "/l/stays", "/l/recreated", "/l/b"] {
        commit(store, vec![lease(key, "1", Expect::Absent, SHORT)]).unwrap();
    }
    commit(store, vec![lease("/l/ever", "1", Expect::Absent, Duration::MAX)]).unwrap();
    commit(store, vec![lease("/l/long", "1", Expect::Absent, LONG), put("/r/plain", "1", Expect::Absent)]).unwrap();
    commit(store, vec![put("/l/stays", "2", Expect::Any)]).unwrap();
    commit(store, vec![delete("/l/recreated", Expect::Any)]).unwrap();
    commit(store, vec![put("/l/recreated", "2", Expect::Absent)]).unwrap();
    thread::sleep(SHORT / 2);
    let renewed = Instant::now();
    commit(store, vec![lease("/l/again", "2", Expect::Any, SHORT)]).unwrap();
    let last = commit(store, vec![lease("/l/b", "2", Expect::Any, LONG)]).unwrap();

    let a = deleted.wait("/l/a", start);
    let again = deleted.wait("/l/again", renewed);
    assert!(a.revision > last[0] && again.revision > a.revision, "a deletion has a revision of its own");
    // A value that is deleted wrongly has had its time by now.
    thread::sleep(SHORT / 2);
    let keys: Vec<_> = store.range("/").unwrap().0.iter().map(|entry| entry.key.to_string()).collect();
    assert_eq!(keys, ["/l/b", "/l/ever", "/l/long", "/l/recreated", "/l/stays", "/r/plain"]);
    let changes = store.changes(last[0], 10).unwrap();
    assert_eq!(changes.iter().map(|change| &*change.key).collect::<Vec<_>>(), ["/l/a", "/l/again"]);
    assert_eq!(changes[0].previous, replaced(created[0], "a"));
    assert!(matches!(&changes[1].previous, Previous::Value(_, Ok(value)) if value == "2"));
    assert_eq!(store.head(), again.revision);
    assert!(commit(store, vec![put("/l/a", "new", Expect::Absent)]).is_ok());
}

/// Deletions, and when they were delivered.
struct Deletions(Arc<Mutex<BTreeMap<String, (Change, Instant)>>>);

fn deletions(store: &dyn Store) -> Deletions {
    let seen = Arc::new(Mutex::new(BTreeMap::new()));
    let into = Arc::clone(&seen);
    store.attach(Box::new(move |given: Delivery<'_>| {
        for change in given.changes().iter().filter(|change| change.value.is_none()) {
            into.lock().unwrap().insert(change.key.to_string(), (change.clone(), Instant::now()));
        }
    }));
    Deletions(seen)
}

impl Deletions {
    /// Waits until a key is deleted whose value was written after `written`.
    fn wait(&self, key: &str, written: Instant) -> Change {
        loop {
            if let Some((change, at)) = self.0.lock().unwrap().get(key) {
                let after = at.duration_since(written);
                assert!(after >= SHORT, "{key} was deleted after {after:?}");
                return change.clone();
            }
            assert!(written.elapsed() < SHORT + PATIENCE, "{key} was not deleted");
            thread::sleep(Duration::from_millis(10));
        }
    }
}
