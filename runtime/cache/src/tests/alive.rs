//! Resources that are replaced and removed during reads, writes and watches.

use std::sync::{
    Condvar,
    atomic::{AtomicBool, Ordering},
};

use super::*;

fn keys(resource: &Resource) -> Vec<String> {
    resource.snapshot().range("", None).map(|object| format!("{} {}", object.key(), object.revision())).collect()
}

/// An operation on another resource.
fn on(resource: &str, op: Op) -> Op {
    Op { key: op.key.replace("things", resource).into(), ..op }
}

#[tokio::test]
async fn watches_of_a_removed_resource_end_after_what_was_committed() {
    let world = World::new(Limits::default());
    let mut watches = [
        world.watch(0, Subscription::All, None).await,
        world.watch(0, Subscription::Namespace("ns".into()), None).await,
        world.watch(0, Subscription::Key("ns/a".into()), None).await,
    ];
    let mut waiting = world.watch(1, Subscription::All, None).await;
    let waiting = tokio::spawn(async move { (waiting.next().await.is_none(), waiting.position()) });
    tokio::task::yield_now().await;
    world.put("ns/a", "x", "red").await;
    world.cache.remove(&world.things);
    world.put("ns/a", "y", "red").await;
    for watch in &mut watches {
        assert_eq!(next(watch, 1).await, ["A ns/a 1 x"]);
        assert!(watch.next().await.is_none());
        assert_eq!(watch.position(), Revision(1), "later changes do not belong to this watch");
    }
    assert_eq!(waiting.await.unwrap(), (true, Revision(1)));
    let mut late = world.watch(0, Subscription::All, None).await;
    assert_eq!(next(&mut late, 1).await, ["A ns/a 1 x"]);
    assert_eq!(late.position(), Revision(1));
    assert!(late.next().await.is_none());
    assert!(world.things.has_ended() && !world.cache.is_closed());
    assert_eq!(keys(&world.things), ["ns/a 1"]);
    assert_eq!(world.things.snapshot().revision(), Revision(1));
    assert_eq!(world.things.snapshot_at(Revision(0)).await.unwrap().len(), 0);
    assert!(matches!(world.things.snapshot_at(Revision(2)).await, Err(ReadError::Future(Revision(1)))));
}

#[tokio::test]
async fn a_resource_added_again_continues_where_watches_of_the_old_one_ended() {
    let world = World::new(Limits::default());
    world.put("ns/a", "x", "red").await;
    world.cache.remove(&world.things);
    world.put("ns/a", "y", "red").await;
    let again = serve(&world.cache, PREFIX, reader());
    world.put("ns/a", "z", "red").await;
    assert_eq!(keys(&again), ["ns/a 3"]);
    assert_eq!(keys(&world.things), ["ns/a 1"]);
    let mut watch = again.watch(Revision(1), Subscription::All, None).await.unwrap();
    assert_eq!(next(&mut watch, 2).await, ["M ns/a 2 y", "M ns/a 3 z"]);
    // A second removal of the first resource does not touch the second.
    world.cache.remove(&world.things);
    assert!(!again.has_ended());
    world.delete("ns/a").await;
    assert_eq!(next(&mut watch, 1).await, ["D ns/a 4 z"]);
}

#[tokio::test]
async fn a_place_is_reused_and_an_old_handle_never_reads_its_new_content() {
    let world = World::new(Limits::default());
    world.put("ns/a", "x", "red").await;
    world.commit(vec![on("others", put("ns/other", "x", "red"))]).await;
    world.cache.remove(&world.things);
    let others = serve(&world.cache, "/registry/others/", reader());
    assert_eq!(others.replica.slot.number, world.things.replica.slot.number);
    world.commit(vec![on("others", put("ns/more", "x", "red"))]).await;
    assert_eq!(keys(&others), ["ns/more 3", "ns/other 2"]);
    assert_eq!(keys(&world.things), ["ns/a 1"]);
}

