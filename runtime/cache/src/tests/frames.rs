//! Frames of several changes that watchers share.

use super::*;

/// What is ready: the short events of each piece, and where the piece lies in memory.
fn pieces(watch: &mut Watch) -> Vec<(Vec<String>, *const u8)> {
    let mut cx = Context::from_waker(std::task::Waker::noop());
    let mut found = Vec::new();
    loop {
        let mut events = Vec::new();
        match watch.poll_frames(&mut cx, 1, &mut events) {
            Poll::Ready(Some(Ok(Some(frames)))) => found.push((short_of_frames(&frames), frames.bytes().as_ptr())),
            Poll::Ready(Some(Ok(None))) => found.push((events.iter().map(short).collect(), std::ptr::null())),
            Poll::Ready(Some(Err(_)) | None) | Poll::Pending => return found,
        }
    }
}

fn texts(pieces: &[(Vec<String>, *const u8)]) -> Vec<&[String]> {
    pieces.iter().map(|(texts, _)| &texts[..]).collect()
}

/// The bytes that are kept for others.
fn kept(world: &World) -> usize {
    lock(&world.things.replica.feed).frame_bytes()
}

#[tokio::test]
async fn watchers_of_the_same_share_a_piece_and_find_their_place_in_it() {
    for subscription in [Subscription::All, Subscription::Namespace("t".into())] {
        let world = World::new(Limits::default());
        world.put("t/a", "x", "red").await;
        let watch = async || world.watch(1, subscription.clone(), None).await;
        let (mut one, mut two) = (watch().await, watch().await);
        world.put("t/a", "y", "red").await;
        world.put("t/b", "y", "red").await;
        world.delete("t/a").await;
        let first = pieces(&mut one);
        assert_eq!(texts(&first), [["M t/a 2 y", "A t/b 3 y", "D t/a 4 y"]]);
        assert_eq!(pieces(&mut two), first, "not written again");
        let mut three = world.watch(2, subscription.clone(), None).await;
        let rest = pieces(&mut three);
        assert_eq!(texts(&rest), [["A t/b 3 y", "D t/a 4 y"]]);
        assert!(rest[0].1 > first[0].1 && rest[0].1 < first[0].1.wrapping_add(4 << 10), "a part of the same");

        // The last to come takes what is new, too, in one piece that the others need not have.
        world.put("t/c", "z", "red").await;
        let fresh = pieces(&mut one);
        assert_eq!(texts(&fresh), [["A t/c 5 z"]]);
        let mut four = world.watch(1, subscription.clone(), None).await;
        assert_eq!(texts(&pieces(&mut four)), [["M t/a 2 y", "A t/b 3 y", "D t/a 4 y", "A t/c 5 z"]]);
        assert_eq!(texts(&pieces(&mut two)), [["A t/c 5 z"]]);
        assert!(kept(&world) > 0);
        // All wait: nothing is needed any more.
        pieces(&mut three);
        world.put("t/c", "y", "red").await;
        assert_eq!(kept(&world), 0);
    }
}

#[tokio::test]
async fn a_watcher_alone_and_one_with_a_filter_keep_nothing() {
    let world = World::new(Limits::default());
    let mut alone = world.watch(0, Subscription::All, None).await;
    world.put("t/a", "x", "red").await;
    world.put("t/b", "x", "red").await;
    assert_eq!(texts(&pieces(&mut alone)), [["A t/a 1 x", "A t/b 2 x"]]);
    let mut filtered = world.watch(0, Subscription::All, Some(selects("x"))).await;
    assert_eq!(texts(&pieces(&mut filtered)), [["A t/a 1 x"], ["A t/b 2 x"]]);
    assert_eq!(kept(&world), 0);
}

#[tokio::test]
async fn large_frames_are_those_of_their_objects() {
    let world = World::new(Limits::default());
    let mut watch = world.watch(0, Subscription::All, None).await;
    let large = "x".repeat(8 << 10);
    for (key, app) in [("a", &large[..]), ("b", "x"), ("c", &large), ("d", &large), ("e", "x"), ("f", "x")] {
        world.put(key, app, "red").await;
    }
    let found = pieces(&mut watch);
    let keys: Vec<String> =
        found.iter().map(|(texts, _)| texts.iter().map(|text| text[2..3].to_owned()).collect()).collect();
    assert_eq!(keys, ["a", "bc", "d", "ef"], "a small one is copied, so that it is no piece of its own");
    let frame = |key| world.things.snapshot().get(key).unwrap().frame().as_ptr();
    assert_eq!((found[0].1, found[2].1), (frame("a"), frame("d")));
}

#[tokio::test]
async fn what_is_kept_for_others_is_bounded() {
    let world = World::new(Limits::default());
    let mut watches = Vec::new();
    for _ in 0..3 {
        watches.push(world.watch(0, Subscription::All, None).await);
    }
    let app = "x".repeat(3 << 10);
    for n in 0..100 {
        world.put(&format!("n{n}"), &app, "red").await;
        // The others are behind.
        assert_eq!(pieces(&mut watches[0]).len(), 1);
        assert!(kept(&world) <= 96 << 10);
    }
    let all: Vec<usize> = pieces(&mut watches[1]).iter().map(|(texts, _)| texts.len()).collect();
    assert!(all.iter().sum::<usize>() == 100 && all.len() < 15, "{all:?}");
    drop(watches);
    assert_eq!(kept(&world), 0);
}
