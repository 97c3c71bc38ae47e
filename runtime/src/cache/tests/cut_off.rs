//! Revisions that no change has, and changes that were lost while the store was out of reach.

use super::{relay::Relay, *};

#[tokio::test]
async fn a_state_replaces_what_was_lost_and_ends_the_watches_that_missed_it() {
    let store = Arc::new(Relay::default());
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

    store.cut();
    store.commit(vec![delete("a/gone")].into()).await.unwrap();
    store.put("a/new", "x").await;
    store.reconnect();

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
    let store = Arc::new(Relay::default());
    let cache = Cache::new(store.clone(), Limits::default());
    let things = cache.register(PREFIX, reader()).unwrap();
    store.put("a/a", "x").await;
    let mut watch = things.watch(Revision(1), Subscription::All, None).await.unwrap();
    assert!(ready(&mut watch).is_empty());
    store.skip_to(Revision(9));
    cache.reached(Revision(9)).await;
    assert_eq!((things.snapshot().revision(), watch.position()), (Revision(9), Revision(9)));
}
