//! Durations and timestamps: their arithmetic, their texts, and the parts of a timestamp in a zone.
//!
//! `fields` are the parts of a timestamp, `zone` knows time zones, and `go` prints both as Go does in errors.
use std::{cmp::Ordering, fmt};

use kindsmith_meta::{duration, go::decimal, time::Layout};

use crate::Error;

mod fields;
mod go;
#[cfg(test)]
mod tests;
mod zone;

pub(crate) use self::{fields::Fields, zone::Zone};

const NANOSECONDS: i64 = 1_000_000_000;

/// The first and the last second of a timestamp.
const SECONDS: std::ops::RangeInclusive<i64> = -62_135_596_800..=253_402_300_799;

/// A duration in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration {
    /// Its length.
    pub nanoseconds: i64,
}

impl Duration {
    /// A duration as Go's `ParseDuration` reads it, such as `1h30m` or `-1.5s`.
    pub fn parse(text: &str) -> Option<Self> {
        duration::nanoseconds(text).ok().map(|nanoseconds| Self { nanoseconds })
    }

    /// The whole hours. cel-go divides in doubles: an hour that lacks less than they hold counts.
    pub fn hours(self) -> i64 {
        whole(self.in_units(3_600 * NANOSECONDS))
    }

    /// The whole minutes.
    pub fn minutes(self) -> i64 {
        whole(self.in_units(60 * NANOSECONDS))
    }

    /// The whole seconds.
    pub fn seconds(self) -> i64 {
        whole(self.in_units(NANOSECONDS))
    }

    /// The whole milliseconds. (The specification has the milliseconds of the second; cel-go has not.)
    pub fn milliseconds(self) -> i64 {
        self.nanoseconds / 1_000_000
    }

    /// Whole units and a fraction are converted apart, which keeps most digits.
    #[expect(clippy::cast_precision_loss, reason = "as in Go")]
    fn in_units(self, unit: i64) -> f64 {
        (self.nanoseconds / unit) as f64 + (self.nanoseconds % unit) as f64 / unit as f64
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a count of units of a duration is in range")]
fn whole(units: f64) -> i64 {
    units as i64
}

impl fmt::Display for Duration {
    /// Seconds, with as many digits as a `double` has of them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}s", decimal(self.in_units(NANOSECONDS)))
    }
}

/// A point in time from year 1 to 9999, with the offset in which it was written. Two are equal if they are the same instant.
#[derive(Clone, Copy, Debug)]
pub struct Timestamp {
    /// Seconds since 1970-01-01T00:00:00Z.
    pub seconds: i64,
    /// Nanoseconds of the second.
    pub nanoseconds: u32,
    /// The offset from UTC in seconds.
    pub offset: i32,
}

impl Timestamp {
    /// A time of RFC 3339 as Go's `time.Parse` reads it. Its year may be 0, or it may be out of range by its offset.
    pub fn parse(text: &str) -> Option<Self> {
        let (seconds, nanoseconds, offset) = Layout::RFC_3339.with_offset(text).ok()?;
        Some(Self { seconds, nanoseconds, offset: i32::try_from(offset).ok()? })
    }

    /// It, if it is in range.
    ///
    /// # Errors
    /// It is not.
    pub fn checked(self) -> Result<Self, Error> {
        if SECONDS.contains(&self.seconds) { Ok(self) } else { Err(Error::new("timestamp overflow")) }
    }

    /// The timestamp after a duration.
    ///
    /// # Errors
    /// It is out of range.
    pub fn plus(self, duration: Duration) -> Result<Self, Error> {
        let nanoseconds = i64::from(self.nanoseconds) + duration.nanoseconds % NANOSECONDS;
        let carried = duration.nanoseconds / NANOSECONDS + nanoseconds.div_euclid(NANOSECONDS);
        let seconds = self.seconds.saturating_add(carried);
        let nanoseconds = u32::try_from(nanoseconds.rem_euclid(NANOSECONDS)).unwrap_or(0);
        Self { seconds, nanoseconds, ..self }.checked()
    }

    /// The timestamp before a duration.
    ///
    /// # Errors
    /// It is out of range, or the duration is the shortest, which has no negative.
    pub fn minus(self, duration: Duration) -> Result<Self, Error> {
        let nanoseconds = duration.nanoseconds.checked_neg().ok_or_else(|| Error::new("integer overflow"))?;
        self.plus(Duration { nanoseconds })
    }

    /// The duration since another timestamp.
    ///
    /// # Errors
    /// It is too long.
    pub fn since(self, other: Self) -> Result<Duration, Error> {
        let seconds = self.seconds.saturating_sub(other.seconds).checked_mul(NANOSECONDS);
        let rest = i64::from(self.nanoseconds) - i64::from(other.nanoseconds);
        let nanoseconds = seconds.and_then(|seconds| seconds.checked_add(rest));
        Ok(Duration { nanoseconds: nanoseconds.ok_or_else(|| Error::new("integer overflow"))? })
    }

    /// True for the beginning of year 1, which is Go's zero time.
    pub fn is_zero(self) -> bool {
        self.seconds == *SECONDS.start() && self.nanoseconds == 0
    }

    /// Its parts at an offset from UTC in seconds.
    pub(crate) fn fields(self, offset: i64) -> Fields {
        Fields::of(self.seconds.saturating_add(offset), self.nanoseconds)
    }
}

impl fmt::Display for Timestamp {
    /// RFC 3339 in its own offset, without zeros at the end of the fraction.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Fields { year, month, day, hour, minute, second, .. } = self.fields(self.offset.into());
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")?;
        if self.nanoseconds > 0 {
            let fraction = format!("{:09}", self.nanoseconds);
            write!(f, ".{}", fraction.trim_end_matches('0'))?;
        }
        if self.offset == 0 {
            return f.write_str("Z");
        }
        let (sign, minutes) = (if self.offset < 0 { '-' } else { '+' }, self.offset.unsigned_abs() / 60);
        write!(f, "{sign}{:02}:{:02}", minutes / 60, minutes % 60)
    }
}

impl PartialEq for Timestamp {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Timestamp {}

impl PartialOrd for Timestamp {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Timestamp {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.seconds, self.nanoseconds).cmp(&(other.seconds, other.nanoseconds))
    }
}
