//! Durations and timestamps as Go prints them (`%v`).
use super::{Duration, Fields, NANOSECONDS, Timestamp};

impl Duration {
    /// `1h0m1.5s`; less than a second in the largest unit that has a whole part: `1.5ms`.
    pub(crate) fn go_text(self) -> String {
        let sign = if self.nanoseconds < 0 { "-" } else { "" };
        let length = self.nanoseconds.unsigned_abs();
        let (unit, size) = match length {
            0 => return "0s".to_owned(),
            1..1_000 => ("ns", 1),
            1_000..1_000_000 => ("µs", 1_000),
            1_000_000..1_000_000_000 => ("ms", 1_000_000),
            _ => ("s", NANOSECONDS.unsigned_abs()),
        };
        let (whole, rest) = (length / size, length % size);
        let fraction = if rest == 0 {
            String::new()
        } else {
            let digits = format!("{rest:0width$}", width = size.ilog10() as usize);
            format!(".{}", digits.trim_end_matches('0'))
        };
        let (hours, minutes) = (whole / 3_600, whole / 60 % 60);
        match (unit, hours, minutes) {
            ("s", 1.., _) => format!("{sign}{hours}h{minutes}m{}{fraction}s", whole % 60),
            ("s", 0, 1..) => format!("{sign}{minutes}m{}{fraction}s", whole % 60),
            _ => format!("{sign}{whole}{fraction}{unit}"),
        }
    }
}

impl Timestamp {
    /// `2009-02-13 23:31:30.5 +0000 UTC`. An offset stands for the name of its zone, too.
    pub(crate) fn go_text(self) -> String {
        let Fields { year, month, day, hour, minute, second, .. } = self.fields(self.offset.into());
        let fraction = match self.nanoseconds {
            0 => String::new(),
            nanoseconds => format!(".{}", format!("{nanoseconds:09}").trim_end_matches('0')),
        };
        let (sign, minutes) = (if self.offset < 0 { '-' } else { '+' }, self.offset.unsigned_abs() / 60);
        let offset = format!("{sign}{:02}{:02}", minutes / 60, minutes % 60);
        let zone = if self.offset == 0 { "UTC" } else { &offset };
        format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}{fraction} {offset} {zone}")
    }
}
