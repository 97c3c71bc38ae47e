//! Resolves plain scalars as Kubernetes reads YAML: 1.1 as in go-yaml. `y`, `on` and `No` are booleans, `0777` is
//! octal, `1_000` is a number; base-60 numbers are text.

/// The value of an unquoted text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Scalar {
    Null,
    Bool(bool),
    Integer(i64),
    /// An integer above the signed 64-bit range.
    Large(u64),
    Float(f64),
    Text,
}

/// Resolves an unquoted text.
pub(super) fn resolve(text: &str) -> Scalar {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Scalar::Null,
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => Scalar::Bool(true),
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => Scalar::Bool(false),
        ".nan" | ".NaN" | ".NAN" => Scalar::Float(f64::NAN),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => Scalar::Float(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => Scalar::Float(f64::NEG_INFINITY),
        _ => match text.as_bytes()[0] {
            b'.' => float(text),
            b'+' | b'-' | b'0'..=b'9' => number(text),
            _ => Scalar::Text,
        },
    }
}

fn number(text: &str) -> Scalar {
    let stripped;
    let plain = if text.contains('_') {
        stripped = text.replace('_', "");
        stripped.as_str()
    } else {
        text
    };
    let (negative, digits) = match plain.as_bytes().first() {
        Some(b'-') => (true, &plain[1..]),
        Some(b'+') => (false, &plain[1..]),
        _ => (false, plain),
    };
    let Some(size) = unsigned(digits) else {
        return signed_binary(plain).unwrap_or_else(|| float(plain));
    };
    match (i64::try_from(size), negative) {
        (Ok(size), false) => Scalar::Integer(size),
        (Ok(size), true) => Scalar::Integer(-size),
        (Err(_), true) if size == i64::MIN.unsigned_abs() => Scalar::Integer(i64::MIN),
        // Unsigned numbers must not have a sign.
        (Err(_), false) if digits.len() == plain.len() => Scalar::Large(size),
        _ => float(plain),
    }
}

/// An integer with a base prefix.
fn unsigned(digits: &str) -> Option<u64> {
    let (radix, digits) = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, &digits[2..]),
        [b'0', b'b' | b'B', ..] => (2, &digits[2..]),
        [b'0', b'o' | b'O', ..] => (8, &digits[2..]),
        [b'0', _, ..] => (8, &digits[1..]),
        _ => (10, digits),
    };
    // A second sign would be parsed as part of the number.
    if digits.starts_with(['+', '-']) {
        return None;
    }
    u64::from_str_radix(digits, radix).ok()
}

/// Binary digits may have their sign after the prefix.
fn signed_binary(plain: &str) -> Option<Scalar> {
    let digits = plain.strip_prefix("0b").filter(|digits| digits.starts_with(['+', '-']))?;
    i64::from_str_radix(digits, 2).ok().map(Scalar::Integer)
}

/// `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`, within the range of doubles.
fn float(text: &str) -> Scalar {
    let bytes = text.as_bytes();
    let mut at = usize::from(matches!(bytes.first(), Some(b'+' | b'-')));
    let digits = |from: usize| bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let whole = digits(at);
    at += whole;
    let mut fraction = 0;
    if bytes.get(at) == Some(&b'.') {
        fraction = digits(at + 1);
        at += 1 + fraction;
    }
    if whole + fraction == 0 {
        return Scalar::Text;
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        at += 1 + usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        let exponent = digits(at.min(bytes.len()));
        if exponent == 0 {
            return Scalar::Text;
        }
        at += exponent;
    }
    match text.parse::<f64>() {
        Ok(double) if at == bytes.len() && double.is_finite() => Scalar::Float(double),
        _ => Scalar::Text,
    }
}

/// True if unquoted text would be read as a time by other readers. This decoder reads it as text.
pub(super) fn is_timestamp(text: &str) -> bool {
    time(text).is_some()
}

fn time(text: &str) -> Option<()> {
    let (year, rest) = text.split_at_checked(4)?;
    let year: u16 = year.bytes().all(|byte| byte.is_ascii_digit()).then(|| year.parse().ok())??;
    let (month, rest) = short(rest.strip_prefix('-')?)?;
    let (day, rest) = short(rest.strip_prefix('-')?)?;
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 => 28 + u8::from(leap),
        _ => return None,
    };
    if !(1..=days).contains(&day) {
        return None;
    }
    let (zoned, rest) = match rest.as_bytes().first() {
        None => return Some(()),
        Some(b'T' | b't') => (true, &rest[1..]),
        Some(b' ') => (false, rest.trim_start_matches(' ')),
        Some(_) => return None,
    };
    let (hour, rest) = short(rest)?;
    let (minute, rest) = short(rest.strip_prefix(':')?)?;
    let (second, rest) = short(rest.strip_prefix(':')?)?;
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let rest = match rest.strip_prefix(['.', ',']) {
        Some(fraction) if fraction.starts_with(|c: char| c.is_ascii_digit()) => {
            fraction.trim_start_matches(|c: char| c.is_ascii_digit())
        }
        _ => rest,
    };
    let ends = if zoned { is_zone(rest) } else { rest.is_empty() };
    ends.then_some(())
}

fn is_zone(text: &str) -> bool {
    match text.as_bytes() {
        [b'Z'] => true,
        [b'+' | b'-', a, b, b':', c, d] => [a, b, c, d].iter().all(|byte| byte.is_ascii_digit()),
        _ => false,
    }
}

/// A number of one or two digits, and the rest.
fn short(text: &str) -> Option<(u8, &str)> {
    let length = text.bytes().take(2).take_while(u8::is_ascii_digit).count();
    let (number, rest) = text.split_at(length);
    Some((number.parse().ok()?, rest))
}

/// True if other readers of YAML 1.1 read the text as a base-60 number.
pub(super) fn is_base_60(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let mut parts = unsigned.split(':');
    let first = parts.next().unwrap_or_default();
    let first_fits = first.starts_with(|c: char| c.is_ascii_digit())
        && first.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_');
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else {
        return false;
    };
    let (last, fraction) = last.split_once('.').unwrap_or((last, ""));
    let sixtieth = |part: &str| match part.as_bytes() {
        [digit] => digit.is_ascii_digit(),
        [tens, digit] => (b'0'..=b'5').contains(tens) && digit.is_ascii_digit(),
        _ => false,
    };
    first_fits
        && middle.iter().all(|part| sixtieth(part))
        && sixtieth(last)
        && fraction.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_')
}
