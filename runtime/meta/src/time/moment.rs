//! A point in time as Go counts it: over all years that its layouts can say, and those next to them.
use std::fmt;

use jiff::Timestamp;

use super::calendar::{date, days};

const SECONDS_OF_DAY: i64 = 86_400;
/// Those of a second.
const NANOSECONDS: i64 = 1_000_000_000;

/// A point in time: seconds since 1970 in UTC, and the nanoseconds after them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Moment {
    seconds: i64,
    nanoseconds: u32,
}

impl Moment {
    /// Go's zero time, the beginning of the year 1.
    pub(super) const ZERO: Self = Self { seconds: -62_135_596_800, nanoseconds: 0 };

    /// A date of the Gregorian calendar and a time of day, so many seconds ahead of UTC.
    pub(super) fn new(date: [i64; 3], time: [i64; 3], nanoseconds: u32, ahead: i64) -> Self {
        let [hour, minute, second] = time;
        let seconds = days(date) * SECONDS_OF_DAY + (hour * 60 + minute) * 60 + second - ahead;
        Self { seconds, nanoseconds }
    }

    /// Seconds since 1970, and nanoseconds that are added to them, as in Go; `None` outside of the years 0 to 9999.
    pub(super) fn of_parts(seconds: i64, nanoseconds: i64) -> Option<Self> {
        let [first, last] = [[0, 1, 1], [10_000, 1, 1]].map(|date| days(date) * SECONDS_OF_DAY);
        let seconds = seconds.checked_add(nanoseconds.div_euclid(NANOSECONDS))?;
        let nanoseconds = u32::try_from(nanoseconds.rem_euclid(NANOSECONDS)).ok()?;
        (first..last).contains(&seconds).then_some(Self { seconds, nanoseconds })
    }

    /// With so many digits after the seconds, of at most nine.
    pub(super) fn truncated(self, digits: u32) -> Self {
        let unit = 10u32.pow(9 - digits);
        Self { nanoseconds: self.nanoseconds / unit * unit, ..self }
    }

    pub(super) fn seconds(self) -> i64 {
        self.seconds
    }

    pub(super) fn nanoseconds(self) -> u32 {
        self.nanoseconds
    }

    /// Later by seconds, limited to the ends of the calendar.
    pub(super) fn plus_seconds(self, seconds: i64) -> Self {
        let [first, last] = [Timestamp::MIN, Timestamp::MAX].map(Timestamp::as_second);
        Self {
            seconds: self.seconds.saturating_add(seconds).clamp(first.min(self.seconds), last.max(self.seconds)),
            ..self
        }
    }

    pub(super) fn timestamp(self) -> Timestamp {
        let nanoseconds = i128::from(self.seconds) * 1_000_000_000 + i128::from(self.nanoseconds);
        let ends = [Timestamp::MIN, Timestamp::MAX].map(Timestamp::as_nanosecond);
        Timestamp::from_nanosecond(nanoseconds.clamp(ends[0], ends[1])).expect("within the ends of timestamps")
    }
}

impl From<Timestamp> for Moment {
    fn from(at: Timestamp) -> Self {
        let (nanoseconds, second) = (at.as_nanosecond(), 1_000_000_000);
        let seconds = i64::try_from(nanoseconds.div_euclid(second)).expect("timestamps are within the years to 9999");
        let rest = u32::try_from(nanoseconds.rem_euclid(second)).expect("fewer than a second has");
        Self { seconds, nanoseconds: rest }
    }
}

impl fmt::Display for Moment {
    /// Date and time in UTC without what is after the seconds: `2026-01-02T03:04:05`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [year, month, day] = date(self.seconds.div_euclid(SECONDS_OF_DAY));
        let second = self.seconds.rem_euclid(SECONDS_OF_DAY);
        let sign = if year < 0 { "-" } else { "" };
        write!(f, "{sign}{:04}-{month:02}-{day:02}T", year.abs())?;
        write!(f, "{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60)
    }
}
