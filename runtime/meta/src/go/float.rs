//! Floating-point numbers with the shortest digits that parse to the same number. Of two texts that are as short and as near, Go takes
//! the one with an even digit, and Rust the larger one.
use std::{fmt, str::FromStr};

/// The most digits that a double has exactly.
const EXACT: usize = 767;

/// A finite number in the format of `%v` and `%g`: with an exponent below 1e-4 and from 1e6 on.
pub fn float<F: fmt::LowerExp + FromStr + PartialEq + Copy>(value: F) -> String {
    let (digits, exponent) = scientific(value);
    if (-4..6).contains(&exponent) {
        return without_exponent(&digits, exponent);
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.abs())
}

/// A finite number without an exponent, as `FormatFloat` prints it in format `f`.
pub fn decimal(value: f64) -> String {
    let (digits, exponent) = scientific(value);
    without_exponent(&digits, exponent)
}

/// The digits of a finite number, with a point after the first, and its exponent.
pub fn scientific<F: fmt::LowerExp + FromStr + PartialEq + Copy>(value: F) -> (String, i32) {
    let text = format!("{value:e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let shortest = even(value, digits, exponent).unwrap_or_else(|| digits.to_owned());
    (shortest, exponent.parse().unwrap_or_default())
}

/// The digits that end in an even one, if the number is in the middle between these and those.
fn even<F: fmt::LowerExp + FromStr + PartialEq + Copy>(value: F, digits: &str, exponent: &str) -> Option<String> {
    let count = digits.bytes().filter(u8::is_ascii_digit).count();
    // Only where digits are about as dense as numbers can two of them be as near. In doubles they are from 15 digits on.
    let least = if size_of::<F>() > 4 { 15 } else { 6 };
    if count < least || !format!("{value:.count$e}").split('e').next()?.ends_with('5') {
        return None;
    }
    let exact = format!("{value:.EXACT$e}");
    let below = exact.split('e').next()?.trim_end_matches('0').strip_suffix('5')?;
    let is_middle = below.bytes().filter(u8::is_ascii_digit).count() == count;
    let is_even = below.ends_with(['0', '2', '4', '6', '8']);
    let parses = || format!("{below}e{exponent}").parse().is_ok_and(|parsed: F| parsed == value);
    (is_middle && is_even && parses()).then(|| below.to_owned())
}

fn without_exponent(digits: &str, exponent: i32) -> String {
    let (sign, digits) = digits.strip_prefix('-').map_or(("", digits), |digits| ("-", digits));
    let digits = digits.replace('.', "");
    let zeros = |count: usize| "0".repeat(count);
    match usize::try_from(exponent) {
        Err(_) => format!("{sign}0.{}{digits}", zeros(exponent.unsigned_abs() as usize - 1)),
        Ok(exponent) if exponent + 1 >= digits.len() => {
            let zeros = zeros(exponent + 1 - digits.len());
            format!("{sign}{digits}{zeros}")
        }
        Ok(exponent) => format!("{sign}{}.{}", &digits[..=exponent], &digits[exponent + 1..]),
    }
}
