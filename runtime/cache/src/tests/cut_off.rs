//! Revisions that no change has or that several have, and changes that were lost while the store was out of reach.

use super::*;

#[tokio::test]
async fn a_state_replaces_what_was_lost_and_ends_the_watches_that_missed_it() {
    let store = Arc::new(Relay::default());
    let cache = Cache::new(store.clone(), Limits::default());
    let things = serve(&cache, PREFIX, reader());
    relay(&store, "a/kept", "x").await;
    relay(&store, "a/gone", "x").await;
    let subscriptions = [Subscription::All, Subscription::Namespace("a".into()), Subscription::Key("a/new".into())];
    let mut watches = Vec::new();
    for subscription in &subscriptions {
        watches.push(things.watch(Revision(2), subscription.clone(), None).await.unwrap());
    }
    let kept = things.snapshot().get("a/kept").unwrap();

    store.cut();
    store.commit(vec![delete("a/gone")].into()).await.unwrap();
    relay(&store, "a/new", "x").await;
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
    relay(&store, "a/new", "y").await;
    for watch in watches.iter_mut().skip(subscriptions.len()) {
        assert_eq!(next(watch, 1).await, ["M a/new 5 y"]);
    }
}

#[tokio::test]
async fn a_state_that_was_read_before_a_resource_was_loaded_does_not_take_it_back() {
    let store = Arc::new(Relay::default());
    let cache = Cache::new(store.clone(), Limits::default());
    store.cut();
    relay(&store, "a/a", "x").await;
    let state = store.range("").unwrap();
    relay(&store, "a/b", "x").await;
    let things = serve(&cache, PREFIX, reader());
    let mut watch = things.watch(Revision(2), Subscription::All, None).await.unwrap();
    store.reconnect_with(state);
    assert_eq!(things.snapshot().revision(), Revision(2));
    assert_eq!(content(&things.snapshot()), ["a/a 1", "a/b 2"]);
    relay(&store, "a/a", "y").await;
    assert_eq!(next(&mut watch, 1).await, ["M a/a 3 y"]);
}

#[tokio::test]
async fn a_revision_without_a_change_advances_reads_and_bookmarks() {
    let store = Arc::new(Relay::default());
    let cache = Cache::new(store.clone(), Limits::default());
    let things = serve(&cache, PREFIX, reader());
    relay(&store, "a/a", "x").await;
    let mut watch = things.watch(Revision(1), Subscription::All, None).await.unwrap();
    assert!(ready(&mut watch).is_empty());
    store.skip_to(Revision(9));
    cache.reached(Revision(9)).await;
    assert_eq!((things.snapshot().revision(), watch.position()), (Revision(9), Revision(9)));
}

/// etcd deletes all keys of a lease that has ended in one revision.
#[tokio::test]
async fn many_changes_of_one_revision_are_all_applied_and_all_watched() {
    let store = Arc::new(Relay::default());
    let cache = Cache::new(store.clone(), Limits::default());
    let things = serve(&cache, PREFIX, reader());
    let keys: Vec<_> = (10..90).map(|number| format!("a/{number}")).collect();
    for key in &keys {
        relay(&store, key, "x").await;
    }
    relay(&store, "b/stays", "x").await;
    let mut watches = Vec::new();
    for subscription in [Subscription::All, Subscription::Namespace("a".into())] {
        watches.push(things.watch(Revision(81), subscription, None).await.unwrap());
    }
    let mut streamed = things.watch(Revision(81), Subscription::All, None).await.unwrap();
    let pending = cache.load("/registry/things", reader()).unwrap();
    store.join();
    store.commit(keys.iter().map(|key| delete(key)).collect::<Vec<_>>().into()).await.unwrap();

    assert_eq!(content(&things.snapshot()), ["b/stays 81"]);
    let deletions: Vec<_> = keys.iter().map(|key| format!("D {key} 161 x")).collect();
    for watch in &mut watches {
        assert_eq!(ready(watch), deletions);
    }
    let (mut events, mut cx) = (Vec::new(), std::task::Context::from_waker(std::task::Waker::noop()));
    let polled = streamed.poll_events(&mut cx, 10, &mut events);
    assert!(matches!(polled, std::task::Poll::Ready(Some(Ok(())))));
    assert_eq!(events.iter().map(short).collect::<Vec<_>>(), deletions, "a client resumes after all of them");
    assert_eq!(content(&pending.serve(|| ()).snapshot()), ["b/stays 81"]);
    assert_eq!(content(&things.snapshot_at(Revision(160)).await.unwrap()).len(), 81);
}
