//! The budgets of the queue and of a group. The writer is held up by its sink.

use std::sync::mpsc::{Receiver, Sender, channel};

use tokio::task::JoinSet;

use super::*;
use crate::Delivery;

const MB: usize = 1 << 20;

/// Holds the writer up at each delivery until it is let go on. Returns how many bytes each delivery had.
fn hold_up(store: &Embedded) -> (Sender<()>, Receiver<usize>) {
    let (go, wait) = channel();
    let (tell, sizes) = channel();
    store.attach(Box::new(move |given: Delivery<'_>| {
        let size = given.changes().iter().map(|change| change.value.as_ref().map_or(0, Bytes::len)).sum();
        let _ = tell.send(size);
        // It goes on once the test has ended.
        let _ = wait.recv();
    }));
    (go, sizes)
}

fn create(number: usize, bytes: usize) -> Commit {
    let value = Some(Bytes::from(vec![b'x'; bytes]));
    vec![Op { key: format!("/{number:03}").into(), value, expect: Expect::Absent, lifetime: None }].into()
}

#[tokio::test(start_paused = true)]
async fn commits_past_the_queues_budget_wait_and_are_refused_if_there_is_no_room_in_time() {
    let scratch = Scratch::new();
    let store = Arc::new(scratch.open(Options { queue_bytes: MB, ..Options::default() }));
    let (go, sizes) = hold_up(&store);
    let mut commits = JoinSet::new();
    let mut commit = |number| {
        let store = Arc::clone(&store);
        commits.spawn(async move { store.commit(create(number, 100_000)).await });
    };
    commit(0);
    tokio::task::yield_now().await;
    assert_eq!(sizes.recv().unwrap(), 100_000, "the first is written and not yet acknowledged");
    (1..30).for_each(&mut commit);
    // Commits without room give up before any other is acknowledged.
    for _ in 0..20 {
        let refused = commits.join_next().await.unwrap().unwrap();
        assert!(matches!(refused, Err(CommitError::Busy)), "{refused:?}");
    }
    drop(go);
    let done = commits.join_all().await;
    assert!(done.len() == 10 && done.iter().all(Result::is_ok), "ten of 100 kB have room in 1 MiB: {done:?}");
    assert_eq!(store.range("/").unwrap().0.len(), 10, "a refused commit writes nothing");
    assert!(store.commit(create(99, 2 * MB)).await.is_ok(), "one commit may take all the room");
}

#[tokio::test]
async fn a_commit_that_waits_for_room_is_queued_when_there_is_some() {
    let scratch = Scratch::new();
    let store = Arc::new(scratch.open(Options { queue_bytes: MB, ..Options::default() }));
    let (go, sizes) = hold_up(&store);
    let first = tokio::spawn({
        let store = Arc::clone(&store);
        async move { store.commit(create(0, MB)).await }
    });
    tokio::task::yield_now().await;
    assert_eq!(sizes.recv().unwrap(), MB);
    let mut second = Box::pin(store.commit(create(1, MB)));
    assert!(now(&mut second).await.is_none(), "it waits");
    drop(store.commit(create(2, MB)));
    drop(go);
    assert_eq!(first.await.unwrap().unwrap(), [Revision(1)]);
    assert_eq!(second.await.unwrap(), [Revision(2)]);
    assert_eq!(store.head(), Revision(2), "a commit that was dropped while it waited was not queued");
}

/// The result of a future if it is ready.
async fn now<T>(future: &mut (impl Future<Output = T> + Unpin)) -> Option<T> {
    std::future::poll_fn(|context| {
        std::task::Poll::Ready(match std::pin::Pin::new(&mut *future).poll(context) {
            std::task::Poll::Ready(done) => Some(done),
            std::task::Poll::Pending => None,
        })
    })
    .await
}

#[tokio::test]
async fn a_group_has_a_budget_in_bytes() {
    let scratch = Scratch::new();
    let store = scratch.open(Options::default());
    let (go, sizes) = hold_up(&store);
    let queued: Vec<_> = (0..40).map(|number| store.commit(create(number, MB))).collect();
    assert_eq!(sizes.recv().unwrap() % MB, 0);
    drop(go);
    for queued in queued {
        queued.await.unwrap();
    }
    let sizes: Vec<_> = sizes.try_iter().map(|size| size / MB).collect();
    assert!(sizes.len() >= 4 && sizes.iter().all(|size| *size <= 9), "MiB in each group: {sizes:?}");
}
