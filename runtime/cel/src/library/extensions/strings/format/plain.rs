//! Values as the specification of the language prints them.
use kindsmith_meta::go;

use super::{Output, Style, Verb};
use crate::{Error, Value, value::Timestamp};

/// `%s`
pub(super) fn string(value: &Value<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    let text = match value {
        Value::List(items) => return output.list(items, string),
        Value::Map(entries) => return output.map(entries, ": ", string, string),
        Value::String(text) => return output.push(text),
        Value::Null => "null".into(),
        Value::Bool(value) => value.to_string(),
        Value::Int(value) => value.to_string(),
        Value::Uint(value) => value.to_string(),
        Value::Double(value) => double(*value),
        Value::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Value::Duration(value) => value.to_string(),
        Value::Timestamp(value) => Timestamp { offset: 0, ..*value }.to_string(),
        Value::Type(name) => name.to_string(),
        _ => return Err(Error::new(Verb::String.rejection(Style::Plain, value.type_name()))),
    };
    output.push(&text)
}

/// The shortest digits, never with an exponent.
fn double(value: f64) -> String {
    special(value).map_or_else(|| go::decimal(value), str::to_owned)
}

/// `%d`
pub(super) fn decimal(value: &Value<'_>) -> Option<String> {
    match value {
        Value::Int(value) => Some(value.to_string()),
        Value::Uint(value) => Some(value.to_string()),
        Value::Double(value) => Some(double(*value)),
        _ => None,
    }
}

/// `%f`
pub(super) fn fixed(value: &Value<'_>, precision: Option<u64>) -> Option<String> {
    let value = number(value)?;
    Some(special(value).map_or_else(|| format!("{value:.*}", digits(precision)), str::to_owned))
}

/// `%e`: `1.5e+03`
pub(super) fn scientific(value: &Value<'_>, precision: Option<u64>) -> Option<String> {
    let value = number(value)?;
    if let Some(text) = special(value) {
        return Some(text.into());
    }
    let printed = format!("{value:.*e}", digits(precision));
    let (mantissa, exponent) = printed.split_once('e').unwrap_or((&printed, "0"));
    let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |exponent| ('-', exponent));
    Some(format!("{mantissa}e{sign}{exponent:0>2}"))
}

fn digits(precision: Option<u64>) -> usize {
    precision.map_or(6, |precision| usize::try_from(precision).unwrap_or(usize::MAX))
}

/// What `%f` and `%e` accept.
#[expect(clippy::cast_precision_loss, reason = "as in cel-go")]
fn number(value: &Value<'_>) -> Option<f64> {
    match value {
        Value::Int(value) => Some(*value as f64),
        Value::Uint(value) => Some(*value as f64),
        Value::Double(value) => Some(*value),
        _ => None,
    }
}

fn special(value: f64) -> Option<&'static str> {
    match value {
        _ if value.is_nan() => Some("NaN"),
        f64::INFINITY => Some("Infinity"),
        f64::NEG_INFINITY => Some("-Infinity"),
        _ => None,
    }
}
