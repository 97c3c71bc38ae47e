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
async fn a_subscriber_in_the_future_and_one_in_the_past_share_a_channel() {
    let world = story().await;
    let key = || Subscription::Key("t/a".into());
    let mut future = world.watch(7, key(), None).await;
    world.put("t/a", "v", "blue").await;
    let mut past = world.watch(4, key(), None).await;
    assert_eq!((ready(&mut future), ready(&mut past)), (vec![], vec!["M t/a 6 v".to_owned()]));
    world.put("t/a", "w", "blue").await;
    world.put("t/a", "x", "blue").await;
    assert_eq!(ready(&mut past), ["M t/a 7 w", "M t/a 8 x"]);
    assert_eq!(ready(&mut future), ["M t/a 8 x"]);
}

#[tokio::test]
async fn a_watch_that_falls_behind_the_window_gets_an_error_and_can_resume_in_it() {
    let world = World::new(room_for(4));
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
    let floor = lock(&world.things.replica.feed).floor();
    let expired = world.things.watch(floor.previous(), Subscription::All, None).await;
    assert!(matches!(expired.err(), Some(WatchError::Expired(oldest)) if oldest == floor));
    let mut resumed = world.watch(floor.0, Subscription::All, None).await;
    let rest = usize::try_from(10 - floor.0).unwrap();
    assert_eq!(next(&mut resumed, rest).await.last().unwrap(), "M a 10 x");
}

#[tokio::test]
async fn windows_share_one_budget_and_the_oldest_change_of_all_goes_first() {
    let world = World::new(room_for(20));
    let others = serve(&world.cache, "/registry/others/", reader());
    let other = |key: &str| Op { key: format!("/registry/others/{key}").into(), ..put("q", "x", "red") };
    for _ in 0..10 {
        world.put("a", "x", "red").await;
    }
    let changes = || (world.things.window().changes, others.window().changes);
    for n in 0..10 {
        world.commit(vec![other("a")]).await;
        let (used, limit) = world.cache.history_bytes();
        assert_eq!(used, world.things.window().bytes + others.window().bytes);
        assert!(used <= limit);
        assert_eq!(changes(), (10, n + 1), "all fit");
    }
    for _ in 0..100 {
        world.commit(vec![other("a")]).await;
    }
    assert_eq!(changes().0, 0, "they are older than those of the other resource");
    assert_eq!(
        lock(&world.things.replica.feed).floor(),
        Revision(10),
        "the floor rises only with changes of its resource"
    );
    assert!(lock(&others.replica.feed).floor() > Revision(20));
    assert_eq!(ready(&mut world.watch(10, Subscription::All, None).await), [""; 0]);
    // A removed resource keeps nothing after its last user.
    world.cache.remove(&others);
    assert!(others.window().bytes > 0);
    drop(others);
    assert_eq!(world.cache.history_bytes().0, 0);
}

#[tokio::test]
async fn what_a_change_keeps_for_watchers_is_part_of_the_budget() {
    let world = World::new(Limits::default());
    let used = || world.cache.history_bytes().0;
    world.put("a", "x", "red").await;
    world.put("a", "y", "red").await;
    let before = used();
    let mut left = world.watch(0, Subscription::All, Some(selects("x"))).await;
    assert_eq!(ready(&mut left), ["A a 1 x", "D a 2 x"]);
    let kept = used() - before;
    assert!(kept > 200, "{kept}");
    drop(left);
    assert_eq!(ready(&mut world.watch(1, Subscription::All, Some(selects("x"))).await), ["D a 2 x"]);
    assert_eq!(used() - before, kept, "it is made once");
    lock(&world.things.replica.feed).evict();
    lock(&world.things.replica.feed).evict();
    assert_eq!(used(), 0);
}

