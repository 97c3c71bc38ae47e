//! Times as Go reads them by a layout (`time.Parse`), with its leniency and its words: an hour of one digit, a comma before the
//! fraction, and offsets of up to 24 hours and 60 minutes are allowed.
use std::fmt::Write;

use super::{calendar::days_of_month, moment::Moment};

/// A layout: how it is written, and its elements.
pub struct Layout {
    text: &'static str,
    /// The digits after the seconds of times that are printed with it; `None` if it is one of dates.
    digits: Option<usize>,
}

/// An element of a layout.
#[derive(Clone, Copy, PartialEq)]
enum Element {
    Literal,
    Year,
    Month,
    Day,
    Hour,
    Minute,
    /// A fraction may come after the seconds, unless the layout has one itself.
    Second,
    /// A point or a comma and so many digits.
    Fraction,
    Zone,
}

use Element::{Day, Fraction, Hour, Literal, Minute, Month, Second, Year, Zone};

/// The elements that layouts consist of, in order.
const ELEMENTS: [(Element, &str); 13] = [
    (Year, "2006"),
    (Literal, "-"),
    (Month, "01"),
    (Literal, "-"),
    (Day, "02"),
    (Literal, "T"),
    (Hour, "15"),
    (Literal, ":"),
    (Minute, "04"),
    (Literal, ":"),
    (Second, "05"),
    (Fraction, ".000000"),
    (Zone, "Z07:00"),
];

/// The number of elements of a date.
const OF_DATE: usize = 5;

impl Layout {
    /// `metav1.Time`.
    pub const RFC_3339: Self = Self { text: "2006-01-02T15:04:05Z07:00", digits: Some(0) };

    /// `metav1.MicroTime`.
    pub const MICRO: Self = Self { text: "2006-01-02T15:04:05.000000Z07:00", digits: Some(6) };

    /// A date alone.
    pub const DATE: Self = Self { text: "2006-01-02", digits: None };

    /// Its elements.
    fn elements(&self) -> impl Iterator<Item = &'static (Element, &'static str)> {
        let (count, has_fraction) = (self.digits.map_or(OF_DATE, |_| ELEMENTS.len()), self.digits() > 0);
        ELEMENTS[..count].iter().filter(move |(element, _)| has_fraction || *element != Fraction)
    }

    /// The digits that it has after the seconds.
    pub(super) fn digits(&self) -> usize {
        self.digits.unwrap_or(0)
    }

    /// The time of a text that is as times are printed with it, as nearly all are.
    pub(super) fn printed(&self, text: &str) -> Option<Moment> {
        let (whole, rest) = text.as_bytes().split_at_checked(19)?;
        let &[y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2, b'T', h1, h2, b':', i1, i2, b':', s1, s2] = whole else {
            return None;
        };
        let nanoseconds = match (self.digits?, rest) {
            (0, b"Z") => 0,
            (6, &[b'.', ref digits @ .., b'Z']) if digits.len() == 6 => number(digits)? * 1_000,
            _ => return None,
        };
        let (year, month, day) = (number(&[y1, y2, y3, y4])?, number(&[m1, m2])?, number(&[d1, d2])?);
        let (hour, minute, second) = (number(&[h1, h2])?, number(&[i1, i2])?, number(&[s1, s2])?);
        let is_date = (1..=12).contains(&month) && (1..=days_of_month(year, month)).contains(&day);
        let is_time = hour < 24 && minute < 60 && second < 60;
        let nanoseconds = u32::try_from(nanoseconds).ok()?;
        (is_date && is_time).then(|| Moment::new([year, month, day], [hour, minute, second], nanoseconds, 0))
    }

    /// True if Go reads a text with it.
    pub fn allows(&self, text: &str) -> bool {
        self.parse(text).is_ok()
    }

    /// The time that a text says.
    ///
    /// # Errors
    /// Why Go refuses it, in its words.
    pub(super) fn parse(&self, text: &str) -> Result<Moment, String> {
        self.printed(text).map_or_else(|| self.parse_any(text), Ok)
    }

    /// The same of a text in any of the forms that Go reads.
    pub(super) fn parse_any(&self, text: &str) -> Result<Moment, String> {
        let reader = self.elements_of(text)?;
        Ok(Moment::new(reader.date, reader.time, reader.nanoseconds, reader.ahead))
    }

    /// The time that a text says, with its offset: seconds since 1970 in UTC, nanoseconds, and the seconds that the text is ahead of UTC.
    /// The year may be 0, or by its offset the one before or 10000.
    ///
    /// # Errors
    /// Why Go refuses it, in its words.
    pub fn with_offset(&self, text: &str) -> Result<(i64, u32, i64), String> {
        let reader = self.elements_of(text)?;
        let at = Moment::new(reader.date, reader.time, reader.nanoseconds, reader.ahead);
        Ok((at.seconds(), at.nanoseconds(), reader.ahead))
    }

    /// Reads a text to its end.
    fn elements_of<'t>(&self, text: &'t str) -> Result<Reader<'t>, String> {
        let mut reader = Reader { rest: text.as_bytes(), date: [0, 1, 1], time: [0; 3], nanoseconds: 0, ahead: 0 };
        for (element, shown) in self.elements() {
            let before = reader.rest;
            match reader.element(*element, shown, self.digits() > 0) {
                Ok(()) => {}
                Err(Fault::Range(what)) => {
                    return Err(format!("parsing time {}: {what} out of range", quoted(text.as_bytes())));
                }
                Err(Fault::Unread) => {
                    let layout = quoted(self.text.as_bytes());
                    let (text, rest, shown) = (quoted(text.as_bytes()), quoted(before), quoted(shown.as_bytes()));
                    return Err(format!("parsing time {text} as {layout}: cannot parse {rest} as {shown}"));
                }
            }
        }
        let fault = |what: String| Err(format!("parsing time {}: {what}", quoted(text.as_bytes())));
        if !reader.rest.is_empty() {
            return fault(format!("extra text: {}", quoted(reader.rest)));
        }
        let [year, month, day] = reader.date;
        if day < 1 || day > days_of_month(year, month) {
            return fault("day out of range".to_owned());
        }
        Ok(reader)
    }
}

