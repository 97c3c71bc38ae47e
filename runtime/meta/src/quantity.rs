//! Quantities: `500m`, `1Gi`, `1e3`. The text is kept as given; its value and canonical form are computed.
use std::{cmp::Ordering, fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A quantity: a decimal number with a suffix (`m`, `k`, `Mi`, `e3`, …). Equality compares the text;
/// [`Quantity::compare`] compares amounts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Quantity(String);

/// The text is not a quantity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuantityError;

impl fmt::Display for QuantityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'")
    }
}

impl std::error::Error for QuantityError {}

/// The format of a quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    /// `1500m`, `2k`.
    Decimal,
    /// `1Ki`.
    Binary,
    /// `1e3`.
    Exponent,
}

const NANO: i128 = 1_000_000_000;
/// The API caps larger amounts at this value.
const MAX: i128 = (i64::MAX as i128) * NANO;
const DECIMAL: [(&str, i32); 10] =
    [("n", -9), ("u", -6), ("m", -3), ("", 0), ("k", 3), ("M", 6), ("G", 9), ("T", 12), ("P", 15), ("E", 18)];
const BINARY: [(&str, u32); 6] = [("Ki", 10), ("Mi", 20), ("Gi", 30), ("Ti", 40), ("Pi", 50), ("Ei", 60)];

/// The amount in billionths, rounded away from zero, and its format.
fn parse(text: &str) -> Option<(i128, Format)> {
    let negative = text.starts_with('-');
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let end = unsigned.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(unsigned.len());
    let (number, suffix) = unsigned.split_at(end);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') {
        return None;
    }
    let (power, shift, format) = scale(suffix)?;
    let amount = magnitude(whole, fraction, power, shift).min(MAX);
    Some((if negative { -amount } else { amount }, format))
}

/// The power of ten, the power of two and the format of a suffix.
fn scale(suffix: &str) -> Option<(i32, u32, Format)> {
    if let Some((_, power)) = DECIMAL.iter().find(|(name, _)| *name == suffix) {
        return Some((*power, 0, Format::Decimal));
    }
    if let Some((_, shift)) = BINARY.iter().find(|(name, _)| *name == suffix) {
        return Some((0, *shift, Format::Binary));
    }
    let exponent = suffix.strip_prefix(['e', 'E'])?;
    let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    Some((exponent.parse().ok()?, 0, Format::Exponent))
}

/// `whole.fraction × 10^power × 2^shift` in billionths, rounded up; [`i128::MAX`] on overflow.
fn magnitude(whole: &str, fraction: &str, power: i32, shift: u32) -> i128 {
    let mut rest = false;
    let mut value: i128 = 0;
    // Digits below billionths of the scaled number only decide whether to round up.
    let keep = 9 + i64::from(power) + i64::from(shift > 0) * 20;
    for (at, digit) in whole.bytes().chain(fraction.bytes()).enumerate() {
        let digit = i128::from(digit - b'0');
        let place = i64::try_from(at).unwrap_or(i64::MAX) - i64::try_from(whole.len()).unwrap_or(0);
        if place >= keep {
            rest |= digit > 0;
            continue;
        }
        let Some(next) = value.checked_mul(10).and_then(|v| v.checked_add(digit)) else { return i128::MAX };
        value = next;
    }
    let kept = i64::try_from(fraction.len()).unwrap_or(i64::MAX).min(keep);
    if value == 0 {
        return i128::from(rest);
    }
    let Some(value) = value.checked_shl(shift).filter(|v| v >> shift == value) else { return i128::MAX };
    // `kept` decimal places are in `value`; billionths of the scaled number have nine, less the power.
    let missing = 9 + i64::from(power) - kept;
    if missing >= 0 {
        let ten = u32::try_from(missing).ok().and_then(|m| 10i128.checked_pow(m));
        return ten.and_then(|ten| value.checked_mul(ten)).map_or(i128::MAX, |v| v.saturating_add(i128::from(rest)));
    }
    let ten = u32::try_from(-missing).ok().and_then(|m| 10i128.checked_pow(m)).unwrap_or(i128::MAX);
    value / ten + i128::from(value % ten != 0 || rest)
}

impl Quantity {
    /// The amount in billionths, rounded away from zero and capped at 2⁶³.
    pub fn billionths(&self) -> i128 {
        parse(&self.0).map_or(0, |(amount, _)| amount)
    }

    /// The amount as a whole number, rounded away from zero.
    pub fn whole(&self) -> i64 {
        let amount = self.billionths();
        let rounded = amount / NANO + (amount % NANO).signum();
        i64::try_from(rounded).unwrap_or(if amount < 0 { i64::MIN } else { i64::MAX })
    }

    /// Compares amounts, whatever their format.
    pub fn compare(&self, other: &Self) -> Ordering {
        self.billionths().cmp(&other.billionths())
    }

    /// The text as given.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The canonical text: no fraction, and the largest suffix of the same format that keeps the number whole.
    pub fn canonical(&self) -> String {
        let (amount, format) = parse(&self.0).unwrap_or((0, Format::Decimal));
        let sign = if amount < 0 { "-" } else { "" };
        let amount = amount.abs();
        if format == Format::Binary && amount >= 1024 * NANO {
            let mut whole = amount / NANO + i128::from(amount % NANO != 0);
            let mut suffix = "";
            for (name, _) in BINARY {
                if whole % 1024 != 0 {
                    break;
                }
                whole /= 1024;
                suffix = name;
            }
            return format!("{sign}{whole}{suffix}");
        }
        let (mut number, mut step) = (amount, 0);
        while number != 0 && number % 1000 == 0 && step + 1 < DECIMAL.len() {
            number /= 1000;
            step += 1;
        }
        if number == 0 {
            return "0".to_owned();
        }
        match DECIMAL[step] {
            (_, 0) => format!("{sign}{number}"),
            (_, power) if format == Format::Exponent => format!("{sign}{number}e{power}"),
            (name, _) => format!("{sign}{number}{name}"),
        }
    }
}

impl Default for Quantity {
    fn default() -> Self {
        Self("0".to_owned())
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Quantity {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, QuantityError> {
        parse(text).map(|_| Self(text.to_owned())).ok_or(QuantityError)
    }
}

impl Serialize for Quantity {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Quantity {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        // A bare number is a quantity, too.
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum TextOrNumber {
            Text(String),
            Number(serde_json::Number),
        }
        let text = match TextOrNumber::deserialize(from)? {
            TextOrNumber::Text(text) => text,
            TextOrNumber::Number(number) => number.to_string(),
        };
        text.parse().map_err(de::Error::custom)
    }
}
