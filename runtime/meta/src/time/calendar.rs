//! The Gregorian calendar over all years.

/// The days of a month.
pub fn days_of_month(year: i64, month: i64) -> i64 {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// The days from 1970 to a date. Years are counted from March, so that a leap day is the last day of its year, in spans of 400 years.
pub fn days([year, month, day]: [i64; 3]) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let (span, year) = (year.div_euclid(400), year.rem_euclid(400));
    let in_year = (153 * month + 2) / 5 + day - 1;
    span * 146_097 + year * 365 + year / 4 - year / 100 + in_year - 719_468
}

/// The date so many days from 1970: the inverse of [`days`].
pub fn date(days: i64) -> [i64; 3] {
    let days = days + 719_468;
    let (span, in_span) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (in_span - in_span / 1460 + in_span / 36_524 - in_span / 146_096) / 365;
    let in_year = in_span - (365 * year + year / 4 - year / 100);
    let month = (5 * in_year + 2) / 153;
    let day = in_year - (153 * month + 2) / 5 + 1;
    let year = span * 400 + year;
    if month < 10 { [year, month + 3, day] } else { [year + 1, month - 9, day] }
}
