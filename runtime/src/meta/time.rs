//! Points in time in the API's format: RFC 3339 in UTC, with whole seconds ([`Time`]) or six digits ([`MicroTime`]).
//! Parses strictly, and prints ages as kubectl shows them.
use std::{fmt, str::FromStr};

use jiff::{SignedDuration, Timestamp, civil, tz::Offset};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A point in time in whole seconds: `2026-01-02T03:04:05Z`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(Timestamp);

/// A point in time in microseconds: `2026-01-02T03:04:05.000000Z`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MicroTime(Timestamp);

/// The text is not a point in time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeError(String);

impl fmt::Display for TimeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} is not an RFC 3339 time such as 2026-01-02T03:04:05Z", self.0)
    }
}

impl std::error::Error for TimeError {}

impl Time {
    /// The current time, truncated to whole seconds.
    pub fn now() -> Self {
        Self::from_timestamp(Timestamp::now())
    }

    /// A timestamp, truncated to whole seconds.
    pub fn from_timestamp(at: Timestamp) -> Self {
        let whole = at.as_nanosecond().div_euclid(1_000_000_000) * 1_000_000_000;
        Self(Timestamp::from_nanosecond(whole).unwrap_or(at))
    }

    /// The timestamp.
    pub fn timestamp(self) -> Timestamp {
        self.0
    }

    /// This time plus seconds, limited to the ends of the calendar.
    #[must_use]
    pub fn plus_seconds(self, seconds: i64) -> Self {
        let moved = self.0.saturating_add(SignedDuration::from_secs(seconds));
        Self(moved.unwrap_or(self.0))
    }

    /// The age of this time as kubectl shows it: `0s`, `5m30s`, `3d4h`.
    pub fn age(self, now: Time) -> String {
        human_duration(now.0.as_second().saturating_sub(self.0.as_second()))
    }
}

impl MicroTime {
    /// The current time, truncated to microseconds.
    pub fn now() -> Self {
        Self::from_timestamp(Timestamp::now())
    }

    /// A timestamp, truncated to microseconds.
    pub fn from_timestamp(at: Timestamp) -> Self {
        let whole = at.as_nanosecond().div_euclid(1000) * 1000;
        Self(Timestamp::from_nanosecond(whole).unwrap_or(at))
    }

    /// The timestamp.
    pub fn timestamp(self) -> Timestamp {
        self.0
    }
}

/// A duration as kubectl shows it: its two largest significant units.
pub(crate) fn human_duration(seconds: i64) -> String {
    // The clocks of two machines differ a little: less than two seconds in the future counts as now.
    if seconds < -1 {
        return "<invalid>".to_owned();
    }
    let seconds = seconds.max(0);
    let (minutes, hours) = (seconds / 60, seconds / 3600);
    let days = hours / 24;
    let two = |large: i64, unit: char, small: i64, lesser: char| match small {
        0 => format!("{large}{unit}"),
        _ => format!("{large}{unit}{small}{lesser}"),
    };
    match () {
        () if seconds < 120 => format!("{seconds}s"),
        () if minutes < 10 => two(minutes, 'm', seconds % 60, 's'),
        () if minutes < 180 => format!("{minutes}m"),
        () if hours < 8 => two(hours, 'h', minutes % 60, 'm'),
        () if hours < 48 => format!("{hours}h"),
        () if hours < 192 => two(days, 'd', hours % 24, 'h'),
        () if days < 730 => format!("{days}d"),
        () if days < 365 * 8 => two(days / 365, 'y', days % 365, 'd'),
        () => format!("{}y", days / 365),
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = Offset::UTC.to_datetime(self.0);
        write_seconds(f, at)?;
        f.write_str("Z")
    }
}

impl fmt::Display for MicroTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = Offset::UTC.to_datetime(self.0);
        write_seconds(f, at)?;
        write!(f, ".{:06}Z", at.subsec_nanosecond() / 1000)
    }
}

fn write_seconds(f: &mut fmt::Formatter<'_>, at: civil::DateTime) -> fmt::Result {
    let (year, month, day) = (at.year(), at.month(), at.day());
    write!(f, "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}", at.hour(), at.minute(), at.second())
}

/// Parses `YYYY-MM-DDTHH:MM:SS[.digits](Z|±HH:MM)` and nothing else.
fn parse(text: &str) -> Option<Timestamp> {
    let bytes = text.as_bytes();
    let number = |from: usize, digits: usize| -> Option<i16> {
        let part = bytes.get(from..from + digits)?;
        part.iter().try_fold(0i16, |sum, b| b.is_ascii_digit().then(|| sum * 10 + i16::from(b - b'0')))
    };
    let small = |from: usize| number(from, 2).and_then(|n| i8::try_from(n).ok());
    let is = |at: usize, byte: u8| (bytes.get(at) == Some(&byte)).then_some(());
    let date = civil::Date::new(number(0, 4)?, small(5)?, small(8)?).ok()?;
    is(4, b'-').and(is(7, b'-')).and(is(10, b'T')).and(is(13, b':')).and(is(16, b':'))?;
    let mut at = 19;
    let mut nanos = 0i32;
    if bytes.get(at) == Some(&b'.') {
        let digits = bytes[at + 1..].iter().take_while(|b| b.is_ascii_digit()).count();
        if digits == 0 {
            return None;
        }
        for place in 0..9 {
            let digit = if place < digits { i32::from(bytes[at + 1 + place] - b'0') } else { 0 };
            nanos = nanos * 10 + digit;
        }
        at += 1 + digits;
    }
    let time = civil::Time::new(small(11)?, small(14)?, small(17)?, nanos).ok()?;
    let offset = match bytes.get(at)? {
        b'Z' if bytes.len() == at + 1 => Offset::UTC,
        sign @ (b'+' | b'-') if bytes.len() == at + 6 => {
            is(at + 3, b':')?;
            let (hours, minutes) = (i32::from(small(at + 1)?), i32::from(small(at + 4)?));
            if hours > 23 || minutes > 59 {
                return None;
            }
            let seconds = (hours * 60 + minutes) * 60;
            Offset::from_seconds(if *sign == b'-' { -seconds } else { seconds }).ok()?
        }
        _ => return None,
    };
    let stamp = offset.to_timestamp(civil::DateTime::from_parts(date, time)).ok()?;
    // In UTC it must still have a year of four digits, or it could not be printed.
    (0..=9999).contains(&Offset::UTC.to_datetime(stamp).year()).then_some(stamp)
}

impl FromStr for Time {
    type Err = TimeError;

    fn from_str(text: &str) -> Result<Self, TimeError> {
        parse(text).map(Self::from_timestamp).ok_or_else(|| TimeError(text.to_owned()))
    }
}

impl FromStr for MicroTime {
    type Err = TimeError;

    fn from_str(text: &str) -> Result<Self, TimeError> {
        parse(text).map(Self::from_timestamp).ok_or_else(|| TimeError(text.to_owned()))
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl Serialize for MicroTime {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(de::Error::custom)
    }
}

impl<'de> Deserialize<'de> for MicroTime {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(de::Error::custom)
    }
}
