//! What the cache costs, over the in-process store: `cargo bench -p kindsmith-cache --bench cache [-- <watchers>]`.
//!
//! Objects are of 1.6 KB. CPU times are those of all threads of this process, from the kernel's scheduler, so that
//! they hold on a busy machine, too.

use std::{
    fs,
    hint::black_box,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use bytes::Bytes;
use kindsmith_cache::{Body, Cache, DecodedValue, Limits, Reader, Resource, Subscription};
use kindsmith_meta::Revision;
use kindsmith_storage::{Expect, Memory, Op, Store};

const OBJECTS: usize = 10_000;
const FILL: usize = 1_540;
const PREFIX: &str = "/registry/configmaps/";

/// The part of every value after its metadata.
const DATA: &str = r#","data":{"k":""#;

/// Stored values are canonical bodies already: what reading them costs is another layer's matter.
struct Plain;

impl Reader for Plain {
    fn type_meta(&self) -> &'static str {
        r#""kind":"ConfigMap","apiVersion":"v1","#
    }

    fn read(&self, _key: &str, value: &Bytes) -> DecodedValue {
        let end = value.len() - DATA.len() - FILL - r#""}}"#.len();
        DecodedValue::plain(Body::new(value.clone(), end, end - 1, Bytes::new()).ok_or_else(|| "no body".to_owned()))
    }
}

fn put(number: usize) -> Op {
    let fill = "x".repeat(FILL);
    let value = format!(r#"{{"metadata":{{"name":"o{number:05}","namespace":"ns"}}{DATA}{fill}"}}}}"#);
    Op {
        key: format!("{PREFIX}ns/o{number:05}").into(),
        value: Some(value.into()),
        expect: Expect::Any,
        lifetime: None,
    }
}

/// CPU time of all threads of this process.
fn cpu() -> Duration {
    let tasks = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let of = |task: fs::DirEntry| {
        let text = fs::read_to_string(task.path().join("schedstat")).unwrap_or_default();
        text.split(' ').next().and_then(|nanoseconds| nanoseconds.parse::<u64>().ok()).unwrap_or(0)
    };
    Duration::from_nanos(tasks.map(of).sum())
}

fn resident() -> usize {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|text| text.split_whitespace().next()?.parse::<usize>().ok()).map_or(0, |kilobytes| kilobytes * 1024)
}

/// CPU time of some work, for each of `count` parts of it.
fn report(what: &str, count: usize, work: impl FnOnce()) {
    let (wall, before) = (Instant::now(), cpu());
    work();
    let used = cpu().saturating_sub(before);
    let each = |time: Duration| time.as_secs_f64() * 1e9 / f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    println!("{what:<58} {:>9.0} ns CPU {:>9.0} ns wall", each(used), each(wall.elapsed()));
}

/// The commits of the in-process store are done when they are asked for.
fn commit(store: &Memory, ops: Vec<Op>) {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(store.commit(ops.into()).as_mut().poll(&mut context).is_ready());
}

fn serve(cache: &Cache) -> Option<Arc<Resource>> {
    cache.load(PREFIX, Arc::new(Plain)).ok().map(|loaded| loaded.serve(|| ()))
}

fn main() {
    let watchers = std::env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(500);
    let store = Arc::new(Memory::new());
    for number in 0..OBJECTS {
        commit(&store, vec![put(number)]);
    }
    let cache = Cache::new(store.clone(), Limits::default());
    let before = resident();
    let mut things = None;
    report("load an object", OBJECTS, || things = serve(&cache));
    let Some(things) = things else { return };
    println!("{:<58} {:>9} bytes", "memory of an object in the cache", (resident() - before) / OBJECTS);
    reads(&things);
    writes(&store);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let Ok(runtime) = runtime else { return };
    for (what, subscription) in [
        ("all", (|_| Subscription::All) as fn(usize) -> Subscription),
        ("one namespace", |_| Subscription::Namespace("ns".into())),
    ] {
        runtime.block_on(fan_out(&store, &cache, &things, watchers, what, subscription));
    }
    runtime.block_on(narrow(&store, &cache, &things));
    drop((store, cache, things));
    runtime.block_on(resume());
}

fn reads(things: &Arc<Resource>) {
    let rounds = 200;
    report("take a snapshot", 100_000, || {
        for _ in 0..100_000 {
            black_box(things.snapshot());
        }
    });
    report("get an object", OBJECTS * 10, || {
        for number in 0..OBJECTS * 10 {
            let key = format!("ns/o{:05}", number * 7919 % OBJECTS);
            black_box(things.snapshot().get(&key).map(|object| object.json()));
        }
    });
    report("go over an object of a list of all", OBJECTS * rounds, || {
        for _ in 0..rounds {
            let snapshot = things.snapshot();
            black_box(snapshot.range("ns/", None).map(|object| object.item_bytes().len()).sum::<usize>());
        }
    });
    report("count what is left after a page", 100_000, || {
        for number in 0..100_000 {
            let after = format!("ns/o{:05}", number % OBJECTS);
            black_box(things.snapshot().count("ns/", Some(&after)));
        }
    });
}

/// Reports what the store alone costs, too: the cache's share is the difference.
fn writes(store: &Memory) {
    let bare = Memory::new();
    for number in 0..OBJECTS {
        commit(&bare, vec![put(number)]);
    }
    for (name, store) in [("without a cache", &bare), ("with the cache", store)] {
        let ops: Vec<Vec<Op>> = (0..OBJECTS * 2).map(|number| vec![put(number * 7919 % OBJECTS)]).collect();
        report(&format!("commit an update, {name}"), OBJECTS * 2, || {
            for op in ops {
                commit(store, op);
            }
        });
    }
}