/// Why an element cannot be read.
enum Fault {
    /// Something else is there.
    Unread,
    /// The number of this name is too small or too large.
    Range(&'static str),
}

/// What was read so far, and the rest.
struct Reader<'t> {
    rest: &'t [u8],
    date: [i64; 3],
    time: [i64; 3],
    nanoseconds: u32,
    /// The seconds that it is ahead of UTC.
    ahead: i64,
}

impl Reader<'_> {
    fn element(&mut self, element: Element, shown: &str, has_fraction: bool) -> Result<(), Fault> {
        match element {
            Literal => self.rest = self.rest.strip_prefix(shown.as_bytes()).ok_or(Fault::Unread)?,
            Year => {
                let (year, rest) = self.rest.split_at_checked(4).ok_or(Fault::Unread)?;
                self.date[0] = number(year).ok_or(Fault::Unread)?;
                self.rest = rest;
            }
            Month => self.date[1] = within(self.digits(true)?, 1, 12, "month")?,
            // The day is checked against the month at the end.
            Day => self.date[2] = self.digits(true)?,
            Hour => self.time[0] = within(self.digits(false)?, 0, 23, "hour")?,
            Minute => self.time[1] = within(self.digits(true)?, 0, 59, "minute")?,
            Second => {
                self.time[2] = within(self.digits(true)?, 0, 59, "second")?;
                let digits = self.rest.iter().skip(1).take_while(|byte| byte.is_ascii_digit()).count();
                if !has_fraction && digits > 0 && matches!(self.rest[0], b'.' | b',') {
                    self.fraction(digits)?;
                }
            }
            Fraction => self.fraction(shown.len() - 1)?,
            Zone => self.zone()?,
        }
        Ok(())
    }

    /// One digit or two, or two.
    fn digits(&mut self, is_fixed: bool) -> Result<i64, Fault> {
        let count = self.rest.iter().take(2).take_while(|byte| byte.is_ascii_digit()).count();
        if count == 0 || is_fixed && count == 1 {
            return Err(Fault::Unread);
        }
        let (digits, rest) = self.rest.split_at(count);
        self.rest = rest;
        number(digits).ok_or(Fault::Unread)
    }

    fn fraction(&mut self, digits: usize) -> Result<(), Fault> {
        let (fraction, rest) = self.rest.split_at_checked(digits + 1).ok_or(Fault::Unread)?;
        let kept = &fraction[1..=digits.min(9)];
        // Go reads a sign here, too.
        let (is_negative, unsigned) = match kept {
            [b'-', unsigned @ ..] => (true, unsigned),
            [b'+', unsigned @ ..] | unsigned => (false, unsigned),
        };
        let value = number(unsigned).filter(|_| matches!(fraction[0], b'.' | b',')).ok_or(Fault::Unread)?;
        if is_negative && value > 0 {
            return Err(Fault::Range("fractional second"));
        }
        let scale = 10i64.pow(u32::try_from(9 - kept.len()).unwrap_or(0));
        self.nanoseconds = u32::try_from(value * scale).map_err(|_| Fault::Unread)?;
        self.rest = rest;
        Ok(())
    }

    fn zone(&mut self) -> Result<(), Fault> {
        if let Some(rest) = self.rest.strip_prefix(b"Z") {
            self.rest = rest;
            return Ok(());
        }
        let &[sign, h1, h2, b':', m1, m2, ref rest @ ..] = self.rest else { return Err(Fault::Unread) };
        let hours = number(&[h1, h2]);
        let minutes = hours.and_then(|_| number(&[m1, m2]));
        // A number that is too large is reported before an invalid one. If both are too large, the minute is reported.
        within(minutes.unwrap_or(0), 0, 60, "time zone offset minute")?;
        within(hours.unwrap_or(0), 0, 24, "time zone offset hour")?;
        let ahead = (hours.ok_or(Fault::Unread)? * 60 + minutes.ok_or(Fault::Unread)?) * 60;
        self.ahead = match sign {
            b'+' => ahead,
            b'-' => -ahead,
            _ => return Err(Fault::Unread),
        };
        self.rest = rest;
        Ok(())
    }
}

/// A number of at most nine digits, and of nothing else.
fn number(digits: &[u8]) -> Option<i64> {
    let add = |sum: i64, byte: &u8| byte.is_ascii_digit().then(|| sum * 10 + i64::from(byte - b'0'));
    if digits.is_empty() { None } else { digits.iter().try_fold(0, add) }
}

fn within(number: i64, least: i64, most: i64, what: &'static str) -> Result<i64, Fault> {
    if (least..=most).contains(&number) { Ok(number) } else { Err(Fault::Range(what)) }
}

/// A text as Go's errors about times quote it.
fn quoted(text: &[u8]) -> String {
    let mut out = String::from('"');
    for &byte in text {
        match byte {
            b'"' | b'\\' => out.extend(['\\', char::from(byte)]),
            b' '..0x80 => out.push(char::from(byte)),
            _ => {
                let _ = write!(out, "\\x{byte:02x}");
            }
        }
    }
    out.push('"');
    out
}
