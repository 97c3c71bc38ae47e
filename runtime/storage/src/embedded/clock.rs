//! The clock by which history ages and values expire.
//!
//! Guarantees that time advances evenly while a store is open, whatever happens to the system's clock, and never goes
//! back between two openings. A clock step therefore neither expires anything early nor keeps it for ever. The time that
//! passed between two openings is rounded down, by at most 20 ms.
//!
//! # How much time passed while the store was closed?
//!
//! The store notes its own time beside the machine's clocks every few seconds while it is written to. If the machine
//! has not restarted since the last note, the time since it started tells exactly. Otherwise only the system's clock
//! can tell; if it was set back, no time passed.

use std::{
    fs,
    time::{Instant, SystemTime, UNIX_EPOCH},
};

use twox_hash::XxHash3_64;

/// The resolution of the time since the machine started.
const UP_STEP_MS: u64 = 10;

/// The machine's clocks at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ClockReading {
    /// Unix time.
    pub(super) system_ms: u64,
    /// Identifies the time since the machine last started; zero if it is unknown.
    pub(super) boot: u64,
    /// The time since then.
    pub(super) up_ms: u64,
}

/// The system's clock: Unix time in milliseconds.
pub(crate) fn now_ms() -> u64 {
    let system = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(system.as_millis()).unwrap_or(u64::MAX)
}

impl ClockReading {
    pub(super) fn now() -> Self {
        let system_ms = now_ms();
        // A system without these files has only its clock.
        let boot = fs::read("/proc/sys/kernel/random/boot_id").map_or(0, |id| XxHash3_64::oneshot(&id));
        let up_ms = fs::read_to_string("/proc/uptime").ok().and_then(|text| up_ms(&text)).unwrap_or_default();
        Self { system_ms, boot, up_ms }
    }

    /// The time that has certainly passed since an earlier reading, perhaps of another process. Readings are rounded
    /// down, so their difference may be too large by one step.
    fn since_ms(self, earlier: Self) -> u64 {
        if self.boot != 0 && self.boot == earlier.boot && self.up_ms >= earlier.up_ms {
            return (self.up_ms - earlier.up_ms).saturating_sub(UP_STEP_MS);
        }
        self.system_ms.saturating_sub(earlier.system_ms).saturating_sub(1)
    }
}

/// Reads a text such as `12345.67 23456.78`: seconds with two digits after the point.
fn up_ms(text: &str) -> Option<u64> {
    let (seconds, rest) = text.split_once('.')?;
    let hundredths: u64 = rest.get(..2)?.parse().ok()?;
    Some(seconds.parse::<u64>().ok()?.checked_mul(1_000)? + hundredths * 10)
}

/// The store's time, and the machine's clocks at the same moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Note {
    store_ms: u64,
    at: ClockReading,
}

impl Note {
    pub(super) fn to_bytes(self) -> Vec<u8> {
        let ClockReading { system_ms, boot, up_ms } = self.at;
        [self.store_ms, system_ms, boot, up_ms].iter().flat_map(|number| number.to_le_bytes()).collect()
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (numbers, []) = bytes.as_chunks() else { return None };
        let [store_ms, system_ms, boot, up_ms] = <[[u8; 8]; 4]>::try_from(numbers).ok()?.map(u64::from_le_bytes);
        Some(Self { store_ms, at: ClockReading { system_ms, boot, up_ms } })
    }
}

/// Unix time in milliseconds, as correct as the system's clock was when the store was created.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    start_ms: u64,
    started: Instant,
}

impl Clock {
    /// Starts at the noted time, plus what has passed since then; at the system's time if nothing was noted. Never
    /// before `least_ms`, a time that the store is known to have had.
    pub(super) fn starting(now: ClockReading, note: Option<Note>, least_ms: u64) -> Self {
        let start_ms = note.map_or(now.system_ms, |note| note.store_ms.saturating_add(now.since_ms(note.at)));
        Self { start_ms: start_ms.max(least_ms), started: Instant::now() }
    }

    /// By how much the clock of a store, started now, would be ahead of the system's.
    pub(super) fn lead(note: Option<Note>, least_ms: u64) -> Lead {
        let now = ClockReading::now();
        let ahead = i128::from(Self::starting(now, note, least_ms).start_ms) - i128::from(now.system_ms);
        Lead(i64::try_from(ahead).unwrap_or_default())
    }

