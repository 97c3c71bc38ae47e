//! Tests of the exact content of newest and past snapshots.

use super::*;

#[tokio::test]
async fn a_writer_reads_its_own_writes() {
    let world = World::new(Limits::default());
    for n in 1..=50 {
        let revision = world.put("ns/a", "x", "red").await;
        let snapshot = world.things.snapshot();
        assert_eq!((revision, snapshot.revision(), world.cache.revision()), (Revision(n), Revision(n), Revision(n)));
        assert_eq!(snapshot.get("ns/a").unwrap().revision(), revision);
    }
    world.delete("ns/a").await;
    assert!(world.things.snapshot().is_empty());
}

#[tokio::test]
async fn a_load_reads_the_objects_of_its_resource_only() {
    let world = World::new(Limits::default());
    world.commit(vec![put("b/y", "x", "red"), put("a/x", "x", "red"), put("../thingsextra/z", "x", "red")]).await;
    let other = Op { key: "/registry/others/q".into(), ..put("q", "x", "red") };
    world.commit(vec![other]).await;
    let again = World::over(world.store.clone(), Limits::default());
    assert_eq!(content(&again.things.snapshot()), content(&world.things.snapshot()));
    let others = serve(&again.cache, "/registry/others", reader());
    assert_eq!(content(&others.snapshot()), ["q 4"]);
    assert_eq!(others.prefix(), "/registry/others/");
}

#[tokio::test]
async fn a_snapshot_that_is_held_does_not_change() {
    let world = World::new(Limits::default());
    world.put("ns/a", "x", "red").await;
    let held = world.things.snapshot();
    world.put("ns/a", "y", "red").await;
    world.put("ns/b", "y", "red").await;
    assert_eq!(content(&held), ["ns/a 1"]);
    assert_eq!((held.revision(), held.len()), (Revision(1), 1));
}

/// Every past state down to the floor, with a small and a large budget, before and after a restart.
#[tokio::test]
async fn past_states_are_exact_and_below_the_floor_refused() {
    for limits in [room_for(7), Limits::default()] {
        let world = World::new(limits);
        let mut should = vec![vec![]];
        for n in 0..40 {
            let key = format!("ns/{}", n * 7 % 5);
            if n % 3 == 2 && world.things.snapshot().get(&key).is_some() {
                world.delete(&key).await;
            } else {
                world.put(&key, "x", "red").await;
            }
            should.push(content(&world.things.snapshot()));
        }
        let restarted = World::over(world.store.clone(), limits);
        for world in [&world, &restarted] {
            world.cache.fill_history().await.unwrap();
            let floor = lock(&world.things.replica.feed).floor();
            assert_eq!(floor == Revision(0), limits.history_bytes > 10_000);
            for revision in (0..=40).chain([5, 30]).map(Revision) {
                match world.things.snapshot_at(revision).await {
                    Ok(snapshot) => {
                        assert!(snapshot.revision() == revision && revision >= floor);
                        let at = usize::try_from(revision.0).unwrap();
                        assert_eq!(content(&snapshot), should[at], "at {revision}");
                    }
                    Err(ReadError::Compacted(oldest)) => assert!(oldest == floor && revision < floor, "{revision}"),
                    Err(error) => panic!("{error} at {revision}"),
                }
            }
            let future = world.things.snapshot_at(Revision(41)).await;
            assert!(matches!(future, Err(ReadError::Future(Revision(40)))));
        }
    }
}

