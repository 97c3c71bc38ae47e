//! Durations and timestamps.

/// A duration in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration {
    /// Its length.
    pub nanoseconds: i64,
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