/// What an event costs a watcher, all in all: taking it in, waking, polling, its frame.
async fn fan_out(
    store: &Memory,
    cache: &Cache,
    things: &Arc<Resource>,
    watchers: usize,
    what: &str,
    subscription: fn(usize) -> Subscription,
) {
    let events = 2_000;
    let (seen, bytes) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let mut tasks = Vec::new();
    for number in 0..watchers {
        let Ok(mut watch) = things.watch(cache.revision(), subscription(number), None).await else { return };
        let (seen, bytes) = (seen.clone(), bytes.clone());
        tasks.push(tokio::spawn(async move {
            while let Some(Ok(event)) = watch.next().await {
                bytes.fetch_add(event.frame().len(), Ordering::Relaxed);
                seen.fetch_add(1, Ordering::Relaxed);
            }
        }));
    }
    let ops: Vec<Op> = (0..events).map(|number| put(number * 31 % OBJECTS)).collect();
    let (wall, before) = (Instant::now(), cpu());
    let mut in_commit = Duration::ZERO;
    for (number, op) in ops.into_iter().enumerate() {
        let start = Instant::now();
        commit(store, vec![op]);
        in_commit += start.elapsed();
        // One event at a time: the worst case, since nothing is taken together.
        while seen.load(Ordering::Relaxed) < (number + 1) * watchers {
            tokio::time::sleep(Duration::from_micros(50)).await;
        }
    }
    let used = cpu().saturating_sub(before).as_secs_f64() * 1e9;
    let delivered = f64::from(u32::try_from(events * watchers).unwrap_or(u32::MAX));
    println!(
        "{:<58} {:>9.0} ns CPU {:>9.0} ns wall; a commit took {:.0} us",
        format!("deliver an event, {watchers} watchers of {what}"),
        used / delivered,
        wall.elapsed().as_secs_f64() * 1e9 / delivered,
        in_commit.as_secs_f64() * 1e6 / f64::from(u32::try_from(events).unwrap_or(u32::MAX)),
    );
    for task in tasks {
        task.abort();
    }
}

/// Ten thousand watchers of an object each: an event concerns one of them.
async fn narrow(store: &Memory, cache: &Cache, things: &Arc<Resource>) {
    let seen = Arc::new(AtomicUsize::new(0));
    let start = Instant::now();
    for number in 0..OBJECTS {
        let subscription = Subscription::Key(format!("ns/o{number:05}").into());
        let Ok(mut watch) = things.watch(cache.revision(), subscription, None).await else { return };
        let seen = seen.clone();
        tokio::spawn(async move {
            while let Some(Ok(_)) = watch.next().await {
                seen.fetch_add(1, Ordering::Relaxed);
            }
        });
    }
    println!(
        "{:<58} {:>9.0} ms",
        format!("begin {OBJECTS} watches of one object each"),
        start.elapsed().as_secs_f64() * 1e3
    );
    let ops: Vec<Op> = (0..OBJECTS).map(put).collect();
    report(&format!("commit and deliver to 1 of {OBJECTS} watchers"), OBJECTS, || {
        for op in ops {
            commit(store, vec![op]);
        }
        while seen.load(Ordering::Relaxed) < OBJECTS {
            std::thread::sleep(Duration::from_micros(200));
        }
    });
}

/// Ten thousand watchers that resume after a restart, half of them of a namespace and half of an object, in a history of
/// ten changes for each namespace.
async fn resume() {
    const HISTORY: usize = 100_000;
    let store = Arc::new(Memory::new());
    let key = |number: usize| format!("n{:05}/o", number % OBJECTS);
    for number in 0..OBJECTS + HISTORY {
        commit(&store, vec![Op { key: format!("{PREFIX}{}", key(number)).into(), ..put(number % OBJECTS) }]);
    }
    let limits = Limits { history_bytes: 512 << 20, ..Limits::default() };
    let cache = Cache::new(store.clone(), limits);
    let Some(things) = serve(&cache) else { return };
    let (before, start) = (resident(), cpu());
    if cache.fill_history().await.is_err() {
        return;
    }
    println!(
        "{:<58} {:>9.0} ns CPU {:>9} bytes, {} counted",
        "fill the window, for each of its changes",
        cpu().saturating_sub(start).as_secs_f64() * 1e9
            / f64::from(u32::try_from(HISTORY + OBJECTS).unwrap_or(u32::MAX)),
        (resident() - before) / (HISTORY + OBJECTS),
        cache.history_bytes().0 / (HISTORY + OBJECTS),
    );
    let begin = Revision(u64::try_from(OBJECTS).unwrap_or(u64::MAX));
    let (wall, start) = (Instant::now(), cpu());
    let (mut events, mut watches) = (0, Vec::new());
    for number in 0..OBJECTS {
        let key = key(number);
        let namespace = key.split('/').next().unwrap_or_default();
        let subscription = match number % 2 {
            0 => Subscription::Namespace(namespace.into()),
            _ => Subscription::Key(key.as_str().into()),
        };
        let Ok(mut watch) = things.watch(begin, subscription, None).await else { return };
        for _ in 0..HISTORY / OBJECTS {
            let Some(Ok(event)) = watch.next().await else { return };
            black_box(event.frame());
            events += 1;
        }
        watches.push(watch);
    }
    println!(
        "{:<58} {:>9.0} ms CPU {:>9.0} ms wall, {events} events",
        format!("resume {OBJECTS} narrow watches in {HISTORY} changes"),
        cpu().saturating_sub(start).as_secs_f64() * 1e3,
        wall.elapsed().as_secs_f64() * 1e3,
    );
}
