//! Tests of single behaviours of watches.

use super::*;

/// The changes of the conformance scenario `watch`.
async fn story() -> World {
    let world = World::new(Limits::default());
    world.put("t/a", "x", "red").await; // 1
    world.put("t/a", "x", "blue").await; // 2
    world.put("t/b", "y", "red").await; // 3
    world.put("t/a", "z", "blue").await; // 4
    world.delete("t/b").await; // 5
    world
}

#[tokio::test]
async fn objects_enter_and_leave_a_selector() {
    let world = story().await;
    for restarted in [false, true] {
        let world = if restarted { World::over(world.store.clone(), Limits::default()) } else { story().await };
        let seen = async |after, filter| ready_all(&mut world.watch(after, Subscription::All, filter).await);
        assert_eq!(seen(1, None).await, ["M t/a 2 x", "A t/b 3 y", "M t/a 4 z", "D t/b 5 y"]);
        assert_eq!(seen(3, None).await, ["M t/a 4 z", "D t/b 5 y"]);
        assert_eq!(seen(1, Some(selects("x"))).await, ["M t/a 2 x", "D t/a 4 x"]);
        assert_eq!(seen(1, Some(selects("z"))).await, ["A t/a 4 z"]);
        assert_eq!(seen(1, Some(selects("y"))).await, ["A t/b 3 y", "D t/b 5 y"]);
        assert_eq!(seen(0, Some(selects("none"))).await, [""; 0]);
    }
}

/// All events up to the cache's revision.
fn ready_all(watch: &mut Watch) -> Vec<String> {
    let found = ready(watch);
    assert_eq!(watch.position(), Revision(5));
    found
}

#[tokio::test]
async fn a_subscription_selects_by_namespace_key_and_field() {
    let world = story().await;
    world.put("u/a", "x", "red").await; // 6
    let field = |value: &str| Subscription::Field(0, value.into());
    for _ in 0..2 {
        let seen = async |subscription| ready(&mut world.watch(1, subscription, None).await);
        assert_eq!(seen(Subscription::Key("t/b".into())).await, ["A t/b 3 y", "D t/b 5 y"]);
        assert_eq!(seen(Subscription::Namespace("u".into())).await, ["A u/a 6 x"]);
        assert_eq!(seen(field("red")).await, ["D t/a 2 x", "A t/b 3 y", "D t/b 5 y", "A u/a 6 x"]);
        assert_eq!(seen(field("blue")).await, ["A t/a 2 x", "M t/a 4 z"]);
        assert_eq!(seen(Subscription::Field(9, "".into())).await.len(), 5);
        assert_eq!(seen(Subscription::Field(9, "x".into())).await.len(), 0);
    }
}

#[tokio::test]
async fn a_channel_serves_later_subscribers_with_older_positions() {
    let world = story().await;
    let key = || Subscription::Key("t/a".into());
    let mut newest = world.watch(5, key(), None).await;
    let mut middle = world.watch(3, key(), None).await;
    let mut oldest = world.watch(0, key(), None).await;
    world.put("t/a", "w", "blue").await;
    assert_eq!(ready(&mut newest), ["M t/a 6 w"]);
    assert_eq!(ready(&mut middle), ["M t/a 4 z", "M t/a 6 w"]);
    assert_eq!(ready(&mut oldest), ["A t/a 1 x", "M t/a 2 x", "M t/a 4 z", "M t/a 6 w"]);
    drop((newest, middle, oldest));
    assert_eq!(ready(&mut world.watch(2, key(), None).await), ["M t/a 4 z", "M t/a 6 w"]);
}

#[tokio::test]
async fn frames_are_shared_between_watchers_and_with_the_snapshot() {
    let world = story().await;
    let mut one = world.watch(0, Subscription::All, None).await;
    let mut two = world.watch(0, Subscription::Namespace("t".into()), None).await;
    for _ in 0..5 {
        let (a, b) = (one.next().await.unwrap().unwrap(), two.next().await.unwrap().unwrap());
        assert_eq!(a.frame().as_ptr(), b.frame().as_ptr());
        assert!(a.frame().starts_with(a.event_type.opening().as_bytes()) && a.frame().ends_with(b"}\n"));
    }
    let newest = world.things.snapshot().get("t/a").unwrap();
    assert!(newest.frame().as_ptr_range().contains(&newest.json().as_ptr()));
}

#[tokio::test]
async fn the_position_advances_with_changes_that_do_not_match() {
    let world = story().await;
    let mut watch = world.watch(5, Subscription::Key("t/q".into()), None).await;
    assert_eq!(ready(&mut watch), [""; 0]);
    world.put("t/a", "x", "red").await;
    assert_eq!(watch.position(), Revision(6));
    world.commit(vec![Op { key: "/elsewhere".into(), ..put("e", "x", "red") }]).await;
    assert_eq!(watch.position(), Revision(7));
    world.put("t/q", "x", "red").await;
    assert_eq!(watch.position(), Revision(7), "an event is waiting");
    assert_eq!(ready(&mut watch), ["A t/q 8 x"]);
    assert_eq!(watch.position(), Revision(8));
}

#[tokio::test]
async fn a_watch_from_the_future_begins_there() {
    let world = World::new(Limits::default());
    let mut watch = world.watch(2, Subscription::All, None).await;
    for _ in 0..3 {
        world.put("a", "x", "red").await;
    }
    assert_eq!(ready(&mut watch), ["M a 3 x"]);
}

