//! The parts of a time.
use kindsmith_meta::time::calendar;

/// The seconds of a day.
const DAY: i64 = 86_400;

/// The parts of a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fields {
    pub(crate) year: i64,
    /// From 1, January.
    pub(crate) month: i64,
    /// From 1.
    pub(crate) day: i64,
    /// From 1.
    pub(crate) day_of_year: i64,
    /// From 0, Sunday.
    pub(crate) day_of_week: i64,
    pub(crate) hour: i64,
    pub(crate) minute: i64,
    pub(crate) second: i64,
    pub(crate) nanosecond: i64,
}

impl Fields {
    /// The parts of a number of seconds since 1970, and nanoseconds.
    pub(super) fn of(seconds: i64, nanoseconds: u32) -> Self {
        let (days, second) = (seconds.div_euclid(DAY), seconds.rem_euclid(DAY));
        let [year, month, day] = calendar::date(days);
        Self {
            year,
            month,
            day,
            day_of_year: days - calendar::days([year, 1, 1]) + 1,
            day_of_week: (days + 4).rem_euclid(7),
            hour: second / 3_600,
            minute: second / 60 % 60,
            second: second % 60,
            nanosecond: nanoseconds.into(),
        }
    }
}
