//! Metrics of the process, named as in Prometheus' own libraries, and read from `/proc`. Unreadable ones are omitted.

use std::fs;

use rustix::{
    param::{clock_ticks_per_second, page_size},
    process::{Resource, getrlimit},
};

use super::family::{Family, FamilyCollector, real};

static FAMILIES: [Family; 6] = [
    Family::counter("process_cpu_seconds_total", &[], "User and system time that the process has used, in seconds."),
    Family::gauge("process_resident_memory_bytes", &[], "Resident memory, in bytes."),
    Family::gauge("process_virtual_memory_bytes", &[], "Virtual memory, in bytes."),
    Family::gauge("process_open_fds", &[], "Open file descriptors."),
    Family::gauge("process_max_fds", &[], "Most file descriptors that may be open."),
    Family::gauge(
        "process_start_time_seconds",
        &[],
        "When the process started, in seconds since the beginning of 1970 in UTC.",
    ),
];

/// The metrics of the process.
pub(super) fn collector() -> FamilyCollector {
    FamilyCollector::new(&FAMILIES, |families| {
        let process = fs::read_to_string("/proc/self/stat").ok().as_deref().and_then(Process::read);
        let boot = fs::read_to_string("/proc/stat").ok().as_deref().and_then(boot_time);
        let files = fs::read_dir("/proc/self/fd").ok().map(|files| real(files.count() as u64));
        let values = [
            process.as_ref().map(|process| process.cpu_seconds),
            process.as_ref().map(|process| process.resident_bytes),
            process.as_ref().map(|process| process.virtual_bytes),
            files,
            getrlimit(Resource::Nofile).current.map(real),
            process.zip(boot).map(|(process, boot)| boot + process.started_seconds),
        ];
        for (family, value) in families.iter_mut().zip(values) {
            if let Some(value) = value {
                family.number(&[], value);
            }
        }
    })
}

/// The values in `/proc/self/stat`.
#[derive(Debug, PartialEq)]
struct Process {
    cpu_seconds: f64,
    virtual_bytes: f64,
    resident_bytes: f64,
    /// The start of the process, relative to the start of the system.
    started_seconds: f64,
}

impl Process {
    fn read(stat: &str) -> Option<Self> {
        // The second field is the program's name in parentheses, which may contain any characters.
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        // Fields are counted from one in proc(5); the first after the name is the third.
        let field = |number: usize| Some(real(fields.get(number - 3)?.parse().ok()?));
        let ticks = real(clock_ticks_per_second());
        Some(Self {
            cpu_seconds: (field(14)? + field(15)?) / ticks,
            started_seconds: field(22)? / ticks,
            virtual_bytes: field(23)?,
            resident_bytes: field(24)? * real(page_size() as u64),
        })
    }
}

/// The start of the system according to `/proc/stat`, in seconds since 1970.
fn boot_time(stat: &str) -> Option<f64> {
    stat.lines().find_map(|line| line.strip_prefix("btime "))?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_may_have_any_name() {
        let stat = "7 (a) b ( c) S 1 7 7 0 -1 4194560 1 0 0 0 250 50 0 0 20 0 9 0 1234 4096 3 18446744073709551615 1";
        let ticks = real(clock_ticks_per_second());
        let want = Process {
            cpu_seconds: 300.0 / ticks,
            virtual_bytes: 4096.0,
            resident_bytes: 3.0 * real(page_size() as u64),
            started_seconds: 1234.0 / ticks,
        };
        assert_eq!(Process::read(stat), Some(want));
        assert_eq!(Process::read("7 (a) S 1"), None);
        assert_eq!(boot_time("cpu 1\nbtime 1700000000\nprocesses 2\n"), Some(1.7e9));
    }
}
