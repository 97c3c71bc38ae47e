//! A store that other processes write to: revisions that no change has, and changes that were lost while the store was
//! out of reach.

use super::*;
use crate::storage::{Change, Commit, CommitFuture, Delivery, Entry, Health, ReadError, Sink, Visit};

/// A memory store that delivers what the test says.
#[derive(Default)]
struct CutOff {
    store: Memory,
    sink: Mutex<Option<Sink>>,
}

impl CutOff {
    fn deliver(&self, delivery: Delivery<'_>) {
        lock(&self.sink).as_mut().unwrap()(delivery);
    }

    /// Commits, and delivers the changes.
    async fn put(&self, key: &str, app: &str) {
        self.lose(key, app).await;
        let head = self.head();
        self.deliver(Delivery::Changes(&self.changes(head.previous(), 1).unwrap(), head));
    }

    /// Commits, and delivers nothing.
    async fn lose(&self, key: &str, app: &str) {
        self.store.commit(vec![put(key, app, "red")].into()).await.unwrap();
    }
}

impl Store for CutOff {
    fn attach(&self, sink: Sink) {
        *lock(&self.sink) = Some(sink);
    }

    fn commit(&self, commit: Commit) -> CommitFuture<'_> {
        self.store.commit(commit)
    }

    fn get(&self, key: &str) -> Result<Option<Entry>, ReadError> {
        self.store.get(key)
    }

    fn range(&self, prefix: &str, at: Option<Revision>) -> Result<(Vec<Entry>, Revision), ReadError> {
        self.store.range(prefix, at)
    }

    fn scan(&self, prefixes: &[&str], visit: Visit<'_>) -> Result<Revision, ReadError> {
        self.store.scan(prefixes, visit)
    }

    fn head(&self) -> Revision {
        self.store.head()
    }

    fn compacted(&self) -> Revision {
        self.store.compacted()
    }

    fn changes(&self, after: Revision, limit: usize) -> Result<Vec<Change>, ReadError> {
        self.store.changes(after, limit)
    }

    fn compact(&self, upto: Revision) -> Result<(), ReadError> {
        self.store.compact(upto)
    }

    fn health(&self) -> Health {
        self.store.health()
    }

    fn close(&self) {
        self.store.close();
    }
}

#[tokio::test]
async fn a_state_replaces_what_was_lost_and_ends_the_watches_that_missed_it() {
    let store = Arc::new(CutOff::default());
    let cache = Cache::new(store.clone(), Limits::default());
    let things = cache.register(PREFIX, reader()).unwrap();
    store.put("a/kept", "x").await;
    store.put("a/gone", "x").await;
    let subscriptions = [Subscription::All, Subscription::Namespace("a".into()), Subscription::Key("a/new".into())];
    let mut watches = Vec::new();
    for subscription in &subscriptions {
        watches.push(things.watch(Revision(2), subscription.clone(), None).await.unwrap());
    }
    let kept = things.snapshot().get("a/kept").unwrap();

    store.store.commit(vec![delete("a/gone")].into()).await.unwrap();
    store.lose("a/new", "x").await;
    store.compact(Revision(4)).unwrap();
    let (entries, at) = store.range("", None).unwrap();
    store.deliver(Delivery::State(&entries, at));

    let snapshot = things.snapshot();
    assert_eq!(snapshot.revision(), Revision(4));
    let keys: Vec<_> = snapshot.range("", None).map(|object| object.key().to_owned()).collect();
    assert_eq!(keys, ["a/kept", "a/new"]);
    assert!(Arc::ptr_eq(&kept, &snapshot.get("a/kept").unwrap()), "what did not change is not rendered again");
    for watch in &mut watches {
        assert!(matches!(watch.next().await, Some(Err(WatchError::Lagged))));
    }
    for subscription in &subscriptions {
        let resumed = things.watch(Revision(2), subscription.clone(), None).await;
        assert!(matches!(resumed, Err(WatchError::Expired(Revision(4)))), "{:?}", resumed.err());
        watches.push(things.watch(Revision(4), subscription.clone(), None).await.unwrap());
    }
    store.put("a/new", "y").await;
    for watch in watches.iter_mut().skip(subscriptions.len()) {
        assert_eq!(next(watch, 1).await, ["M a/new 5 y"]);
    }
}

#[tokio::test]
async fn a_revision_without_a_change_advances_reads_and_bookmarks() {
    let store = Arc::new(CutOff::default());
    let cache = Cache::new(store.clone(), Limits::default());
    let things = cache.register(PREFIX, reader()).unwrap();
    store.put("a/a", "x").await;
    let mut watch = things.watch(Revision(1), Subscription::All, None).await.unwrap();
    assert!(ready(&mut watch).is_empty());
    store.deliver(Delivery::Changes(&[], Revision(9)));
    cache.reached(Revision(9)).await;
    assert_eq!((things.snapshot().revision(), watch.position()), (Revision(9), Revision(9)));
}
