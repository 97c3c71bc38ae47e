//! Bounds of numbers, and whether they fit their format.
use serde_json::Number;

use super::validator::Validator;
use crate::schema::{Document, Schema, location::Location, model::Type, number};

impl Validator<'_> {
    /// Checks a number against its format, then its bounds.
    pub(super) fn number(&mut self, schema: &Schema, number: &Number, location: &Location<'_>) {
        let checked = match (schema.kind, schema.format.as_deref()) {
            // Only in Go and in Protobuf has an int-or-string number 32 bits. A fraction is of the wrong type.
            (Type::IntOrString, _) => schema.scalar.filter(|_| number.is_i64()).map(|_| ("integer", Some("int32"))),
            (Type::Integer, format) => Some(("integer", format.filter(|format| matches!(*format, "int32" | "int64")))),
            (Type::Number, Some("float")) => Some(("number", Some("float"))),
            _ => None,
        };
        if let Some((kind, format)) = checked.filter(|(_, format)| !fits(*format, number)) {
            let format =
                format.map_or_else(|| " (default format)".to_owned(), |format| format!(" with format {format}"));
            self.invalid_nowhere(format!("Checked value must be of type {kind}{format} in {}", location.text()));
        }
        // Numbers of documents are i64 or f64, and bounds are f64. Comparing doubles is wrong only for integers beyond
        // 2^53, which a bound cannot represent exactly either.
        let Some(value) = number.as_f64() else { return };
        let mut refuse = |what: String| self.invalid(location, Document::Number(number.clone()), &what);
        if let Some(factor) = schema.multiple_of.filter(|&factor| !is_multiple(number, value, factor)) {
            refuse(format!("should be a multiple of {}", number::text_of_double(factor)));
        }
        if let Some(limit) = schema.minimum {
            if schema.exclusive_minimum && value <= limit {
                refuse(format!("should be greater than {}", number::text_of_double(limit)));
            } else if value < limit {
                refuse(format!("should be greater than or equal to {}", number::text_of_double(limit)));
            }
        }
        if let Some(limit) = schema.maximum {
            if schema.exclusive_maximum && value >= limit {
                refuse(format!("should be less than {}", number::text_of_double(limit)));
            } else if value > limit {
                refuse(format!("should be less than or equal to {}", number::text_of_double(limit)));
            }
        }
    }
}

fn fits(format: Option<&str>, number: &Number) -> bool {
    match (format, number.as_i64()) {
        #[expect(clippy::cast_possible_truncation, reason = "whether it is within the range is the question")]
        (Some("float"), _) => number.as_f64().is_some_and(|double| (double as f32).is_finite()),
        (Some("int32"), Some(integer)) => i32::try_from(integer).is_ok(),
        (_, integer) => integer.is_some(),
    }
}

/// True if a number is a multiple: exactly for integers, within rounding for fractions.
fn is_multiple(number: &Number, value: f64, factor: f64) -> bool {
    #[expect(clippy::cast_possible_truncation, reason = "a fraction or a large factor takes the other path")]
    let whole = factor as i64;
    let exact = factor.fract() == 0.0 && (1.0..9e15).contains(&factor);
    match number.as_i64() {
        Some(integer) if exact => integer % whole == 0,
        _ => {
            let times = value / factor;
            (times - times.round()).abs() <= 1e-9 * times.abs().max(1.0)
        }
    }
}
