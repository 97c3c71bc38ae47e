//! Numbers of documents: `i64` or `f64`, and how they are printed.
use serde_json::{Number, Value as Document};

use crate::go::{decimal, scientific};

/// The first double above every `i64`.
const ABOVE_I64: f64 = 9_223_372_036_854_775_808.0;

/// A double as a number in a document: an integer if it is one within `i64`. `None` if JSON cannot represent it.
pub fn of_double(double: f64) -> Option<Number> {
    if double.fract() == 0.0 && (-ABOVE_I64..ABOVE_I64).contains(&double) {
        #[expect(clippy::cast_possible_truncation, reason = "whole and in range, as just checked")]
        return Some(Number::from(double as i64));
    }
    Number::from_f64(double)
}

/// The number of a well-formed JSON literal. `None` if no double can represent it.
pub fn of_literal(literal: &str) -> Option<Number> {
    match literal.parse::<i64>() {
        Ok(integer) => Some(Number::from(integer)),
        Err(_) => of_double(literal.parse().ok()?),
    }
}

/// Normalizes every number of a document that did not come from the decoder.
pub fn settle(document: &mut Document) {
    match document {
        Document::Number(number) if !number.is_i64() => {
            if let Some(settled) = number.as_f64().and_then(of_double) {
                *number = settled;
            }
        }
        Document::Array(items) => items.iter_mut().for_each(settle),
        Document::Object(fields) => fields.values_mut().for_each(settle),
        _ => {}
    }
}

/// A double as kube-apiserver prints it: plain digits from 1e-6 up to 1e21, otherwise with an exponent such as `1e+21`.
pub fn text_of_double(double: f64) -> String {
    let size = double.abs();
    if size == 0.0 || (1e-6..1e21).contains(&size) {
        return decimal(double);
    }
    let (digits, exponent) = scientific(double);
    // Above 1e21 the exponent is positive, and its sign is printed.
    let sign = if size >= 1.0 { "+" } else { "" };
    format!("{digits}e{sign}{exponent}")
}
