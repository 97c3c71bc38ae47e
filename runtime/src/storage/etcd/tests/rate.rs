//! The rate of commits beside the rate of etcd's own puts: the same values, as many at once, in turn.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::storage::Hold;

const AT_ONCE: usize = 64;
const VALUE: usize = 2_048;
const ROUNDS: usize = 5;
const ROUND: Duration = Duration::from_secs(3);

/// Does things, so many at once, for the time of a round. Returns how many a second.
fn rate<F: Future<Output = ()> + Send + 'static>(store: &Etcd, act: impl Fn() -> F + Clone + Send + 'static) -> usize {
    let (count, start) = (Arc::new(AtomicUsize::new(0)), Instant::now());
    let tasks: Vec<_> = (0..AT_ONCE)
        .map(|_| {
            let (act, count) = (act.clone(), Arc::clone(&count));
            store.spawn(async move {
                while start.elapsed() < ROUND {
                    act().await;
                    count.fetch_add(1, Ordering::Relaxed);
                }
            })
        })
        .collect();
    for task in tasks {
        task.recv().expect("a task ends");
    }
    count.load(Ordering::Relaxed) * 1_000 / usize::try_from(start.elapsed().as_millis()).expect("a short time")
}

#[test]
#[ignore = "a measurement: cargo test --release -p kindsmith --features etcd --lib etcd::tests::rate -- --ignored --nocapture"]
fn commits_keep_up_with_etcds_own_puts() {
    let Some(member) = Member::start() else { return };
    let store = Arc::new(open(&member));
    let seen = Seen::of(&store);
    let namespace = put(&store, "/namespaces/a", "1");
    let (next, value) = (Arc::new(AtomicUsize::new(0)), Bytes::from(vec![b'v'; VALUE]));
    let (engine, of_puts, numbers) = (Arc::clone(&store.engine), value.clone(), Arc::clone(&next));
    let own = move || {
        let key = format!("/other/{}", numbers.fetch_add(1, Ordering::Relaxed)).into();
        let (engine, request) = (Arc::clone(&engine), proto::PutRequest { key, value: of_puts.clone(), lease: 0 });
        async move {
            let answer = engine.members.call(proto::path::PUT, &request, members::Again::Unsent).await;
            let _: proto::PutResponse = answer.expect("a put");
        }
    };
    let committing = Arc::clone(&store.engine);
    let ours = move || {
        let key = format!("/registry/things/{}", next.fetch_add(1, Ordering::Relaxed)).into();
        let ops = vec![Op { key, value: Some(value.clone()), expect: Expect::Absent, lifetime: None }];
        let holds = vec![Hold { key: "/registry/namespaces/a".into(), revision: Some(namespace) }];
        let engine = Arc::clone(&committing);
        async move { drop(engine.commit(Commit { ops, holds }).await.expect("a commit")) }
    };
    let mut rates = Vec::new();
    for round in 0..ROUNDS {
        let (puts, commits) = (rate(&store, own.clone()), rate(&store, ours.clone()));
        eprintln!("round {round}: {puts} puts/s, {commits} commits/s");
        rates.push((puts, commits));
        seen.lock().unwrap().changes.clear();
    }
    let (puts, commits) = rates.iter().fold((0, 0), |(puts, commits), rate| (puts + rate.0, commits + rate.1));
    eprintln!("commits: {}% of puts", commits * 100 / puts);
    assert!(commits * 100 >= puts * 80, "{commits} against {puts}");
}