/// Resources come and go at a few places while a thread reads the ones it holds and others.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn ten_thousand_rounds_leave_nothing_behind_and_mix_nothing_up() {
    let world = World::new(Limits::default());
    for n in 0..3 {
        world.commit(vec![on(&format!("r{n}"), put(&format!("r{n}/a"), "x", "red"))]).await;
    }
    let (stop, held) = (AtomicBool::new(false), Mutex::new(Vec::<(String, Arc<Resource>)>::new()));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                let held = lock(&held).clone();
                for (name, resource) in held {
                    let snapshot = resource.snapshot();
                    assert!(snapshot.range("", None).all(|object| object.key().starts_with(&name)), "{name}");
                    assert_eq!(snapshot.len(), 1, "{name}");
                }
            }
        });
        let mut most = (0, 0);
        for round in 0..10_000_usize {
            let name = format!("r{}", round % 3);
            let mut newest = serve(&world.cache, &format!("/registry/{name}/"), reader());
            let mut held = lock(&held);
            held.push((name, newest.clone()));
            if held.len() > 50 {
                held.remove(round * 7919 % 50);
            }
            drop(held);
            if round % 2 == 0 {
                newest = serve(&world.cache, newest.prefix(), reader());
            }
            let found = lock(&world.cache.feeder).footprint();
            most = (found.0.max(most.0), found.1.max(most.1));
            world.cache.remove(&newest);
        }
        stop.store(true, Ordering::Relaxed);
        assert_eq!(most, (2, 3));
    });
    assert_eq!(lock(&world.cache.feeder).footprint(), (1, 3));
}

/// Blocks readers until it is opened.
#[derive(Default)]
struct Gate {
    open: Mutex<bool>,
    opened: Condvar,
    came: tokio::sync::Notify,
}

struct Gated(Plain, Arc<Gate>);

impl Reader for Gated {
    fn type_meta(&self) -> &'static str {
        r#""kind":"Thing","apiVersion":"v2","#
    }

    fn read(&self, key: &str, value: &Bytes) -> DecodedValue {
        self.1.came.notify_one();
        drop(self.1.opened.wait_while(lock(&self.1.open), |open| !*open));
        self.0.read(key, value)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_a_replacement_loads_the_old_resource_is_fed_and_writers_do_not_wait() {
    let world = World::new(Limits::default());
    world.put("ns/a", "x", "red").await;
    let mut watch = world.watch(1, Subscription::All, None).await;
    let gate = Arc::new(Gate::default());
    let gated: SharedReader = Arc::new(Gated(Plain, gate.clone()));
    let cache = world.cache.clone();
    let replacing = tokio::task::spawn_blocking(move || cache.load(PREFIX, gated).unwrap().serve(|| ()));
    gate.came.notified().await;
    for n in 2..=100 {
        world.put(&format!("ns/{n}"), "x", "red").await;
        assert_eq!(world.things.snapshot().revision(), Revision(n));
        assert_eq!(next(&mut watch, 1).await, [format!("A ns/{n} {n} x")]);
    }
    world.delete("ns/a").await;
    *lock(&gate.open) = true;
    gate.opened.notify_all();
    let new = replacing.await.unwrap();
    assert_eq!(next(&mut watch, 1).await, ["D ns/a 101 x"]);
    assert!(watch.next().await.is_none());
    assert_eq!(keys(&new), keys(&world.things));
    world.put("ns/a", "y", "red").await;
    assert_eq!(world.things.snapshot().revision(), Revision(101));
    assert_eq!(new.snapshot().get("ns/a").unwrap().revision(), Revision(102));
    let mut watch = new.watch(Revision(50), Subscription::All, None).await.unwrap();
    let seen = next(&mut watch, 52).await;
    assert_eq!((&*seen[0], &*seen[50], &*seen[51]), ("A ns/51 51 x", "D ns/a 101 x", "A ns/a 102 y"));
    let event = new.watch(Revision(101), Subscription::All, None).await.unwrap().next().await.unwrap().unwrap();
    assert!(event.frame().windows(17).any(|part| part == br#""apiVersion":"v2""#), "the new reader's type meta");
}

#[tokio::test]
async fn a_resource_that_is_loaded_and_never_served_does_not_replace_the_old_one() {
    let world = World::new(Limits::default());
    world.put("ns/a", "x", "red").await;
    for prefix in [PREFIX, "/registry/others/"] {
        let pending = world.cache.load(prefix, reader()).unwrap();
        world.put("ns/b", "x", "red").await;
        drop(pending);
    }
    world.put("ns/c", "x", "red").await;
    assert_eq!(keys(&world.things), ["ns/a 1", "ns/b 3", "ns/c 4"]);
    assert!(!world.things.has_ended());
    assert_eq!(lock(&world.cache.feeder).footprint(), (1, 2));
}

#[tokio::test]
async fn a_table_is_swapped_after_the_new_state_is_published_and_before_watches_end() {
    let world = World::new(Limits::default());
    world.put("ns/a", "x", "red").await;
    let mut watch = world.watch(1, Subscription::All, None).await;
    let pending = world.cache.load(PREFIX, reader()).unwrap();
    let new = pending.resource().clone();
    pending.serve(|| {
        assert_eq!(keys(&new), ["ns/a 1"]);
        assert_eq!(keys(&world.things), ["ns/a 1"]);
        let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
        assert!(watch.poll_next(&mut cx).is_pending());
    });
    assert!(watch.next().await.is_none());
}
