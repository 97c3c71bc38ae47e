//! Durations as Go reads them, and as Scala does: `1h30m`, `2 days`.

/// The largest number of nanoseconds below zero; above zero, one less.
const MOST: u64 = 1 << 63;

/// The units and their nanoseconds. A name in lower case begins with the first text, or is one of the others.
const WORDS: [(&str, &[&str], i64); 8] = [
    ("nano", &["ns"], 1),
    ("micro", &["us", "µs"], 1_000),
    ("milli", &["ms"], 1_000_000),
    ("sec", &["s"], 1_000_000_000),
    ("min", &["m"], 60_000_000_000),
    ("hour", &["h", "hr"], 3_600_000_000_000),
    ("day", &["d"], 24 * 3_600_000_000_000),
    ("week", &["w", "wk"], 7 * 24 * 3_600_000_000_000),
];

pub(super) fn is_duration(text: &str) -> bool {
    nanoseconds(text).is_some()
}

/// The length of a duration.
pub(super) fn nanoseconds(text: &str) -> Option<i64> {
    of_go(text).or_else(|| of_words(text))
}

/// The nanoseconds of a unit of Go.
fn unit(name: &str) -> Option<u64> {
    Some(match name {
        "ns" => 1,
        "us" | "µs" | "μs" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        _ => return None,
    })
}

/// Numbers with units and without anything between them, after a sign.
fn of_go(text: &str) -> Option<i64> {
    let mut rest = text.strip_prefix(['-', '+']).unwrap_or(text);
    if rest == "0" {
        return Some(0);
    }
    let mut sum = 0u64;
    while !rest.is_empty() {
        let (nanoseconds, after) = part_of_go(rest)?;
        sum = sum.saturating_add(nanoseconds);
        rest = after;
        if sum > MOST {
            return None;
        }
    }
    if text.len() < 2 {
        None
    } else if text.starts_with('-') {
        0i64.checked_sub_unsigned(sum)
    } else {
        i64::try_from(sum).ok()
    }
}

/// A number and its unit, and the rest.
fn part_of_go(text: &str) -> Option<(u64, &str)> {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let (whole, mut rest) = text.split_at(digits(text));
    let mut fraction = "";
    if let Some(after) = rest.strip_prefix('.') {
        (fraction, rest) = after.split_at(digits(after));
    }
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let end = rest.find(|c: char| c == '.' || c.is_ascii_digit()).unwrap_or(rest.len());
    let (name, rest) = rest.split_at(end);
    let unit = unit(name)?;
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let nanoseconds = whole.checked_mul(unit).filter(|nanoseconds| whole <= MOST / unit && *nanoseconds <= MOST)?;
    let nanoseconds = nanoseconds + part_of_unit(fraction, unit);
    (nanoseconds <= MOST).then_some((nanoseconds, rest))
}

/// The nanoseconds of a fraction of a unit, in the precision in which Go has them.
fn part_of_unit(fraction: &str, unit: u64) -> u64 {
    let (mut value, mut scale) = (0u64, 1.0);
    for digit in fraction.bytes().map(|byte| u64::from(byte - b'0')) {
        if value > (MOST - 1) / 10 || value * 10 + digit > MOST {
            break;
        }
        (value, scale) = (value * 10 + digit, scale * 10.0);
    }
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "as Go computes it: below the nanoseconds of an hour"
    )]
    let nanoseconds = (value as f64 * (unit as f64 / scale)) as u64;
    nanoseconds
}

/// Somewhere in the text, a number and the name of a unit after it. All numbers before names are within 64 bits. Sums wrap around.
fn of_words(text: &str) -> Option<i64> {
    let (mut rest, mut found) = (text, None);
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let digits = &rest[start..];
        let (number, after) = digits.split_at(digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len()));
        let named = after.trim_start_matches(['\t', '\n', '\x0c', '\r', ' ']);
        let (name, after_name) =
            named.split_at(named.find(|c: char| !c.is_ascii_alphabetic() && c != 'µ').unwrap_or(named.len()));
        if name.is_empty() {
            rest = after;
            continue;
        }
        let number: i64 = number.parse().ok()?;
        if let Some(unit) = unit_of_words(&name.to_ascii_lowercase()) {
            found = Some(found.unwrap_or(0i64).wrapping_add(number.wrapping_mul(unit)));
        }
        rest = after_name;
    }
    found
}

fn unit_of_words(name: &str) -> Option<i64> {
    let unit = WORDS.iter().find(|(beginning, names, _)| name.starts_with(beginning) || names.contains(&name));
    unit.map(|(_, _, nanoseconds)| *nanoseconds)
}