#[tokio::test]
async fn a_watch_that_falls_behind_the_window_gets_an_error_and_can_resume() {
    let world = World::new(Limits { window: 4, ..Limits::default() });
    let mut slow = world.watch(0, Subscription::All, None).await;
    let mut narrow = world.watch(0, Subscription::Key("b".into()), None).await;
    world.put("a", "x", "red").await;
    assert_eq!(ready(&mut slow).len(), 1);
    for _ in 0..9 {
        world.put("a", "x", "red").await;
    }
    assert!(matches!(slow.next().await, Some(Err(WatchError::Lagged))));
    assert!(slow.next().await.is_none());
    assert_eq!(ready(&mut narrow), [""; 0], "it missed no matching change");
    let mut resumed = world.watch(1, Subscription::All, None).await;
    assert_eq!(next(&mut resumed, 9).await.last().unwrap(), "M a 10 x");
}

#[tokio::test]
async fn the_window_is_also_bounded_by_bytes() {
    let world = World::new(Limits { window: 1000, window_bytes: 4000, ..Limits::default() });
    let mut slow = world.watch(0, Subscription::All, None).await;
    for _ in 0..100 {
        world.put("a", "x", "red").await;
    }
    assert!(matches!(slow.next().await, Some(Err(WatchError::Lagged))));
    assert!(lock(&world.things.feed).after(Revision(0)).map(|change| change.size()).sum::<usize>() <= 4000);
}

#[tokio::test]
async fn history_from_the_store_joins_the_live_feed_without_gap_or_repeat() {
    let limits = Limits { window: 10, ..Limits::default() };
    let world = World::new(limits.clone());
    for n in 0..500 {
        world.put(&format!("k{}", n % 7), "x", "red").await;
    }
    let store = world.store.clone();
    // A store feeds one cache: the second world replaces the first.
    let restart = move || World::over(store, limits);
    for world in [Box::new(|| world) as Box<dyn FnOnce() -> World>, Box::new(restart)] {
        let world = world();
        let start = world.cache.revision().0;
        let mut watch = world.watch(3, Subscription::All, None).await;
        let mut keyed = world.watch(3, Subscription::Key("k3".into()), None).await;
        let mut events = next(&mut watch, 100).await;
        for n in 0..20 {
            world.put(&format!("k{}", n % 7), "x", "red").await;
        }
        events.extend(next(&mut watch, usize::try_from(start).unwrap() - 3 + 20 - 100).await);
        for (n, event) in events.iter().enumerate() {
            assert_eq!(event.split(' ').nth(2), Some(&*(n + 4).to_string()));
        }
        assert_eq!(next(&mut keyed, 3).await[0], "A k3 4 x");
    }
}

#[tokio::test]
async fn expiry_needs_a_change_of_the_resource_to_be_gone() {
    let world = World::new(Limits { window: 3, ..Limits::default() });
    for _ in 0..3 {
        world.put("a", "x", "red").await;
    }
    for n in 0..50 {
        world.commit(vec![Op { key: format!("/elsewhere/{n}").into(), ..put("e", "x", "red") }]).await;
    }
    world.store.compact(Revision(53)).unwrap();
    assert_eq!(ready(&mut world.watch(0, Subscription::All, None).await).len(), 3);
    world.put("a", "x", "red").await;
    let expired = world.things.watch(Revision(0), Subscription::All, None).await;
    assert!(matches!(expired.err(), Some(WatchError::Expired(Revision(1)))));
    assert_eq!(ready(&mut world.watch(1, Subscription::All, None).await), ["M a 2 x", "M a 3 x", "M a 54 x"]);
}

#[tokio::test]
async fn closing_ends_watches_after_what_was_committed() {
    let world = story().await;
    let mut waiting = world.watch(5, Subscription::All, None).await;
    let waiting = tokio::spawn(async move { waiting.next().await.is_none() });
    let mut behind = world.watch(3, Subscription::Namespace("t".into()), None).await;
    tokio::task::yield_now().await;
    world.cache.close();
    assert!(waiting.await.unwrap());
    assert_eq!(ready(&mut behind), ["M t/a 4 z", "D t/b 5 y"]);
    assert!(behind.next().await.is_none());
    let mut late = world.watch(4, Subscription::All, None).await;
    assert_eq!(ready(&mut late), ["D t/b 5 y"]);
    assert!(late.next().await.is_none());
    let others = world.cache.register("/registry/others/", reader()).unwrap();
    assert!(others.watch(Revision(5), Subscription::All, None).await.unwrap().next().await.is_none());
}

#[tokio::test]
async fn several_ready_events_come_at_once() {
    let world = story().await;
    let mut watch = world.watch(0, Subscription::All, Some(selects("x"))).await;
    let mut events = Vec::new();
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(matches!(watch.poll_events(&mut cx, 2, &mut events), std::task::Poll::Ready(Some(Ok(())))));
    assert_eq!(events.iter().map(short).collect::<Vec<_>>(), ["A t/a 1 x", "M t/a 2 x"]);
    assert!(matches!(watch.poll_events(&mut cx, 9, &mut events), std::task::Poll::Ready(Some(Ok(())))));
    assert_eq!(short(&events[2]), "D t/a 4 x");
    assert!(watch.poll_events(&mut cx, 9, &mut events).is_pending());
}

#[tokio::test]
async fn watchers_that_come_and_go_leave_nothing_behind() {
    let world = story().await;
    for n in 0..1000 {
        let subscription =
            if n % 2 == 0 { Subscription::All } else { Subscription::Key(format!("t/{}", n % 9).into()) };
        let mut watch = world.watch(5, subscription, None).await;
        assert_eq!(ready(&mut watch), [""; 0]);
    }
    let feed = lock(&world.things.feed);
    assert_eq!(feed.footprint(), (1, 1), "subscribers and channels are reused");
}
