//! The rates of commits beside those of etcd's own puts and transactions: the same values, as many at once, in turn. If the
//! variable `KINDSMITH_ETCD_BENCHMARK` names etcd's own load tool (`tools/benchmark` of its sources), commits are compared
//! with its puts. Other puts are made by the client of the engine, which leaves more of the processor to etcd.

use std::{
    env, fs,
    pin::Pin,
    process::Command,
    sync::atomic::{AtomicU64, AtomicUsize, Ordering},
};

use super::*;
use crate::Hold;

/// The numbers of calls at once.
const AT_ONCE: [usize; 4] = [1, 16, 64, 256];
/// The number of calls at once from which the engine must keep up.
const KEEPS_UP_FROM: usize = 16;
const VALUE: usize = 2_048;
const ROUNDS: usize = 7;
const ROUND: Duration = Duration::from_millis(700);
/// The puts of a round of etcd's own tool, which takes about as long.
const OF_TOOL: usize = 8_000;

/// One way to write: it is called with the number of the task.
type Way = Arc<dyn Fn(usize) -> Pin<Box<dyn Future<Output = ()> + Send>> + Send + Sync>;

/// What a round took.
#[derive(Clone, Copy)]
struct Rate {
    per_second: u64,
    /// Microseconds of CPU for one call, of this process and of etcd.
    ours: u64,
    etcds: u64,
}

/// The CPU time of a process in milliseconds.
fn cpu(process: u32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).expect("a process");
    let fields: Vec<_> = stat.rsplit(')').next().expect("fields").split_whitespace().collect();
    // User and system time, in hundredths of a second.
    fields[11..13].iter().map(|ticks| ticks.parse::<u64>().expect("a number") * 10).sum()
}

/// Writes in one way, so many at once, for the time of a round.
fn rate(store: &Etcd, etcd: u32, at_once: usize, way: &Way) -> Rate {
    let (count, start) = (Arc::new(AtomicU64::new(0)), Instant::now());
    let before = [std::process::id(), etcd].map(cpu);
    let tasks: Vec<_> = (0..at_once)
        .map(|task| {
            let (way, count) = (Arc::clone(way), Arc::clone(&count));
            store.threads.spawn(async move {
                while start.elapsed() < ROUND {
                    way(task).await;
                    count.fetch_add(1, Ordering::Relaxed);
                }
            })
        })
        .collect();
    for task in tasks {
        task.recv().expect("a task ends");
    }
    let count = count.load(Ordering::Relaxed);
    let elapsed = u64::try_from(start.elapsed().as_millis()).expect("a short time");
    let [ours, etcds] = [(std::process::id(), before[0]), (etcd, before[1])]
        .map(|(process, before)| (cpu(process) - before) * 1_000 / count);
    Rate { per_second: count * 1_000 / elapsed, ours, etcds }
}

/// The puts of a second by etcd's own tool, of new keys or old ones, if there is the tool.
fn rate_of_tool(member: &Member, at_once: usize, is_new: bool) -> Option<u64> {
    let tool = env::var_os("KINDSMITH_ETCD_BENCHMARK")?;
    let (clients, keys) = (at_once.to_string(), if is_new { 1 << 40 } else { at_once }.to_string());
    let done = Command::new(tool)
        .args(["put", "--conns", "1", "--key-size", "24", "--endpoints", &member.url()["http://".len()..]])
        .args(["--clients", &clients, "--key-space-size", &keys, "--sequential-keys"])
        .args(["--val-size", &VALUE.to_string(), "--total", &OF_TOOL.to_string()])
        .output()
        .expect("etcd's tool runs");
    let text = String::from_utf8_lossy(&done.stdout);
    let rate = text.lines().find_map(|line| line.trim().strip_prefix("Requests/sec:"));
    let rate: f64 = rate.and_then(|rate| rate.trim().parse().ok()).expect("the tool prints its rate");
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a rate is positive, and far below 2^53"
    )]
    Some(rate as u64)
}

/// A key of etcd's own below a prefix that the engine does not watch.
fn foreign(name: &str, number: usize) -> Bytes {
    format!("/other/{name}/{number}").into()
}

/// A put.
fn put_way(store: &Etcd, value: &Bytes, key: impl Fn(usize) -> Bytes + Send + Sync + 'static) -> Way {
    let (engine, value) = (Arc::clone(&store.engine), value.clone());
    Arc::new(move |task| {
        let (engine, request) =
            (Arc::clone(&engine), proto::PutRequest { key: key(task), value: value.clone(), lease: 0 });
        Box::pin(async move {
            let answer = engine.members.call(proto::path::PUT, &request, members::Again::Unsent).await;
            let _: proto::PutResponse = answer.expect("a put");
        })
    })
}

fn creation(number: usize, value: Bytes, namespace: Revision) -> Commit {
    let key = format!("/registry/things/{number}").into();
    let ops = vec![Op { key, value: Some(value), expect: Expect::Absent, lifetime: None }];
    Commit { ops, holds: vec![Hold { key: "/registry/namespaces/a".into(), revision: Some(namespace) }] }
}

