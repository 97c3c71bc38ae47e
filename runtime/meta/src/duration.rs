//! Durations in Go's format, as query parameters use them: `300ms`, `1.5h`, `2h45m`.

use std::time::Duration;

/// The units, in nanoseconds.
const UNITS: [(&str, u128); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("μs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60 * 1_000_000_000),
    ("h", 3_600 * 1_000_000_000),
];

/// The number of significant digits of a fraction; no unit has more.
const FRACTION: usize = 18;

/// Parses a duration. A negative one becomes zero.
///
/// # Errors
/// Go's message for an invalid duration.
pub fn parse(text: &str) -> Result<Duration, String> {
    let invalid = || format!("time: invalid duration {text:?}");
    let mut rest = text.strip_prefix(['+', '-']).unwrap_or(text);
    if rest == "0" {
        return Ok(Duration::ZERO);
    }
    if rest.is_empty() {
        return Err(invalid());
    }
    let mut total: u128 = 0;
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
        total = part(whole, fraction, *unit).and_then(|part| total.checked_add(part)).ok_or_else(invalid)?;
        rest = after;
    }
    // Go's durations have 64 bits.
    let nanoseconds = i64::try_from(total).map_err(|_| invalid())?;
    Ok(if text.starts_with('-') { Duration::ZERO } else { Duration::from_nanos(nanoseconds.unsigned_abs()) })
}

fn digits(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()))
}

/// `whole.fraction` units in nanoseconds; `None` if it exceeds 128 bits.
fn part(whole: &str, fraction: &str, unit: u128) -> Option<u128> {
    let whole: u128 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let fraction = &fraction[..fraction.len().min(FRACTION)];
    let scale = 10_u128.pow(u32::try_from(fraction.len()).ok()?);
    let fraction: u128 = if fraction.is_empty() { 0 } else { fraction.parse().ok()? };
    whole.checked_mul(unit)?.checked_add(fraction * unit / scale)
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
            ("0.0000000009999999999999999999s", 0),
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
