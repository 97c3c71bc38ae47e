//! Measures of this process, from the kernel.

use std::{
    fs,
    time::{Duration, Instant},
};

/// CPU time of all threads.
pub(crate) fn cpu() -> Duration {
    let tasks = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let of = |task: fs::DirEntry| {
        let text = fs::read_to_string(task.path().join("schedstat")).unwrap_or_default();
        text.split(' ').next().and_then(|nanoseconds| nanoseconds.parse::<u64>().ok()).unwrap_or(0)
    };
    Duration::from_nanos(tasks.map(of).sum())
}

/// Memory in use, in bytes.
pub(crate) fn resident() -> usize {
    status("VmRSS:")
}

fn status(name: &str) -> usize {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|text| text.split_whitespace().next()?.parse::<usize>().ok()).map_or(0, |kilobytes| kilobytes * 1024)
}

/// Runs some work, and returns the most memory that was in use above what was before.
pub(crate) async fn peak_above<T>(work: impl Future<Output = T>) -> (T, usize) {
    // Resets the peak.
    let _ = fs::write("/proc/self/clear_refs", "5");
    let before = resident();
    let done = work.await;
    (done, status("VmHWM:").saturating_sub(before))
}

/// Prints the CPU and wall time since a moment, for each of `count` parts.
pub(crate) fn report(what: &str, count: usize, (begun, used): (Instant, Duration)) {
    let (wall, used) = (begun.elapsed(), cpu().saturating_sub(used));
    let each = |time: Duration| time.as_secs_f64() * 1e9 / f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    println!("{what:<58} {:>11.0} ns CPU {:>11.0} ns wall", each(used), each(wall));
}
