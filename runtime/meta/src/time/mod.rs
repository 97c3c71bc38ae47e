//! Points in time in the API's format: RFC 3339 in UTC, with whole seconds ([`Time`]) or six digits ([`MicroTime`]).
//! Parses what Go parses, and prints ages as kubectl shows them.
use std::{borrow::Cow, fmt, str::FromStr};

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

pub use self::layout::Layout;
use self::moment::Moment;

pub mod calendar;
pub mod clock;
mod layout;
mod moment;
#[cfg(test)]
mod tests;

/// A point in time in whole seconds: `2026-01-02T03:04:05Z`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(Moment);

/// A point in time in microseconds: `2026-01-02T03:04:05.000000Z`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MicroTime(Moment);

/// The text is not a point in time, in Go's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeError(String);

impl fmt::Display for TimeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for TimeError {}

/// What both types have; the number is that of the digits after the seconds.
macro_rules! times {
    ($($ty:ident $digits:literal)*) => { $(
        impl $ty {
            /// The current time, truncated to the precision of the type. Inside a server of a test whose clock was moved, it
            /// is the time on that clock.
            pub fn now() -> Self {
                Self::from_timestamp(clock::now())
            }

            /// A timestamp, truncated to the precision of the type.
            pub fn from_timestamp(at: Timestamp) -> Self {
                Self(Moment::from(at).truncated($digits))
            }

            /// The timestamp; the last or first one for times beyond them.
            pub fn timestamp(self) -> Timestamp {
                self.0.timestamp()
            }

            /// Seconds since 1970, and the nanoseconds after them, as messages have them.
            pub fn parts(self) -> (i64, u32) {
                (self.0.seconds(), self.0.nanoseconds())
            }

            /// The time of these; `None` outside of the years 0 to 9999.
            pub fn of_parts(seconds: i64, nanoseconds: i64) -> Option<Self> {
                Moment::of_parts(seconds, nanoseconds).map(|at| Self(at.truncated($digits)))
            }
        }

        impl Serialize for $ty {
            fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.collect_str(self)
            }
        }
    )* };
}

times! { Time 0 MicroTime 6 }

impl Time {
    /// This time plus seconds, limited to the ends of the calendar.
    #[must_use]
    pub fn plus_seconds(self, seconds: i64) -> Self {
        Self(self.0.plus_seconds(seconds))
    }

    /// The age of this time as kubectl shows it: `0s`, `5m30s`, `3d4h`.
    pub fn age(self, now: Time) -> String {
        human_duration(now.0.seconds().saturating_sub(self.0.seconds()))
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
        write!(f, "{}Z", self.0)
    }
}

impl fmt::Display for MicroTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:06}Z", self.0, self.0.nanoseconds() / 1000)
    }
}

impl FromStr for Time {
    type Err = TimeError;

    fn from_str(text: &str) -> Result<Self, TimeError> {
        Layout::RFC_3339.parse(text).map(|at| Self(at.truncated(0))).map_err(TimeError)
    }
}

impl FromStr for MicroTime {
    type Err = TimeError;

    /// Takes exactly six digits, as Go does.
    fn from_str(text: &str) -> Result<Self, TimeError> {
        Layout::MICRO.parse(text).map(Self).map_err(TimeError)
    }
}

impl Layout {
    /// The text that Go prints for a time that it reads with this layout; `None` for the zero time, which it prints as `null`.
    ///
    /// # Errors
    /// Why Go refuses it, in its words.
    pub fn read<'t>(&self, text: &'t str) -> Result<Option<Cow<'t, str>>, String> {
        let printed = self.printed(text);
        let at = printed.map_or_else(|| self.parse_any(text), Ok)?;
        if at == Moment::ZERO {
            return Ok(None);
        }
        Ok(Some(match printed {
            Some(_) => text.into(),
            None if self.digits() == 0 => Time(at).to_string().into(),
            None => MicroTime(at).to_string().into(),
        }))
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(de::Error::custom)
    }
}

impl<'de> Deserialize<'de> for MicroTime {
    /// Takes any number of digits, as servers that stored other numbers of them send them.
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        let at = Layout::RFC_3339.parse(&text).map_err(de::Error::custom)?;
        Ok(Self(at.truncated(6)))
    }
}
