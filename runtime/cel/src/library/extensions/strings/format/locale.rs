//! Values as versions 1 to 3 print them: numbers as in American English, and nested values as literals of the language.
use kindsmith_meta::go;

use super::{Output, Style, Verb};
use crate::{Error, Value, value::go_double};

/// `%s`
pub(super) fn string(value: &Value<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    match value {
        Value::List(items) => output.list(items, nested),
        Value::Map(entries) => output.map(entries, ":", key, nested),
        Value::String(text) => output.push(text),
        Value::Bytes(bytes) => output.push(text_of(bytes)?),
        Value::Double(double) => output.push(&go_double(*double)),
        _ => match scalar(value) {
            Some(text) => output.push(&text),
            None => Err(Error::new(Verb::String.rejection(Style::Locale, value.type_name()))),
        },
    }
}

/// What is printed in one way, nested or not.
fn scalar(value: &Value<'_>) -> Option<String> {
    Some(match value {
        Value::Null => "null".into(),
        Value::Bool(value) => value.to_string(),
        Value::Int(value) => value.to_string(),
        Value::Uint(value) => value.to_string(),
        Value::Duration(value) => value.to_string(),
        Value::Timestamp(value) => value.to_string(),
        Value::Type(name) => name.to_string(),
        _ => return None,
    })
}

/// A value in a list or a map: a literal of the language.
fn nested(value: &Value<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    let text = match value {
        Value::List(items) => return output.list(items, nested),
        Value::Map(entries) => return output.map(entries, ":", key, nested),
        Value::String(text) => go::quoted(text),
        Value::Bytes(bytes) => format!("b{}", go::quoted(text_of(bytes)?)),
        Value::Double(double) if double.is_finite() => format!("{double:.6}"),
        Value::Double(double) => format!("\"{}\"", go_double(*double)),
        Value::Duration(value) => format!("duration(\"{value}\")"),
        Value::Timestamp(value) => format!("timestamp(\"{value}\")"),
        _ => scalar(value).ok_or_else(|| Error::new(format!("no formatting function for {}", value.type_name())))?,
    };
    output.push(&text)
}

/// A key of a map, of which there are four types.
fn key(key: &Value<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    match key {
        Value::String(_) | Value::Bool(_) | Value::Int(_) | Value::Uint(_) => nested(key, output),
        _ => Err(Error::new(format!("no formatting function for map key of type {}", key.type_name()))),
    }
}

fn text_of(bytes: &[u8]) -> Result<&str, Error> {
    std::str::from_utf8(bytes).map_err(|_| {
        Error::new("could not convert argument \"invalid UTF-8 in bytes, cannot convert to string\" to string")
    })
}

/// `%d`
pub(super) fn decimal(value: &Value<'_>) -> Option<String> {
    match value {
        Value::Int(value) => Some(value.to_string()),
        Value::Uint(value) => Some(value.to_string()),
        _ => None,
    }
}

/// `%f`: `1,234.500000`. Go keeps the least number of digits in 8 bits, and the greatest in 16 bits with a sign.
pub(super) fn fixed(value: &Value<'_>, precision: Option<u64>) -> Option<String> {
    let double = number(value)?;
    let precision = precision.unwrap_or(6);
    if is_overlong(precision) {
        return Some(NO_VERB.into());
    }
    if let Some(text) = special(double) {
        return Some(text.into());
    }
    let digits = match i16::try_from(precision & 0xffff) {
        Ok(most) => format!("{:.*}", usize::from(most.unsigned_abs()), double.abs()),
        Err(_) => double.abs().to_string(),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((&digits, ""));
    let fraction = fraction.trim_end_matches('0');
    let least = usize::from(precision.to_le_bytes()[0]);
    let mut text = String::from(if double < 0.0 { "-" } else { "" });
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    if least > 0 || !fraction.is_empty() {
        text.push('.');
        text.push_str(fraction);
        text.extend(std::iter::repeat_n('0', least.saturating_sub(fraction.len())));
    }
    Some(text)
}

/// `%e`: `1.500000×10⁰³`, without the narrow spaces that Go's texts had before Kubernetes 1.33. The precision is a width, which Go keeps
/// in 16 bits.
pub(super) fn scientific(value: &Value<'_>, precision: Option<u64>) -> Option<String> {
    let double = number(value)?;
    let width = precision.unwrap_or(6);
    if is_overlong(width) {
        return Some(NO_VERB.into());
    }
    let text = special(double).map_or_else(|| mantissa_and_exponent(double), str::to_owned);
    let [low, high, ..] = width.to_le_bytes();
    let width = usize::from(u16::from_le_bytes([low, high]));
    Some(format!("{text:>width$}"))
}

fn mantissa_and_exponent(double: f64) -> String {
    // Negative zero has no sign here.
    let printed = format!("{:.6e}", double + 0.0);
    let (mantissa, exponent) = printed.split_once('e').unwrap_or((&printed, "0"));
    let (sign, digits) = exponent.strip_prefix('-').map_or(("", exponent), |digits| ("⁻", digits));
    let exponent: String = format!("{digits:0>2}").bytes().map(superscript).collect();
    format!("{mantissa}×10{sign}{exponent}")
}

fn superscript(digit: u8) -> char {
    match digit {
        b'1' => '¹',
        b'2' => '²',
        b'3' => '³',
        _ => char::from_u32('⁰' as u32 + u32::from(digit & 15)).unwrap_or('⁰'),
    }
}

/// What `%f` and `%e` accept.
fn number(value: &Value<'_>) -> Option<f64> {
    match value {
        Value::Double(double) => Some(*double),
        Value::String(text) => match &**text {
            "NaN" => Some(f64::NAN),
            "Infinity" => Some(f64::INFINITY),
            "-Infinity" => Some(f64::NEG_INFINITY),
            _ => None,
        },
        _ => None,
    }
}

fn special(double: f64) -> Option<&'static str> {
    match double {
        _ if double.is_nan() => Some("NaN"),
        f64::INFINITY => Some("∞"),
        f64::NEG_INFINITY => Some("-∞"),
        _ => None,
    }
}

/// Go's text when it stops reading the digits of a precision or a width, because they are too many.
const NO_VERB: &str = "%!(NOVERB)";

fn is_overlong(precision: u64) -> bool {
    precision / 10 > 1_000_000
}
