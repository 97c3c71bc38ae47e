//! Durable commits a second of the embedded engine: `cargo bench -p kindsmith-storage --bench storage [-- <directory>]`.
//!
//! Each committer creates objects of 1.6 KB one after the other, waiting for each acknowledgement; then all of them
//! update what they created. Group commit shows in how little the rate falls, and how far it rises, with more of them.
//! At last, committers write ten times the history that is kept, of values that share the engine's pages and of values
//! that do not: the file's size shows whether compaction keeps up, and the slowest commits show what it costs. Before that,
//! as many bytes as a group of all committers has are written and synced in a loop: the slowest of these show what the disk
//! itself does.

use std::{
    fs::{self, OpenOptions},
    os::unix::fs::{FileExt, MetadataExt},
    path::{Path, PathBuf},
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use bytes::Bytes;
use kindsmith_storage::{Embedded, Expect, Op, Options, Store};

const VALUE_BYTES: usize = 1_600;

fn main() -> ExitCode {
    // `cargo bench` passes `--bench`.
    let dir = std::env::args().skip(1).find(|argument| !argument.starts_with("--"));
    let dir = dir.map_or_else(|| std::env::temp_dir().join("kindsmith-bench-storage"), PathBuf::from);
    println!("{:>10} {:>12} {:>12} {:>14} {:>14}", "committers", "creates/s", "updates/s", "create p99", "update p99");
    for committers in [1, 16, 64] {
        let commits = if committers == 1 { 4_000 } else { 40_000 };
        if let Err(error) = measure(&dir.join(committers.to_string()), committers, commits / committers) {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    }
    for committers in [64, 256] {
        if let Err(error) = measure_disk(&dir.join("raw"), committers) {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
        for value_bytes in [VALUE_BYTES, 2_000, 5_000] {
            if let Err(error) =
                measure_history(&dir.join(format!("history-{committers}-{value_bytes}")), committers, value_bytes)
            {
                eprintln!("{error}");
                return ExitCode::FAILURE;
            }
        }
    }
    if let Err(error) = std::fs::remove_dir_all(&dir) {
        eprintln!("{}: {error}", dir.display());
    }
    ExitCode::SUCCESS
}

fn measure(dir: &Path, committers: usize, each: usize) -> Result<(), Box<dyn std::error::Error>> {
    let start = Instant::now();
    let store = Arc::new(Embedded::open(dir, Options::default())?);
    let opened_empty = start.elapsed();
    let (creates, create_p99) = round(&store, committers, each, Expect::Absent);
    let (updates, update_p99) = round(&store, committers, each, Expect::Any);
    println!("{committers:>10} {creates:>12.0} {updates:>12.0} {create_p99:>14.1?} {update_p99:>14.1?}");
    drop(store);
    let start = Instant::now();
    let store = Embedded::open(dir, Options::default())?;
    let opened = start.elapsed();
    let start = Instant::now();
    let (entries, _) = store.range("/")?;
    println!(
        "{:>10} opened in {opened_empty:.1?} empty, {opened:.1?} with {} objects, all read in {:.1?}",
        "",
        entries.len(),
        start.elapsed()
    );
    Ok(())
}

/// Writes and syncs as much as a group of all committers has, over and over in the same file.
fn measure_disk(path: &Path, committers: usize) -> Result<(), Box<dyn std::error::Error>> {
    const SIZE: usize = 64 << 20;
    let file = OpenOptions::new().create(true).truncate(true).write(true).open(path)?;
    let group = vec![b'x'; committers * VALUE_BYTES];
    let offsets = (0..SIZE - group.len()).step_by(group.len());
    let mut times = Vec::new();
    for round in 0..8 {
        for offset in offsets.clone() {
            let start = Instant::now();
            file.write_all_at(&group, offset as u64)?;
            file.sync_data()?;
            // The first round allocates the file's blocks.
            times.extend((round > 0).then(|| start.elapsed()));
        }
    }
    println!("{committers:>10} writes of {} kB with a sync: {}", group.len() / 1_000, Spread::of(times));
    fs::remove_file(path)?;
    Ok(())
}

/// Updates objects until ten times the history was written that is kept.
fn measure_history(dir: &Path, committers: usize, value_bytes: usize) -> Result<(), Box<dyn std::error::Error>> {
    const KEPT: usize = 64 << 20;
    const OBJECTS: usize = 512;
    let options = Options { history_bytes: KEPT as u64, ..Options::default() };
    let store = Arc::new(Embedded::open(dir, options)?);
    commits(&store, committers, OBJECTS / committers, value_bytes, Expect::Absent);
    let (written, count) = (AtomicUsize::new(0), 10 * KEPT / value_bytes);
    let (mut largest, mut blocks) = (0, 0);
    let start = Instant::now();
    let times = thread::scope(|scope| {
        let committing: Vec<_> = (0..committers)
            .map(|committer| {
                let (store, written) = (&*store, &written);
                scope.spawn(move || {
                    let mut times = Vec::new();
                    while written.load(Ordering::Relaxed) < count {
                        times.extend(commit_all(store, committer, OBJECTS / committers, value_bytes, Expect::Any));
                        written.fetch_add(OBJECTS / committers, Ordering::Relaxed);
                    }
                    times
                })
            })
            .collect();
        while written.load(Ordering::Relaxed) < count {
            let found = fs::metadata(dir.join("store.redb"))?;
            (largest, blocks) = (found.len().max(largest), (found.blocks() * 512).max(blocks));
            thread::sleep(Duration::from_millis(10));
        }
        let times = committing.into_iter().flat_map(|committer| committer.join().expect("a committer that finishes"));
        Ok::<_, std::io::Error>(times.collect::<Vec<_>>())
    })?;
    #[allow(clippy::cast_precision_loss)] // rates and ratios are read to three digits
    let (rate, ratio) = (times.len() as f64 / start.elapsed().as_secs_f64(), |bytes: u64| bytes as f64 / KEPT as f64);
    println!(
        "{committers:>10} history of {} MiB written ten times in values of {value_bytes} B: {rate:.0} updates/s, {}, \
         file at most {:.2} times the history, {:.2} times on the disk",
        KEPT >> 20,
        Spread::of(times),
        ratio(largest),
        ratio(blocks),
    );
    Ok(())
}

/// The middle and the slow end of many durations.
struct Spread {
    median: Duration,
    p99: Duration,
}

impl Spread {
    fn of(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        Self { median: times[times.len() / 2], p99: times[times.len() * 99 / 100] }
    }
}

impl std::fmt::Display for Spread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { median, p99 } = self;
        write!(f, "median {median:.1?}, p99 {p99:.1?} ({:.1} times)", p99.as_secs_f64() / median.as_secs_f64())
    }
}

/// Runs all committers at once; gives commits a second and the time that 99 of 100 commits stay under.
fn round(store: &Arc<Embedded>, committers: usize, each: usize, expect: Expect) -> (f64, Duration) {
    let start = Instant::now();
    let mut times = commits(store, committers, each, VALUE_BYTES, expect);
    #[allow(clippy::cast_precision_loss)] // a rate is read to three digits
    let rate = times.len() as f64 / start.elapsed().as_secs_f64();
    times.sort_unstable();
    (rate, times[times.len() * 99 / 100])
}

/// Runs all committers at once; gives the time of each commit.
fn commits(store: &Arc<Embedded>, committers: usize, each: usize, value_bytes: usize, expect: Expect) -> Vec<Duration> {
    let threads: Vec<_> = (0..committers)
        .map(|committer| {
            let store = Arc::clone(store);
            thread::spawn(move || commit_all(&*store, committer, each, value_bytes, expect))
        })
        .collect();
    threads.into_iter().flat_map(|thread| thread.join().expect("a committer that finishes")).collect()
}

fn commit_all(store: &dyn Store, committer: usize, each: usize, value_bytes: usize, expect: Expect) -> Vec<Duration> {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let value = Bytes::from(vec![b'x'; value_bytes]);
    (0..each)
        .map(|number| {
            let start = Instant::now();
            let key = format!("/registry/configmaps/default/{committer:02}-{number:05}").into();
            let op = Op { key, value: Some(value.clone()), expect, lifetime: None };
            runtime.block_on(store.commit(vec![op].into())).expect("a commit that succeeds");
            start.elapsed()
        })
        .collect()
}