/// The transaction of a creation, without the engine, and below a prefix that it does not watch.
fn transaction_way(store: &Etcd, value: &Bytes, namespace: Revision) -> Way {
    let (engine, value, next) = (Arc::clone(&store.engine), value.clone(), AtomicUsize::new(0));
    let keys = Arc::new(Keys::new("/other").expect("a prefix"));
    Arc::new(move |_| {
        let commit = creation(next.fetch_add(1, Ordering::Relaxed), value.clone(), namespace);
        let (engine, request) = (Arc::clone(&engine), txn::request(&keys, &commit).expect("a request"));
        Box::pin(async move {
            let answer = engine.members.call(proto::path::TXN, &request, members::Again::Unsent).await;
            let answer: proto::TxnResponse = answer.expect("a transaction");
            assert!(answer.succeeded);
        })
    })
}

fn creation_way(store: &Etcd, value: &Bytes, namespace: Revision) -> Way {
    let (engine, value, next) = (Arc::clone(&store.engine), value.clone(), AtomicUsize::new(0));
    Arc::new(move |_| {
        let commit = creation(next.fetch_add(1, Ordering::Relaxed), value.clone(), namespace);
        let engine = Arc::clone(&engine);
        Box::pin(async move { drop(engine.commit(commit).await.expect("a creation")) })
    })
}

/// Each task updates an object of its own.
fn update_way(store: &Etcd, value: &Bytes) -> Way {
    let (engine, value) = (Arc::clone(&store.engine), value.clone());
    let revisions: Arc<Vec<_>> = Arc::new((0..256).map(|_| AtomicU64::new(0)).collect());
    Arc::new(move |task| {
        let (engine, revisions, value) = (Arc::clone(&engine), Arc::clone(&revisions), Some(value.clone()));
        Box::pin(async move {
            let expect = match revisions[task].load(Ordering::Relaxed) {
                0 => Expect::Absent,
                revision => Expect::At(Revision(revision)),
            };
            let key = format!("/registry/own/{task}").into();
            let done = engine.commit(vec![Op { key, value, expect, lifetime: None }].into()).await;
            revisions[task].store(done.expect("an update")[0].0, Ordering::Relaxed);
        })
    })
}

/// The round with the median rate.
fn median(rates: &mut [Rate]) -> Rate {
    rates.sort_by_key(|rate| rate.per_second);
    rates[rates.len() / 2]
}

#[test]
#[ignore = "a measurement: cargo test --release -p kindsmith-storage --features etcd --lib etcd::tests::rate -- --ignored --nocapture"]
fn commits_keep_up_with_etcds_own_puts() {
    let Some(member) = Member::start_durable("http", &["--quota-backend-bytes", "8589934592"]) else { return };
    let (store, other) = (open(&member), EtcdOptions::new([member.url()]).prefix("/other"));
    store.attach(Box::new(|_| ()));
    let (namespace, value) = (put(&store, "/namespaces/a", "1"), Bytes::from(vec![b'v'; VALUE]));
    let elsewhere = put(&Etcd::open(other).expect("etcd is open"), "/namespaces/a", "1");
    let next = AtomicUsize::new(0);
    let ways: [(&str, Way); 5] = [
        ("put of a new key", put_way(&store, &value, move |_| foreign("new", next.fetch_add(1, Ordering::Relaxed)))),
        ("transaction", transaction_way(&store, &value, elsewhere)),
        ("creation", creation_way(&store, &value, namespace)),
        ("put of an old key", put_way(&store, &value, |task| foreign("old", task))),
        ("update", update_way(&store, &value)),
    ];
    let mut late = Vec::new();
    for at_once in AT_ONCE {
        let mut rates: [Vec<Rate>; 5] = Default::default();
        let mut of_tool: [Vec<u64>; 2] = Default::default();
        for _ in 0..ROUNDS {
            for (rates, (_, way)) in rates.iter_mut().zip(&ways) {
                rates.push(rate(&store, member.id(), at_once, way));
            }
            for (rates, is_new) in of_tool.iter_mut().zip([true, false]) {
                rates.extend(rate_of_tool(&member, at_once, is_new));
            }
        }
        let medians = rates.each_mut().map(|rates| median(rates));
        for (index, (name, _)) in ways.iter().enumerate() {
            let is_old = index >= 3;
            let (rate, put) = (medians[index], medians[if is_old { 3 } else { 0 }].per_second);
            let of_tool = &mut of_tool[usize::from(is_old)];
            of_tool.sort_unstable();
            let tool = of_tool.get(of_tool.len() / 2).copied();
            let percent = |of: u64| rate.per_second * 100 / of.max(1);
            let beside = tool.map(|tool| format!("; {}% of the {tool}/s of etcd's own tool", percent(tool)));
            eprintln!(
                "{at_once:>3} at once, {name:<17}: {:>6}/s, {:>3}%; CPU for each: {:>3} µs here, {:>3} µs in etcd{}",
                rate.per_second,
                percent(put),
                rate.ours,
                rate.etcds,
                beside.unwrap_or_default()
            );
            let percent = percent(tool.unwrap_or(put));
            if percent < 80 && at_once >= KEEPS_UP_FROM && ["creation", "update"].contains(name) {
                late.push(format!("{name}, {at_once} at once: {percent}%"));
            }
        }
    }
    assert!(late.is_empty(), "below 80% of etcd's own puts: {late:?}");
}