    /// The time now.
    pub(super) fn now_ms(&self) -> u64 {
        self.start_ms.saturating_add(u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX))
    }

    /// The time now, to be stored.
    pub(super) fn note(&self) -> Note {
        Note { store_ms: self.now_ms(), at: ClockReading::now() }
    }
}

/// By how many milliseconds a store's clock is ahead of the system's.
#[derive(Clone, Copy)]
pub(super) struct Lead(i64);

impl Lead {
    /// A time of the store's clock on the system's.
    pub(super) fn on_system_clock(self, store_ms: u64) -> u64 {
        store_ms.saturating_add_signed(-self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR_MS: u64 = 3_600_000;

    /// The clocks of a machine.
    fn machine(system_ms: u64, boot: u64, up_ms: u64) -> ClockReading {
        ClockReading { system_ms, boot, up_ms }
    }

    fn starts_at(now: ClockReading, note: Option<Note>, least_ms: u64) -> u64 {
        Clock::starting(now, note, least_ms).start_ms
    }

    #[test]
    fn a_first_start_takes_the_systems_time_and_never_an_earlier_one_than_is_known() {
        let noon = machine(12 * HOUR_MS, 1, 0);
        for (least, start) in [(0, 12 * HOUR_MS), (12 * HOUR_MS - 5, 12 * HOUR_MS), (13 * HOUR_MS, 13 * HOUR_MS)] {
            assert_eq!(starts_at(noon, None, least), start);
        }
        assert_eq!(Clock::starting(noon, None, u64::MAX).now_ms(), u64::MAX);
    }

    #[test]
    fn a_step_of_the_systems_clock_is_not_time_that_has_passed() {
        let note = Some(Note { store_ms: 9 * HOUR_MS, at: machine(HOUR_MS, 7, 1_000) });
        let forward = machine(500 * HOUR_MS, 7, 3_000);
        assert_eq!(starts_at(forward, note, 0), 9 * HOUR_MS + 1_990, "set forward, and the machine was not restarted");
        let back = machine(0, 7, 3_000);
        assert_eq!(starts_at(back, note, 0), 9 * HOUR_MS + 1_990, "set back, and the machine was not restarted");
    }

    #[test]
    fn time_between_two_openings_is_rounded_down() {
        // At 1,009 ms and at 2,000 ms after the machine's start, 991 ms apart.
        let note = Some(Note { store_ms: 5_000, at: machine(HOUR_MS, 7, 1_000) });
        assert_eq!(starts_at(machine(HOUR_MS + 991, 7, 2_000), note, 0), 5_990);
        // A step of the system's clock is not used for a restart within one step of the machine's.
        assert_eq!(starts_at(machine(2 * HOUR_MS, 7, 1_000), note, 0), 5_000);
    }

    #[test]
    fn the_systems_clock_tells_how_long_a_machine_was_off() {
        let note = Some(Note { store_ms: 9 * HOUR_MS, at: machine(HOUR_MS, 7, 1_000) });
        assert_eq!(starts_at(machine(3 * HOUR_MS, 8, 5), note, 0), 11 * HOUR_MS - 1);
        assert_eq!(starts_at(machine(0, 8, 5_000), note, 0), 9 * HOUR_MS, "it was set back");
        assert_eq!(starts_at(machine(2 * HOUR_MS, 0, 5_000), note, 0), 10 * HOUR_MS - 1, "the start is unknown");
        assert_eq!(
            starts_at(machine(2 * HOUR_MS, 7, 5), note, 0),
            10 * HOUR_MS - 1,
            "a container's uptime begins again"
        );
    }

    #[test]
    fn notes_read_back_and_the_machine_has_clocks() {
        let note = Clock::starting(ClockReading::now(), None, 0).note();
        assert_eq!(Note::from_bytes(&note.to_bytes()), Some(note));
        assert_eq!(Note::from_bytes(&note.to_bytes()[1..]), None);
        assert!(note.at.system_ms > 1_700_000_000_000 && note.store_ms > 1_700_000_000_000);
        assert_eq!(up_ms("12345.67 23456.78\n"), Some(12_345_670));
        assert_eq!(up_ms("no"), None);
        assert!(!cfg!(target_os = "linux") || note.at.up_ms > 0);
    }
}
