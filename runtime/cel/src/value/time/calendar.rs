//! The Gregorian calendar before and after all years that timestamps have.

/// The seconds of a day.
const DAY: i64 = 86_400;
/// The days of 400 years.
const ERA: i64 = 146_097;
/// The days from the first of March of year 0 to the beginning of 1970.
const TO_1970: i64 = 719_468;

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
        // Years are counted from March on, so that leap days are last.
        let from_march = days + TO_1970;
        let (era, day) = (from_march.div_euclid(ERA), from_march.rem_euclid(ERA));
        let year_of_era = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
        let day_in_year = day - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month_from_march = (5 * day_in_year + 2) / 153;
        let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
        let year = year_of_era + era * 400 + i64::from(month <= 2);
        Self {
            year,
            month,
            day: day_in_year - (153 * month_from_march + 2) / 5 + 1,
            day_of_year: days - days_before(year, 1, 1) + 1,
            day_of_week: (days + 4).rem_euclid(7),
            hour: second / 3_600,
            minute: second / 60 % 60,
            second: second % 60,
            nanosecond: nanoseconds.into(),
        }
    }
}

/// The days from the beginning of 1970 to a date.
pub(super) fn days_before(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let month_from_march = (month + 9) % 12;
    let day_in_year = (153 * month_from_march + 2) / 5 + day - 1;
    era * ERA + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_in_year - TO_1970
}

/// The days of a month.
pub(super) fn days_in(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}
