//! Durations and timestamps from text, as Go reads them.
use super::{Timestamp, calendar};

/// The units of durations in nanoseconds. The two forms of `µ` differ.
const UNITS: [(&str, u64); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("\u{b5}s", 1_000),
    ("\u{3bc}s", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

/// The length of the shortest duration.
const MOST: u64 = 1 << 63;

/// The nanoseconds of a duration.
pub(super) fn duration(text: &str) -> Option<i64> {
    let is_negative = text.starts_with('-');
    let mut rest = text.strip_prefix(['-', '+']).unwrap_or(text);
    if rest == "0" {
        return Some(0);
    }
    if rest.is_empty() {
        return None;
    }
    let mut sum = 0_u64;
    while !rest.is_empty() {
        let (part, after) = quantity(rest)?;
        // As in Go: two parts that are each the most there is give nothing.
        sum = Some(sum.wrapping_add(part)).filter(|sum| *sum <= MOST)?;
        rest = after;
    }
    if is_negative { 0_i64.checked_sub_unsigned(sum) } else { i64::try_from(sum).ok() }
}

/// A number with a unit, and the text after it.
fn quantity(text: &str) -> Option<(u64, &str)> {
    let (whole, rest) = digits(text);
    let (fraction, rest) = rest.strip_prefix('.').map_or(("", rest), digits);
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let end = rest.find(|c: char| c == '.' || c.is_ascii_digit()).unwrap_or(rest.len());
    let (name, after) = rest.split_at(end);
    let (_, unit) = *UNITS.iter().find(|(known, _)| *known == name)?;
    let whole = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let units = Some(whole).filter(|whole: &u64| *whole <= MOST / unit)? * unit;
    Some((Some(units + fraction_of(fraction, unit)).filter(|sum| *sum <= MOST)?, after))
}

/// The nanoseconds of the fraction of a unit. Digits beyond those of an `int` do not count.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "as in Go; a fraction of a unit is in range"
)]
fn fraction_of(digits: &str, unit: u64) -> u64 {
    let (mut fraction, mut scale) = (0_u64, 1.0);
    for digit in digits.bytes().map(|byte| u64::from(byte - b'0')) {
        if fraction > (MOST - 1) / 10 || fraction * 10 + digit > MOST {
            break;
        }
        (fraction, scale) = (fraction * 10 + digit, scale * 10.0);
    }
    (fraction as f64 * (unit as f64 / scale)) as u64
}

fn digits(text: &str) -> (&str, &str) {
    text.split_at(text.bytes().take_while(u8::is_ascii_digit).count())
}

/// A time of RFC 3339, somewhat more liberal: hours may have one digit, the fraction may follow a comma, and offsets may be 24 hours
/// and 60 minutes.
pub(super) fn timestamp(text: &str) -> Option<Timestamp> {
    let mut reader = Reader(text.as_bytes());
    let year = reader.number(4, 4)?;
    let month = reader.after(b'-')?.number(2, 2).filter(|month| (1..=12).contains(month))?;
    let day = reader.after(b'-')?.number(2, 2)?;
    let hour = reader.after(b'T')?.number(1, 2).filter(|hour| *hour < 24)?;
    let minute = reader.after(b':')?.number(2, 2).filter(|minute| *minute < 60)?;
    let second = reader.after(b':')?.number(2, 2).filter(|second| *second < 60)?;
    let nanoseconds = reader.fraction();
    let offset = reader.offset()?;
    if !reader.0.is_empty() || day < 1 || day > calendar::days_in(year, month) {
        return None;
    }
    let seconds = calendar::days_before(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second;
    Some(Timestamp { seconds: seconds - i64::from(offset), nanoseconds, offset })
}

/// What is left of a text.
struct Reader<'t>(&'t [u8]);

impl Reader<'_> {
    /// It, after a byte.
    fn after(&mut self, byte: u8) -> Option<&mut Self> {
        self.0 = self.0.strip_prefix(&[byte])?;
        Some(self)
    }

    /// A number with so many digits.
    fn number(&mut self, least: usize, most: usize) -> Option<i64> {
        let count = self.0.iter().take(most).take_while(|byte| byte.is_ascii_digit()).count();
        let (digits, rest) = self.0.split_at(count);
        self.0 = rest;
        (count >= least).then(|| digits.iter().fold(0, |number, digit| number * 10 + i64::from(digit - b'0')))
    }

    /// The nanoseconds of a fraction, if there is one. Digits after the ninth do not count.
    fn fraction(&mut self) -> u32 {
        let [b'.' | b',', rest @ ..] = self.0 else { return 0 };
        let count = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if count == 0 {
            return 0;
        }
        let (digits, rest) = rest.split_at(count);
        self.0 = rest;
        let digits = digits.iter().chain(std::iter::repeat(&b'0')).take(9);
        digits.fold(0, |number, digit| number * 10 + u32::from(digit - b'0'))
    }

    /// `Z`, or an offset in seconds.
    fn offset(&mut self) -> Option<i32> {
        if let [b'Z', rest @ ..] = self.0 {
            self.0 = rest;
            return Some(0);
        }
        let (sign, rest) = self.0.split_first()?;
        self.0 = rest;
        let hours = self.number(2, 2).filter(|hours| *hours <= 24)?;
        let minutes = self.after(b':')?.number(2, 2).filter(|minutes| *minutes <= 60)?;
        let seconds = i32::try_from(hours * 3_600 + minutes * 60).ok()?;
        match sign {
            b'+' => Some(seconds),
            b'-' => Some(-seconds),
            _ => None,
        }
    }
}
