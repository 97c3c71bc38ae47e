//! Conversions of numbers to each other, and to and from text, as Go has them.

/// A `double` from text, as Go's `ParseFloat` reads it: decimal or hexadecimal, with underscores between digits.
pub(crate) fn parse_double(text: &str) -> Option<f64> {
    let (sign, magnitude) = match text.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, text.strip_prefix('+').unwrap_or(text)),
    };
    let is = |word: &str| magnitude.eq_ignore_ascii_case(word);
    if is("inf") || is("infinity") {
        return Some(sign * f64::INFINITY);
    }
    if text.eq_ignore_ascii_case("nan") {
        return Some(f64::NAN);
    }
    if !magnitude.starts_with(|c: char| c.is_ascii_digit() || c == '.') || !underscores_separate_digits(magnitude) {
        return None;
    }
    let plain: String = magnitude.chars().filter(|c| *c != '_').collect();
    let value = match plain.get(..2) {
        Some("0x" | "0X") => parse_hexadecimal(&plain[2..])?,
        _ => plain.parse().ok()?,
    };
    f64::is_finite(value).then_some(sign * value)
}

/// True if each underscore is between digits, of which the prefix `0x` counts as one.
fn underscores_separate_digits(text: &str) -> bool {
    if !text.contains('_') {
        return true;
    }
    let is_hexadecimal = matches!(text.get(..2), Some("0x" | "0X"));
    let is_digit = |c: u8| c.is_ascii_digit() || is_hexadecimal && c.is_ascii_hexdigit();
    let bytes = text.as_bytes();
    bytes.iter().enumerate().filter(|(_, byte)| **byte == b'_').all(|(at, _)| {
        let after_digit = at > 0 && (is_digit(bytes[at - 1]) || is_hexadecimal && at == 2);
        after_digit && bytes.get(at + 1).is_some_and(|byte| is_digit(*byte))
    })
}

/// A hexadecimal number after `0x`: digits, and a binary exponent. It is rounded to even.
fn parse_hexadecimal(text: &str) -> Option<f64> {
    let (digits, exponent) = text.split_once(['p', 'P'])?;
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if whole.len() + fraction.len() == 0 || !is_number(whole) || !is_number(fraction) {
        return None;
    }
    let unsigned = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    if unsigned.is_empty() || !unsigned.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    // Larger exponents overflow or vanish whatever the digits are.
    let exponent =
        exponent.parse::<i64>().unwrap_or(if exponent.starts_with('-') { i64::MIN / 8 } else { i64::MAX / 8 });
    let (mut mantissa, mut shift, mut is_inexact) = (0_u64, 0_i64, false);
    for (at, digit) in whole.chars().chain(fraction.chars()).enumerate() {
        let digit = u64::from(digit.to_digit(16)?);
        let is_fraction = at >= whole.len();
        if mantissa >> 59 == 0 {
            mantissa = mantissa * 16 + digit;
            shift -= if is_fraction { 4 } else { 0 };
        } else {
            is_inexact |= digit != 0;
            shift += if is_fraction { 0 } else { 4 };
        }
    }
    Some(scaled(mantissa | u64::from(is_inexact), exponent.saturating_add(shift)))
}

/// A number times a power of two, rounded once to even.
fn scaled(mantissa: u64, exponent: i64) -> f64 {
    if mantissa == 0 {
        return 0.0;
    }
    let top = exponent.saturating_add(63 - i64::from(mantissa.leading_zeros()));
    if top > 1023 {
        return f64::INFINITY;
    }
    // How many bits the fraction has no room for, more of them below the least normal number.
    let dropped = (top - 52).max(-1074).saturating_sub(exponent);
    let bits = u32::try_from(dropped.unsigned_abs()).unwrap_or(u32::MAX);
    let exponent = exponent + dropped;
    let mut kept = match dropped {
        ..=0 => mantissa << bits.min(63),
        1..=64 => {
            let wide = u128::from(mantissa);
            let (kept, rest, half) = (wide >> bits, wide & ((1 << bits) - 1), 1 << (bits - 1));
            let is_up = rest > half || rest == half && kept & 1 == 1;
            u64::try_from(kept).unwrap_or(u64::MAX) + u64::from(is_up)
        }
        _ => return 0.0,
    };
    let mut exponent = exponent;
    if kept == 1 << 53 {
        (kept, exponent) = (1 << 52, exponent + 1);
    }
    if kept < 1 << 52 {
        return f64::from_bits(kept);
    }
    match u64::try_from(exponent + 1075) {
        Ok(biased) if biased < 2047 => f64::from_bits((biased << 52) | (kept & ((1 << 52) - 1))),
        _ => f64::INFINITY,
    }
}