#[tokio::test]
async fn a_past_state_is_kept_while_the_window_can_make_it_and_no_longer() {
    let world = World::new(Limits::default());
    for _ in 0..6 {
        world.put("ns/a", "x", "red").await;
    }
    world.cache.fill_history().await.unwrap();
    let [kept, again] = [world.things.snapshot_at(Revision(2)).await, world.things.snapshot_at(Revision(2)).await];
    let [kept, again] = [kept.unwrap().get("ns/a").unwrap(), again.unwrap().get("ns/a").unwrap()];
    assert!(Arc::ptr_eq(&kept, &again));
    drop((kept, again));
    let old = Arc::downgrade(
        lock(&world.things.replica.feed).window().after(Revision(2)).next().unwrap().old.as_ref().unwrap(),
    );
    for _ in 0..3 {
        lock(&world.things.replica.feed).evict();
    }
    lock(&world.things.replica.feed).prune_past();
    assert!(old.upgrade().is_none(), "nothing holds what the budget does not count");
    assert!(matches!(world.things.snapshot_at(Revision(2)).await, Err(ReadError::Compacted(Revision(3)))));
    assert_eq!(content(&world.things.snapshot_at(Revision(5)).await.unwrap()), ["ns/a 5"]);
    for n in 0..5 {
        world.commit(vec![Op { key: format!("/registry/others/{n}").into(), ..put("q", "x", "red") }]).await;
    }
    world.store.compact(Revision(11)).unwrap();
    assert_eq!(content(&world.things.snapshot_at(Revision(6)).await.unwrap()), ["ns/a 6"]);
}

/// A writer moves a token between two resources in one commit. A reader must never see it in both or in neither.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_commit_over_two_resources_is_seen_whole_and_revisions_are_exact() {
    let world = World::new(Limits::default());
    let others = serve(&world.cache, "/registry/others/", reader());
    let other = |op: Op| Op { key: op.key.replace("things", "others").into(), ..op };
    world.put("t", "x", "red").await;
    let stop = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let readers: Vec<_> = (0..3)
        .map(|_| {
            let (things, others, stop) = (world.things.clone(), others.clone(), stop.clone());
            tokio::task::spawn_blocking(move || {
                let mut last = Revision(0);
                while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                    let (a, b) = (things.snapshot(), others.snapshot());
                    assert!(a.revision() >= last && b.revision() >= a.revision());
                    last = b.revision();
                    if a.revision() == b.revision() {
                        assert_eq!(a.len() + b.len(), 1);
                    }
                    for snapshot in [&a, &b] {
                        let newest = snapshot.range("", None).map(|object| object.revision()).max();
                        assert!(newest.is_none_or(|newest| newest <= snapshot.revision()));
                        // Each commit is two revisions after the previous one, and the revision in between is never
                        // published.
                        assert_eq!(snapshot.revision().0 % 2, 1);
                    }
                }
            })
        })
        .collect();
    for _ in 0..2000 {
        world.commit(vec![delete("t"), other(put("t", "x", "red"))]).await;
        world.commit(vec![other(delete("t")), put("t", "x", "red")]).await;
    }
    stop.store(true, std::sync::atomic::Ordering::Relaxed);
    for reader in readers {
        reader.await.unwrap();
    }
}

/// Resources registered during writes miss nothing and see nothing twice.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_resource_registered_under_load_is_complete() {
    for round in 0..20 {
        let store = Arc::new(Memory::new());
        let cache = Cache::new(store.clone(), Limits::default());
        let writer = tokio::spawn({
            let store = store.clone();
            async move {
                for n in 0..400 {
                    store.commit(vec![put(&format!("ns/{}", n % 17), "x", "red")].into()).await.unwrap();
                }
            }
        });
        while store.head() < Revision(round * 5) {
            tokio::task::yield_now().await;
        }
        let things = serve(&cache, PREFIX, reader());
        let start = things.snapshot();
        let mut watch = things.watch(start.revision(), Subscription::All, None).await.unwrap();
        writer.await.unwrap();
        let (entries, head) = store.range(PREFIX).unwrap();
        let stored: Vec<_> = entries.iter().map(|e| format!("{} {}", &e.key[PREFIX.len()..], e.revision)).collect();
        assert_eq!(content(&things.snapshot()), stored);
        assert_eq!(things.snapshot().revision(), head);
        let count = usize::try_from(400 - start.revision().0).unwrap();
        assert_eq!(next(&mut watch, count).await.len(), count);
        assert_eq!(watch.position(), head);
    }
}

