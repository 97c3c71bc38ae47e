//! Time zones: offsets such as `-08:00`, and names such as `Europe/Paris`, from a database that is part of the program.
use jiff::tz::TimeZone;
use kindsmith_meta::go::quoted;

use super::Timestamp;
use crate::Error;

/// A time zone.
#[derive(Clone, Debug)]
pub(crate) enum Zone {
    /// Seconds from UTC.
    Fixed(i64),
    /// One of the database.
    Named(TimeZone),
}

impl Zone {
    /// The zone that the getters of timestamps are given.
    ///
    /// # Errors
    /// Go's error for an invalid zone.
    pub(crate) fn named(zone: &str) -> Result<Self, Error> {
        let Some((hours, minutes)) = zone.split_once(':') else { return from_database(zone) };
        let (hours, minutes) = (integer(hours)?, integer(minutes)?);
        let minutes = if zone.starts_with('-') { minutes.wrapping_neg() } else { minutes };
        // Go counts the offset in nanoseconds, which may overflow.
        let nanoseconds = hours.wrapping_mul(60).wrapping_add(minutes).wrapping_mul(60_000_000_000);
        Ok(Self::Fixed(nanoseconds / 1_000_000_000))
    }

    /// The seconds from UTC at a time.
    pub(crate) fn offset(&self, at: Timestamp) -> i64 {
        match self {
            Self::Fixed(offset) => *offset,
            Self::Named(zone) => {
                let (first, last) = (jiff::Timestamp::MIN.as_second(), jiff::Timestamp::MAX.as_second());
                let at = jiff::Timestamp::from_second(at.seconds.clamp(first, last));
                at.map_or(0, |at| zone.to_offset(at).seconds().into())
            }
        }
    }
}

/// A zone by its name. Case matters.
fn from_database(name: &str) -> Result<Zone, Error> {
    if matches!(name, "" | "UTC" | "Local") {
        return Ok(Zone::Fixed(0));
    }
    if name.contains("..") || name.starts_with(['/', '\\']) {
        return Err(Error::new("time: invalid location name"));
    }
    match jiff::tz::db().get(name) {
        Ok(zone) if zone.iana_name() == Some(name) => Ok(Zone::Named(zone)),
        _ => Err(Error::new(format!("unknown time zone {name}"))),
    }
}

/// A number as Go's `Atoi` reads it.
fn integer(text: &str) -> Result<i64, Error> {
    text.parse().map_err(|error: std::num::ParseIntError| {
        use std::num::IntErrorKind::{NegOverflow, PosOverflow};
        let why =
            if matches!(error.kind(), PosOverflow | NegOverflow) { "value out of range" } else { "invalid syntax" };
        Error::new(format!("strconv.Atoi: parsing {}: {why}", quoted(text)))
    })
}