#[tokio::test]
async fn a_search_in_many_chunks_finds_what_a_subscription_includes() {
    let world = World::new(Limits::default());
    for n in 0..3_000_u64 {
        world.put(&format!("n{}/k{}", n % 3, n % 7), "x", ["red", "blue", ""][usize::try_from(n % 3).unwrap()]).await;
    }
    let restarted = World::over(world.store.clone(), Limits::default());
    restarted.cache.fill_history().await.unwrap();
    for things in [&world.things, &restarted.things] {
        for after in [0, 1, 511, 512, 513, 2_047, 2_999] {
            for subscription in [
                Subscription::Namespace("n1".into()),
                Subscription::Key("n2/k5".into()),
                Subscription::Field(0, "blue".into()),
                Subscription::Field(0, "".into()),
                Subscription::Namespace("absent".into()),
            ] {
                let window = lock(&things.replica.feed).window();
                let all = window.after(Revision(after)).filter(|change| change.touches(&subscription));
                let expected: Vec<_> = all.map(|change| change.revision).collect();
                let found = window.matching(&subscription, Revision(after));
                let found: Vec<_> = found.iter().map(|change| change.revision).collect();
                assert_eq!(found, expected, "{subscription:?} after {after}");
                let mut watch = things.watch(Revision(after), subscription, None).await.unwrap();
                assert_eq!(ready(&mut watch).len(), expected.len());
            }
        }
    }
}

#[tokio::test]
async fn a_copy_of_a_window_does_not_change() {
    let world = World::new(Limits::default());
    for _ in 0..1_000 {
        world.put("a", "x", "red").await;
    }
    let copy = lock(&world.things.replica.feed).window();
    let revisions =
        |window: &window::Window| -> Vec<u64> { window.after(Revision(0)).map(|change| change.revision.0).collect() };
    for _ in 0..700 {
        world.put("a", "x", "red").await;
        lock(&world.things.replica.feed).evict();
    }
    assert_eq!(revisions(&copy), (1..=1_000).collect::<Vec<_>>());
    let now = lock(&world.things.replica.feed).window();
    assert_eq!((now.floor(), now.oldest(), now.newest()), (Revision(700), Some(Revision(701)), Some(Revision(1_700))));
    assert_eq!(revisions(&now), (701..=1_700).collect::<Vec<_>>());
}

#[tokio::test]
async fn history_from_the_store_joins_the_live_feed_without_gap_or_repeat() {
    let world = World::new(Limits::default());
    for n in 0..500 {
        world.put(&format!("k{}", n % 7), "x", "red").await;
    }
    let restarted = World::over(world.store.clone(), Limits::default());
    for n in 0..20 {
        restarted.put(&format!("k{}", n % 7), "x", "red").await;
    }
    let mut watch = restarted.watch(3, Subscription::All, None).await;
    let mut keyed = restarted.watch(3, Subscription::Key("k3".into()), None).await;
    let events = next(&mut watch, 517).await;
    for (n, event) in events.iter().enumerate() {
        assert_eq!(event.split(' ').nth(2), Some(&*(n + 4).to_string()));
    }
    assert_eq!(next(&mut keyed, 3).await[0], "A k3 4 x");
}

#[tokio::test]
async fn expiry_needs_a_change_of_the_resource_to_be_gone() {
    let world = World::new(room_for(3));
    for _ in 0..3 {
        world.put("a", "x", "red").await;
    }
    for n in 0..50 {
        world.commit(vec![Op { key: format!("/elsewhere/{n}").into(), ..put("e", "x", "red") }]).await;
    }
    world.store.compact(Revision(53)).unwrap();
    assert_eq!(ready(&mut world.watch(0, Subscription::All, None).await).len(), 3);
    while world.things.window().changes > 1 {
        lock(&world.things.replica.feed).evict();
    }
    let expired = world.things.watch(Revision(1), Subscription::All, None).await;
    assert!(matches!(expired.err(), Some(WatchError::Expired(Revision(2)))));
    assert_eq!(ready(&mut world.watch(2, Subscription::All, None).await), ["M a 3 x"]);
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
    let others = serve(&world.cache, "/registry/others/", reader());
    assert!(others.watch(Revision(5), Subscription::All, None).await.unwrap().next().await.is_none());
}

#[tokio::test]
async fn several_ready_events_come_at_once() {
    let world = story().await;
    let mut watch = world.watch(0, Subscription::All, Some(selects("x"))).await;
    let mut events = Vec::new();
    let mut cx = Context::from_waker(std::task::Waker::noop());
    assert!(matches!(watch.poll_events(&mut cx, 2, &mut events), Poll::Ready(Some(Ok(())))));
    assert_eq!(events.iter().map(short).collect::<Vec<_>>(), ["A t/a 1 x", "M t/a 2 x"]);
    assert!(matches!(watch.poll_events(&mut cx, 9, &mut events), Poll::Ready(Some(Ok(())))));
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
    let feed = lock(&world.things.replica.feed);
    assert_eq!(feed.footprint(), (1, 1), "subscribers and channels are reused");
}