#[tokio::test]
async fn waiting_for_a_revision_ends_when_readers_see_it() {
    let world = World::new(Limits::default());
    world.cache.reached(Revision(0)).await;
    let waiting = tokio::spawn({
        let cache = world.cache.clone();
        async move {
            cache.reached(Revision(2)).await;
            cache.revision()
        }
    });
    tokio::task::yield_now().await;
    world.put("a", "x", "red").await;
    tokio::task::yield_now().await;
    assert!(!waiting.is_finished());
    world.put("a", "x", "red").await;
    assert_eq!(waiting.await.unwrap(), Revision(2));
}

#[tokio::test]
async fn the_cache_releases_the_store() {
    let world = World::new(Limits::default());
    let store = Arc::downgrade(&world.store);
    drop(world);
    assert!(store.upgrade().is_none());
}

/// A reader whose other server answers when the test says so.
struct BlockingReader(std::sync::Mutex<std::sync::mpsc::Receiver<()>>);

impl Reader for BlockingReader {
    fn type_meta(&self) -> &'static str {
        Plain.type_meta()
    }

    fn read(&self, key: &str, value: &Bytes) -> DecodedValue {
        Plain.read(key, value)
    }

    fn is_local(&self) -> bool {
        false
    }

    fn read_all(&self, values: &[(&str, &Bytes)]) -> Vec<DecodedValue> {
        self.0.lock().unwrap().recv().unwrap();
        values.iter().map(|(key, value)| self.read(key, value)).collect()
    }
}

#[tokio::test]
async fn the_history_of_others_does_not_wait_for_a_reader_that_waits_for_another_server() {
    let first = World::new(Limits::default());
    for number in 0..3 {
        first.put(&format!("a/{number}"), "x", "red").await;
        let op = put("b", "x", "red");
        for key in ["/registry/others/b", "/registry/more/b"] {
            first.commit(vec![Op { key: key.into(), ..op.clone() }]).await;
        }
    }
    let again = World::over(first.store.clone(), Limits::default());
    let (answer, waits) = std::sync::mpsc::channel();
    let others = serve(&again.cache, "/registry/others/", Arc::new(BlockingReader(waits.into())));
    let filling = tokio::spawn(again.cache.fill_history());
    let waiting = tokio::spawn(async move { others.watch(Revision(0), Subscription::All, None).await.map(drop) });
    let watch = again.things.watch(Revision(0), Subscription::All, None);
    let watch = tokio::time::timeout(std::time::Duration::from_secs(5), watch).await;
    assert!(watch.expect("it does not wait").is_ok());
    let (answer_more, waits) = std::sync::mpsc::channel();
    let more = serve(&again.cache, "/registry/more/", Arc::new(BlockingReader(waits.into())));
    answer_more.send(()).unwrap();
    let watch = more.watch(Revision(0), Subscription::All, None);
    let watch = tokio::time::timeout(std::time::Duration::from_secs(5), watch).await;
    assert!(watch.expect("another server has answered").is_ok());
    assert!(!waiting.is_finished() && !filling.is_finished());
    answer.send(()).unwrap();
    assert!(waiting.await.unwrap().is_ok());
    filling.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_window_that_begins_anew_during_a_pass_is_still_to_be_filled() {
    let first = World::new(Limits::default());
    for number in 0..3 {
        first.commit(vec![Op { key: "/registry/others/b".into(), ..put(&number.to_string(), "x", "red") }]).await;
    }
    let again = World::over(first.store.clone(), Limits::default());
    let (answer, waits) = std::sync::mpsc::channel();
    let reader = Arc::new(BlockingReader(waits.into()));
    let others = serve(&again.cache, "/registry/others/", reader.clone());
    let feed = || lock(&others.replica.feed);
    for begins_anew in [true, false] {
        let filling = tokio::spawn(again.cache.fill_history());
        // The pass has seen the window when it waits for the other server.
        while reader.0.try_lock().is_ok() {
            tokio::task::yield_now().await;
        }
        if begins_anew {
            let mut feed = feed();
            let (tree, floor) = (feed.tree.clone(), feed.floor());
            feed.begin(tree, floor);
        }
        answer.send(()).unwrap();
        filling.await.unwrap().unwrap();
        assert_eq!(feed().is_filled(), !begins_anew);
    }
}
