//! Durations in Go's format, as query parameters use them: `300ms`, `1.5h`, `2h45m`.

use std::time::Duration;

/// The units, in nanoseconds.
const UNITS: [(&str, u64); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("μs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60 * 1_000_000_000),
    ("h", 3_600 * 1_000_000_000),
];

/// The length of the shortest duration, in nanoseconds: durations have 64 bits.
const MOST: u64 = 1 << 63;

/// Parses a duration. A negative one becomes zero.
///
/// # Errors
/// Go's message for an invalid duration.
pub fn parse(text: &str) -> Result<Duration, String> {
    nanoseconds(text).map(|nanoseconds| u64::try_from(nanoseconds).map_or(Duration::ZERO, Duration::from_nanos))
}

/// The nanoseconds of a duration, which may be negative.
///
/// # Errors
/// Go's message for an invalid duration.
pub fn nanoseconds(text: &str) -> Result<i64, String> {
    let invalid = || format!("time: invalid duration {text:?}");
    let mut rest = text.strip_prefix(['+', '-']).unwrap_or(text);
    if rest == "0" {
        return Ok(0);
    }
    if rest.is_empty() {
        return Err(invalid());
    }
    let mut total = 0_u64;
    while !rest.is_empty() {
        let (whole, after) = digits(rest);
        let (fraction, after) = after.strip_prefix('.').map_or(("", after), digits);
        if whole.is_empty() && fraction.is_empty() {
            return Err(invalid());
        }
        let (name, after) = after.split_at(after.find(|c: char| c == '.' || c.is_ascii_digit()).unwrap_or(after.len()));
        if name.is_empty() {
            return Err(format!("time: missing unit in duration {text:?}"));
        }
        let unit = UNITS.iter().find(|(unit, _)| *unit == name);
        let Some((_, unit)) = unit else { return Err(format!("time: unknown unit {name:?} in duration {text:?}")) };
        // As in Go: two parts that are each the most there is give nothing.
        let sum = part(whole, fraction, *unit).map(|part| total.wrapping_add(part));
        total = sum.filter(|sum| *sum <= MOST).ok_or_else(invalid)?;
        rest = after;
    }
    let signed = if text.starts_with('-') { 0_i64.checked_sub_unsigned(total) } else { i64::try_from(total).ok() };
    signed.ok_or_else(invalid)
}

fn digits(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()))
}

/// `whole.fraction` units in nanoseconds; `None` if it exceeds the most.
fn part(whole: &str, fraction: &str, unit: u64) -> Option<u64> {
    let whole = if whole.is_empty() { 0 } else { whole.parse::<u64>().ok()? };
    let units = Some(whole).filter(|whole| *whole <= MOST / unit)? * unit;
    Some(units + fraction_of(fraction, unit)).filter(|sum| *sum <= MOST)
}

/// The nanoseconds of the fraction of a unit. Digits beyond 63 bits do not count.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "as in Go; the fraction of a unit is in range"
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_parse_as_in_go() {
        for (text, nanoseconds) in [
            ("0", 0),
            ("-0", 0),
            ("0s", 0),
            ("5s", 5_000_000_000),
            ("+5s", 5_000_000_000),
            ("1.5s", 1_500_000_000),
            (".5s", 500_000_000),
            ("1.s", 1_000_000_000),
            ("300ms", 300_000_000),
            ("2h45m", 9_900_000_000_000),
            ("1m0.5s1ns", 60_500_000_001),
            ("1µs2μs3us", 6_000),
            // Fractions are doubles.
            ("0.0000000009999999999999999999s", 1),
            ("0.100000000000000000000h", 360_000_000_000),
            ("-5s", 0),
            ("9223372036854775807ns", i64::MAX.unsigned_abs()),
        ] {
            assert_eq!(parse(text), Ok(Duration::from_nanos(nanoseconds)), "{text}");
        }
    }

    #[test]
    fn invalid_durations_are_refused_with_go_s_messages() {
        for (text, message) in [
            ("", "time: invalid duration \"\""),
            ("-", "time: invalid duration \"-\""),
            ("s", "time: invalid duration \"s\""),
            (".s", "time: invalid duration \".s\""),
            ("--1s", "time: invalid duration \"--1s\""),
            ("5", "time: missing unit in duration \"5\""),
            ("1s5", "time: missing unit in duration \"1s5\""),
            ("5 s", "time: unknown unit \" s\" in duration \"5 s\""),
            ("5S", "time: unknown unit \"S\" in duration \"5S\""),
            ("1d", "time: unknown unit \"d\" in duration \"1d\""),
            ("9223372036854775808ns", "time: invalid duration \"9223372036854775808ns\""),
            ("99999999999999999999999999999999999999999h", "time: invalid duration"),
        ] {
            let refused = parse(text).expect_err(text);
            assert!(refused.starts_with(message), "{text}: {refused}");
        }
    }
}
