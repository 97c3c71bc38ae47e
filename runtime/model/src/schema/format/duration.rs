//! Durations as Go reads them, and as Scala does: `1h30m`, `2 days`.

/// The largest number of nanoseconds below zero; above zero, one less.
const MOST: u64 = 1 << 63;

/// The units. A name in lower case begins with the first text, or is one of the others.
const WORDS: [(&str, &[&str]); 8] = [
    ("nano", &["ns"]),
    ("micro", &["us", "µs"]),
    ("milli", &["ms"]),
    ("sec", &["s"]),
    ("min", &["m"]),
    ("hour", &["h", "hr"]),
    ("day", &["d"]),
    ("week", &["w", "wk"]),
];

pub(super) fn is_duration(text: &str) -> bool {
    is_of_go(text) || is_of_words(text)
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
fn is_of_go(text: &str) -> bool {
    let mut rest = text.strip_prefix(['-', '+']).unwrap_or(text);
    if rest == "0" {
        return true;
    }
    let mut sum = 0u64;
    while !rest.is_empty() {
        match part_of_go(rest) {
            Some((nanoseconds, after)) => {
                sum = sum.saturating_add(nanoseconds);
                rest = after;
            }
            None => return false,
        }
        if sum > MOST {
            return false;
        }
    }
    let is_negative = text.starts_with('-');
    text.len() > 1 && (is_negative || sum < MOST)
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

/// Somewhere in the text, a number and the name of a unit after it. All numbers before names are within 64 bits.
fn is_of_words(text: &str) -> bool {
    let (mut rest, mut found) = (text, false);
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
        if number.parse::<i64>().is_err() {
            return false;
        }
        found |= is_unit(&name.to_ascii_lowercase());
        rest = after_name;
    }
    found
}

fn is_unit(name: &str) -> bool {
    WORDS.iter().any(|(beginning, names)| name.starts_with(beginning) || names.contains(&name))
}
