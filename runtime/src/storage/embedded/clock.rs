//! The clock by which history ages.
//!
//! Guarantees that time advances evenly while a store is open, whatever happens to the system's clock, and never goes
//! back between two openings. A clock step therefore neither expires young history nor keeps history for ever.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// Unix time in milliseconds, as correct as the system's clock was when the store was opened.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    start_ms: u64,
    started: Instant,
}

impl Clock {
    /// Starts at the system's time, or at the last recorded time if that is later.
    pub(super) fn starting(system: SystemTime, noted_ms: u64) -> Self {
        let system = system.duration_since(UNIX_EPOCH).unwrap_or_default();
        let system_ms = u64::try_from(system.as_millis()).unwrap_or(u64::MAX);
        Self { start_ms: system_ms.max(noted_ms), started: Instant::now() }
    }

    /// The time now.
    pub(super) fn now_ms(&self) -> u64 {
        self.start_ms.saturating_add(u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn time_does_not_go_back_over_a_restart() {
        let noon = UNIX_EPOCH + Duration::from_hours(12);
        let noon_ms = 12 * 3_600_000;
        for (noted, start) in [(0, noon_ms), (noon_ms - 5, noon_ms), (noon_ms + 5_000, noon_ms + 5_000)] {
            let clock = Clock::starting(noon, noted);
            let now = clock.now_ms();
            assert!((start..start + 5_000).contains(&now), "{noted}: {now}");
        }
        let before_all = UNIX_EPOCH - Duration::from_secs(1);
        assert!(Clock::starting(before_all, 7).now_ms() >= 7);
        assert_eq!(Clock::starting(noon, u64::MAX).now_ms(), u64::MAX);
    }
}
